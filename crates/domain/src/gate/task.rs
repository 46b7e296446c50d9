//! What a gate holds: the discriminated record of the paused call, the staged output or the question.

use super::GateKind;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A tool call that waits for a decision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PausedToolCall {
    /// The agent's id of the call.
    pub tool_call_id: String,
    /// The tool.
    pub tool_name: String,
    /// Its arguments, an object.
    pub tool_input: Map<String, Value>,
}

/// Output that waits for a decision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Staged {
    /// The whole structured output.
    pub staged_output: Map<String, Value>,
    /// Whether the output is the value of `text` alone: an agent that answers with a string, or with nothing.
    #[serde(default, skip_serializing_if = "is_false")]
    pub text_only: bool,
    /// Mean score of the chosen options, where they have scores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub criteria_score: Option<f64>,
    /// What a reviewer should look at twice.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub safety_flags: Vec<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
const fn is_false(flag: &bool) -> bool {
    !*flag
}

/// The key under which a plain text is staged.
const TEXT: &str = "text";

impl Staged {
    /// An agent's output as it is staged, whole. What is no object is staged as `text`.
    pub fn of(output: Value) -> Self {
        let (staged_output, text_only) = match output {
            Value::Object(object) => (object, false),
            plain => (Map::from_iter([(TEXT.to_owned(), plain)]), true),
        };
        Self { staged_output, text_only, criteria_score: None, safety_flags: Vec::new() }
    }

    /// The output that these values make, in the form in which the agent gave it.
    pub fn output(&self, mut values: Map<String, Value>) -> Value {
        if self.text_only { values.remove(TEXT).unwrap_or_default() } else { Value::Object(values) }
    }
}

/// A question to a person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Question {
    /// What the agent asks.
    pub message: String,
    /// JSON Schema of the answer; free text without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<Value>,
}

/// What a gate is about.
#[derive(Debug, Clone, PartialEq)]
pub enum Task {
    /// A tool call.
    Tool(PausedToolCall),
    /// An output that becomes a record.
    Output(Staged),
    /// Values of a record's fields.
    Fields(Staged),
    /// A question.
    Question(Question),
}

/// A stored or sent task that is none of the shapes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not an approval task: {0}")]
pub struct MalformedTask(String);

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ToolShape {
    paused_tool_call: PausedToolCall,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct QuestionShape {
    question: Question,
}

impl Task {
    /// Reads the record. Without `kind` it is a tool's: that is how the first ones were written.
    ///
    /// # Errors
    /// [`MalformedTask`] says what is wrong; nothing is guessed.
    pub fn parse(text: &str) -> Result<Self, MalformedTask> {
        let wrong = |error: serde_json::Error| MalformedTask(error.to_string());
        let mut record: Map<String, Value> = serde_json::from_str(text).map_err(wrong)?;
        let kind = match record.remove("kind") {
            None => GateKind::Tool,
            Some(Value::String(name)) => {
                GateKind::parse(&name).ok_or_else(|| MalformedTask(format!("`{name}` is not a kind")))?
            }
            Some(other) => return Err(MalformedTask(format!("`kind` is {other}"))),
        };
        let rest = Value::Object(record);
        Ok(match kind {
            GateKind::Tool => Self::Tool(serde_json::from_value::<ToolShape>(rest).map_err(wrong)?.paused_tool_call),
            GateKind::Output => Self::Output(serde_json::from_value(rest).map_err(wrong)?),
            GateKind::Fields => Self::Fields(serde_json::from_value(rest).map_err(wrong)?),
            GateKind::Question => {
                Self::Question(serde_json::from_value::<QuestionShape>(rest).map_err(wrong)?.question)
            }
        })
    }

    /// The record as it is stored and sent, with its `kind`.
    pub fn to_json(&self) -> Value {
        let shape = match self {
            Self::Tool(call) => serde_json::to_value(ToolShape { paused_tool_call: call.clone() }),
            Self::Output(staged) | Self::Fields(staged) => serde_json::to_value(staged),
            Self::Question(question) => serde_json::to_value(QuestionShape { question: question.clone() }),
        };
        // These shapes are strings, maps and finite numbers: they always serialise.
        let mut shape = shape.unwrap_or_default();
        shape["kind"] = self.kind().as_str().into();
        shape
    }

    /// What is left of a gate of this kind when its content was erased.
    pub fn erased(kind: GateKind, words: &str) -> Self {
        let staged = Staged::of(Value::Object(Map::new()));
        match kind {
            GateKind::Tool => Self::Tool(PausedToolCall {
                tool_call_id: String::new(),
                tool_name: words.to_owned(),
                tool_input: Map::new(),
            }),
            GateKind::Output => Self::Output(staged),
            GateKind::Fields => Self::Fields(staged),
            GateKind::Question => Self::Question(Question { message: words.to_owned(), schema: None }),
        }
    }

    /// Which kind of gate it makes.
    pub const fn kind(&self) -> GateKind {
        match self {
            Self::Tool(_) => GateKind::Tool,
            Self::Output(_) => GateKind::Output,
            Self::Fields(_) => GateKind::Fields,
            Self::Question(_) => GateKind::Question,
        }
    }

    /// The values that a reviewer may edit: a call's arguments, a staged output.
    pub const fn editable(&self) -> Option<&Map<String, Value>> {
        match self {
            Self::Tool(call) => Some(&call.tool_input),
            Self::Output(staged) | Self::Fields(staged) => Some(&staged.staged_output),
            Self::Question(_) => None,
        }
    }

    /// The output that these values make; an object for everything but a staged text.
    pub fn output(&self, values: Map<String, Value>) -> Value {
        match self {
            Self::Output(staged) | Self::Fields(staged) => staged.output(values),
            Self::Tool(_) | Self::Question(_) => Value::Object(values),
        }
    }

    /// What a decision is bound to: everything that would happen if it were approved.
    pub fn shown(&self) -> Value {
        match self {
            Self::Tool(call) => serde_json::json!({ "toolName": call.tool_name, "toolInput": call.tool_input }),
            Self::Output(staged) | Self::Fields(staged) => Value::Object(staged.staged_output.clone()),
            Self::Question(question) => serde_json::json!({ "message": question.message, "schema": question.schema }),
        }
    }

    /// [`Task::shown`] with other values in place of the editable ones.
    pub fn shown_with(&self, values: &Map<String, Value>) -> Value {
        match self {
            Self::Tool(call) => serde_json::json!({ "toolName": call.tool_name, "toolInput": values }),
            Self::Output(_) | Self::Fields(_) => Value::Object(values.clone()),
            Self::Question(_) => self.shown(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_kind_reads_back_and_a_record_without_kind_is_a_tools() {
        for record in [
            json!({"kind": "tool", "pausedToolCall": {"toolCallId": "c1", "toolName": "send", "toolInput": {"to": "x"}}}),
            json!({"kind": "output", "stagedOutput": {"stage": "Won"}, "criteriaScore": 0.5, "safetyFlags": ["tone: sharp"]}),
            json!({"kind": "fields", "stagedOutput": {"stage": "Won"}}),
            json!({"kind": "output", "stagedOutput": {"text": "Done."}, "textOnly": true}),
            json!({"kind": "question", "question": {"message": "Which one?"}}),
        ] {
            let task = Task::parse(&record.to_string()).unwrap();
            assert_eq!(task.to_json(), record);
        }
        let old = json!({"pausedToolCall": {"toolCallId": "c1", "toolName": "send", "toolInput": {}}});
        assert_eq!(Task::parse(&old.to_string()).unwrap().kind(), GateKind::Tool);
    }

    #[test]
    fn an_output_comes_back_in_the_form_in_which_it_was_staged() {
        for output in [json!("Done."), json!(null), json!({"text": "Done.", "notes": 3}), json!({"text": "Done."})] {
            let staged = Staged::of(output.clone());
            assert_eq!(staged.output(staged.staged_output.clone()), output);
            assert_eq!(staged.text_only, !output.is_object());
        }
    }

    #[test]
    fn what_is_malformed_is_refused_with_its_reason() {
        for (record, says) in [
            ("[]", "invalid type"),
            (r#"{"kind": "email"}"#, "`email` is not a kind"),
            (r#"{"kind": 1}"#, "`kind` is 1"),
            (r#"{"kind": "output"}"#, "missing field `stagedOutput`"),
            (r#"{"kind": "output", "stagedOutput": "text"}"#, "invalid type"),
            (r#"{"kind": "output", "stagedOutput": {}, "extra": 1}"#, "unknown field `extra`"),
            (r#"{"pausedToolCall": {"toolCallId": "c1", "toolName": "send"}}"#, "missing field `toolInput`"),
        ] {
            let refused = Task::parse(record).unwrap_err().to_string();
            assert!(refused.contains(says), "{record}: {refused}");
        }
    }
}
