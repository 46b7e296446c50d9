//! Creating a group.

use super::{check, check_members, insert, move_members};
use crate::{
    GroupRecord, Ledger, Result,
    audit::Act,
    guard::{require, slug_or_of_name},
};
use domain::{
    Scope,
    audit::{Kind, TargetKind},
    id::{GroupId, UserId},
    role::Permission,
};

/// The fields of a new group.
#[derive(Debug, Clone, Default)]
pub struct NewGroup {
    /// 1 to 200 characters, e.g. `Compliance`.
    pub name: String,
    /// Derived from the name when `None`. It never changes, because approval settings refer to it.
    pub slug: Option<String>,
    /// Members of the workspace.
    pub members: Vec<UserId>,
}

/// Creates a group.
///
/// # Errors
/// [`crate::Error::Invalid`] for a wrong name or slug, or people who are not members; [`crate::Error::LimitReached`]
/// for too many groups or members; [`crate::Error::NameTaken`] if the slug is taken.
pub async fn create(ledger: &Ledger, scope: &Scope, new: NewGroup) -> Result<GroupRecord> {
    require(scope, Permission::ManageGroups)?;
    let now = ledger.now();
    let record = GroupRecord {
        id: GroupId::new(now, ledger.entropy()),
        slug: slug_or_of_name(new.slug, &new.name)?,
        name: new.name,
        members: Vec::new(),
        created_by: scope.caller.to_string(),
        created_at: now,
        updated_at: now,
    };
    check(&record)?;
    let (tenant_id, members) = (scope.tenant_id, new.members);
    let created = Act::new(Kind::GroupCreated, scope.caller, now).on(TargetKind::Group, record.id.0);
    ledger
        .write(scope.into(), async move |tx| {
            store::user::lock_admins(tx, tenant_id).await?;
            check_members(tx.conn(), tenant_id, "members", &members).await?;
            insert(tx, tenant_id, &record).await?;
            let group = move_members(tx, tenant_id, &record, (&members, &[]), (&record.created_by, now)).await?;
            created.with_moves(&members, &[]).record(tx, tenant_id).await?;
            Ok(group)
        })
        .await
}
