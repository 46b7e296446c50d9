//! `tool.invocation_completed`: a call of a tool is done.

use super::{
    invocation::Invocation,
    payload::{Payload, Writer},
};
use crate::event::{EventRole, Group};

/// A call of a tool is done.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct InvocationCompleted(pub Invocation);

impl Payload for InvocationCompleted {
    const WRITER: Writer = Writer::Worker;
    const ROLE: EventRole = EventRole::Agent;
    const GROUP: Group = Group::Tools;

    fn read(content: &str, metadata: &str) -> Option<Self> {
        Some(Self(Invocation::read(content, metadata)))
    }

    fn content(&self) -> String {
        self.0.content()
    }

    fn metadata(&self) -> String {
        self.0.metadata()
    }
}
