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
    /// OpenCode. A plugin sends its events under the names of Claude Code's hooks.
    OpenCode,
    /// The coding agent pi. An extension sends its events under the names of Claude Code's hooks.
    Pi,
    /// OpenClaw. A plugin sends its events under the names of Claude Code's hooks.
    OpenClaw,
}

impl Source {
    /// Every source.
    pub const ALL: [Self; 6] = [Self::ClaudeCode, Self::Codex, Self::Gemini, Self::OpenCode, Self::Pi, Self::OpenClaw];

    /// Name in URLs and on the command line. It is also the `source` and the agent slug of the sessions.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::OpenCode => "opencode",
            Self::Pi => "pi",
            Self::OpenClaw => "openclaw",
        }
    }

    /// Name that people read.
    pub const fn label(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::Codex => "Codex",
            Self::Gemini => "Gemini CLI",
            Self::OpenCode => "OpenCode",
            Self::Pi => "pi",
            Self::OpenClaw => "OpenClaw",
        }
    }

    /// Returns the size of a context as the agent counts it.
    pub fn context_size(self, text: &str) -> usize {
        match self {
            Self::Codex => text.len(),
            Self::ClaudeCode | Self::Gemini | Self::OpenCode | Self::Pi | Self::OpenClaw => text.encode_utf16().count(),
        }
    }

    /// The largest context that the agent is given, in the unit of [`Self::context_size`]. Claude Code and Codex give
    /// their models no larger one whole. The others take several times as much, and get no more than these.
    pub const fn context_max(self) -> usize {
        match self {
            Self::Codex => HOOK_CONTEXT_BYTES_MAX,
            Self::ClaudeCode | Self::Gemini | Self::OpenCode | Self::Pi | Self::OpenClaw => HOOK_CONTEXT_UNITS_MAX,
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
            Self::Gemini => "prompt_response",
            Self::ClaudeCode | Self::Codex | Self::OpenCode | Self::Pi | Self::OpenClaw => "last_assistant_message",
        }
    }

    /// Returns the source with this name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|source| source.as_str() == text)
    }
}
