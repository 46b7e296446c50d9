//! `agent.tool_call`: an agent called tools.

use super::{
    payload::{Payload, Writer},
    tool_part::{CallPart, calls, write_calls},
};
use crate::event::{EventRole, Group};

/// The calls of one event, usually one.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentToolCall(pub Vec<CallPart>);

impl Payload for AgentToolCall {
    const WRITER: Writer = Writer::Worker;
    const ROLE: EventRole = EventRole::Agent;
    const GROUP: Group = Group::Tools;

    fn read(content: &str, _metadata: &str) -> Option<Self> {
        Some(Self(calls(content)))
    }

    fn content(&self) -> String {
        write_calls(&self.0)
    }

    fn metadata(&self) -> String {
        "{}".into()
    }
}
