//! The parts of an event's content. Parsing is lenient: unknown content is shown as JSON, and nothing is refused.

use crate::text::json;
use domain::event::{Known, PartType};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;
use wire::event::Event;

/// One part, borrowed from its event.
#[derive(Debug, Clone)]
pub enum Part<'a> {
    /// Markdown text.
    Text(Cow<'a, str>),
    /// Reasoning of an agent.
    Reasoning(Cow<'a, str>),
    /// A tool call.
    Call(Call<'a>),
    /// A tool result.
    Answer(Answer<'a>),
    /// Anything else, as JSON.
    Other(&'a RawValue),
}

/// A tool call.
#[derive(Debug, Clone)]
pub struct Call<'a> {
    /// Id that the result refers to.
    pub id: Cow<'a, str>,
    /// Name of the tool.
    pub name: Cow<'a, str>,
    /// Arguments of the call.
    pub input: Option<&'a RawValue>,
}

/// A tool result.
#[derive(Debug, Clone)]
pub struct Answer<'a> {
    /// Id of the call.
    pub id: Cow<'a, str>,
    /// Name of the tool.
    pub name: Cow<'a, str>,
    /// Output of the tool.
    pub output: Option<&'a RawValue>,
    /// Whether the call failed.
    pub is_error: bool,
    /// Duration in milliseconds, if the event states it.
    pub duration_ms: Option<u64>,
}

/// The fields of all known parts. Absent fields are `None`, and values of any type are accepted.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Fields<'a> {
    #[serde(rename = "type", borrow)]
    kind: Option<&'a RawValue>,
    #[serde(borrow)]
    text: Option<&'a RawValue>,
    #[serde(borrow)]
    reasoning: Option<&'a RawValue>,
    #[serde(borrow, alias = "invocationId", alias = "tool_call_id")]
    tool_call_id: Option<&'a RawValue>,
    #[serde(borrow, alias = "tool", alias = "tool_name")]
    tool_name: Option<&'a RawValue>,
    #[serde(borrow, alias = "args")]
    input: Option<&'a RawValue>,
    #[serde(borrow, alias = "result")]
    output: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    #[serde(borrow)]
    is_error: Option<&'a RawValue>,
    #[serde(borrow, alias = "durationMilliseconds")]
    duration_ms: Option<&'a RawValue>,
}

fn text(raw: Option<&RawValue>) -> Option<Cow<'_, str>> {
    raw.and_then(json::string)
}

/// An id as text. A number is used as written.
fn id(raw: Option<&RawValue>) -> Cow<'_, str> {
    raw.map(|r| json::string(r).unwrap_or(Cow::Borrowed(r.get()))).unwrap_or_default()
}

impl<'a> Fields<'a> {
    fn call(&self) -> Call<'a> {
        Call {
            id: id(self.tool_call_id),
            name: text(self.tool_name).unwrap_or(Cow::Borrowed("tool")),
            input: self.input,
        }
    }

    fn answer(&self, failed: bool) -> Answer<'a> {
        let output = self.output.or(self.error);
        // The AI SDK marks failures in the type of the output: error-text, error-json.
        let typed = output.map(|o| json::members(o.get())).unwrap_or_default();
        let typed_error = typed.iter().any(|(key, value)| key == "type" && value.get().starts_with("\"error"));
        let said = self.is_error.is_some_and(|e| e.get() == "true");
        Answer {
            id: id(self.tool_call_id),
            name: text(self.tool_name).unwrap_or_default(),
            output,
            is_error: failed || said || typed_error || (self.output.is_none() && self.error.is_some()),
            duration_ms: self.duration_ms.and_then(|d| d.get().parse::<f64>().ok()).map(|ms| ms.max(0.0) as u64),
        }
    }

    /// The part; `None` if only its JSON can be shown.
    fn part(&self) -> Option<Part<'a>> {
        match PartType::parse(&text(self.kind)?)? {
            PartType::Text => text(self.text).map(Part::Text),
            PartType::Reasoning => text(self.text).or_else(|| text(self.reasoning)).map(Part::Reasoning),
            PartType::ToolCall => Some(Part::Call(self.call())),
            PartType::ToolResult => Some(Part::Answer(self.answer(false))),
            PartType::ToolError => Some(Part::Answer(self.answer(true))),
        }
    }
}

/// The parts of an event. Events of kind `tool.invocation_*` become tool calls and results too.
pub fn parts(event: &Event) -> Vec<Part<'_>> {
    let raw = event.content.get();
    let fields: Vec<Fields<'_>> = serde_json::from_str(raw).unwrap_or_default();
    let mut found: Vec<Part<'_>> = Vec::with_capacity(fields.len());
    let mut raws: Option<Vec<&RawValue>> = None;
    for (at, fields) in fields.iter().enumerate() {
        match fields.part() {
            Some(part) => found.push(part),
            None => {
                let raws = raws.get_or_insert_with(|| serde_json::from_str(raw).unwrap_or_default());
                found.extend(raws.get(at).map(|raw| Part::Other(raw)));
            }
        }
    }
    let invocation = match event.known() {
        Some(Known::ToolInvocationStarted) => Some(false),
        Some(Known::ToolInvocationCompleted | Known::ToolInvocationFailed) => Some(true),
        _ => None,
    };
    if let Some(is_answer) = invocation
        && !found.iter().any(|part| matches!(part, Part::Call(_) | Part::Answer(_)))
    {
        let metadata: Fields<'_> = serde_json::from_str(event.metadata.get()).unwrap_or_default();
        let first = fields.first().copied().unwrap_or_default();
        let merged = Fields {
            tool_call_id: metadata.tool_call_id.or(first.tool_call_id),
            tool_name: metadata.tool_name.or(first.tool_name),
            input: metadata.input.or(first.input),
            output: metadata.output.or(first.output).or(first.text),
            error: metadata.error.or(first.error),
            duration_ms: metadata.duration_ms.or(first.duration_ms),
            ..Fields::default()
        };
        found = vec![if is_answer {
            Part::Answer(merged.answer(event.kind == Known::ToolInvocationFailed))
        } else {
            Part::Call(merged.call())
        }];
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::fixture::event;

    #[test]
    fn calls_and_answers_are_read_in_either_spelling() {
        let call = event(
            1,
            "agent.tool_call",
            r#"[{"type":"tool-call","toolCallId":7,"toolName":"find","args":{"q":1}}]"#,
            "{}",
        );
        let Some(Part::Call(call)) = parts(&call).pop() else { panic!() };
        assert_eq!((&*call.id, &*call.name, call.input.unwrap().get()), ("7", "find", r#"{"q":1}"#));
        let answer = event(
            2,
            "tool.invocation_failed",
            "[]",
            r#"{"invocationId":"x","tool":"find","error":"gone","durationMs":12.5}"#,
        );
        let Some(Part::Answer(answer)) = parts(&answer).pop() else { panic!() };
        assert_eq!((&*answer.id, answer.is_error, answer.duration_ms), ("x", true, Some(12)));
    }

    #[test]
    fn an_error_is_read_from_the_type_of_the_output() {
        let content =
            r#"[{"type":"tool-result","toolCallId":"a","toolName":"t","output":{"type":"error-text","value":"no"}}]"#;
        let event = event(1, "agent.tool_result", content, "{}");
        assert!(matches!(parts(&event).pop(), Some(Part::Answer(answer)) if answer.is_error));
    }

    #[test]
    fn strange_parts_are_kept_as_json() {
        let event = event(1, "agent.message", r#"[{"type":"text","text":5},{"type":"chart","bars":[1]}]"#, "{}");
        let raw: Vec<_> = parts(&event)
            .into_iter()
            .map(|p| match p {
                Part::Other(raw) => raw.get().to_owned(),
                other => format!("{other:?}"),
            })
            .collect();
        assert_eq!(raw, [r#"{"type":"text","text":5}"#, r#"{"type":"chart","bars":[1]}"#]);
    }
}
