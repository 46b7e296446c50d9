//! Who may run a tool.

use crate::role::Role;
use serde::{Deserialize, Serialize};

/// Who may run a tool, among those who may start sessions: callers with one of the roles, and members of one of the
/// groups. Without roles and groups, everyone. Besides, people without an account by a link, if the tool allows it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Audience {
    /// Roles that may run the tool.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub roles: Vec<Role>,
    /// Slugs of groups whose members may run the tool.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<String>,
    /// Whether people without an account may run the tool by a link.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub link: bool,
}

impl Audience {
    /// Whether it is the audience of a tool that names none.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Whether everyone who may start sessions may run the tool.
    pub fn is_everyone(&self) -> bool {
        self.roles.is_empty() && self.groups.is_empty()
    }

    /// Whether a caller with this role, who is a member of the groups with these slugs, may run the tool.
    pub fn admits<'a>(&self, role: Role, groups: impl IntoIterator<Item = &'a str>) -> bool {
        self.is_everyone()
            || self.roles.contains(&role)
            || groups.into_iter().any(|slug| self.groups.iter().any(|admitted| admitted == slug))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_or_a_group_is_enough() {
        let audience = Audience { roles: vec![Role::Operator], groups: vec!["leads".to_owned()], link: false };
        assert!(audience.admits(Role::Operator, []));
        assert!(audience.admits(Role::Member, ["sales", "leads"]));
        assert!(!audience.admits(Role::Admin, ["sales"]));
        assert!(Audience::default().admits(Role::Member, []));
    }
}
