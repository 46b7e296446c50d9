//! An event that a client sends.

use super::EventRole;
use crate::{clock::Timestamp, id::EventId};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// One event to append.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewEvent {
    /// UUID chosen by the client. A repeated request with the same body is answered with the recorded event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<EventId>,
    /// A dotted lower-case name.
    #[serde(rename = "type")]
    pub kind: String,
    /// user, agent or system; by the type when absent. An event of a worker is never a person's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<EventRole>,
    /// Array of parts, or plain text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<Box<RawValue>>,
    /// JSON object with data about the event, for programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Box<RawValue>>,
    /// At most 200 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
    /// At most 200 characters; unique per session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub external_event_id: Option<String>,
    /// When it happened; now when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::{option, prelude::*};

    fn json() -> impl Strategy<Value = Box<RawValue>> {
        let text = "[^\\x00-\\x1f\"\\\\]{0,20}";
        prop_oneof![
            text.prop_map(|text| format!("\"{text}\"")),
            text.prop_map(|text| format!("[{{\"type\":\"text\",  \"text\":\"{text}\"}}]")),
            (-1e9..1e9_f64).prop_map(|number| format!("{{\"n\": {number}}}")),
        ]
        .prop_map(|text| RawValue::from_string(text).unwrap())
    }

    proptest! {
        /// Ids, times and JSON come back as they were, the JSON byte for byte: its digest is part of the chain.
        #[test]
        fn an_event_reads_as_it_was_written(
            id in option::of(any::<u128>()),
            kind in "[a-z]{1,9}\\.[a-z_]{1,9}",
            role in option::of(proptest::sample::select(&EventRole::ALL[..])),
            content in option::of(json()),
            metadata in option::of(json()),
            keys in (option::of("\\PC{1,20}"), option::of("\\PC{1,20}")),
            at in option::of(0..4_000_000_000_000_i64),
        ) {
            let at = at.and_then(Timestamp::from_timestamp_millis);
            let id = id.map(|bits| EventId(uuid::Uuid::from_u128(bits)));
            let (thread_id, external_event_id) = keys;
            let event = NewEvent { id, kind, role, content, metadata, thread_id, external_event_id, at };
            let text = serde_json::to_string(&event).unwrap();
            let read: NewEvent = serde_json::from_str(&text).unwrap();
            prop_assert_eq!((read.id, &read.kind, read.role, read.at), (event.id, &event.kind, event.role, event.at));
            prop_assert_eq!(read.content.as_ref().map(|json| json.get()), event.content.as_ref().map(|json| json.get()));
            prop_assert_eq!(serde_json::to_string(&read).unwrap(), text);
        }

        #[test]
        fn an_id_has_one_form_only(bits in any::<u128>()) {
            let id = uuid::Uuid::from_u128(bits);
            let event = |text: String| serde_json::from_str::<NewEvent>(&format!(r#"{{"type":"a.b","id":"{text}"}}"#));
            prop_assert_eq!(event(id.hyphenated().to_string()).unwrap().id, Some(EventId(id)));
            for other in [id.simple().to_string(), id.urn().to_string(), id.braced().to_string()] {
                let refused = event(other.clone()).unwrap_err().to_string();
                prop_assert!(refused.starts_with(&format!("`{other}` is not a UUID")), "{}", refused);
            }
        }
    }
}
