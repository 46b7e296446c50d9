//! Links with which people without an account read one session, and what their page shows.

use crate::{
    event::Known,
    names::names,
    session::{Session, Type},
    tool::run::ToolRun,
};
use serde::{Deserialize, Serialize};
use std::fmt;

/// What the page of a link shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Audience {
    /// One run of a tool: its result, and its input without private values.
    ToolResult,
    /// A whole session: its result, and the events of its log that [`SHOWN`] names.
    Session,
}

names!(Audience { ToolResult = "tool_result", Session = "session" });

impl Audience {
    /// What a link to this session shows; `None` if the session cannot be shared. Private and incognito sessions
    /// cannot, and neither can answers to forms.
    pub fn of(session: &Session) -> Option<Self> {
        if session.is_private() {
            return None;
        }
        match session.session_type {
            Type::Agent | Type::Mixed => Some(Self::Session),
            Type::Tool => ToolRun::of_session(session).map(|_| Self::ToolResult),
            Type::Response => None,
        }
    }
}

/// The kinds of events that a shared log shows: messages, calls of tools, their results, errors and changes of state.
/// Left out are what an agent was given from memories and of a person's activity, answers and decisions of people, and
/// kinds that are not known here.
pub const SHOWN: [Known; 18] = [
    Known::SessionCreated,
    Known::SessionStatusChange,
    Known::SessionError,
    Known::UserMessage,
    Known::UserToolResult,
    Known::AgentMessage,
    Known::AgentThinking,
    Known::AgentToolCall,
    Known::AgentToolResult,
    Known::ToolSessionStarted,
    Known::ToolInvocationStarted,
    Known::ToolInvocationCompleted,
    Known::ToolInvocationFailed,
    Known::HumanNavigate,
    Known::HumanEntityView,
    Known::HumanMarker,
    Known::HumanTaskSwitch,
    Known::ExternalEvent,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_agent_is_given_and_what_people_decide_is_not_shown() {
        for hidden in [
            Known::SessionContextInjected,
            Known::UserFormSubmit,
            Known::UserFormDraft,
            Known::UserOutputApproval,
            Known::UserToolConfirmation,
            Known::SessionWaitingApproval,
            Known::StatePatch,
        ] {
            assert!(!SHOWN.contains(&hidden), "{}", hidden.as_str());
        }
    }
}
