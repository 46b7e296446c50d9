//! Events: the rows of a session's log.

mod author;
mod content;
mod group;
mod human;
pub mod kind;
mod name;
mod new;
mod part_type;
mod recorded;

pub use author::{Author, WriteRefusal, may_write};
pub use content::{InvalidContent, json_depth, normalize_content, validate_metadata};
pub use group::Group;
pub use human::{Claim, InvalidHuman, check_human, without_query};
pub use kind::{Body, Known};
pub use name::{InvalidKind, Kind, Prefix};
pub use new::NewEvent;
pub use part_type::PartType;
pub use recorded::Event;

/// The role of an event's author.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventRole {
    /// A person.
    User,
    /// An agent or its tools.
    Agent,
    /// Shiftbook itself, or another system.
    System,
}

impl EventRole {
    /// All roles.
    pub const ALL: [Self; 3] = [Self::User, Self::Agent, Self::System];

    /// The stored and wire name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Agent => "agent",
            Self::System => "system",
        }
    }

    /// Returns the role with this stored name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|r| r.as_str() == text)
    }

    /// Returns the role of an event that a worker writes. Messages, calls and thoughts of an agent, and runs of its
    /// tools, are the agent's, whatever the worker names. No event of a worker is a person's.
    pub fn of_worker(kind: &Kind, named: Option<Self>) -> Self {
        match (kind.prefix(), named) {
            (Prefix::Agent | Prefix::Tool, _) | (_, Some(Self::User)) => Self::Agent,
            (_, Some(named)) => named,
            (_, None) => Self::of_kind(kind),
        }
    }

    /// Returns the role of an event whose writer named none.
    pub fn of_kind(kind: &Kind) -> Self {
        if let Some(known) = kind.known() {
            return known.role();
        }
        match kind.prefix() {
            Prefix::User | Prefix::Human => Self::User,
            Prefix::Agent | Prefix::Tool => Self::Agent,
            Prefix::Session | Prefix::External | Prefix::State | Prefix::Other => Self::System,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_event_of_a_worker_is_a_persons() {
        use EventRole::{Agent, System, User};
        for (kind, named, role) in [
            ("agent.message", None, Agent),
            ("agent.message", Some(User), Agent),
            ("agent.thinking", Some(System), Agent),
            ("tool.invocation_started", Some(User), Agent),
            ("external.event", None, System),
            ("external.event", Some(Agent), Agent),
            ("external.event", Some(User), Agent),
            ("acme.note", Some(User), Agent),
            ("acme.note", Some(System), System),
            ("session.error", None, System),
        ] {
            assert_eq!(EventRole::of_worker(&Kind::parse(kind).unwrap(), named), role, "{kind} {named:?}");
        }
    }
}
