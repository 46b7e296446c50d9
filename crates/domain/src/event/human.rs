//! The shape of `human.*` events: what a person's browser says they did.
//!
//! Checked when they are written, so that whoever reads them may rely on it; read leniently all the same,
//! because a log holds what older versions wrote.

use crate::{
    Timestamp,
    event::Kind,
    id::EntityId,
    limit::{HUMAN_EVENT_BYTES_MAX, MARKER_CHARS_MAX, PATHNAME_CHARS_MAX, SLUG_CHARS_MAX},
};
use serde::Deserialize;
use serde_json::{Map, Value};

/// A wrong `human.*` event: which field, and what would be right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidHuman {
    /// `content` or `metadata`, or a path below it.
    pub field: &'static str,
    /// What would be right.
    pub message: String,
}

/// What a `human.*` event says, as far as it can be read. Texts are as they were sent: untrusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HumanEvent {
    /// When it happened, where the browser said.
    pub at: Option<Timestamp>,
    /// What happened.
    pub deed: Deed,
}

/// What a person did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Deed {
    /// Arrived on a page.
    Navigate {
        /// Its path.
        pathname: String,
    },
    /// Opened an entity's page.
    EntityView {
        /// The entity.
        entity_id: EntityId,
        /// Its path.
        pathname: String,
    },
    /// Wrote down a note.
    Marker {
        /// The note.
        note: String,
    },
    /// Went on to another task within the session.
    TaskSwitch {
        /// Its name, where it was said.
        title: Option<String>,
    },
}

/// A part of an event's content; parts of other kinds have no text.
#[derive(Deserialize)]
struct Part {
    #[serde(default)]
    text: Option<String>,
}

/// Checks a `human.*` event of a known kind; others need only be small. `content` is a JSON array of parts, `metadata`
/// a JSON object.
pub fn check_human(kind: &Kind, content: &str, metadata: &str) -> Result<(), InvalidHuman> {
    for (field, json) in [("content", content), ("metadata", metadata)] {
        if json.len() > HUMAN_EVENT_BYTES_MAX {
            return refuse(field, format!("at most {HUMAN_EVENT_BYTES_MAX} bytes"));
        }
    }
    let Ok(fields) = serde_json::from_str::<Map<String, Value>>(metadata) else {
        return refuse("metadata", "an object that can be read");
    };
    if let Some(at) = fields.get("at")
        && time(at).is_none()
    {
        return refuse("metadata.at", "a time as RFC 3339, such as 2026-07-01T12:00:00Z");
    }
    match kind.as_str() {
        "human.navigate" => pathname(&fields).map(drop),
        "human.entity_view" => {
            pathname(&fields)?;
            if entity_id(&fields).is_none() {
                return refuse("metadata.entityId", "a UUID");
            }
            match fields.get("entityType") {
                None | Some(Value::Null) => Ok(()),
                Some(Value::String(slug)) if slug.chars().count() <= SLUG_CHARS_MAX => Ok(()),
                Some(_) => refuse("metadata.entityType", format!("at most {SLUG_CHARS_MAX} characters, or absent")),
            }
        }
        "human.marker" => {
            let note = text_of(content);
            if note.trim().is_empty() || note.chars().count() > MARKER_CHARS_MAX {
                return refuse("content", format!("a note of 1 to {MARKER_CHARS_MAX} characters"));
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Reads a recorded event; `None` for kinds that are not known, and for rows that cannot be read.
pub fn read_human(kind: &str, content: &str, metadata: &str) -> Option<HumanEvent> {
    let fields: Map<String, Value> = serde_json::from_str(metadata).ok()?;
    let deed = match kind {
        "human.navigate" => Deed::Navigate { pathname: pathname(&fields).ok()? },
        "human.entity_view" => Deed::EntityView { entity_id: entity_id(&fields)?, pathname: pathname(&fields).ok()? },
        "human.marker" => Deed::Marker { note: text_of(content) },
        "human.task_switch" => {
            Deed::TaskSwitch { title: fields.get("title").and_then(Value::as_str).map(str::to_owned) }
        }
        _ => return None,
    };
    Some(HumanEvent { at: fields.get("at").and_then(time), deed })
}

fn refuse<T>(field: &'static str, message: impl Into<String>) -> Result<T, InvalidHuman> {
    Err(InvalidHuman { field, message: message.into() })
}

fn time(value: &Value) -> Option<Timestamp> {
    value.as_str()?.parse().ok()
}

fn entity_id(fields: &Map<String, Value>) -> Option<EntityId> {
    fields.get("entityId")?.as_str()?.parse().ok()
}

fn pathname(fields: &Map<String, Value>) -> Result<String, InvalidHuman> {
    match fields.get("pathname").and_then(Value::as_str) {
        Some(path) if path.starts_with('/') && path.chars().count() <= PATHNAME_CHARS_MAX => Ok(path.to_owned()),
        _ => refuse("metadata.pathname", format!("a path from `/` on, at most {PATHNAME_CHARS_MAX} characters")),
    }
}

/// The text of all parts, one after another.
fn text_of(content: &str) -> String {
    let parts: Vec<Part> = serde_json::from_str(content).unwrap_or_default();
    parts.into_iter().filter_map(|part| part.text).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(kind: &str, content: &str, metadata: &str) -> Result<(), &'static str> {
        check_human(&Kind::parse(kind).unwrap(), content, metadata).map_err(|e| e.field)
    }

    const ID: &str = "01890000-0000-7000-8000-000000000001";

    #[test]
    fn good_events_pass_and_are_read_back() {
        let view = format!(
            r#"{{"entityId":"{ID}","entityType":"companies","pathname":"/entities/{ID}","at":"2026-07-01T12:00:00.250Z"}}"#
        );
        let note = r#"[{"type":"text","text":"drafting"}]"#;
        for (kind, content, metadata) in [
            ("human.navigate", "[]", r#"{"pathname":"/chat"}"#),
            ("human.entity_view", "[]", view.as_str()),
            ("human.marker", note, "{}"),
            ("human.task_switch", "[]", r#"{"title":"Other"}"#),
        ] {
            assert_eq!(check(kind, content, metadata), Ok(()), "{kind}");
            assert!(read_human(kind, content, metadata).is_some(), "{kind}");
        }
        let read = read_human("human.entity_view", "[]", &view).unwrap();
        assert_eq!(read.at, Some("2026-07-01T12:00:00.250Z".parse().unwrap()));
        assert_eq!(read_human("human.marker", note, "{}").unwrap().deed, Deed::Marker { note: "drafting".into() });
        assert_eq!(check("human.custom", "[]", "{}"), Ok(()));
        assert_eq!(read_human("human.custom", "[]", "{}"), None);
    }

    #[test]
    fn each_wrong_field_is_named() {
        let long = "x".repeat(PATHNAME_CHARS_MAX);
        let heavy = "x".repeat(HUMAN_EVENT_BYTES_MAX);
        let note = "x".repeat(MARKER_CHARS_MAX + 1);
        for (kind, content, metadata, field) in [
            ("human.navigate", "[]", "{}".to_owned(), "metadata.pathname"),
            ("human.navigate", "[]", r#"{"pathname":"https://x"}"#.into(), "metadata.pathname"),
            ("human.navigate", "[]", format!(r#"{{"pathname":"/{long}"}}"#), "metadata.pathname"),
            ("human.navigate", "[]", r#"{"pathname":"/a","at":1}"#.into(), "metadata.at"),
            ("human.navigate", "[]", r#"{"pathname":"/a","at":"noon"}"#.into(), "metadata.at"),
            ("human.navigate", "[]", format!(r#"{{"pathname":"/a","x":"{heavy}"}}"#), "metadata"),
            ("human.entity_view", "[]", r#"{"pathname":"/a","entityId":"x"}"#.into(), "metadata.entityId"),
            (
                "human.entity_view",
                "[]",
                format!(r#"{{"pathname":"/a","entityId":"{ID}","entityType":7}}"#),
                "metadata.entityType",
            ),
            ("human.marker", "[]", "{}".into(), "content"),
            ("human.marker", r#"[{"type":"text","text":" "}]"#, "{}".into(), "content"),
            ("human.custom", "[]", format!(r#"{{"x":"{heavy}"}}"#), "metadata"),
        ] {
            assert_eq!(check(kind, content, &metadata), Err(field), "{kind} {metadata:.60}");
        }
        let content = format!(r#"[{{"type":"text","text":"{note}"}}]"#);
        assert_eq!(check("human.marker", &content, "{}"), Err("content"));
    }
}
