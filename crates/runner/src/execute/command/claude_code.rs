//! What `claude -p --output-format stream-json --verbose` prints.
//!
//! One JSON object a line: `system`, `assistant` and `user` messages in the shape of the Anthropic API, and at last
//! one `result`. `stream_event` repeats in pieces what `assistant` says whole, and is left out.

use super::{
    super::{
        adapter::Failure,
        event::{Notes, note, texts},
        part,
    },
    lines::{Output, Said},
};
use serde_json::{Value, json, value::to_raw_value};
use std::collections::HashMap;
use wire::event::NewEvent;

/// What has been said so far, as far as later lines need it.
#[derive(Debug, Default)]
pub struct Transcript {
    /// Names of tools by the ids of their calls: answers name the id alone.
    tools: HashMap<String, String>,
}

impl Transcript {
    /// What the next line says.
    pub fn read(&mut self, line: Value) -> Vec<Said> {
        match line["type"].as_str() {
            Some("assistant") => events(&line, self.message(&line, "agent.message")),
            // A person's words inside a run are the prompt that we gave; the rest of such a message are answers.
            Some("user") => events(&line, self.message(&line, "external.event")),
            Some("result") => vec![Said::Result(outcome(&line))],
            Some("stream_event") => Vec::new(),
            _ => events(&line, texts("external.event", &told(&line), &note("said", line.clone()))),
        }
    }

    fn message(&mut self, line: &Value, kind: &str) -> Vec<NewEvent> {
        let message = &line["message"];
        let mut notes = Notes::new();
        for (name, value) in [("model", &message["model"]), ("stopReason", &message["stop_reason"])] {
            if value.is_string() {
                notes.insert(name.into(), value.clone());
            }
        }
        match &message["content"] {
            Value::Array(blocks) => blocks.iter().flat_map(|block| self.block(block, kind, &notes)).collect(),
            Value::String(text) => part::said(kind, text, &notes),
            _ => texts("external.event", &told(line), &note("said", line.clone())),
        }
    }

    fn block(&mut self, block: &Value, kind: &str, notes: &Notes) -> Vec<NewEvent> {
        let text = |name: &str| block[name].as_str().unwrap_or_default();
        match text("type") {
            "text" => part::said(kind, text("text"), notes),
            "thinking" => part::said("agent.thinking", text("thinking"), notes),
            "tool_use" | "server_tool_use" | "mcp_tool_use" => {
                self.tools.insert(text("id").to_owned(), text("name").to_owned());
                vec![part::call(text("id"), text("name"), &block["input"], notes)]
            }
            other if other.ends_with("tool_result") => {
                let id = text("tool_use_id");
                let name = self.tools.get(id).map_or("tool", String::as_str);
                let failed = block["is_error"] == true;
                vec![part::answer(id, name, &joined(&block["content"]), failed, notes)]
            }
            other => texts("external.event", other, &note("said", block.clone())),
        }
    }
}

/// Puts in who said it and under which id, so that it is recorded once.
fn events(line: &Value, made: Vec<NewEvent>) -> Vec<Said> {
    let (id, thread) = (line["uuid"].as_str(), line["parent_tool_use_id"].as_str());
    let alone = made.len() == 1;
    let identified = made.into_iter().enumerate().map(|(at, event)| NewEvent {
        external_event_id: id.map(|id| if alone { id.to_owned() } else { format!("{id}.{at}") }),
        thread_id: thread.map(str::to_owned),
        ..event
    });
    identified.map(Said::Event).collect()
}

/// Text blocks become their text; anything else stays as it is.
fn joined(content: &Value) -> Value {
    let texts = content.as_array().map(|blocks| blocks.iter().map(|block| block["text"].as_str()).collect());
    match texts {
        Some(Some::<Vec<_>>(texts)) => Value::from(texts.join("\n")),
        _ => content.clone(),
    }
}

/// A line that has no event of its own, in a few words.
fn told(line: &Value) -> String {
    let words = ["type", "subtype", "status", "model"].into_iter().filter_map(|name| line[name].as_str());
    words.collect::<Vec<_>>().join(" ")
}

fn outcome(line: &Value) -> Output {
    let failed = line["is_error"] == true || line["subtype"].as_str().is_some_and(|kind| kind != "success");
    let failure = failed.then(|| {
        let errors: Vec<_> = line["errors"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let said = line["result"].as_str().map_or_else(|| errors.join("; "), str::to_owned);
        let kind = line["subtype"].as_str().filter(|kind| *kind != "success").unwrap_or("agent_error");
        Failure::new(kind, if said.is_empty() { format!("Claude Code ended with {kind}") } else { said })
    });
    let result = [&line["structured_output"], &line["result"]].into_iter().find(|value| !value.is_null());
    Output { result: result.and_then(|value| to_raw_value(value).ok()), usage: usage(line), failure }
}

/// Tokens as the product counts them: what was read from a cache is input too.
fn usage(line: &Value) -> Option<wire::Json> {
    let usage = &line["usage"];
    let count = |name: &str| usage[name].as_u64().unwrap_or_default();
    if !usage.is_object() {
        return None;
    }
    let (written, cached) = (count("cache_creation_input_tokens"), count("cache_read_input_tokens"));
    let mut counted = json!({
        "inputTokens": count("input_tokens") + written + cached,
        "outputTokens": count("output_tokens"),
        "cachedInputTokens": cached,
    });
    for (name, value) in [("costUsd", &line["total_cost_usd"]), ("steps", &line["num_turns"])] {
        if value.is_number() {
            counted[name] = value.clone();
        }
    }
    to_raw_value(&counted).ok()
}

#[cfg(test)]
#[path = "claude_code_tests.rs"]
mod tests;
