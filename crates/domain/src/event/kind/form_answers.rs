//! What the events of a form's answers have in common: `user.form_draft` and the responses among `user.form_submit`.

use super::payload::{Payload, json_text, read_fields};
use crate::{
    id::{EntityId, ViewId},
    respondent::RespondentKind,
};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The answers of a person to a form, as they were saved or submitted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FormAnswers {
    /// The answers: a JSON array of parts.
    #[serde(skip)]
    pub content: String,
    /// The form.
    pub view_id: ViewId,
    /// Version of the form.
    pub version: u64,
    /// Id that the browser gave the response.
    pub request_id: Option<Uuid>,
    /// How often the answers were saved.
    pub rev: u64,
    /// How the server knows who answers.
    pub respondent_kind: RespondentKind,
    /// The entity of a person without an account who gave a name.
    pub lead_entity_id: Option<EntityId>,
}

impl Payload for FormAnswers {
    fn read(content: &str, metadata: &str) -> Option<Self> {
        Some(Self { content: content.to_owned(), ..read_fields(metadata)? })
    }

    fn content(&self) -> String {
        self.content.clone()
    }

    fn metadata(&self) -> String {
        json_text(self)
    }
}
