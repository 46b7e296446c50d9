//! Event kinds: a list of known kinds. Any other dotted lower-case name is a valid kind too.

use crate::limit::KIND_BYTES_MAX;
use std::fmt;

/// The kinds that Shiftbook knows, grouped as in the documentation.
pub const KNOWN: [&str; 31] = [
    "user.message",
    "user.tool_result",
    "user.tool_confirmation",
    "user.form_submit",
    "user.form_draft",
    "user.output_approval",
    "agent.message",
    "agent.tool_call",
    "agent.tool_result",
    "agent.thinking",
    "session.created",
    "session.claimed",
    "session.status_change",
    "session.error",
    "session.completed",
    "session.context_injected",
    "session.waiting_approval",
    "session.feedback_requested",
    "tool.session_started",
    "tool.field_changed",
    "tool.invocation_started",
    "tool.invocation_completed",
    "tool.invocation_failed",
    "tool.composition_step.started",
    "tool.composition_step.completed",
    "human.navigate",
    "human.entity_view",
    "human.marker",
    "human.task_switch",
    "external.event",
    "state.patch",
];

/// The first word of a kind. It decides who may write events of the kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prefix {
    /// Input of people to the session. The server's use cases write these events.
    User,
    /// Messages, tool calls and thinking of the agent.
    Agent,
    /// Changes of the session. The server writes these events; a worker may write `session.error` only.
    Session,
    /// Runs of tools.
    Tool,
    /// Activity of a person in the browser.
    Human,
    /// Events of other systems.
    External,
    /// JSON Patches of shared state.
    State,
    /// Any other prefix.
    Other,
}

/// A well-formed event kind.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Kind(String);

/// The error for a text that is not an event kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("an event type is a dotted lower-case name such as `agent.message`, at most {KIND_BYTES_MAX} bytes")]
pub struct InvalidKind;

impl Kind {
    /// `session.created`
    pub const SESSION_CREATED: &'static str = "session.created";
    /// `session.claimed`
    pub const SESSION_CLAIMED: &'static str = "session.claimed";
    /// `session.status_change`
    pub const SESSION_STATUS_CHANGE: &'static str = "session.status_change";
    /// `session.error`
    pub const SESSION_ERROR: &'static str = "session.error";
    /// `session.completed`
    pub const SESSION_COMPLETED: &'static str = "session.completed";
    /// `session.context_injected`
    pub const SESSION_CONTEXT_INJECTED: &'static str = "session.context_injected";
    /// `session.waiting_approval`
    pub const SESSION_WAITING_APPROVAL: &'static str = "session.waiting_approval";
    /// `session.feedback_requested`
    pub const SESSION_FEEDBACK_REQUESTED: &'static str = "session.feedback_requested";
    /// `user.output_approval`
    pub const USER_OUTPUT_APPROVAL: &'static str = "user.output_approval";
    /// `user.tool_confirmation`
    pub const USER_TOOL_CONFIRMATION: &'static str = "user.tool_confirmation";
    /// `user.tool_result`
    pub const USER_TOOL_RESULT: &'static str = "user.tool_result";
    /// `user.form_submit`
    pub const USER_FORM_SUBMIT: &'static str = "user.form_submit";
    /// `user.form_draft`
    pub const USER_FORM_DRAFT: &'static str = "user.form_draft";
    /// The kinds that a recent-activity block shows.
    pub const HUMAN: [&'static str; 4] = ["human.navigate", "human.entity_view", "human.marker", "human.task_switch"];

    /// Parses a kind: two or more words of `a-z 0-9 _` joined by dots. The first word starts with a letter.
    ///
    /// # Errors
    /// [`InvalidKind`] if the text has another form or is longer than [`KIND_BYTES_MAX`].
    pub fn parse(text: &str) -> Result<Self, InvalidKind> {
        let word =
            |w: &str| !w.is_empty() && w.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
        let good = text.len() <= KIND_BYTES_MAX
            && text.contains('.')
            && text.starts_with(|c: char| c.is_ascii_lowercase())
            && text.split('.').all(word);
        if good { Ok(Self(text.to_owned())) } else { Err(InvalidKind) }
    }

    /// Returns the kind as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether Shiftbook knows this kind.
    pub fn is_known(&self) -> bool {
        KNOWN.contains(&self.as_str())
    }

    /// Returns the prefix, which is the kind's first word.
    pub fn prefix(&self) -> Prefix {
        match self.0.split('.').next().unwrap_or_default() {
            "user" => Prefix::User,
            "agent" => Prefix::Agent,
            "session" => Prefix::Session,
            "tool" => Prefix::Tool,
            "human" => Prefix::Human,
            "external" => Prefix::External,
            "state" => Prefix::State,
            _ => Prefix::Other,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_known_kind_is_well_formed() {
        for kind in KNOWN {
            assert!(Kind::parse(kind).unwrap().is_known(), "{kind}");
        }
    }

    #[test]
    fn unknown_dotted_names_are_kinds_and_other_text_is_not() {
        assert!(Kind::parse("acme.build_finished.v2").is_ok());
        for bad in ["", "message", ".a", "a.", "a..b", "Agent.message", "agent message", "agent.\n", "1a.b", "a.é"] {
            assert!(Kind::parse(bad).is_err(), "{bad:?}");
        }
    }
}
