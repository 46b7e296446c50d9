//! Data of a conversation.

use super::message::KINDS;
use crate::session::Rating;
use std::collections::HashMap;
use wire::{
    event::Event,
    thread::{MemoryStatus, Thread, ThreadSummary},
};

/// The gate that a conversation waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gate {
    /// Id of the inbox item.
    pub id: String,
    /// Whether it is a question of the agent; the next message answers it.
    pub is_question: bool,
    /// Whether the viewer may decide it now.
    pub may_decide: bool,
}

/// Data of a conversation.
#[derive(Debug, Clone)]
pub struct Conversation {
    /// The conversation.
    pub thread: Thread,
    /// The newest events of [`Conversation::kinds`], or those before `?before=`; oldest first.
    pub events: Vec<Event>,
    /// Names of other people who answered in it, by actor.
    pub others: HashMap<String, String>,
    /// Idempotency key of a message that is sent again.
    pub resend_id: String,
    /// Whether there are earlier events.
    pub has_earlier: bool,
    /// `?before=`: absent if these are the newest events.
    pub before: Option<u64>,
    /// The summary of the conversation, once it has ended.
    pub summary: Option<ThreadSummary>,
    /// The gate that it waits for.
    pub gate: Option<Gate>,
    /// What is stored about the conversation and its ratings; absent if that could not be read.
    pub memory: Option<MemoryStatus>,
    /// Whether the viewer is asked to rate it.
    pub rating: Rating,
}

impl Conversation {
    /// The kinds of events to read.
    pub fn kinds() -> Vec<String> {
        KINDS.map(str::to_owned).to_vec()
    }

    /// The name of the agent.
    pub fn agent(&self) -> &str {
        self.thread.agent_slug.as_deref().unwrap_or("The agent")
    }
}
