//! What the executor records beside the content of an agent's events.

use super::tokens::Step;
use domain::id::GateId;
use serde::{Deserialize, Deserializer, Serialize, de::DeserializeOwned};
use serde_json::{Value, value::to_raw_value};
use wire::Json;

/// The metadata of an event that the executor writes. Absent notes are left out. Only the notes from which a
/// conversation is rebuilt are read again, each by itself: one that another program wrote in another form counts as
/// absent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Notes {
    /// Stable name of a failure.
    #[serde(skip_serializing_if = "Option::is_none", skip_deserializing)]
    pub code: Option<String>,
    /// Model that wrote the message, as a coding agent names it.
    #[serde(skip_serializing_if = "Option::is_none", skip_deserializing)]
    pub model: Option<String>,
    /// Why the model stopped, in the words of its service.
    #[serde(skip_serializing_if = "Option::is_none", skip_deserializing)]
    pub stop_reason: Option<String>,
    /// The text says that the model declined.
    #[serde(skip_serializing_if = "is_false", skip_deserializing)]
    pub declined: bool,
    /// The request to the model failed and is repeated.
    #[serde(skip_serializing_if = "is_false", skip_deserializing)]
    pub retry: bool,
    /// The budget cannot be checked, because the service reported no tokens.
    #[serde(skip_serializing_if = "is_false", skip_deserializing)]
    pub budget_unknown: bool,
    /// Gate from whose decision the event follows.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "readable")]
    pub gate_id: Option<GateId>,
    /// Number of reviewers' denials that were passed on so far, with those of this event.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "readable")]
    pub denials: Option<usize>,
    /// The text tells the agent why its output was refused.
    #[serde(skip_serializing_if = "is_false", deserialize_with = "flag")]
    pub output_refused: bool,
    /// The agent's own note.
    #[serde(skip_serializing_if = "is_false", skip_deserializing)]
    pub note: bool,
    /// A request to people that was not made, because the command failed afterwards.
    #[serde(skip_serializing_if = "is_false", skip_deserializing)]
    pub unasked: bool,
    /// A result that is not the session's.
    #[serde(skip_serializing_if = "is_false", skip_deserializing)]
    pub unused_result: bool,
    /// A request to people that the server refused.
    #[serde(skip_serializing_if = "is_false", skip_deserializing)]
    pub request_refused: bool,
    /// A change of a canvas that was rejected or refused.
    #[serde(skip_serializing_if = "is_false", skip_deserializing)]
    pub patch_refused: bool,
    /// The line had bytes that are not UTF-8.
    #[serde(skip_serializing_if = "is_false", skip_deserializing)]
    pub invalid_utf8: bool,
    /// The text reports what of a line could not be read and was repaired.
    #[serde(skip_serializing_if = "is_false", skip_deserializing)]
    pub repaired: bool,
    /// Number of the line in the output; the first is 1.
    #[serde(skip_serializing_if = "Option::is_none", skip_deserializing)]
    pub line: Option<u64>,
    /// Place of the first such byte in its line; the first is 1.
    #[serde(skip_serializing_if = "Option::is_none", skip_deserializing)]
    pub column: Option<u64>,
    /// All such places, for people, if there are several.
    #[serde(skip_serializing_if = "Option::is_none", skip_deserializing)]
    pub repairs: Option<String>,
    /// `stderr` for what was not printed to the standard output.
    #[serde(skip_serializing_if = "Option::is_none", skip_deserializing)]
    pub stream: Option<&'static str>,
    /// Why the text is not the event that it was meant to be.
    #[serde(skip_serializing_if = "Option::is_none", skip_deserializing)]
    pub not_an_event: Option<String>,
    /// How far the item of a coding agent is: `started` or `updated`.
    #[serde(skip_serializing_if = "Option::is_none", skip_deserializing)]
    pub progress: Option<String>,
    /// What was printed.
    #[serde(skip_serializing_if = "Option::is_none", skip_deserializing)]
    pub said: Option<Value>,
    /// Number of this part of a long text; the first is 1.
    #[serde(skip_serializing_if = "Option::is_none", skip_deserializing)]
    pub part: Option<u32>,
    /// Whether it is the last part.
    #[serde(skip_serializing_if = "Option::is_none", skip_deserializing)]
    pub last_part: Option<bool>,
    /// Bytes of the value that are missing, because it is too large for an event.
    #[serde(skip_serializing_if = "Option::is_none", skip_deserializing)]
    pub cut_bytes: Option<usize>,
    /// Tokens and cost, on the last event of a model's reply.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "readable")]
    pub step: Option<Step>,
}

impl Notes {
    /// Reads the notes of an event. Metadata that are no JSON object have none.
    pub fn read(metadata: &str) -> Self {
        serde_json::from_str(metadata).unwrap_or_default()
    }

    /// The notes as an event's metadata; `None` without any.
    pub fn metadata(&self) -> Option<Json> {
        if *self == Self::default() { None } else { to_raw_value(self).ok() }
    }
}

/// Reads a note that has the right type; any other counts as absent.
fn readable<'de, T: DeserializeOwned, D: Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    let value = Value::deserialize(deserializer)?;
    Ok(serde_json::from_value(value).ok())
}

fn flag<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    Ok(Value::deserialize(deserializer)? == true)
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_false(value: &bool) -> bool {
    !*value
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::event::kind::Warnings;

    #[test]
    fn notes_of_another_form_are_absent_and_hide_no_others() {
        let read = Notes::read(r#"{"step":3,"denials":"two","gateId":7,"outputRefused":true,"other":[]}"#);
        assert_eq!(read, Notes { output_refused: true, ..Notes::default() });
        assert_eq!(Notes::read("[]"), Notes::default());
    }

    #[test]
    fn pages_find_the_warnings_that_the_executor_writes() {
        let repairs = Some("lines 2 and 5".to_owned());
        let notes = Notes {
            invalid_utf8: true,
            line: Some(2),
            column: Some(7),
            repairs,
            not_an_event: Some("unknown field".into()),
            ..Notes::default()
        };
        let warnings = Warnings::read(notes.metadata().unwrap().get());
        assert_eq!((warnings.not_utf8.as_deref(), warnings.line.as_deref()), (Some("lines 2 and 5"), Some("2")));
        assert_eq!(warnings.not_an_event.as_deref(), Some("unknown field"));
    }
}
