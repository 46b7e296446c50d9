//! Groups of people who can be asked to review together.

mod create;
mod read;
mod update;

pub use create::{NewGroup, create};
pub use read::{get, list};
pub use update::{GroupChange, update};

use crate::{Error, GroupRecord, Result, guard::Fields};
use domain::{
    Timestamp,
    id::{TenantId, UserId},
    limit::{GROUP_MEMBERS_MAX, GROUPS_MAX, NAME_CHARS_MAX},
};
use store::{Conn, WriteTx};

/// Checks name and slug of a group before it is stored.
pub(crate) fn check(record: &GroupRecord) -> Result<()> {
    let mut fields = Fields::default();
    fields.name("name", &record.name, NAME_CHARS_MAX);
    fields.slug("slug", Some(&record.slug));
    fields.check()
}

/// Refuses people who are not members of the workspace. Errors name `field` with the index.
async fn check_members(conn: &mut Conn<'_>, tenant_id: TenantId, field: &str, ids: &[UserId]) -> Result<()> {
    if ids.len() > GROUP_MEMBERS_MAX {
        return Err(Error::invalid(field, format!("at most {GROUP_MEMBERS_MAX} people")));
    }
    let mut fields = Fields::default();
    for (index, id) in ids.iter().enumerate() {
        if store::user::find_member(conn, tenant_id, *id).await?.is_none() {
            fields.refuse(&format!("{field}[{index}]"), "no one in this workspace has this id");
        }
    }
    fields.check()
}

/// Stores a group without members. The caller holds the lock of the workspace, which keeps two requests from exceeding
/// the limit together.
///
/// # Errors
/// [`Error::LimitReached`] if the workspace has too many groups, [`Error::NameTaken`] if the slug is taken.
pub(crate) async fn insert(tx: &mut WriteTx<'_>, tenant_id: TenantId, record: &GroupRecord) -> Result<()> {
    if store::group::count(tx.conn(), tenant_id).await? >= GROUPS_MAX {
        return Err(Error::LimitReached(format!("a workspace has at most {GROUPS_MAX} groups")));
    }
    if store::group::insert(tx, tenant_id, record).await? { Ok(()) } else { Err(Error::NameTaken("the slug")) }
}

/// Adds people to a group and removes others. The caller holds the group's lock. Returns the group afterwards.
pub(crate) async fn move_members(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    group: &GroupRecord,
    (add, remove): (&[UserId], &[UserId]),
    (by, at): (&str, Timestamp),
) -> Result<GroupRecord> {
    for user_id in remove {
        store::group::remove(tx, tenant_id, group.id, *user_id).await?;
    }
    for user_id in add {
        store::group::add(tx, tenant_id, group.id, *user_id, by, at).await?;
    }
    let group = store::group::find(tx.conn(), tenant_id, group.id).await?.ok_or(Error::NotFound("group"))?;
    if group.members.len() > GROUP_MEMBERS_MAX {
        return Err(Error::LimitReached(format!("a group has at most {GROUP_MEMBERS_MAX} members")));
    }
    Ok(group)
}
