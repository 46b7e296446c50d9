//! The body of `POST {base_url}/chat/completions`.

use super::super::message::{Message, ModelRequest, Part};
use serde_json::{Value, json};

/// Beginnings of the names of models that refuse `max_tokens` and take `max_completion_tokens` instead. Services that
/// are called compatible know only the first.
const OWN_TOKEN_LIMIT: [&str; 5] = ["gpt-5", "gpt-6", "o1", "o3", "o4"];

/// The body of a request.
pub(super) fn body(name: &str, question: &ModelRequest, tokens_max: Option<u32>) -> Value {
    let mut messages = Vec::new();
    if !question.system.is_empty() {
        messages.push(json!({ "role": "system", "content": question.system }));
    }
    question.messages.iter().for_each(|message| write(message, &mut messages));
    let mut body = json!({
        "model": name, "stream": true, "stream_options": { "include_usage": true }, "messages": messages,
    });
    // An empty list is refused.
    if !question.tools.is_empty() {
        let tool = |tool: &super::super::Offered| {
            let function = json!({ "name": tool.slug, "description": tool.description, "parameters": tool.schema });
            json!({ "type": "function", "function": function })
        };
        body["tools"] = question.tools.iter().map(tool).collect();
    }
    if let Some(schema) = &question.reply_schema {
        let format = json!({ "name": "reply", "strict": true, "schema": schema });
        body["response_format"] = json!({ "type": "json_schema", "json_schema": format });
    }
    if let Some(most) = tokens_max {
        let has_own = OWN_TOKEN_LIMIT.iter().any(|beginning| name.starts_with(beginning));
        body[if has_own { "max_completion_tokens" } else { "max_tokens" }] = most.into();
    }
    body
}

/// Writes a message. Each result of a call is a message of its own.
fn write(message: &Message, messages: &mut Vec<Value>) {
    match message {
        Message::User(text) => messages.push(json!({ "role": "user", "content": text })),
        Message::Agent(parts) => {
            let (mut texts, mut calls) = (Vec::new(), Vec::new());
            for part in parts {
                match part {
                    Part::Text(text) => texts.push(text.as_str()),
                    Part::Call(call) => {
                        let function = json!({ "name": call.name, "arguments": call.input.to_string() });
                        calls.push(json!({ "type": "function", "id": call.id, "function": function }));
                    }
                }
            }
            let mut written = json!({ "role": "assistant", "content": texts.join("\n\n") });
            if !calls.is_empty() {
                written["tool_calls"] = calls.into();
            }
            messages.push(written);
        }
        Message::Results(results) => messages.extend(
            results.iter().map(|result| json!({ "role": "tool", "tool_call_id": result.id, "content": result.text })),
        ),
    }
}
