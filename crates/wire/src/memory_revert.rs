//! Reverting what one session wrote into the memory of an agent.

use crate::memory::MemoryDiffLine;
use domain::id::SessionId;
use serde::{Deserialize, Serialize};

/// `POST /api/agents/{slug}/memory/revert-session`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RevertMemorySession {
    /// The session whose turns the lines come from.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub session_id: SessionId,
    /// Shown in the history. By default it names the session.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::MemoryReason, required = false))]
    pub reason: String,
    /// Write the changes, instead of listing them.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub apply: bool,
}

/// What reverting a session changes, or would.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct RevertedMemorySession {
    /// Whether it is written.
    pub applied: bool,
    /// Documents that lose lines, by path.
    pub documents: Vec<RevertedMemory>,
    /// Whether more documents name the session. They follow when these are reverted.
    pub has_more: bool,
}

/// A document with lines that come from the session.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct RevertedMemory {
    /// Folder and name.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::MemoryPath))]
    pub path: String,
    /// Its newest version before the revert.
    pub version: u64,
    /// Whether nothing is left of it, so that it is deleted. Its versions stay.
    pub is_whole: bool,
    /// All lines before and after.
    pub lines: Vec<MemoryDiffLine>,
}
