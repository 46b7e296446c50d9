//! Parses the output of `claude -p --output-format stream-json --verbose`.
//!
//! Each line is a JSON object: `system`, `assistant` and `user` messages in the shape of the Anthropic API, and one
//! `result` at the end. `stream_event` lines are ignored: they repeat parts of `assistant` messages.

use super::{
    super::{
        adapter::Failure,
        agent_event::{self, external},
        notes::Notes,
        think,
    },
    output::{Output, Parsed},
};
use domain::event::Known;
use serde_json::{Value, json, value::to_raw_value};
use std::collections::HashMap;
use wire::event::NewEvent;

/// What later lines refer to.
#[derive(Debug, Default)]
pub struct Parser {
    /// Names of tools by call id: a result names only the id.
    tools: HashMap<String, String>,
}

impl Parser {
    /// Parses the next line.
    pub fn read(&mut self, line: Value) -> Vec<Parsed> {
        match line["type"].as_str() {
            Some("assistant") => events(&line, self.message(&line, Known::AgentMessage.as_str())),
            // Text in a user message is the prompt that was sent; the other blocks are tool results.
            Some("user") => events(&line, self.message(&line, Known::ExternalEvent.as_str())),
            Some("result") => vec![Parsed::Result(outcome(&line))],
            Some("stream_event") => Vec::new(),
            _ => events(&line, external(&describe_line(&line), &line, &Notes::default())),
        }
    }

    fn message(&mut self, line: &Value, kind: &str) -> Vec<NewEvent> {
        let message = &line["message"];
        let text = |name: &str| message[name].as_str().map(str::to_owned);
        let notes = Notes { model: text("model"), stop_reason: text("stop_reason"), ..Notes::default() };
        match &message["content"] {
            Value::Array(blocks) => blocks.iter().flat_map(|block| self.block(block, kind, &notes)).collect(),
            Value::String(text) => spoken(kind, text, &notes),
            _ => external(&describe_line(line), line, &Notes::default()),
        }
    }

    fn block(&mut self, block: &Value, kind: &str, notes: &Notes) -> Vec<NewEvent> {
        let text = |name: &str| block[name].as_str().unwrap_or_default();
        match text("type") {
            "text" => spoken(kind, text("text"), notes),
            "thinking" => agent_event::text(Known::AgentThinking.as_str(), text("thinking"), notes),
            "tool_use" | "server_tool_use" | "mcp_tool_use" => {
                self.tools.insert(text("id").to_owned(), text("name").to_owned());
                vec![agent_event::tool_call(text("id"), text("name"), &block["input"], notes)]
            }
            other if other.ends_with("tool_result") => {
                let id = text("tool_use_id");
                let name = self.tools.get(id).map_or("tool", String::as_str);
                let failed = block["is_error"] == true;
                vec![agent_event::tool_result(id, name, &joined(&block["content"]), failed, notes)]
            }
            other => external(other, block, &Notes::default()),
        }
    }
}

/// The events of a text. Open models write their reasoning into it.
fn spoken(kind: &str, text: &str, notes: &Notes) -> Vec<NewEvent> {
    if kind != Known::AgentMessage {
        return agent_event::text(kind, text, notes);
    }
    let split = think::split(text);
    let mut made = agent_event::text(Known::AgentThinking.as_str(), &split.thinking, notes);
    made.extend(agent_event::text(kind, &split.text, notes));
    made
}

/// Sets the thread and an external id, by which a repeated event is recognised.
fn events(line: &Value, made: Vec<NewEvent>) -> Vec<Parsed> {
    let (id, thread) = (line["uuid"].as_str(), line["parent_tool_use_id"].as_str());
    let alone = made.len() == 1;
    let identified = made.into_iter().enumerate().map(|(at, event)| NewEvent {
        external_event_id: id.map(|id| if alone { id.to_owned() } else { format!("{id}.{at}") }),
        thread_id: thread.map(str::to_owned),
        ..event
    });
    identified.map(Parsed::Event).collect()
}

/// The text of text blocks; any other content unchanged.
fn joined(content: &Value) -> Value {
    let texts = content.as_array().map(|blocks| blocks.iter().map(|block| block["text"].as_str()).collect());
    match texts {
        Some(Some::<Vec<_>>(texts)) => Value::from(texts.join("\n")),
        _ => content.clone(),
    }
}

/// A short description of a line that has no event kind of its own.
fn describe_line(line: &Value) -> String {
    let words = ["type", "subtype", "status", "model"].into_iter().filter_map(|name| line[name].as_str());
    words.collect::<Vec<_>>().join(" ")
}

fn outcome(line: &Value) -> Output {
    let failed = line["is_error"] == true || line["subtype"].as_str().is_some_and(|kind| kind != "success");
    let said = line["result"].as_str().map(|text| think::split(text).text);
    let failure = failed.then(|| {
        let errors: Vec<_> = line["errors"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let message = said.clone().unwrap_or_else(|| errors.join("; "));
        let kind = line["subtype"].as_str().filter(|kind| *kind != "success").unwrap_or("agent_error");
        Failure::new(kind, if message.is_empty() { format!("Claude Code ended with {kind}") } else { message })
    });
    let declined = (line["stop_reason"] == "refusal").then(|| {
        let declined = "the model declined to answer (stop reason refusal)";
        let words = said.as_deref().map(str::trim).filter(|words| !words.is_empty());
        Failure::new(
            "model_declined",
            words.map_or_else(|| declined.to_owned(), |words| format!("{declined}: {words}")),
        )
    });
    let structured = Some(&line["structured_output"]).filter(|value| !value.is_null());
    let result = match (structured, &said) {
        (Some(structured), _) => to_raw_value(structured).ok(),
        (None, Some(text)) => to_raw_value(text).ok(),
        (None, None) => {
            Some(&line["result"]).filter(|value| !value.is_null()).and_then(|value| to_raw_value(value).ok())
        }
    };
    Output { result, usage: usage(line), failure: declined.or(failure) }
}

/// Usage in the product's form: input tokens include those read from or written to a cache. Figures that are not
/// reported are left out; `None` if there are none.
fn usage(line: &Value) -> Option<wire::Json> {
    let usage = &line["usage"];
    let count = |name: &str| usage[name].as_u64();
    let mut counted = json!({});
    if let (Some(input), Some(output)) = (count("input_tokens"), count("output_tokens")) {
        let written = count("cache_creation_input_tokens").unwrap_or_default();
        let cached = count("cache_read_input_tokens").unwrap_or_default();
        counted["inputTokens"] = (input + written + cached).into();
        counted["outputTokens"] = output.into();
        counted["cachedInputTokens"] = cached.into();
        if written > 0 {
            counted["cacheWriteTokens"] = written.into();
        }
    }
    for (name, value) in [("costUsd", &line["total_cost_usd"]), ("steps", &line["num_turns"])] {
        if value.is_number() {
            counted[name] = value.clone();
        }
    }
    let has_figures = counted.as_object().is_some_and(|figures| !figures.is_empty());
    has_figures.then(|| to_raw_value(&counted).ok())?
}

#[cfg(test)]
#[path = "claude_code_tests.rs"]
mod tests;
