//! How the server knows who answers a form or a question of an agent.

use crate::{names::names, view::Gate};
use serde::{Deserialize, Serialize};
use std::fmt;

/// How the server knows who answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RespondentKind {
    /// A member of the workspace, who is signed in.
    User,
    /// A program of a member, by its API token.
    Token,
    /// A browser without an account, by its cookie.
    Browser,
    /// A browser without an account whose person gave a name and an e-mail address. No one proved them.
    Lead,
    /// The server: no one answered a question of an agent. It answers no form.
    System,
}

names!(RespondentKind { User = "user", Token = "token", Browser = "browser", Lead = "lead", System = "system" });

impl RespondentKind {
    /// Those who answer forms.
    pub const OF_FORMS: [Self; 4] = [Self::User, Self::Token, Self::Browser, Self::Lead];

    /// Whether a view with this gate takes answers of this kind. Members may answer every view.
    pub const fn passes(self, gate: Gate) -> bool {
        match self {
            Self::User | Self::Token => true,
            Self::Browser => matches!(gate, Gate::None),
            Self::Lead => matches!(gate, Gate::None | Gate::Lead),
            Self::System => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gate_lets_members_and_those_who_gave_what_it_asks() {
        let passing = |gate| RespondentKind::OF_FORMS.map(|kind| kind.passes(gate));
        assert_eq!(passing(Gate::None), [true, true, true, true]);
        assert_eq!(passing(Gate::Lead), [true, true, false, true]);
        assert_eq!(passing(Gate::Member), [true, true, false, false]);
        assert!(Gate::ALL.into_iter().all(|gate| !RespondentKind::System.passes(gate)));
    }
}
