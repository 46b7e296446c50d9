//! The server function that runs a task. Forms post to it.

use crate::server_function::{Client, Created, Refusal, backend};
use domain::schema_form::{Fields, INPUT};
use leptos::prelude::server;
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{self, MapAccess, Visitor, value::MapAccessDeserializer},
};
use std::{collections::BTreeMap, fmt};

/// The key of the text of the field `input`, where there are fields `input.KEY` besides.
pub const WHOLE: &str = "~";

/// The text typed into the form of a task's input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum TypedInput {
    /// The text of the only field, `input`.
    Text(String),
    /// The texts of the fields `input.KEY`, by key, and that of `input` by [`WHOLE`].
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
    /// The text of the field `input`.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Fields(fields) => fields.get(WHOLE).map(String::as_str),
        }
    }

    /// The texts of the controls of a form.
    pub fn fields(&self) -> Fields {
        match self {
            Self::Text(text) => Fields::sent(INPUT, [(INPUT, text.as_str())]),
            Self::Fields(fields) => {
                let name = |key: &str| if key == WHOLE { INPUT.to_owned() } else { format!("{INPUT}.{key}") };
                let named: Vec<_> = fields.iter().map(|(key, text)| (name(key), text.as_str())).collect();
                Fields::sent(INPUT, named.iter().map(|(name, text)| (name.as_str(), *text)))
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
