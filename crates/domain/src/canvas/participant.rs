//! Who takes part in a canvas.

use crate::{
    id::{TokenId, UserId},
    names::names,
    scope::Caller,
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

/// Returns the person or program that a text names: `user:` or `token:` and a UUID.
pub fn participant(text: &str) -> Option<Caller> {
    let (kind, id) = text.split_once(':')?;
    match kind {
        "user" => id.parse::<UserId>().ok().map(Caller::User),
        "token" => id.parse::<TokenId>().ok().map(Caller::Token),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_and_programs_take_part_and_no_one_else() {
        let id = "01890a5d-ac96-774b-bcce-b302099a8057";
        for kind in ["user", "token"] {
            let text = format!("{kind}:{id}");
            assert_eq!(participant(&text).unwrap().to_string(), text);
        }
        for text in ["", "user:", "user:x", "system", "agent:scout", &format!("rule:{id}"), &format!(" user:{id}")] {
            assert_eq!(participant(text), None, "{text}");
        }
    }
}
