//! Who someone is in a workspace, and what that lets them do.

use serde::{Deserialize, Serialize};

/// A membership's role. An API token carries one too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Everything, including members and tokens.
    Admin,
    /// Runs the work: actions, every session, workers.
    Operator,
    /// Decides what waits for a person.
    Reviewer,
    /// Triggers actions and follows them.
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

    /// The role of a stored name.
    pub fn parse(text: &str) -> Option<Self> {
        ROLES.into_iter().find(|role| role.as_str() == text)
    }
}

/// What a token is narrowed to. No scope means everything its role may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TokenScope {
    /// Claim sessions, work on them, read them, and start children of them. Nothing else.
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

    /// The scope of a stored name.
    pub fn parse(text: &str) -> Option<Self> {
        (text == Self::Worker.as_str()).then_some(Self::Worker)
    }
}

/// What a caller wants to do, as far as roles decide it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Permission {
    /// Read sessions, events, actions and counts of the workspace.
    Read,
    /// Trigger an action or create a session.
    StartSession,
    /// Cancel or retry a session that someone else started.
    ManageSessions,
    /// Hold conversations with agents, and rate sessions that have ended.
    Converse,
    /// Claim sessions and write their agent events.
    Work,
    /// Decide what anyone may decide. Reviewers that are named decide whatever their role.
    Decide,
    /// Create and change actions.
    ManageActions,
    /// Create, change and import entities.
    WriteEntities,
    /// Create and change entity types.
    ManageEntityTypes,
    /// Create and change criteria sets.
    ManageCriteriaSets,
    /// Create and change groups of people.
    ManageGroups,
    /// Members and tokens of the workspace.
    Administer,
}

/// Every permission, for tables and tests.
pub const PERMISSIONS: [Permission; 12] = [
    Permission::Read,
    Permission::StartSession,
    Permission::ManageSessions,
    Permission::Converse,
    Permission::Work,
    Permission::Decide,
    Permission::ManageActions,
    Permission::WriteEntities,
    Permission::ManageEntityTypes,
    Permission::ManageCriteriaSets,
    Permission::ManageGroups,
    Permission::Administer,
];

/// Whether a caller of this role, narrowed to `scope` where it is a token, may do it.
pub fn may(role: Role, scope: Option<TokenScope>, permission: Permission) -> bool {
    if scope == Some(TokenScope::Worker) {
        return matches!(permission, Permission::Read | Permission::StartSession | Permission::Work);
    }
    match permission {
        Permission::Read | Permission::StartSession | Permission::Converse | Permission::WriteEntities => true,
        Permission::Decide => role != Role::Member,
        Permission::ManageSessions
        | Permission::Work
        | Permission::ManageActions
        | Permission::ManageEntityTypes
        | Permission::ManageCriteriaSets
        | Permission::ManageGroups => matches!(role, Role::Admin | Role::Operator),
        Permission::Administer => role == Role::Admin,
    }
}

/// Whether a person of role `own` may make themselves a token of this role and scope: one that may nothing they may not.
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
