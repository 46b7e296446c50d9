//! Who takes part in a canvas.

use crate::{
    id::{TokenId, UserId},
    names::names,
    slug::is_slug,
};
use serde::{Deserialize, Serialize};
use std::fmt;

/// What a participant may do with a canvas.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ParticipantRole {
    /// Reads, changes and completes it.
    Edit,
    /// Reads it. A change waits until an editor accepts it.
    Suggest,
    /// Reads it, as everyone in the workspace can.
    View,
}

names!(ParticipantRole { Edit = "edit", Suggest = "suggest", View = "view" });

/// Whether a suggestion waits, was accepted, or was declined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SuggestionState {
    /// It waits for a decision.
    Open,
    /// An editor accepted it, and it is in the document.
    Accepted,
    /// An editor declined it.
    Declined,
}

names!(SuggestionState { Open = "open", Accepted = "accepted", Declined = "declined" });

/// The person or program that takes part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Participant {
    /// A person.
    User(UserId),
    /// A program, by its API token.
    Token(TokenId),
    /// An agent that runs in the server's process, by its slug.
    Agent(String),
}

impl fmt::Display for Participant {
    /// Formats the participant as the actor of its events.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::User(id) => write!(f, "user:{id}"),
            Self::Token(id) => write!(f, "token:{id}"),
            Self::Agent(slug) => write!(f, "agent:{slug}"),
        }
    }
}

impl Participant {
    /// Reads `user:` or `token:` and a UUID, or `agent:` and a slug.
    pub fn parse(text: &str) -> Option<Self> {
        let (kind, name) = text.split_once(':')?;
        match kind {
            "user" => name.parse().ok().map(Self::User),
            "token" => name.parse().ok().map(Self::Token),
            "agent" => is_slug(name).then(|| Self::Agent(name.to_owned())),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_and_programs_take_part_and_no_one_else() {
        let id = "01890a5d-ac96-774b-bcce-b302099a8057";
        for text in [format!("user:{id}"), format!("token:{id}"), "agent:scout".to_owned()] {
            assert_eq!(Participant::parse(&text).unwrap().to_string(), text);
        }
        for text in ["", "user:", "user:x", "system", "agent:A b", &format!("rule:{id}"), &format!(" user:{id}")] {
            assert_eq!(Participant::parse(text), None, "{text}");
        }
    }
}
