//! `user.tool_confirmation`: a decision on a tool call.

use super::{
    decision::Decision,
    payload::{Payload, Writer, json_text, text_content},
};
use crate::event::{EventRole, Group};

/// A decision on a tool call.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolConfirmation(pub Decision);

impl Payload for ToolConfirmation {
    const WRITER: Writer = Writer::Server;
    const ROLE: EventRole = EventRole::User;
    const GROUP: Group = Group::Tools;

    fn read(content: &str, metadata: &str) -> Option<Self> {
        Decision::of_event(content, metadata).map(Self)
    }

    fn content(&self) -> String {
        text_content(self.0.note.as_deref())
    }

    fn metadata(&self) -> String {
        json_text(&self.0)
    }
}
