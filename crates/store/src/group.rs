//! Rows of `groups` and `group_members`.

use crate::{
    engine::{Conn, Result, is_free, record, run, statements},
    transaction::WriteTx,
};
use domain::{
    Timestamp,
    clock::to_micros,
    id::{GroupId, TenantId, UserId},
};
use uuid::Uuid;

macro_rules! group_select {
    ($rest:literal) => {
        concat!(
            "SELECT id, slug, name, created_by, created_at, updated_at FROM groups WHERE tenant_id = $1 AND ",
            $rest
        )
    };
}

statements! {
    const BY_ID: &str = group_select!("id = $2");
    const BY_ID_LOCKED_POSTGRES: &str = group_select!("id = $2 FOR UPDATE");
    const BY_SLUG: &str = group_select!("slug = $2");
    const LIST: &str = group_select!("id IS NOT NULL ORDER BY name, slug LIMIT $2");
    const COUNT: &str = "SELECT COUNT(*) FROM groups WHERE tenant_id = $1";
    const MEMBERS: &str = "SELECT g.group_id, g.user_id, u.email FROM group_members g JOIN users u ON u.id = g.user_id \
         WHERE g.tenant_id = $1 AND (g.group_id = $2 OR $2 IS NULL) ORDER BY u.email";
    const IDS_OF: &str = "SELECT group_id FROM group_members WHERE tenant_id = $1 AND user_id = $2 ORDER BY group_id";
    const INSERT: &str = "INSERT INTO groups (tenant_id, id, slug, name, created_by, created_at, updated_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7)";
    const UPDATE: &str = "UPDATE groups SET name = $3, updated_at = $4 WHERE tenant_id = $1 AND id = $2";
    const INSERT_MEMBER: &str = "INSERT INTO group_members (tenant_id, group_id, user_id, added_by, added_at) \
         VALUES ($1, $2, $3, $4, $5) ON CONFLICT (tenant_id, group_id, user_id) DO NOTHING";
    const DELETE_MEMBER: &str = "DELETE FROM group_members WHERE tenant_id = $1 AND group_id = $2 AND user_id = $3";
    const DELETE_MEMBER_EVERYWHERE: &str = "DELETE FROM group_members WHERE tenant_id = $1 AND user_id = $2";
}

/// A group of people who review together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupRecord {
    /// Identifies the group.
    pub id: GroupId,
    /// Name by which lists of reviewers refer to the group; never changes.
    pub slug: String,
    /// Display name.
    pub name: String,
    /// Members with their addresses, sorted by address.
    pub members: Vec<(UserId, String)>,
    /// Who made the group: `user:…`, `token:…` or `system`.
    pub created_by: String,
    /// Time the group was made (UTC).
    pub created_at: Timestamp,
    /// Time of the last change of its name or members (UTC).
    pub updated_at: Timestamp,
}

record! {
    struct Row of "groups" {
        id: Uuid,
        slug: String,
        name: String,
        created_by: String,
        created_at: Timestamp,
        updated_at: Timestamp,
    }
}

type MemberRow = (Uuid, Uuid, String);

/// Combines groups with their members. `members` are sorted by address, and that order is kept.
fn records(rows: Vec<Row>, members: Vec<MemberRow>) -> Vec<GroupRecord> {
    let members = &members;
    let of = |id: Uuid| members.iter().filter(move |m| m.0 == id).map(|m| (UserId(m.1), m.2.clone())).collect();
    let record = |row: Row| GroupRecord {
        members: of(row.id),
        id: GroupId(row.id),
        slug: row.slug,
        name: row.name,
        created_by: row.created_by,
        created_at: row.created_at,
        updated_at: row.updated_at,
    };
    rows.into_iter().map(record).collect()
}

async fn with_members(conn: &mut Conn<'_>, tenant_id: TenantId, row: Option<Row>) -> Result<Option<GroupRecord>> {
    let Some(row) = row else { return Ok(None) };
    let members = run!(conn, fetch_all MemberRow, MEMBERS, tenant_id.0, Some(row.id))?;
    Ok(records(vec![row], members).pop())
}

/// A group of this workspace.
pub async fn find(conn: &mut Conn<'_>, tenant_id: TenantId, id: GroupId) -> Result<Option<GroupRecord>> {
    let row = run!(conn, fetch_optional Row, BY_ID, tenant_id.0, id.0)?;
    with_members(conn, tenant_id, row).await
}

/// The same, locked until the transaction ends. SQLite has one writer and needs no lock.
pub async fn find_locked(tx: &mut WriteTx<'_>, tenant_id: TenantId, id: GroupId) -> Result<Option<GroupRecord>> {
    let sql = if matches!(tx.conn(), Conn::Sqlite(_)) { BY_ID } else { BY_ID_LOCKED_POSTGRES };
    let row = run!(tx.conn(), fetch_optional Row, sql, tenant_id.0, id.0)?;
    with_members(tx.conn(), tenant_id, row).await
}

/// The group of this workspace with this slug.
pub async fn find_by_slug(conn: &mut Conn<'_>, tenant_id: TenantId, slug: &str) -> Result<Option<GroupRecord>> {
    let row = run!(conn, fetch_optional Row, BY_SLUG, tenant_id.0, slug)?;
    with_members(conn, tenant_id, row).await
}

/// The first `limit` groups of this workspace by name.
pub async fn list(conn: &mut Conn<'_>, tenant_id: TenantId, limit: u32) -> Result<Vec<GroupRecord>> {
    let rows = run!(conn, fetch_all Row, LIST, tenant_id.0, i64::from(limit))?;
    let members = run!(conn, fetch_all MemberRow, MEMBERS, tenant_id.0, None::<Uuid>)?;
    Ok(records(rows, members))
}

/// How many groups this workspace has.
pub async fn count(conn: &mut Conn<'_>, tenant_id: TenantId) -> Result<u32> {
    let (count,) = run!(conn, fetch_one(i64,), COUNT, tenant_id.0)?;
    Ok(u32::try_from(count).unwrap_or(u32::MAX))
}

/// The groups that a person is in.
pub async fn ids_of(conn: &mut Conn<'_>, tenant_id: TenantId, user_id: UserId) -> Result<Vec<GroupId>> {
    let rows = run!(conn, fetch_all(Uuid,), IDS_OF, tenant_id.0, user_id.0)?;
    Ok(rows.into_iter().map(|(id,)| GroupId(id)).collect())
}

/// Adds a group without members. `false` when its slug is taken.
pub async fn insert(tx: &mut WriteTx<'_>, tenant_id: TenantId, record: &GroupRecord) -> Result<bool> {
    let inserted = run!(
        tx.conn(),
        execute,
        INSERT,
        tenant_id.0,
        record.id.0,
        record.slug.as_str(),
        record.name.as_str(),
        record.created_by.as_str(),
        to_micros(record.created_at),
        to_micros(record.updated_at),
    );
    is_free(inserted)
}

/// Writes a changed name; the caller holds the group's lock.
pub async fn update(tx: &mut WriteTx<'_>, tenant_id: TenantId, record: &GroupRecord) -> Result<()> {
    run!(tx.conn(), execute, UPDATE, tenant_id.0, record.id.0, record.name.as_str(), to_micros(record.updated_at),)?;
    Ok(())
}

/// Adds a member of the workspace to a group. Adding the same person again changes nothing.
pub async fn add(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    id: GroupId,
    user_id: UserId,
    by: &str,
    at: Timestamp,
) -> Result<()> {
    run!(tx.conn(), execute, INSERT_MEMBER, tenant_id.0, id.0, user_id.0, by, to_micros(at))?;
    Ok(())
}

/// Removes a person from a group.
pub async fn remove(tx: &mut WriteTx<'_>, tenant_id: TenantId, id: GroupId, user_id: UserId) -> Result<()> {
    run!(tx.conn(), execute, DELETE_MEMBER, tenant_id.0, id.0, user_id.0)?;
    Ok(())
}

/// Removes a person from every group of a workspace.
pub async fn remove_everywhere(tx: &mut WriteTx<'_>, tenant_id: TenantId, user_id: UserId) -> Result<()> {
    run!(tx.conn(), execute, DELETE_MEMBER_EVERYWHERE, tenant_id.0, user_id.0)?;
    Ok(())
}
