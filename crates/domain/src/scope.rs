//! Who asks, and in which workspace. There is no way to fetch an object without a scope.

use crate::{
    id::{TenantId, TokenId, UserId},
    role::{Permission, Role, TokenScope, may},
};
use std::fmt;

/// The party that acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Caller {
    /// A person, through their browser.
    User(UserId),
    /// A program, through an API token.
    Token(TokenId),
    /// An agent that the operator configured, at work in the server's own process: its slug, which lives as long as that.
    Agent(&'static str),
    /// The server itself: sweeps, first set-up, the command line on the server's own machine.
    System,
}

impl fmt::Display for Caller {
    /// The form that is stored as an event's actor: `user:…`, `token:…`, `agent:…` or `system`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::User(id) => write!(f, "user:{id}"),
            Self::Token(id) => write!(f, "token:{id}"),
            Self::Agent(slug) => write!(f, "agent:{slug}"),
            Self::System => f.write_str("system"),
        }
    }
}

/// A caller in a workspace. Made by authentication alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Scope {
    /// The workspace; leads every key.
    pub tenant_id: TenantId,
    /// Who acts.
    pub caller: Caller,
    /// Their role there.
    pub role: Role,
    /// What their token is narrowed to, where it is.
    pub token_scope: Option<TokenScope>,
    /// The person whose own token it is. They may be read about, and what it starts is theirs; it never writes
    /// as them: [`Scope::user_id`] stays empty.
    pub on_behalf_of: Option<UserId>,
}

impl Scope {
    /// The server acting in one workspace.
    pub const fn system(tenant_id: TenantId) -> Self {
        Self { tenant_id, caller: Caller::System, role: Role::Admin, token_scope: None, on_behalf_of: None }
    }

    /// The person who acts, where it is a person.
    pub const fn user_id(&self) -> Option<UserId> {
        match self.caller {
            Caller::User(id) => Some(id),
            _ => None,
        }
    }

    /// The person who acts or for whom a token acts. For reading what they did and for stamping what is made for
    /// them, never for deciding who may write.
    pub fn acting_user(&self) -> Option<UserId> {
        self.user_id().or(self.on_behalf_of)
    }

    /// Whether role and token scope allow it.
    pub fn may(&self, permission: Permission) -> bool {
        may(self.role, self.token_scope, permission)
    }
}
