//! Checks the shape of `human.*` events, in which a browser reports what its person did.

use crate::{
    Timestamp,
    event::{Kind, Known},
    id::EntityId,
    limit::{HUMAN_AHEAD_SECONDS_MAX, HUMAN_EVENT_BYTES_MAX, MARKER_CHARS_MAX, PATHNAME_CHARS_MAX, SLUG_CHARS_MAX},
};
use chrono::TimeDelta;
use serde::Deserialize;
use serde_json::{Map, Value};

/// The error for an invalid `human.*` event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidHuman {
    /// The invalid field: `type`, `at`, `content` or `metadata`, or a path below it.
    pub field: &'static str,
    /// What a valid value is, for people.
    pub message: String,
}

/// A part of an event's content. Only text parts have a text.
#[derive(Deserialize)]
struct Part {
    #[serde(default)]
    text: Option<String>,
}

/// The fields of a `human.*` event that are checked.
#[derive(Debug, Clone, Copy)]
pub struct Claim<'a> {
    /// Kind of the event.
    pub kind: &'a Kind,
    /// Time of the event according to the client (UTC).
    pub at: Option<Timestamp>,
    /// Content, a JSON array of parts.
    pub content: &'a str,
    /// Metadata, a JSON object.
    pub metadata: &'a str,
}

/// Checks a `human.*` event. `now` is the server's time. Unknown kinds are refused, because no reader could
/// interpret them.
///
/// # Errors
/// [`InvalidHuman`] for the first invalid field.
pub fn check_human(claim: Claim<'_>, now: Timestamp) -> Result<(), InvalidHuman> {
    let Claim { kind, at, content, metadata } = claim;
    for (field, json) in [("content", content), ("metadata", metadata)] {
        if json.len() > HUMAN_EVENT_BYTES_MAX {
            return refuse(field, format!("at most {HUMAN_EVENT_BYTES_MAX} bytes"));
        }
    }
    let Ok(fields) = serde_json::from_str::<Map<String, Value>>(metadata) else {
        return refuse("metadata", "an object that can be read");
    };
    let noted = match fields.get("at") {
        None => None,
        Some(at) => match time(at) {
            Some(at) => Some(at),
            None => return refuse("metadata.at", "a time as RFC 3339, such as 2026-07-01T12:00:00Z"),
        },
    };
    for (field, at) in [("at", at), ("metadata.at", noted)] {
        if at.is_some_and(|at| at > now + TimeDelta::seconds(HUMAN_AHEAD_SECONDS_MAX)) {
            return refuse(
                field,
                format!(
                    "at most {HUMAN_AHEAD_SECONDS_MAX} seconds ahead of the server's clock, which says {}",
                    rfc3339(now)
                ),
            );
        }
    }
    match kind.known() {
        Some(Known::HumanNavigate) => pathname(&fields).map(drop),
        Some(Known::HumanEntityView) => {
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
        Some(Known::HumanMarker) => {
            let note = text_of(content);
            if note.trim().is_empty() || note.chars().count() > MARKER_CHARS_MAX {
                return refuse("content", format!("a note of 1 to {MARKER_CHARS_MAX} characters"));
            }
            Ok(())
        }
        Some(Known::HumanTaskSwitch) => Ok(()),
        _ => refuse("type", "human.navigate, human.entity_view, human.marker or human.task_switch"),
    }
}

/// Returns the metadata of a `human.*` event without the query and the fragment of its path, which may contain
/// a person's search or a secret. `None` if the path has neither.
pub fn without_query(metadata: &str) -> Option<String> {
    let mut fields: Map<String, Value> = serde_json::from_str(metadata).ok()?;
    let Some(Value::String(path)) = fields.get_mut("pathname") else { return None };
    path.truncate(path.find(['?', '#'])?);
    Some(Value::Object(fields).to_string())
}

fn refuse<T>(field: &'static str, message: impl Into<String>) -> Result<T, InvalidHuman> {
    Err(InvalidHuman { field, message: message.into() })
}

fn rfc3339(at: Timestamp) -> String {
    at.to_rfc3339_opts(chrono::SecondsFormat::Secs, true)
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

/// Returns the texts of all parts, joined by spaces.
pub(super) fn text_of(content: &str) -> String {
    let parts: Vec<Part> = serde_json::from_str(content).unwrap_or_default();
    parts.into_iter().filter_map(|part| part.text).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Body;

    const NOW: &str = "2026-07-01T12:00:00Z";

    fn check_at(kind: &str, at: Option<&str>, content: &str, metadata: &str) -> Result<(), &'static str> {
        let (kind, at) = (Kind::parse(kind).unwrap(), at.map(|at| at.parse().unwrap()));
        check_human(Claim { kind: &kind, at, content, metadata }, NOW.parse().unwrap()).map_err(|e| e.field)
    }

    fn check(kind: &str, content: &str, metadata: &str) -> Result<(), &'static str> {
        check_at(kind, None, content, metadata)
    }

    const ID: &str = "01890000-0000-7000-8000-000000000001";

    #[test]
    fn good_events_pass_and_are_read_back() {
        use crate::event::kind::{EntityView, Marker};
        let view = format!(
            r#"{{"at":"2026-07-01T12:00:00.250Z","entityId":"{ID}","entityType":"companies","pathname":"/entities/{ID}"}}"#
        );
        let note = r#"[{"type":"text","text":"drafting"}]"#;
        for (kind, content, metadata) in [
            ("human.navigate", "[]", r#"{"pathname":"/chat"}"#),
            ("human.entity_view", "[]", view.as_str()),
            ("human.marker", note, "{}"),
            ("human.task_switch", "[]", r#"{"title":"Other"}"#),
        ] {
            assert_eq!(check(kind, content, metadata), Ok(()), "{kind}");
            let read = Body::read(kind, content, metadata);
            let parsed = |text: &str| serde_json::from_str::<Value>(text).unwrap();
            assert_eq!(parsed(&read.write().unwrap().2), parsed(metadata), "{kind}");
        }
        let Body::HumanEntityView(EntityView { at, .. }) = Body::read("human.entity_view", "[]", &view) else {
            panic!()
        };
        assert_eq!(at, Some("2026-07-01T12:00:00.250Z".parse().unwrap()));
        let marker = Marker { at: None, note: "drafting".into() };
        assert_eq!(Body::read("human.marker", note, "{}"), Body::HumanMarker(marker));
        assert_eq!(Body::read("human.custom", "[]", "{}"), Body::Other);
    }

    #[test]
    fn a_kind_that_nobody_can_read_is_refused() {
        assert_eq!(check("human.custom", "[]", "{}"), Err("type"));
        assert_eq!(check("human.navigated", "[]", r#"{"pathname":"/a"}"#), Err("type"));
    }

    #[test]
    fn a_time_may_be_five_minutes_ahead_and_as_late_as_it_was() {
        for (at, result) in [
            ("2026-07-01T12:05:00Z", Ok(())),
            ("2026-07-01T12:05:00.001Z", Err(())),
            ("2026-07-02T12:00:00Z", Err(())),
            ("1999-01-01T00:00:00Z", Ok(())),
        ] {
            let page = |noted: &str| format!(r#"{{"pathname":"/a","at":"{noted}"}}"#);
            assert_eq!(check("human.navigate", "[]", &page(at)), result.map_err(|()| "metadata.at"), "{at}");
            assert_eq!(check_at("human.navigate", Some(at), "[]", &page(NOW)), result.map_err(|()| "at"), "{at}");
        }
    }

    #[test]
    fn a_path_is_kept_without_its_query_and_its_fragment() {
        for (sent, kept) in [
            (r#"{"pathname":"/search?q=secret#top","at":"x"}"#, Some(r#"{"at":"x","pathname":"/search"}"#)),
            (r##"{"pathname":"/a#b?c"}"##, Some(r#"{"pathname":"/a"}"#)),
            (r#"{"pathname":"?q"}"#, Some(r#"{"pathname":""}"#)),
            (r#"{"pathname":"/a"}"#, None),
            (r#"{"title":"Why?"}"#, None),
            ("[]", None),
        ] {
            let cut = without_query(sent).map(|cut| serde_json::from_str::<Value>(&cut).unwrap());
            assert_eq!(cut, kept.map(|kept| serde_json::from_str(kept).unwrap()), "{sent}");
        }
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
        ] {
            assert_eq!(check(kind, content, &metadata), Err(field), "{kind} {metadata:.60}");
        }
        let content = format!(r#"[{{"type":"text","text":"{note}"}}]"#);
        assert_eq!(check("human.marker", &content, "{}"), Err("content"));
    }
}
