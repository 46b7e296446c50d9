//! The body of `POST {base_url}/messages`.

use super::super::{
    super::limit::ANTHROPIC_TOKENS_MAX,
    message::{Message, ModelRequest, Part},
};
use serde_json::{Value, json};

/// Version of the format, a required header.
pub(super) const VERSION: &str = "2023-06-01";

/// The body of a request. The format requires a largest number of tokens.
pub(super) fn body(name: &str, question: &ModelRequest, tokens_max: Option<u32>) -> Value {
    let messages: Vec<_> = question.messages.iter().map(written).collect();
    let mut body = json!({
        "model": name, "stream": true, "max_tokens": tokens_max.unwrap_or(ANTHROPIC_TOKENS_MAX), "messages": messages,
    });
    if !question.system.is_empty() {
        body["system"] = question.system.as_str().into();
    }
    if !question.tools.is_empty() {
        let tool = |tool: &super::super::Offered| json!({ "name": tool.slug, "description": tool.description, "input_schema": tool.schema });
        body["tools"] = question.tools.iter().map(tool).collect();
    }
    if let Some(schema) = &question.reply_schema {
        body["output_config"] = json!({ "format": { "type": "json_schema", "schema": schema } });
    }
    body
}

fn written(message: &Message) -> Value {
    match message {
        Message::User(text) => json!({ "role": "user", "content": text }),
        Message::Agent(parts) => {
            let block = |part: &Part| match part {
                Part::Text(text) => json!({ "type": "text", "text": text }),
                Part::Call(call) => {
                    json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": call.input })
                }
            };
            json!({ "role": "assistant", "content": parts.iter().map(block).collect::<Vec<_>>() })
        }
        Message::Results(results) => {
            let blocks: Vec<_> = results
                .iter()
                .map(|result| json!({ "type": "tool_result", "tool_use_id": result.id, "content": result.text }))
                .collect();
            json!({ "role": "user", "content": blocks })
        }
    }
}
