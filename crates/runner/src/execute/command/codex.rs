//! Parses the output of `codex exec --json`.
//!
//! Each line is a JSON object. Items are started, updated and completed; a turn ends with its usage. The agent's last
//! message is its result.

use super::{
    super::{
        adapter::Failure,
        agent_event,
        event::{Notes, note, texts},
    },
    output::{Output, Parsed},
};
use serde_json::{Value, json, value::to_raw_value};
use std::collections::HashSet;
use wire::event::NewEvent;

/// What later lines refer to.
#[derive(Debug, Default)]
pub struct Parser {
    /// Ids of the items whose tool call is recorded.
    called: HashSet<String>,
    answer: Option<String>,
    input_tokens: u64,
    cached_input_tokens: u64,
    output_tokens: u64,
    turns: u64,
    failure: Option<Failure>,
}

impl Parser {
    /// Parses the next line.
    pub fn read(&mut self, line: Value) -> Vec<Parsed> {
        let item = &line["item"];
        let made = match line["type"].as_str().unwrap_or_default() {
            "item.started" => self.started(item),
            "item.completed" => self.completed(item),
            // `item.completed` has the whole item.
            "item.updated" | "turn.started" => Vec::new(),
            "turn.completed" => {
                self.count(&line["usage"]);
                self.failure = None;
                return vec![self.outcome()];
            }
            "turn.failed" => return self.failed(&line["error"]["message"]),
            "error" => {
                let mut parsed = self.failed(&line["message"]);
                let text = line["message"].as_str().unwrap_or("error");
                parsed.extend(texts("external.event", text, &Notes::new()).into_iter().map(Parsed::Event));
                return parsed;
            }
            other => texts("external.event", other, &note("said", line.clone())),
        };
        made.into_iter().map(Parsed::Event).collect()
    }

    fn started(&mut self, item: &Value) -> Vec<NewEvent> {
        let id = item["id"].as_str().unwrap_or_default();
        match tool(item) {
            Some((name, input)) if self.called.insert(id.to_owned()) => {
                vec![agent_event::tool_call(id, &name, &input, &Notes::new())]
            }
            _ => Vec::new(),
        }
    }

    fn completed(&mut self, item: &Value) -> Vec<NewEvent> {
        let text = item["text"].as_str().unwrap_or_default();
        match item["type"].as_str().unwrap_or_default() {
            "agent_message" => {
                self.answer = Some(text.to_owned());
                agent_event::text("agent.message", text, &Notes::new())
            }
            "reasoning" => agent_event::text("agent.thinking", text, &Notes::new()),
            "error" => texts("external.event", item["message"].as_str().unwrap_or("error"), &Notes::new()),
            kind => match tool(item) {
                Some((name, _)) => {
                    let mut made = self.started(item);
                    let (output, failed) = answer(item);
                    let id = item["id"].as_str().unwrap_or_default();
                    made.push(agent_event::tool_result(id, &name, &output, failed, &Notes::new()));
                    made
                }
                None => texts("external.event", kind, &note("said", item.clone())),
            },
        }
    }

    fn count(&mut self, usage: &Value) {
        let count = |name: &str| usage[name].as_u64().unwrap_or_default();
        self.input_tokens += count("input_tokens");
        self.cached_input_tokens += count("cached_input_tokens");
        self.output_tokens += count("output_tokens");
        self.turns += 1;
    }

    fn failed(&mut self, message: &Value) -> Vec<Parsed> {
        let message = message.as_str().unwrap_or("the turn failed");
        self.failure = Some(Failure::new("agent_error", message));
        vec![self.outcome()]
    }

    fn outcome(&self) -> Parsed {
        let usage = json!({
            "inputTokens": self.input_tokens,
            "outputTokens": self.output_tokens,
            "cachedInputTokens": self.cached_input_tokens,
            "steps": self.turns,
        });
        Parsed::Result(Output {
            result: self.answer.as_ref().and_then(|text| to_raw_value(text).ok()),
            usage: if self.turns > 0 { to_raw_value(&usage).ok() } else { None },
            failure: self.failure.clone(),
        })
    }
}

/// Name and input of an item's tool; `None` for items of another kind.
fn tool(item: &Value) -> Option<(String, Value)> {
    Some(match item["type"].as_str()? {
        "command_execution" => ("shell".into(), json!({ "command": item["command"] })),
        "file_change" => ("apply_patch".into(), json!({ "changes": item["changes"] })),
        "web_search" => ("web_search".into(), json!({ "query": item["query"] })),
        "mcp_tool_call" => {
            let name = |field: &str| item[field].as_str().unwrap_or_default();
            (format!("{}.{}", name("server"), name("tool")), item["arguments"].clone())
        }
        _ => return None,
    })
}

/// Output of a tool, and whether it is an error.
fn answer(item: &Value) -> (Value, bool) {
    let failed = item["status"] == "failed" || item["status"] == "declined";
    let output = match item["type"].as_str().unwrap_or_default() {
        "command_execution" => json!({ "output": item["aggregated_output"], "exitCode": item["exit_code"] }),
        "mcp_tool_call" if !item["error"].is_null() => item["error"].clone(),
        "mcp_tool_call" => item["result"].clone(),
        _ => json!({ "status": item.get("status").cloned().unwrap_or_else(|| "completed".into()) }),
    };
    (output, failed)
}

#[cfg(test)]
#[path = "codex_tests.rs"]
mod tests;
