//! Roles in a workspace, and the permissions of each.

use serde::{Deserialize, Serialize};

/// The role of a member. An API token has one too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// May do everything, including managing members and tokens.
    Admin,
    /// Manages actions, all sessions and workers.
    Operator,
    /// Decides gates.
    Reviewer,
    /// Triggers actions and reads their sessions.
    Member,
}

/// All roles, most powerful first.
pub const ROLES: [Role; 4] = [Role::Admin, Role::Operator, Role::Reviewer, Role::Member];

impl Role {
    /// The stored and wire name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Admin => "admin",
            Self::Operator => "operator",
            Self::Reviewer => "reviewer",
            Self::Member => "member",
        }
    }

    /// Returns the role with this stored name.
    pub fn parse(text: &str) -> Option<Self> {
        ROLES.into_iter().find(|role| role.as_str() == text)
    }
}

/// The scope to which a token is restricted. A token without a scope may do everything that its role may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TokenScope {
    /// May claim sessions, work on them, read them, and start children of them.
    Worker,
}

impl TokenScope {
    /// All scopes.
    pub const ALL: [Self; 1] = [Self::Worker];

    /// The stored and wire name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Worker => "worker",
        }
    }

    /// Returns the scope with this stored name.
    pub fn parse(text: &str) -> Option<Self> {
        (text == Self::Worker.as_str()).then_some(Self::Worker)
    }
}

/// A permission that roles grant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Permission {
    /// Read sessions, events, actions and counts of the workspace.
    Read,
    /// Trigger an action or create a session.
    StartSession,
    /// Cancel or retry a session that another caller started.
    ManageSessions,
    /// Hold conversations with agents, and rate sessions that have ended.
    Converse,
    /// Claim sessions and write their agent events.
    Work,
    /// Decide gates that anyone may decide. Named reviewers may decide with any role.
    Decide,
    /// Create and change actions.
    ManageActions,
    /// Create, change and import entities.
    WriteEntities,
    /// Write, revert and delete memory documents of agents.
    WriteMemory,
    /// Create and change entity types.
    ManageEntityTypes,
    /// Create and change criteria sets.
    ManageCriteriaSets,
    /// Create and change groups of people.
    ManageGroups,
    /// Create, change, publish and delete views.
    ManageViews,
    /// Create, change, publish and delete tools. Their secrets are for those who may administer.
    ManageTools,
    /// Read the names and e-mail addresses that people without an account gave to answer a form.
    ReadLeads,
    /// Manage members and tokens of the workspace.
    Administer,
}

/// Every permission, for tables and tests.
pub const PERMISSIONS: [Permission; 16] = [
    Permission::Read,
    Permission::StartSession,
    Permission::ManageSessions,
    Permission::Converse,
    Permission::Work,
    Permission::Decide,
    Permission::ManageActions,
    Permission::WriteEntities,
    Permission::WriteMemory,
    Permission::ManageEntityTypes,
    Permission::ManageCriteriaSets,
    Permission::ManageGroups,
    Permission::ManageViews,
    Permission::ManageTools,
    Permission::ReadLeads,
    Permission::Administer,
];

/// Whether a caller with this role has a permission. `scope` is the scope of the token, if the caller is a
/// token with one.
pub fn may(role: Role, scope: Option<TokenScope>, permission: Permission) -> bool {
    if scope == Some(TokenScope::Worker) {
        return matches!(
            permission,
            Permission::Read | Permission::StartSession | Permission::Work | Permission::WriteMemory
        );
    }
    match permission {
        Permission::Read | Permission::StartSession | Permission::Converse | Permission::WriteEntities => true,
        Permission::Decide | Permission::WriteMemory | Permission::ReadLeads => role != Role::Member,
        Permission::ManageSessions
        | Permission::Work
        | Permission::ManageActions
        | Permission::ManageEntityTypes
        | Permission::ManageCriteriaSets
        | Permission::ManageGroups
        | Permission::ManageViews
        | Permission::ManageTools => matches!(role, Role::Admin | Role::Operator),
        Permission::Administer => role == Role::Admin,
    }
}

/// Whether a person with the role `own` may create a token with this role and scope for themselves. The token
/// must have no permission that the person lacks.
pub fn may_give(own: Role, role: Role, scope: Option<TokenScope>) -> bool {
    PERMISSIONS.into_iter().all(|permission| may(own, None, permission) || !may(role, scope, permission))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_permission_table_is_as_reviewed() {
        let mut table = String::new();
        for role in ROLES {
            for scope in [None, Some(TokenScope::Worker)] {
                let granted: Vec<_> =
                    PERMISSIONS.into_iter().filter(|p| may(role, scope, *p)).map(|p| format!("{p:?}")).collect();
                let scope = scope.map_or("-", TokenScope::as_str);
                table.push_str(&format!("{:<8} {:<6} {}\n", role.as_str(), scope, granted.join(" ")));
            }
        }
        insta::assert_snapshot!(table);
    }

    #[test]
    fn nobody_gives_what_they_do_not_have() {
        let given = |own| {
            let choices =
                ROLES.into_iter().flat_map(|role| [None, Some(TokenScope::Worker)].map(|scope| (role, scope)));
            choices.filter(|(role, scope)| may_give(own, *role, *scope)).count()
        };
        assert_eq!(ROLES.map(given), [8, 7, 2, 1]);
        assert!(
            may_give(Role::Reviewer, Role::Member, None)
                && !may_give(Role::Reviewer, Role::Member, Some(TokenScope::Worker))
        );
    }
}
