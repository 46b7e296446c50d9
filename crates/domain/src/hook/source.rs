//! The coding agents whose hooks are accepted.

use crate::limit::{HOOK_CONTEXT_BYTES_MAX, HOOK_CONTEXT_UNITS_MAX};

/// A coding agent that sends hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Source {
    /// Anthropic's Claude Code.
    ClaudeCode,
    /// OpenAI's Codex.
    Codex,
    /// Google's Gemini CLI. Its hooks have names of their own.
    Gemini,
}

impl Source {
    /// Every source.
    pub const ALL: [Self; 3] = [Self::ClaudeCode, Self::Codex, Self::Gemini];

    /// Name in URLs and on the command line. It is also the `source` and the agent slug of the sessions.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
        }
    }

    /// Name that people read.
    pub const fn label(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::Codex => "Codex",
            Self::Gemini => "Gemini CLI",
        }
    }

    /// Returns the size of a context as the agent counts it.
    pub fn context_size(self, text: &str) -> usize {
        match self {
            Self::ClaudeCode | Self::Gemini => text.encode_utf16().count(),
            Self::Codex => text.len(),
        }
    }

    /// The largest context that the agent is given, in the unit of [`Self::context_size`]. Claude Code and Codex give
    /// their models no larger one whole. Gemini CLI takes ten times as much, and gets no more than the others.
    pub const fn context_max(self) -> usize {
        match self {
            Self::ClaudeCode | Self::Gemini => HOOK_CONTEXT_UNITS_MAX,
            Self::Codex => HOOK_CONTEXT_BYTES_MAX,
        }
    }

    /// The hook of Claude Code and Codex that means the same as this one of the agent, by its name.
    pub(super) fn common_name(self, event: &str) -> &str {
        match (self, event) {
            (Self::Gemini, "BeforeAgent") => "UserPromptSubmit",
            (Self::Gemini, "BeforeTool") => "PreToolUse",
            (Self::Gemini, "AfterTool") => "PostToolUse",
            (Self::Gemini, "AfterAgent") => "Stop",
            (_, event) => event,
        }
    }

    /// The member of the payload of a turn's end that has the agent's message.
    pub(super) const fn reply_field(self) -> &'static str {
        match self {
            Self::ClaudeCode | Self::Codex => "last_assistant_message",
            Self::Gemini => "prompt_response",
        }
    }

    /// Returns the source with this name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|source| source.as_str() == text)
    }
}
