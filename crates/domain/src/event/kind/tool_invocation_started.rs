//! `tool.invocation_started`: a call of a tool started.

use super::{
    invocation::Invocation,
    payload::{Payload, Writer},
};
use crate::event::{EventRole, Group};

/// A call of a tool started.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct InvocationStarted(pub Invocation);

impl Payload for InvocationStarted {
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
