//! The draft of a run: the fields of a tool's form so far, and which of their changes the log has.

use super::{
    Definition,
    run::{take_formless, take_private},
};
use crate::{
    clock::Timestamp,
    limit::{DRAFT_EVENT_SECONDS, TOOL_FIELD_BYTES_MAX, TOOL_FIELD_EVENTS_MAX},
};
use chrono::TimeDelta;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Fields of a tool's form by their names, which are the top-level members of its input.
pub type Fields = Map<String, Value>;

/// A change of a field, as the log records it.
#[derive(Debug, Clone, PartialEq)]
pub struct FieldChange {
    /// Name of the field.
    pub field: String,
    /// The recorded value before. `None` if there was none, if a part of the field is private, or if it is longer than
    /// [`TOOL_FIELD_BYTES_MAX`].
    pub old: Option<Value>,
    /// The value since. `None` if the field was removed, and as for `old`.
    pub new: Option<Value>,
}

/// The last recorded value of a field.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Recorded {
    /// Time of its last event (UTC).
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<Timestamp>,
    /// The value at that time; its digest if a part of the field is private.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<Value>,
    /// Whether a part of the field was private then.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_private: bool,
}

/// The fields of a form so far.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Draft {
    /// The values so far, without private ones.
    pub fields: Fields,
    /// Digests of the values of fields with a private part, which are not kept.
    digests: BTreeMap<String, String>,
    /// The last recorded value of each field.
    log: BTreeMap<String, Recorded>,
    /// Number of events so far.
    events: u32,
}

impl Draft {
    /// Changes fields; `null` removes one. Private values are left out: only what `digest` returns for the field and
    /// its value is kept. It must not allow anyone to guess the value.
    pub fn change(&mut self, definition: &Definition, changes: &Fields, digest: impl Fn(&str, &Value) -> String) {
        for (field, value) in changes {
            self.digests.remove(field);
            if value.is_null() {
                self.fields.remove(field);
                continue;
            }
            if definition.has_private_part(field) {
                self.digests.insert(field.clone(), digest(field, value));
            }
            self.fields.insert(field.clone(), value.clone());
        }
        let mut whole = Value::Object(std::mem::take(&mut self.fields));
        take_private(&mut whole, definition.private_pointers());
        take_formless(&mut whole, definition.private_pointers());
        if let Value::Object(fields) = whole {
            self.fields = fields;
        }
    }

    /// Whether the fields are those of `other`.
    pub fn has_fields_of(&self, other: &Self) -> bool {
        self.fields == other.fields && self.digests == other.digests
    }

    /// Number of fields that have a value.
    pub fn len(&self) -> usize {
        self.names().len()
    }

    /// Whether no field has a value.
    pub fn is_empty(&self) -> bool {
        self.names().is_empty()
    }

    /// The names of the fields that have a value.
    pub fn names(&self) -> BTreeSet<&str> {
        self.fields.keys().chain(self.digests.keys()).map(String::as_str).collect()
    }

    /// Takes the changes that the log gets at `now`: of each field at most one in [`DRAFT_EVENT_SECONDS`], unless the
    /// person leaves the form or runs the tool. A draft has at most [`TOOL_FIELD_EVENTS_MAX`] events.
    pub fn take_due(&mut self, definition: &Definition, now: Timestamp, is_leaving: bool) -> Vec<FieldChange> {
        let names: BTreeSet<String> =
            self.names().into_iter().chain(self.log.keys().map(String::as_str)).map(str::to_owned).collect();
        let mut due = Vec::new();
        for field in names {
            let known = self.log.get(&field).cloned().unwrap_or_default();
            let value = match self.digests.get(&field) {
                Some(digest) => Some(Value::from(digest.clone())),
                None => self.fields.get(&field).cloned(),
            };
            let rests = known.at.is_none_or(|at| now - at >= TimeDelta::seconds(DRAFT_EVENT_SECONDS));
            if value == known.value || !(rests || is_leaving) || self.events >= TOOL_FIELD_EVENTS_MAX {
                continue;
            }
            let is_private = definition.has_private_part(&field);
            let may_show = !is_private && !known.is_private;
            let shown = |value: Option<&Value>| {
                value.filter(|value| may_show && value.to_string().len() <= TOOL_FIELD_BYTES_MAX).cloned()
            };
            let (old, new) = (shown(known.value.as_ref()), shown(value.as_ref()));
            due.push(FieldChange { field: field.clone(), old, new });
            self.events += 1;
            self.log.insert(field, Recorded { at: Some(now), value, is_private });
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn definition() -> Definition {
        serde_json::from_value(json!({
            "name": "Echo", "kind": "worker", "inputSchema": { "type": "object" },
            "privateFields": ["key", "/person/email"],
        }))
        .unwrap()
    }

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_timestamp(1_800_000_000 + seconds, 0).unwrap()
    }

    fn change(draft: &mut Draft, changes: Value) {
        let Value::Object(changes) = changes else { panic!("{changes}") };
        draft.change(&definition(), &changes, |field, value| format!("{field} {}", value.to_string().len()));
    }

    fn of(field: &str, old: Option<Value>, new: Option<Value>) -> FieldChange {
        FieldChange { field: field.to_owned(), old, new }
    }

    fn due(draft: &mut Draft, seconds: i64, is_leaving: bool) -> Vec<FieldChange> {
        draft.take_due(&definition(), at(seconds), is_leaving)
    }

    #[test]
    fn each_field_is_recorded_at_once_and_then_each_ten_seconds_and_on_leaving() {
        let mut draft = Draft::default();
        change(&mut draft, json!({ "city": "O", "days": 1 }));
        let first = [of("city", None, Some(json!("O"))), of("days", None, Some(json!(1)))];
        assert_eq!(due(&mut draft, 0, false), first);
        change(&mut draft, json!({ "city": "Os" }));
        assert!(due(&mut draft, 9, false).is_empty());
        change(&mut draft, json!({ "city": "Oslo" }));
        assert_eq!(due(&mut draft, 10, false), [of("city", Some(json!("O")), Some(json!("Oslo")))]);
        change(&mut draft, json!({ "days": null }));
        assert_eq!(due(&mut draft, 10, true), [of("days", Some(json!(1)), None)]);
        change(&mut draft, json!({ "city": "Rome" }));
        change(&mut draft, json!({ "city": "Oslo" }));
        assert!(due(&mut draft, 99, true).is_empty(), "a change that was taken back is none");
        assert_eq!(Value::from(draft.fields), json!({ "city": "Oslo" }));
    }

    #[test]
    fn of_a_private_value_only_the_change_is_kept() {
        let mut draft = Draft::default();
        change(&mut draft, json!({ "key": "hunter2", "person": { "email": "a@b", "name": "Ada" } }));
        assert_eq!(due(&mut draft, 0, false), [of("key", None, None), of("person", None, None)]);
        assert_eq!(Value::from(draft.fields.clone()), json!({ "person": { "name": "Ada" } }));
        let before = draft.clone();
        change(&mut draft, json!({ "key": "hunter2" }));
        assert!(draft.has_fields_of(&before) && draft.len() == 2 && !draft.is_empty());
        change(&mut draft, json!({ "key": "hunter22" }));
        assert!(!draft.has_fields_of(&before));
        assert_eq!(due(&mut draft, 20, false), [of("key", None, None)]);
        // Nobody can tell which part of a text is private.
        change(&mut draft, json!({ "person": "Ada, a@b" }));
        assert!(draft.fields.is_empty() && draft.len() == 2);
        let stored = serde_json::to_string(&draft).unwrap();
        assert!(!stored.contains("hunter2") && !stored.contains("a@b"), "{stored}");
        assert_eq!(serde_json::from_str::<Draft>(&stored).unwrap(), draft);
    }

    #[test]
    fn events_and_their_values_are_bounded() {
        let mut draft = Draft::default();
        change(&mut draft, json!({ "text": "x".repeat(TOOL_FIELD_BYTES_MAX) }));
        assert_eq!(due(&mut draft, 0, false), [of("text", None, None)]);
        for n in 0..TOOL_FIELD_EVENTS_MAX {
            change(&mut draft, json!({ "text": n }));
            due(&mut draft, 0, true);
        }
        change(&mut draft, json!({ "text": "last" }));
        assert!(due(&mut draft, 0, true).is_empty());
    }
}
