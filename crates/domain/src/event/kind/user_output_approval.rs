//! `user.output_approval`: a decision on an output, on fields or on a memory.

use super::{
    decision::Decision,
    payload::{Payload, Writer, json_text, text_content},
};
use crate::event::{EventRole, Group};

/// A decision on an output, on fields or on a memory.
#[derive(Debug, Clone, PartialEq)]
pub struct OutputApproval(pub Decision);

impl Payload for OutputApproval {
    const WRITER: Writer = Writer::Server;
    const ROLE: EventRole = EventRole::User;
    const GROUP: Group = Group::Messages;

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
