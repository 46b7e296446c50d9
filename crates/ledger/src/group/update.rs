//! Changing a group.

use super::{check, check_members, move_members};
use crate::{Error, GroupRecord, Ledger, Result, audit::Act, guard::require};
use domain::{
    Scope,
    audit::{Kind, TargetKind},
    id::{GroupId, UserId},
    role::Permission,
};

/// A change of a group. Members are added and removed one by one, so that people who change a group at the same
/// time do not overwrite each other's changes.
#[derive(Debug, Clone, Default)]
pub struct GroupChange {
    /// 1 to 200 characters. `None` keeps the name.
    pub name: Option<String>,
    /// Members of the workspace to add. Existing members of the group are ignored.
    pub add_members: Vec<UserId>,
    /// People to remove. People who are not in the group are ignored.
    pub remove_members: Vec<UserId>,
}

/// Changes a group.
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no such group; [`Error::Invalid`] for a wrong name, new people who are not
/// members, or a person who is to be added and removed; [`Error::LimitReached`] for too many members.
pub async fn update(ledger: &Ledger, scope: &Scope, id: GroupId, change: GroupChange) -> Result<GroupRecord> {
    require(scope, Permission::ManageGroups)?;
    if change.add_members.iter().any(|user_id| change.remove_members.contains(user_id)) {
        return Err(Error::invalid("removeMembers", "the same person cannot be added and removed in one change"));
    }
    let (tenant_id, now, actor) = (scope.tenant_id, ledger.now(), scope.caller.to_string());
    let changed = Act::new(Kind::GroupChanged, scope.caller, now).on(TargetKind::Group, id.0);
    ledger
        .write(scope.into(), async move |tx| {
            let before = store::group::find_locked(tx, tenant_id, id).await?.ok_or(Error::NotFound("group"))?;
            check_members(tx.conn(), tenant_id, "addMembers", &change.add_members).await?;
            let name = change.name.unwrap_or_else(|| before.name.clone());
            let record = GroupRecord { name, updated_at: now, ..before };
            check(&record)?;
            store::group::update(tx, tenant_id, &record).await?;
            let moves = (change.add_members.as_slice(), change.remove_members.as_slice());
            let group = move_members(tx, tenant_id, &record, moves, (&actor, now)).await?;
            changed.with_moves(moves.0, moves.1).record(tx, tenant_id).await?;
            Ok(group)
        })
        .await
}
