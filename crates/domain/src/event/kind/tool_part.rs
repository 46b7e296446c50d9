//! The parts of content that are tool calls and their results, in the format of the AI SDK.

use crate::event::PartType;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Types of results that are wrapped as `{type, value}`.
const WRAPPED: [&str; 4] = ["text", "json", "error-text", "error-json"];

/// A tool call.
#[derive(Debug, Clone, PartialEq)]
pub struct CallPart {
    /// Id that the result refers to.
    pub id: Option<String>,
    /// Name of the tool.
    pub name: Option<String>,
    /// Arguments; `null` without any.
    pub input: Value,
}

/// The result of a tool call.
#[derive(Debug, Clone, PartialEq)]
pub struct ResultPart {
    /// Id of the call.
    pub id: Option<String>,
    /// Name of the tool.
    pub name: Option<String>,
    /// Output of the tool; `null` without any.
    pub output: Value,
}

/// The members that parts of both types have. A part of another type has none of them, or others.
#[derive(Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Part {
    #[serde(rename = "type")]
    kind: Value,
    #[serde(skip_serializing_if = "Value::is_null")]
    tool_call_id: Value,
    #[serde(alias = "tool_name", skip_serializing_if = "Value::is_null")]
    tool_name: Value,
    #[serde(skip_serializing_if = "Value::is_null")]
    input: Value,
    #[serde(skip_serializing_if = "Value::is_null")]
    output: Value,
}

fn text(value: Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text),
        Value::Number(_) => Some(value.to_string()),
        _ => None,
    }
}

/// Reads the parts of one type.
fn parts(content: &str, kind: PartType) -> Vec<Part> {
    let all: Vec<Value> = serde_json::from_str(content).unwrap_or_default();
    let read = all.into_iter().filter_map(|part| serde_json::from_value::<Part>(part).ok());
    read.filter(|part| part.kind.as_str().and_then(PartType::parse) == Some(kind)).collect()
}

/// Reads the tool calls of content. Parts of other types are left out.
pub(super) fn calls(content: &str) -> Vec<CallPart> {
    let call = |part: Part| CallPart { id: text(part.tool_call_id), name: text(part.tool_name), input: part.input };
    parts(content, PartType::ToolCall).into_iter().map(call).collect()
}

/// Reads the results of content. Parts of other types are left out.
pub(super) fn results(content: &str) -> Vec<ResultPart> {
    let result =
        |part: Part| ResultPart { id: text(part.tool_call_id), name: text(part.tool_name), output: part.output };
    parts(content, PartType::ToolResult).into_iter().map(result).collect()
}

fn written(parts: Vec<Part>) -> String {
    serde_json::to_string(&parts).unwrap_or_else(|_| "[]".into())
}

/// Writes tool calls as content.
pub(super) fn write_calls(calls: &[CallPart]) -> String {
    let part = |call: &CallPart| Part {
        kind: PartType::ToolCall.as_str().into(),
        tool_call_id: call.id.clone().into(),
        tool_name: call.name.clone().into(),
        input: call.input.clone(),
        output: Value::Null,
    };
    written(calls.iter().map(part).collect())
}

/// Writes results as content.
pub(super) fn write_results(results: &[ResultPart]) -> String {
    let part = |result: &ResultPart| Part {
        kind: PartType::ToolResult.as_str().into(),
        tool_call_id: result.id.clone().into(),
        tool_name: result.name.clone().into(),
        input: Value::Null,
        output: result.output.clone(),
    };
    written(results.iter().map(part).collect())
}

impl ResultPart {
    /// The output without the wrapper that says of which type it is.
    pub fn value(&self) -> &Value {
        let is_wrapped = self.output["type"].as_str().is_some_and(|kind| WRAPPED.contains(&kind));
        if is_wrapped { &self.output["value"] } else { &self.output }
    }

    /// Whether the tool answered with an error.
    pub fn is_error(&self) -> bool {
        let kind = self.output["type"].as_str();
        kind.is_some_and(|kind| kind.starts_with("error-"))
            || ["isError", "is_error"].iter().any(|key| self.output[*key] == Value::Bool(true))
    }

    /// The output as text.
    pub fn text(&self) -> String {
        let value = self.value();
        value.as_str().map_or_else(|| value.to_string(), str::to_owned)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_answer_is_its_value_whoever_wrote_it() {
        let of = |output: Value| ResultPart { id: None, name: None, output }.text();
        assert_eq!(of(json!({ "type": "text", "value": "ok" })), "ok");
        assert_eq!(of(json!({ "type": "json", "value": { "a": 1 } })), r#"{"a":1}"#);
        assert_eq!(of(json!("plain")), "plain");
        assert_eq!(of(json!({ "stdout": "x" })), r#"{"stdout":"x"}"#);
    }

    #[test]
    fn an_error_is_told_from_an_answer() {
        let is_error = |output: Value| ResultPart { id: None, name: None, output }.is_error();
        assert!(is_error(json!({ "type": "error-text", "value": "no" })));
        assert!(is_error(json!({ "type": "error-json", "value": {} })));
        assert!(is_error(json!({ "isError": true, "content": [] })));
        assert!(!is_error(json!({ "type": "text", "value": "error-text" })));
        assert!(!is_error(json!("error")));
    }
}
