//! The server functions of the inbox. Forms without scripts post to the same URLs.

#[cfg(feature = "ssr")]
use crate::server_function::backend;
use crate::server_function::{Client, Refusal};
use leptos::prelude::server;
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{self, SeqAccess, Visitor, value::SeqAccessDeserializer},
};
use std::{collections::BTreeMap, fmt};

/// Items as a form names them, `items[ID]`: id, and the digest of the proposal that was shown. It is empty for items
/// whose proposal does not matter, such as those of an undo.
pub type Items = BTreeMap<String, String>;

/// Fields of a form whose names depend on the item, by name: `value.KEY` for a proposed value, `answer` and
/// `answer.KEY` for an answer. Other fields are ignored.
pub type Fields = BTreeMap<String, Typed>;

/// What was sent for a field of a form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Typed {
    /// One text.
    Once(String),
    /// The chosen options of a group of check boxes.
    Several(Vec<String>),
}

impl<'de> Deserialize<'de> for Typed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TypedVisitor)
    }
}

/// Reads what was sent for a field. A derived reader would say that no variant matches, and not what is expected.
struct TypedVisitor;

impl<'de> Visitor<'de> for TypedVisitor {
    type Value = Typed;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("one text, or a list of texts")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Typed, E> {
        Ok(Typed::Once(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, texts: A) -> Result<Typed, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(texts)).map(Typed::Several)
    }
}

impl Typed {
    /// The text; several ones as lines. Line ends are LF.
    pub fn text(&self) -> String {
        match self {
            Self::Once(text) => text.replace("\r\n", "\n"),
            Self::Several(texts) => texts.join("\n"),
        }
    }
}

/// What the caller decided last and can still undo.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UndoOffer {
    /// What was decided, for example `Approved: Acme Corp`.
    pub title: String,
    /// Ids of the items that Undo reverts.
    pub items: Vec<String>,
    /// Whole seconds until the decision takes effect.
    pub seconds_left: u32,
    /// Time of day when the decision takes effect, UTC.
    pub until: String,
}

impl UndoOffer {
    /// As JSON, for the page. The browser never writes one.
    pub fn to_json(self) -> Option<String> {
        #[cfg(feature = "ssr")]
        return serde_json::to_string(&self).ok();
        #[cfg(not(feature = "ssr"))]
        None
    }
}

/// A decision on one item, as it was typed.
#[cfg(feature = "ssr")]
#[derive(Debug, Clone, Default)]
pub struct TypedDecision {
    /// `approve`, `deny`, `respond` or `cancel`.
    pub decision: String,
    /// Digest of the proposal that was shown.
    pub digest: Option<String>,
    /// The reason.
    pub note: Option<String>,
    /// Values and answers.
    pub fields: Fields,
}

/// The end of a snooze, as it was chosen.
#[cfg(feature = "ssr")]
#[derive(Debug, Clone, Default)]
pub struct TypedSnooze {
    /// `later`, `tomorrow`, `monday` or `at`. Absent: the snooze ends now.
    pub until: Option<String>,
    /// The local date and time of `at`, such as `2026-01-31T09:30`.
    pub at: Option<String>,
    /// IANA name of the time zone of the choices. Absent: UTC.
    pub timezone: Option<String>,
}

/// What the server does for these functions.
#[cfg(feature = "ssr")]
#[async_trait::async_trait]
pub trait InboxBackend: Send + Sync {
    /// See [`decide`].
    async fn decide(&self, id: String, typed: TypedDecision) -> Result<Option<UndoOffer>, Refusal>;
    /// See [`decide_many`]. The typed decision has no digest: each item has its own.
    async fn decide_many(&self, typed: TypedDecision, items: Items) -> Result<Option<UndoOffer>, Refusal>;
    /// See [`questions_off`].
    async fn questions_off(&self, id: String, fields: Fields) -> Result<Vec<String>, Refusal>;
    /// See [`undo_decisions`].
    async fn undo(&self, items: Items) -> Result<Option<UndoOffer>, Refusal>;
    /// See [`snooze_items`].
    async fn snooze(&self, typed: TypedSnooze, items: Items) -> Result<Option<UndoOffer>, Refusal>;
}

/// Decides one item: `approve` (with the values that were typed), `deny`, `respond` (with the answer), or `cancel`,
/// which closes a question without an answer, at once.
///
/// Returns what the caller can undo. A refusal names the fields of the form.
#[server(prefix = "/fn", endpoint = "inbox/decide", client = Client)]
pub async fn decide(
    id: String,
    decision: String,
    digest: Option<String>,
    note: Option<String>,
    #[server(flatten)] fields: Fields,
) -> Result<Option<UndoOffer>, Refusal> {
    let typed = TypedDecision { decision, digest, note, fields };
    backend::<dyn InboxBackend>()?.decide(id, typed).await
}

/// Returns the keys of the questions that do not apply with the text typed so far: the form hides them. Changes
/// nothing.
#[server(prefix = "/fn", endpoint = "inbox/questions-off", client = Client)]
pub async fn questions_off(id: String, #[server(flatten)] fields: Fields) -> Result<Vec<String>, Refusal> {
    backend::<dyn InboxBackend>()?.questions_off(id, fields).await
}

/// Approves or denies several items, or gives several questions that are alike one answer (`respond`). Each is decided
/// on its own. If some are refused, the others are decided nevertheless, and the refusal names those as `items[ID]`.
#[server(prefix = "/fn", endpoint = "inbox/decide-many", client = Client)]
pub async fn decide_many(
    decision: String,
    note: Option<String>,
    #[server(default)] items: Items,
    #[server(flatten)] fields: Fields,
) -> Result<Option<UndoOffer>, Refusal> {
    let typed = TypedDecision { decision, digest: None, note, fields };
    backend::<dyn InboxBackend>()?.decide_many(typed, items).await
}

/// Undoes the caller's decisions on these items. A refusal is as that of [`decide_many`].
#[server(prefix = "/fn", endpoint = "inbox/undo", client = Client)]
pub async fn undo_decisions(#[server(default)] items: Items) -> Result<Option<UndoOffer>, Refusal> {
    backend::<dyn InboxBackend>()?.undo(items).await
}

/// Hides items from the caller's inbox until `later`, `tomorrow`, `monday` or `at` a local time. Without `until` they
/// are shown again. A refusal is as that of [`decide_many`].
#[server(prefix = "/fn", endpoint = "inbox/snooze", client = Client)]
pub async fn snooze_items(
    until: Option<String>,
    at: Option<String>,
    timezone: Option<String>,
    #[server(default)] items: Items,
) -> Result<Option<UndoOffer>, Refusal> {
    let typed = TypedSnooze { until, at, timezone };
    backend::<dyn InboxBackend>()?.snooze(typed, items).await
}

/// Name of the form field of an item.
pub fn item_field(id: &str) -> String {
    ["items[", id, "]"].concat()
}

/// The id in the name of an item's form field.
pub fn item_of_field(name: &str) -> Option<&str> {
    name.strip_prefix("items[")?.strip_suffix(']')
}

#[cfg(feature = "hydrate")]
impl crate::server_function::Answer for UndoOffer {
    fn read(value: &wasm_bindgen::JsValue) -> Option<Self> {
        use crate::browser::dom;
        Some(Self {
            title: dom::text(value, "title")?,
            items: crate::server_function::list(&dom::member(value, "items"))?,
            seconds_left: dom::number(value, "seconds_left")? as u32,
            until: dom::text(value, "until")?,
        })
    }
}
