//! The content of a gate: the paused call, the staged output or the question, as a JSON object with a `kind`.

use super::GateKind;
use crate::{
    evidence::{Evidence, LineEvidence},
    id::FeedbackRequestId,
    view::Field,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A tool call that waits for a decision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PausedToolCall {
    /// Id that the agent gave to the call.
    pub tool_call_id: String,
    /// Tool that the agent wants to call, as the agent names it.
    pub tool_name: String,
    /// Arguments of the call.
    pub tool_input: Map<String, Value>,
}

/// Output that waits for a decision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Staged {
    /// The whole output as an object.
    pub staged_output: Map<String, Value>,
    /// Whether the agent's output was not an object and is staged under the key `text`.
    #[serde(default, skip_serializing_if = "is_false")]
    pub text_only: bool,
    /// Mean score of the chosen options of the criteria; `None` if none has a score.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub criteria_score: Option<f64>,
    /// Chosen options that deserve a reviewer's attention, as `dimension: option`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub safety_flags: Vec<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
const fn is_false(flag: &bool) -> bool {
    !*flag
}

/// Key under which an output that is not an object is staged.
const TEXT: &str = "text";

impl Staged {
    /// Stages the whole output of an agent. A value that is not an object is staged under `text`.
    pub fn of(output: Value) -> Self {
        let (staged_output, text_only) = match output {
            Value::Object(object) => (object, false),
            plain => (Map::from_iter([(TEXT.to_owned(), plain)]), true),
        };
        Self { staged_output, text_only, criteria_score: None, safety_flags: Vec::new() }
    }

    /// Returns the output with these values in the form in which the agent gave it: an object, or the plain
    /// value of `text`.
    pub fn output(&self, mut values: Map<String, Value>) -> Value {
        if self.text_only { values.remove(TEXT).unwrap_or_default() } else { Value::Object(values) }
    }
}

/// A question to a person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Question {
    /// Text of the question.
    pub message: String,
    /// JSON Schema of the answer. Without one the answer is free text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<Value>,
    /// Fields of the form, in order; empty if the question has no form of fields.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<Field>,
    /// The request of the agent that opened the gate, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<FeedbackRequestId>,
}

impl Question {
    /// A question that is answered with free text, or with what a schema describes.
    pub const fn new(message: String, schema: Option<Value>) -> Self {
        Self { message, schema, fields: Vec::new(), request_id: None }
    }
}

/// A change of a memory document that waits for a decision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MemoryProposal {
    /// Path of the document.
    pub path: String,
    /// Version that the proposal is about; 0 for a new document.
    pub base_version: u64,
    /// Body of that version.
    pub base: String,
    /// The values that a reviewer may edit: `body`, the whole body after the change, and `baseVersion`.
    pub values: Map<String, Value>,
    /// Turns that each new line comes from.
    pub evidence: Vec<LineEvidence>,
    /// Turns that the change as a whole comes from.
    pub turns: Vec<Evidence>,
    /// Why it is proposed, as text for people.
    pub reason: String,
    /// Id of the writer's run that proposes it; empty if ratings do.
    pub run_id: String,
    /// The ratings that propose it, instead of a run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratings: Option<HarmfulMemory>,
}

/// A memory that was rated as harmful, with the figures at the time of the proposal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HarmfulMemory {
    /// Its id in the block that agents were given.
    pub memory_id: String,
    /// Mean of all ratings of it, from -1 to 0.
    pub mean: f64,
    /// Number of these ratings.
    pub ratings: u64,
    /// Number of sessions in which it was rated.
    pub sessions: u64,
}

/// Key of the body in the values of a [`MemoryProposal`].
pub const MEMORY_BODY: &str = "body";
/// Key of the version that the body is based on. A reviewer who has seen a newer version puts its number there.
pub const MEMORY_BASE: &str = "baseVersion";

impl MemoryProposal {
    /// The body in these values, with plain line ends: forms of browsers send CRLF.
    pub fn body_of(values: &Map<String, Value>) -> String {
        let body = values.get(MEMORY_BODY).and_then(Value::as_str).unwrap_or_default();
        body.replace("\r\n", "\n").replace('\r', "\n")
    }

    /// The version that these values are based on. Proposals of the first version name it only beside the values.
    pub fn base_of(&self, values: &Map<String, Value>) -> u64 {
        values.get(MEMORY_BASE).and_then(Value::as_u64).unwrap_or(self.base_version)
    }

    fn bound_value(&self, values: &Map<String, Value>) -> Value {
        serde_json::json!({ "path": self.path, "baseVersion": self.base_version, "values": values })
    }

    /// The proposed body.
    pub fn body(&self) -> String {
        Self::body_of(&self.values)
    }
}

/// The content of a gate, by kind.
#[derive(Debug, Clone, PartialEq)]
pub enum Task {
    /// A tool call.
    Tool(PausedToolCall),
    /// An output that becomes an entity.
    Output(Staged),
    /// Values for fields of the session's entity.
    Fields(Staged),
    /// A question that the agent asks, and the answers that it accepts.
    Question(Question),
    /// A change of a memory document.
    Memory(MemoryProposal),
}

/// The error for a task that has none of the valid shapes. It holds the reason.
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
    /// Parses a task from JSON. Without `kind` it is a tool call, because the first version wrote no `kind`.
    ///
    /// # Errors
    /// [`MalformedTask`] if the text is not JSON, has an unknown kind, lacks a field or has an unknown field.
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
            GateKind::Memory => Self::Memory(serde_json::from_value(rest).map_err(wrong)?),
        })
    }

    /// Returns the task in its stored and sent form, with its `kind`.
    pub fn to_json(&self) -> Value {
        let shape = match self {
            Self::Tool(call) => serde_json::to_value(ToolShape { paused_tool_call: call.clone() }),
            Self::Output(staged) | Self::Fields(staged) => serde_json::to_value(staged),
            Self::Question(question) => serde_json::to_value(QuestionShape { question: question.clone() }),
            Self::Memory(proposal) => serde_json::to_value(proposal),
        };
        // Serialisation cannot fail: these shapes hold only strings, maps, flags and finite numbers.
        let mut shape = shape.unwrap_or_default();
        shape["kind"] = self.kind().as_str().into();
        shape
    }

    /// Returns the task that replaces an erased one of this kind. `words` is the text that pages show in its
    /// place.
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
            GateKind::Question => Self::Question(Question::new(words.to_owned(), None)),
            GateKind::Memory => Self::Memory(MemoryProposal {
                path: String::new(),
                base_version: 0,
                base: String::new(),
                values: Map::new(),
                evidence: Vec::new(),
                turns: Vec::new(),
                reason: words.to_owned(),
                run_id: String::new(),
                ratings: None,
            }),
        }
    }

    /// Kind of the gate with this task.
    pub const fn kind(&self) -> GateKind {
        match self {
            Self::Tool(_) => GateKind::Tool,
            Self::Output(_) => GateKind::Output,
            Self::Fields(_) => GateKind::Fields,
            Self::Question(_) => GateKind::Question,
            Self::Memory(_) => GateKind::Memory,
        }
    }

    /// The request of the agent that opened the gate, if one did.
    pub fn request_id(&self) -> Option<FeedbackRequestId> {
        match self {
            Self::Question(question) => question.request_id,
            Self::Tool(_) | Self::Output(_) | Self::Fields(_) | Self::Memory(_) => None,
        }
    }

    /// Whether these values are another proposal than the staged ones. The version that a memory proposal is based on,
    /// and the line ends of its text, are no part of what is proposed.
    pub fn is_changed_by(&self, values: &Map<String, Value>) -> bool {
        match self {
            Self::Memory(proposal) => MemoryProposal::body_of(values) != proposal.body(),
            Self::Tool(_) | Self::Output(_) | Self::Fields(_) | Self::Question(_) => {
                self.bound_value_with(values) != self.bound_value()
            }
        }
    }

    /// Values that a reviewer may edit: the arguments of a call or the staged output; `None` for a question.
    pub const fn editable(&self) -> Option<&Map<String, Value>> {
        match self {
            Self::Tool(call) => Some(&call.tool_input),
            Self::Output(staged) | Self::Fields(staged) => Some(&staged.staged_output),
            Self::Memory(proposal) => Some(&proposal.values),
            Self::Question(_) => None,
        }
    }

    /// Returns the output with these values. It is an object, except for an output that was staged under
    /// `text`.
    pub fn output(&self, values: Map<String, Value>) -> Value {
        match self {
            Self::Output(staged) | Self::Fields(staged) => staged.output(values),
            Self::Tool(_) | Self::Question(_) | Self::Memory(_) => Value::Object(values),
        }
    }

    /// The value whose digest a decision is bound to: everything that an approval would put into effect.
    pub fn bound_value(&self) -> Value {
        match self {
            Self::Tool(call) => serde_json::json!({ "toolName": call.tool_name, "toolInput": call.tool_input }),
            Self::Output(staged) | Self::Fields(staged) => Value::Object(staged.staged_output.clone()),
            Self::Question(question) => serde_json::json!({ "message": question.message, "schema": question.schema }),
            Self::Memory(proposal) => proposal.bound_value(&proposal.values),
        }
    }

    /// Returns [`Task::bound_value`] with other values in place of the editable ones.
    pub fn bound_value_with(&self, values: &Map<String, Value>) -> Value {
        match self {
            Self::Tool(call) => serde_json::json!({ "toolName": call.tool_name, "toolInput": values }),
            Self::Output(_) | Self::Fields(_) => Value::Object(values.clone()),
            Self::Question(_) => self.bound_value(),
            Self::Memory(proposal) => proposal.bound_value(values),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn another_base_and_other_line_ends_are_no_change_of_a_memory_proposal() {
        let map = |value: Value| value.as_object().cloned().unwrap_or_default();
        let Task::Memory(mut proposal) = Task::erased(GateKind::Memory, "gone") else { panic!("another kind") };
        proposal.values = map(json!({ "body": "# A\n", "baseVersion": 1 }));
        let task = Task::Memory(proposal);
        for same in [json!({ "body": "# A\n", "baseVersion": 2 }), json!({ "body": "# A\r\n", "baseVersion": 1 })] {
            assert!(!task.is_changed_by(&map(same)));
        }
        let other = map(json!({ "body": "# B\n", "baseVersion": 1 }));
        assert!(task.is_changed_by(&other));
        assert_ne!(task.bound_value_with(&other), task.bound_value(), "a decision is bound to the text");
        let staged = Task::Fields(Staged::of(json!({ "baseVersion": 1 })));
        assert!(staged.is_changed_by(&map(json!({ "baseVersion": 2 }))));
        assert!(!staged.is_changed_by(&map(json!({ "baseVersion": 1 }))));
    }

    #[test]
    fn every_kind_reads_back_and_a_record_without_kind_is_a_tools() {
        for record in [
            json!({"kind": "tool", "pausedToolCall": {"toolCallId": "c1", "toolName": "send", "toolInput": {"to": "x"}}}),
            json!({"kind": "output", "stagedOutput": {"stage": "Won"}, "criteriaScore": 0.5, "safetyFlags": ["tone: sharp"]}),
            json!({"kind": "fields", "stagedOutput": {"stage": "Won"}}),
            json!({"kind": "output", "stagedOutput": {"text": "Done."}, "textOnly": true}),
            json!({"kind": "question", "question": {"message": "Which one?"}}),
            json!({"kind": "memory", "path": "topics/x.md", "baseVersion": 1, "base": "a\n", "values": {"body": "b\n"},
                "evidence": [{"line": 1, "session": "0193b0a0-0000-7000-8000-000000000001", "sequence": 3}],
                "turns": [{"session": "0193b0a0-0000-7000-8000-000000000001", "sequence": 3}], "reason": "", "runId": "r"}),
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
