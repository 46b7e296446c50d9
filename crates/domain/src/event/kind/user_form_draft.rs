//! `user.form_draft`: the answers of an unfinished response were saved.

use super::{
    form_answers::FormAnswers,
    payload::{Payload, Writer, json_text},
};
use crate::event::{EventRole, Group};

/// A saved draft.
#[derive(Debug, Clone, PartialEq)]
pub struct FormDraft(pub FormAnswers);

impl Payload for FormDraft {
    const WRITER: Writer = Writer::Server;
    const ROLE: EventRole = EventRole::User;
    const GROUP: Group = Group::Messages;

    fn read(content: &str, metadata: &str) -> Option<Self> {
        FormAnswers::of_event(content, metadata).map(Self)
    }

    fn content(&self) -> String {
        self.0.content.clone()
    }

    fn metadata(&self) -> String {
        json_text(&self.0)
    }
}
