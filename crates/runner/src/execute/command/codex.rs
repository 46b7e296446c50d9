//! Parses the output of `codex exec --json`.
//!
//! Each line is a JSON object. Items are started, updated and completed; a turn ends with its usage. The agent's last
//! message is its result.

use super::{
    super::{
        adapter::Failure,
        agent_event::{self, external},
        event::texts,
        notes::Notes,
        think,
    },
    output::{Output, Parsed},
};
use domain::event::Known;
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
    cache_write_tokens: u64,
    turns: u64,
    /// Turns that ended without their tokens.
    unreported_turns: u64,
    failure: Option<Failure>,
    /// Why a line with the answer or its usage could not be read.
    lost: Option<Failure>,
}

impl Parser {
    /// Parses the next line.
    pub fn read(&mut self, line: Value) -> Vec<Parsed> {
        let item = &line["item"];
        let made = match line["type"].as_str().unwrap_or_default() {
            "item.started" => self.started(item),
            // What is done so far, such as the list of what is left to do. `item.completed` has the whole item.
            "item.updated" => printed(item, "updated"),
            "item.completed" => self.completed(item),
            "turn.completed" => {
                self.count(&line["usage"]);
                self.failure = None;
                return vec![self.outcome()];
            }
            "turn.failed" => return self.failed(&line["error"]["message"]),
            "error" => {
                let mut parsed = self.failed(&line["message"]);
                let text = line["message"].as_str().unwrap_or("error");
                parsed.extend(
                    texts(Known::ExternalEvent.as_str(), text, &Notes::default()).into_iter().map(Parsed::Event),
                );
                return parsed;
            }
            other => external(other, &line, &Notes::default()),
        };
        made.into_iter().map(Parsed::Event).collect()
    }

    fn started(&mut self, item: &Value) -> Vec<NewEvent> {
        let id = item["id"].as_str().unwrap_or_default();
        match tool(item) {
            Some((name, input)) if self.called.insert(id.to_owned()) => {
                vec![agent_event::tool_call(id, &name, &input, &Notes::default())]
            }
            Some(_) => Vec::new(),
            None => printed(item, "started"),
        }
    }

    fn completed(&mut self, item: &Value) -> Vec<NewEvent> {
        let text = item["text"].as_str().unwrap_or_default();
        match item["type"].as_str().unwrap_or_default() {
            "agent_message" => {
                let split = think::split(text);
                let mut made = agent_event::text(Known::AgentThinking.as_str(), &split.thinking, &Notes::default());
                made.extend(agent_event::text(Known::AgentMessage.as_str(), &split.text, &Notes::default()));
                self.answer = Some(split.text);
                made
            }
            "reasoning" => agent_event::text(Known::AgentThinking.as_str(), text, &Notes::default()),
            "error" => {
                texts(Known::ExternalEvent.as_str(), item["message"].as_str().unwrap_or("error"), &Notes::default())
            }
            kind => match tool(item) {
                Some((name, _)) => {
                    let mut made = self.started(item);
                    let (output, failed) = answer(item);
                    let id = item["id"].as_str().unwrap_or_default();
                    made.push(agent_event::tool_result(id, &name, &output, failed, &Notes::default()));
                    made
                }
                None => external(kind, item, &Notes::default()),
            },
        }
    }

    /// Fails the run, because a line with its answer or its usage could not be read.
    pub fn lose(&mut self, failure: Failure) -> Output {
        self.lost.get_or_insert(failure);
        self.output()
    }

    fn count(&mut self, usage: &Value) {
        self.turns += 1;
        let count = |name: &str| usage[name].as_u64();
        let (Some(input), Some(output)) = (count("input_tokens"), count("output_tokens")) else {
            self.unreported_turns += 1;
            return;
        };
        self.input_tokens += input;
        self.output_tokens += output;
        self.cached_input_tokens += count("cached_input_tokens").unwrap_or_default();
        self.cache_write_tokens += count("cache_write_input_tokens").unwrap_or_default();
    }

    fn failed(&mut self, message: &Value) -> Vec<Parsed> {
        let message = message.as_str().unwrap_or("the turn failed");
        self.failure = Some(Failure::new("agent_error", message));
        vec![self.outcome()]
    }

    fn outcome(&self) -> Parsed {
        Parsed::Result(self.output())
    }

    fn output(&self) -> Output {
        Output {
            result: self.answer.as_ref().and_then(|text| to_raw_value(text).ok()),
            usage: if self.turns > 0 { to_raw_value(&self.usage()).ok() } else { None },
            failure: self.failure.clone().or_else(|| self.lost.clone()),
        }
    }

    /// Usage in the product's form. Tokens are left out if those of a turn are not known.
    fn usage(&self) -> Value {
        let mut usage = json!({ "steps": self.turns });
        if self.unreported_turns > 0 {
            usage["unreportedSteps"] = self.unreported_turns.into();
            return usage;
        }
        usage["inputTokens"] = self.input_tokens.into();
        usage["outputTokens"] = self.output_tokens.into();
        usage["cachedInputTokens"] = self.cached_input_tokens.into();
        if self.cache_write_tokens > 0 {
            usage["cacheWriteTokens"] = self.cache_write_tokens.into();
        }
        usage
    }
}

/// An item that is neither a message nor a call, before it is completed. Messages and reasoning are empty then.
fn printed(item: &Value, progress: &str) -> Vec<NewEvent> {
    match item["type"].as_str().unwrap_or_default() {
        "agent_message" | "reasoning" => Vec::new(),
        kind => external(kind, item, &Notes { progress: Some(progress.to_owned()), ..Notes::default() }),
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
