//! Scopes: who asks, in which workspace, with which role. Every use case takes a scope, so no object can be
//! read without one.

use crate::{
    id::{RespondentId, RuleId, TenantId, TokenId, UserId},
    role::{Permission, Role, TokenScope, may},
};
use std::fmt;

/// The party that acts in a workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Caller {
    /// A person, through their browser.
    User(UserId),
    /// A program, through an API token.
    Token(TokenId),
    /// An agent that the operator configured and that runs in the server's process, by its slug.
    Agent(&'static str),
    /// A person without an account who answers a form.
    Respondent(RespondentId),
    /// A rule of the workspace, which decides gates. It never comes from outside.
    Rule(RuleId),
    /// The server itself: sweeps, initial set-up, and the command line on the server's machine.
    System,
}

impl fmt::Display for Caller {
    /// Formats the caller as it is stored as an event's actor: `user:…`, `token:…`, `agent:…`, `respondent:…`,
    /// `rule:…` or `system`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::User(id) => write!(f, "user:{id}"),
            Self::Token(id) => write!(f, "token:{id}"),
            Self::Agent(slug) => write!(f, "agent:{slug}"),
            Self::Respondent(id) => write!(f, "respondent:{id}"),
            Self::Rule(id) => write!(f, "rule:{id}"),
            Self::System => f.write_str("system"),
        }
    }
}

/// A caller in a workspace. Only authentication creates scopes of callers from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Scope {
    /// Workspace. It is the first part of every key in the database.
    pub tenant_id: TenantId,
    /// Party that acts.
    pub caller: Caller,
    /// Role of the caller in this workspace.
    pub role: Role,
    /// Scope of the caller's token; `None` if it is not restricted, or if the caller is not a token.
    pub token_scope: Option<TokenScope>,
    /// Person who owns the token. The token may read the person's own data, and sessions that it starts belong
    /// to the person. It never writes as the person: [`Scope::user_id`] returns `None`.
    pub on_behalf_of: Option<UserId>,
}

impl Scope {
    /// Returns the scope of the server in one workspace.
    pub const fn system(tenant_id: TenantId) -> Self {
        Self { tenant_id, caller: Caller::System, role: Role::Admin, token_scope: None, on_behalf_of: None }
    }

    /// Returns the person who acts; `None` if the caller is not a person.
    pub const fn user_id(&self) -> Option<UserId> {
        match self.caller {
            Caller::User(id) => Some(id),
            Caller::Token(_) | Caller::Agent(_) | Caller::Respondent(_) | Caller::Rule(_) | Caller::System => None,
        }
    }

    /// Returns the person who acts, or for whom a token acts. It is used to read the person's data and to
    /// record for whom something was created, never to decide who may write.
    pub fn acting_user(&self) -> Option<UserId> {
        self.user_id().or(self.on_behalf_of)
    }

    /// Whether the role and the token's scope include a permission.
    pub fn may(&self, permission: Permission) -> bool {
        may(self.role, self.token_scope, permission)
    }
}
