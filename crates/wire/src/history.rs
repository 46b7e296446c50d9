//! The turns of an agent's conversations, across its sessions.

use crate::thread::Channel;
use domain::{Timestamp, id::SessionId, memory_writer::turn::Taint};
use serde::{Deserialize, Serialize};

/// Turns of an agent, oldest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct History {
    /// At most as many as were asked for.
    pub items: Vec<HistoryTurn>,
    /// Whether there are more: older ones on a channel, newer ones past the watermark.
    pub has_more: bool,
}

/// One turn: a message or an answer of a person, a message of the agent, or the result of a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct HistoryTurn {
    /// The session in which it was said.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub session_id: SessionId,
    /// Sequence of its event.
    pub sequence: u64,
    /// Time of the event.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub at: Timestamp,
    /// Where the content comes from.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Taint))]
    pub taint: Taint,
    /// Name of the speaker, if the message names its author.
    pub speaker: Option<String>,
    /// Name of the tool whose result it is.
    pub tool: Option<String>,
    /// The text, at most 4,000 characters.
    pub text: String,
    /// The channel of the session.
    pub channel: Option<Channel>,
}
