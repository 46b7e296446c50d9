//! What a model is sent for one reply, in either wire format.

use super::{Call, Offered};
use serde_json::Value;

/// What the model is sent for one reply.
#[derive(Debug, Clone)]
pub struct ModelRequest {
    /// System prompt; empty for none.
    pub system: String,
    /// The conversation so far.
    pub messages: Vec<Message>,
    /// Tools that the model may call.
    pub tools: Vec<Offered>,
    /// JSON Schema that the service makes the reply match; `None` for a reply in any form.
    pub reply_schema: Option<Value>,
}

/// A part of the conversation by one side.
#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    /// Text that the model reads as the user's.
    User(String),
    /// What the model wrote: texts and calls, in order.
    Agent(Vec<Part>),
    /// Results of the calls before it.
    Results(Vec<CallResult>),
}

/// A part of what the model wrote.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    /// What it said.
    Text(String),
    /// A tool call. Its input is an object.
    Call(Call),
}

/// The result of a tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallResult {
    /// Id of the call.
    pub id: String,
    /// The output as text.
    pub text: String,
}

impl Message {
    /// Text that the model reads as the user's.
    pub fn user(text: impl Into<String>) -> Self {
        Self::User(text.into())
    }

    /// Text that the model wrote.
    pub fn agent(text: impl Into<String>) -> Self {
        Self::Agent(vec![Part::Text(text.into())])
    }
}
