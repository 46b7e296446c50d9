//! The coding agents whose hooks are accepted.

use crate::limit::{HOOK_CONTEXT_BYTES_MAX, HOOK_CONTEXT_UNITS_MAX};

/// A coding agent that sends hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Source {
    /// Anthropic's Claude Code.
    ClaudeCode,
    /// OpenAI's Codex.
    Codex,
}

impl Source {
    /// Every source.
    pub const ALL: [Self; 2] = [Self::ClaudeCode, Self::Codex];

    /// Name in URLs and on the command line. It is also the `source` and the agent slug of the sessions.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
        }
    }

    /// Name that people read.
    pub const fn label(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::Codex => "Codex",
        }
    }

    /// Returns the size of a context as the agent counts it.
    pub fn context_size(self, text: &str) -> usize {
        match self {
            Self::ClaudeCode => text.encode_utf16().count(),
            Self::Codex => text.len(),
        }
    }

    /// The largest context that the agent gives its model whole, in the unit of [`Self::context_size`].
    pub const fn context_max(self) -> usize {
        match self {
            Self::ClaudeCode => HOOK_CONTEXT_UNITS_MAX,
            Self::Codex => HOOK_CONTEXT_BYTES_MAX,
        }
    }

    /// Returns the source with this name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|source| source.as_str() == text)
    }
}
