//! Membership of a person in a workspace.

use crate::{names::names, role::Role};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Whether a member may use the workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemberStatus {
    /// The member may do what the role allows.
    Active,
    /// The member may do nothing until an admin activates them again.
    Deactivated,
    /// The person is no longer a member. Their earlier activity keeps their name.
    Removed,
}

names!(MemberStatus { Active = "active", Deactivated = "deactivated", Removed = "removed" });

/// Whether changing `member` to this status and role would leave the workspace without an admin. `admins` are
/// the active admins before the change.
pub fn leaves_no_admin<T: PartialEq>(admins: &[T], member: &T, status: MemberStatus, role: Role) -> bool {
    let stays = status == MemberStatus::Active && role == Role::Admin;
    !stays && admins.contains(member) && admins.len() == 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::role::ROLES;

    #[test]
    fn only_the_last_admin_cannot_go() {
        for role in ROLES {
            for status in MemberStatus::ALL {
                let stays = status == MemberStatus::Active && role == Role::Admin;
                assert_eq!(leaves_no_admin(&[1], &1, status, role), !stays, "{role:?} {status}");
                assert!(!leaves_no_admin(&[1, 2], &1, status, role));
                assert!(!leaves_no_admin(&[1], &2, status, role));
                assert!(!leaves_no_admin(&[], &2, status, role));
            }
        }
    }
}
