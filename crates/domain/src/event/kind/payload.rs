//! How payloads of events are read and written, and helpers to read and write its payload.

use crate::{Timestamp, limit::PATHNAME_CHARS_MAX};
use serde::{Deserialize, Deserializer, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};

/// Who writes the events of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Writer {
    /// The use cases of the server.
    Server,
    /// Workers. The server writes such events only in the place of one, as for hooks.
    Worker,
    /// The server, and workers about their own work.
    ServerAndWorker,
    /// The browser of the person to whom the session belongs.
    Owner,
}

/// The content and metadata of one kind of event.
pub trait Payload: Sized {
    /// Reads content and metadata as they are stored. Returns `None` if a part that every such event has is missing:
    /// the event was erased, or another version wrote it.
    fn read(content: &str, metadata: &str) -> Option<Self>;

    /// The content to store: a JSON array of parts.
    fn content(&self) -> String {
        "[]".into()
    }

    /// The metadata to store: a JSON object. Its members have the order of the fields, which is part of stored bytes.
    fn metadata(&self) -> String {
        "{}".into()
    }

    /// What happened, as a sentence for pages; `None` where pages show the content itself.
    fn sentence(&self) -> Option<String> {
        None
    }
}

/// Declares the payload of a kind whose events hold what events of other kinds hold.
macro_rules! same_as {
    ($(#[$meta:meta])* $name:ident($inner:ty)) => {
        $(#[$meta])*
        pub struct $name(pub $inner);

        impl $crate::event::kind::Payload for $name {
            fn read(content: &str, metadata: &str) -> Option<Self> {
                <$inner as $crate::event::kind::Payload>::read(content, metadata).map(Self)
            }

            fn content(&self) -> String {
                self.0.content()
            }

            fn metadata(&self) -> String {
                self.0.metadata()
            }
        }
    };
}
pub(super) use same_as;

/// Content that is one text part, or empty without a text.
pub(super) fn text_content(text: Option<&str>) -> String {
    text.map_or_else(|| "[]".into(), |text| json_text(&[TextPart { kind: "text", text }]))
}

#[derive(Serialize)]
struct TextPart<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    text: &'a str,
}

/// The joined texts of content; `None` if it has none.
pub(super) fn text_of(content: &str) -> Option<String> {
    Some(crate::thread::text_of(content)).filter(|text| !text.is_empty())
}

/// Reads metadata whose members are the fields of a payload.
pub(super) fn read_fields<T: DeserializeOwned>(metadata: &str) -> Option<T> {
    serde_json::from_str(metadata).ok()
}

/// Writes a payload as JSON.
pub(super) fn json_text(payload: &impl Serialize) -> String {
    // Serialisation fails only for maps whose keys are no text, and no payload has one.
    serde_json::to_string(payload).unwrap_or_else(|_| "{}".into())
}

/// Reads a member that may be `null`, so that `null` differs from a member that is missing.
pub(super) fn nullable<'de, T, D>(deserializer: D) -> Result<Option<Option<T>>, D::Error>
where
    T: Deserialize<'de>,
    D: Deserializer<'de>,
{
    Option::deserialize(deserializer).map(Some)
}

/// The members of metadata that programs outside of Shiftbook wrote: any of them may be missing or of another type.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Members(Map<String, Value>);

impl Members {
    /// Reads metadata. Anything but an object has no members.
    pub(super) fn read(metadata: &str) -> Self {
        Self(serde_json::from_str(metadata).unwrap_or_default())
    }

    /// The first of these members that is a text, a number or a truth value, as text.
    pub(super) fn text(&self, names: &[&str]) -> Option<String> {
        names.iter().find_map(|name| match self.0.get(*name)? {
            Value::String(text) => Some(text.clone()),
            value @ (Value::Number(_) | Value::Bool(_)) => Some(value.to_string()),
            Value::Null | Value::Array(_) | Value::Object(_) => None,
        })
    }

    /// A member that is a whole number of at least 0.
    pub(super) fn number(&self, name: &str) -> Option<u64> {
        self.0.get(name)?.as_u64()
    }

    /// A member that is a truth value.
    pub(super) fn flag(&self, name: &str) -> Option<bool> {
        self.0.get(name)?.as_bool()
    }

    /// A member that is a time as RFC 3339.
    pub(super) fn time(&self, name: &str) -> Option<Timestamp> {
        self.0.get(name)?.as_str()?.parse().ok()
    }

    /// The path of the page on which a person was.
    pub(super) fn pathname(&self) -> Option<String> {
        let path = self.0.get("pathname")?.as_str()?;
        (path.starts_with('/') && path.chars().count() <= PATHNAME_CHARS_MAX).then(|| path.to_owned())
    }

    /// A member of any type.
    pub(super) fn value(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }
}

/// `lead`, followed by what it is about if that is known.
pub(super) fn about(lead: &str, rest: Option<&str>) -> String {
    match rest {
        Some(rest) if !rest.is_empty() => format!("{lead} {rest}"),
        _ => lead.to_owned(),
    }
}

/// Metadata with the time at which a browser saw what it reports.
pub(super) fn with_time(mut metadata: Value, at: Option<Timestamp>) -> String {
    if let Some(at) = at {
        metadata["at"] = json!(at);
    }
    metadata.to_string()
}
