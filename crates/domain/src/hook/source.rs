//! The coding agents whose hooks are accepted.

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

    /// Returns the source with this name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|source| source.as_str() == text)
    }
}
