//! The JSON object of a hook. Two fields are parsed; the others are kept as they were sent.

use crate::limit::{HOOK_NAME_CHARS_MAX, HOOK_SESSION_CHARS_MAX};
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// The error for a payload that does not name a session and an event.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct InvalidPayload {
    /// The invalid field; `body` if the whole payload is not a JSON object.
    pub field: &'static str,
    /// What a valid value is, for people.
    pub message: String,
}

/// The payload of one hook. Its fields borrow from the text.
#[derive(Debug, Clone)]
pub struct Payload<'a> {
    /// The coding agent's own session id.
    pub session_id: String,
    /// Name of the hook, such as `PreToolUse`.
    pub event: String,
    fields: BTreeMap<String, &'a RawValue>,
}

impl<'a> Payload<'a> {
    /// Parses a payload. Only `session_id` and `hook_event_name` are required.
    ///
    /// # Errors
    /// [`InvalidPayload`] if the text is not a JSON object, or one of the two fields is absent, empty, too long
    /// or has control characters.
    pub fn parse(text: &'a str) -> Result<Self, InvalidPayload> {
        let fields: BTreeMap<String, &RawValue> = serde_json::from_str(text).map_err(|_| InvalidPayload {
            field: "body",
            message: "the hook's JSON object, as the agent sent it".into(),
        })?;
        let name = |field: &'static str, max: usize| {
            let text = fields.get(field).and_then(|raw| string(raw)).unwrap_or_default();
            let good = !text.is_empty() && text.chars().count() <= max && !text.chars().any(char::is_control);
            let message = || format!("1 to {max} characters, no control characters");
            if good { Ok(text) } else { Err(InvalidPayload { field, message: message() }) }
        };
        let session_id = name("session_id", HOOK_SESSION_CHARS_MAX)?;
        let event = name("hook_event_name", HOOK_NAME_CHARS_MAX)?;
        Ok(Self { session_id, event, fields })
    }

    /// Returns a field as it was sent; `None` if it is absent or null.
    pub fn raw(&self, name: &str) -> Option<&'a RawValue> {
        self.fields.get(name).copied().filter(|raw| raw.get() != "null")
    }

    /// Returns the text of a field; `None` if it is absent, empty or not a string.
    pub fn text(&self, name: &str) -> Option<String> {
        self.raw(name).and_then(string).filter(|text| !text.is_empty())
    }

    /// Returns every field except those in `without`, by name.
    pub fn rest(&self, without: &[&str]) -> BTreeMap<&str, &'a RawValue> {
        let kept = self.fields.iter().filter(|(name, _)| !without.contains(&name.as_str()));
        kept.map(|(name, raw)| (name.as_str(), *raw)).collect()
    }
}

/// Returns the text of a JSON string; `None` for any other value.
pub(super) fn string(raw: &RawValue) -> Option<String> {
    if raw.get().starts_with('"') { serde_json::from_str(raw.get()).ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payload_without_session_or_event_is_refused_by_field() {
        for (text, field) in [
            ("[]", "body"),
            ("{", "body"),
            (r#"{"hook_event_name":"Stop"}"#, "session_id"),
            (r#"{"session_id":7,"hook_event_name":"Stop"}"#, "session_id"),
            (r#"{"session_id":"a\nb","hook_event_name":"Stop"}"#, "session_id"),
            (r#"{"session_id":"a"}"#, "hook_event_name"),
        ] {
            assert_eq!(Payload::parse(text).unwrap_err().field, field, "{text}");
        }
    }

    #[test]
    fn unknown_fields_are_kept_as_they_came() {
        let payload =
            Payload::parse(r#"{"session_id":"a","hook_event_name":"X","n":1.10e400,"o":{"b":1,"a":2}}"#).unwrap();
        let rest = serde_json::to_string(&payload.rest(&["session_id", "hook_event_name"])).unwrap();
        assert_eq!(rest, r#"{"n":1.10e400,"o":{"b":1,"a":2}}"#);
    }
}
