//! Who gave an answer, and how sure that is.

use crate::{
    id::{TokenId, UserId},
    names::names,
};
use serde::{Deserialize, Serialize};
use std::fmt;

pub use crate::respondent::RespondentKind;

/// How sure it is that the respondent is who they say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Assurance {
    /// The person had signed in.
    SignedIn,
    /// Only they claim it: no one checked.
    Claimed,
    /// It is not known who answered.
    Unknown,
    /// A program sent the answer. Whether a person saw the question is not known.
    Program,
    /// The server wrote it.
    Server,
}

names!(Assurance {
    SignedIn = "signed_in", Claimed = "claimed", Unknown = "unknown", Program = "program", Server = "server",
});

impl RespondentKind {
    /// How sure it is who gave an answer of this kind.
    pub const fn assurance(self) -> Assurance {
        match self {
            Self::User => Assurance::SignedIn,
            Self::Lead => Assurance::Claimed,
            Self::Browser => Assurance::Unknown,
            Self::Token => Assurance::Program,
            Self::System => Assurance::Server,
        }
    }
}

impl Assurance {
    /// What an agent reads about it.
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::SignedIn => "a member of the workspace who had signed in",
            Self::Claimed => "someone with the link, who gave this name and address; no one checked them",
            Self::Unknown => "someone with the link; no one knows who",
            Self::Program => "a program with a token of the workspace; whether a person saw the question is not known",
            Self::Server => "the server",
        }
    }
}

/// Who gave an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Respondent {
    /// What kind of party it is.
    pub kind: RespondentKind,
    /// Tells respondents of one request apart: `user:…`, `token:…`, `lead:…`, `browser:…` or `system`. At most
    /// 200 bytes, none of them secret.
    pub key: String,
    /// The person, if they had signed in.
    pub user_id: Option<UserId>,
    /// Name for people: an e-mail address, or the name and address that a stranger entered.
    pub label: Option<String>,
}

impl Respondent {
    /// A member of the workspace.
    pub fn user(id: UserId) -> Self {
        Self { kind: RespondentKind::User, key: format!("user:{id}"), user_id: Some(id), label: None }
    }

    /// A program with an API token.
    pub fn token(id: TokenId) -> Self {
        Self { kind: RespondentKind::Token, key: format!("token:{id}"), user_id: None, label: None }
    }

    /// Someone with the link, identified by a digest of their browser's cookie.
    pub fn browser(digest: &str) -> Self {
        Self { kind: RespondentKind::Browser, key: format!("browser:{digest}"), user_id: None, label: None }
    }

    /// Someone with the link who gave a name and an address. `id` distinguishes leads; `label` is the name and address.
    pub fn lead(id: &str, label: String) -> Self {
        Self { kind: RespondentKind::Lead, key: format!("lead:{id}"), user_id: None, label: Some(label) }
    }

    /// The server, when no one answered.
    pub fn system() -> Self {
        Self { kind: RespondentKind::System, key: "system".to_owned(), user_id: None, label: None }
    }

    /// The respondent of a decision that was recorded for this actor: `user:…`, `token:…`, `agent:…`, `system` or
    /// the key of a stranger.
    pub fn of_actor(actor: &str, user_id: Option<UserId>) -> Self {
        let kind = match actor.split(':').next() {
            _ if user_id.is_some() => RespondentKind::User,
            Some("browser") => RespondentKind::Browser,
            Some("lead") => RespondentKind::Lead,
            Some("token" | "agent") => RespondentKind::Token,
            _ => RespondentKind::System,
        };
        Self { kind, key: actor.to_owned(), user_id, label: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    #[test]
    fn the_actor_of_a_decision_names_its_respondent() {
        let id = Uuid::from_u128(7);
        for respondent in [
            Respondent::user(UserId(id)),
            Respondent::token(TokenId(id)),
            Respondent::browser("ab12"),
            Respondent::system(),
        ] {
            assert_eq!(Respondent::of_actor(&respondent.key, respondent.user_id), respondent);
        }
        assert_eq!(Respondent::of_actor("agent:scout", None).kind, RespondentKind::Token);
    }

    #[test]
    fn only_a_person_who_signed_in_is_sure() {
        let sure = |kind: &RespondentKind| kind.assurance() == Assurance::SignedIn;
        let kinds: Vec<_> = RespondentKind::ALL.into_iter().filter(sure).collect();
        assert_eq!(kinds, [RespondentKind::User]);
    }
}
