//! `tool.invocation_failed`: a call of a tool failed.

use super::{
    invocation::Invocation,
    payload::{Payload, Writer},
};
use crate::event::{EventRole, Group};

/// A call of a tool failed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct InvocationFailed(pub Invocation);

impl Payload for InvocationFailed {
    const WRITER: Writer = Writer::Worker;
    const ROLE: EventRole = EventRole::Agent;
    const GROUP: Group = Group::Errors;

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
