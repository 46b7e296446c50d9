//! `agent.tool_call`: an agent called tools.

use super::{
    payload::Payload,
    tool_part::{CallPart, calls, write_calls},
};

/// The calls of one event, usually one.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentToolCall(pub Vec<CallPart>);

impl Payload for AgentToolCall {
    fn read(content: &str, _metadata: &str) -> Option<Self> {
        Some(Self(calls(content)))
    }

    fn content(&self) -> String {
        write_calls(&self.0)
    }
}
