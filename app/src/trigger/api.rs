//! The server function that runs a task. Forms post to it.

use crate::server_function::{Client, Created, Refusal, backend};
use leptos::prelude::server;
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{self, MapAccess, Visitor, value::MapAccessDeserializer},
};
use std::{collections::BTreeMap, fmt};

/// Name of the form field of an input, or the begin of the names of its fields.
pub const INPUT: &str = "input";

/// The text typed into the form of a task's input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum TypedInput {
    /// The text of the only field, `input`.
    Text(String),
    /// The texts of the fields `input.KEY`, by key.
    Fields(BTreeMap<String, String>),
}

impl<'de> Deserialize<'de> for TypedInput {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(InputVisitor)
    }
}

/// Reads the typed text. A derived reader would say that no variant matches, and not what is expected.
struct InputVisitor;

impl<'de> Visitor<'de> for InputVisitor {
    type Value = TypedInput;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("one text, or texts by key")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<TypedInput, E> {
        Ok(TypedInput::Text(text.to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(self, texts: A) -> Result<TypedInput, A::Error> {
        BTreeMap::deserialize(MapAccessDeserializer::new(texts)).map(TypedInput::Fields)
    }
}

impl Default for TypedInput {
    fn default() -> Self {
        Self::Fields(BTreeMap::new())
    }
}

impl TypedInput {
    /// The text of the form field with this name: `input` or `input.KEY`.
    pub fn text(&self, name: &str) -> Option<&str> {
        match self {
            Self::Text(text) => (name == INPUT).then_some(text.as_str()),
            Self::Fields(fields) => {
                let key = name.strip_prefix(INPUT)?.strip_prefix('.')?;
                fields.get(key).map(String::as_str)
            }
        }
    }
}

/// What the server does for this function.
#[async_trait::async_trait]
pub trait ActionBackend: Send + Sync {
    /// See [`trigger_action`].
    async fn trigger(
        &self,
        action_id: String,
        input: TypedInput,
        idempotency_key: Option<String>,
    ) -> Result<Created, Refusal>;
}

/// Creates a session of a task. The input is read by the task's input schema. A repeat with the same `idempotency_key`
/// creates no other session.
#[server(prefix = "/fn", endpoint = "action/trigger", client = Client)]
pub async fn trigger_action(
    action_id: String,
    #[server(default)] input: TypedInput,
    #[server(default)] idempotency_key: Option<String>,
) -> Result<Created, Refusal> {
    backend::<dyn ActionBackend>()?.trigger(action_id, input, idempotency_key).await
}
