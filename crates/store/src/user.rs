//! Rows of `users` and `memberships`.

use crate::{
    conn::{Conn, run},
    error::{Error, Result},
    record::{MemberRecord, TenantRecord, UserRecord},
    transaction::WriteTx,
};
use domain::{
    Timestamp,
    clock::{from_micros, to_micros},
    id::{TenantId, UserId},
    role::Role,
};
use uuid::Uuid;

const INSERT: &str = "INSERT INTO users (id, email, password_hash, created_at) VALUES ($1, $2, $3, $4)";
const BY_EMAIL: &str = "SELECT id, email, password_hash FROM users WHERE email = $1";
const ANY: &str = "SELECT COUNT(*) FROM (SELECT 1 FROM users LIMIT 1) AS one";
const SET_PASSWORD: &str = "UPDATE users SET password_hash = $2 WHERE id = $1";
const JOIN: &str = "INSERT INTO memberships (tenant_id, user_id, role, created_at) VALUES ($1, $2, $3, $4) \
     ON CONFLICT (tenant_id, user_id) DO UPDATE SET role = excluded.role";
const MEMBERS: &str = "SELECT m.user_id, u.email, m.role, m.created_at FROM memberships m JOIN users u ON u.id = m.user_id \
     WHERE m.tenant_id = $1 ORDER BY u.email LIMIT $2";
const MEMBER: &str = "SELECT m.user_id, u.email, m.role, m.created_at FROM memberships m JOIN users u ON u.id = m.user_id \
     WHERE m.tenant_id = $1 AND m.user_id = $2";
const WANTS_EMAIL: &str = "SELECT wants_email FROM memberships WHERE tenant_id = $1 AND user_id = $2";
const SET_WANTS_EMAIL: &str = "UPDATE memberships SET wants_email = $3 WHERE tenant_id = $1 AND user_id = $2";
const WORKSPACES: &str = "SELECT t.id, t.slug, t.name, m.role FROM memberships m JOIN tenants t ON t.id = m.tenant_id \
     WHERE m.user_id = $1 ORDER BY m.created_at, t.slug";

pub(crate) const SQL: &[(&str, &str)] = &[
    ("user::INSERT", INSERT),
    ("user::BY_EMAIL", BY_EMAIL),
    ("user::ANY", ANY),
    ("user::SET_PASSWORD", SET_PASSWORD),
    ("user::JOIN", JOIN),
    ("user::MEMBERS", MEMBERS),
    ("user::MEMBER", MEMBER),
    ("user::WANTS_EMAIL", WANTS_EMAIL),
    ("user::SET_WANTS_EMAIL", SET_WANTS_EMAIL),
    ("user::WORKSPACES", WORKSPACES),
];

/// Most members of a workspace that are listed.
const MEMBERS_MAX: i64 = 1_000;

type MemberRow = (Uuid, String, String, i64);

fn member((user_id, email, role, created_at): MemberRow) -> Result<MemberRecord> {
    let role = Role::parse(&role).ok_or_else(|| Error::inconsistent("memberships", "role", &role))?;
    Ok(MemberRecord { user_id: UserId(user_id), email, role, created_at: from_micros(created_at) })
}

/// Adds a person. Their e-mail must not be taken.
pub async fn insert(tx: &mut WriteTx<'_>, user: &UserRecord, at: Timestamp) -> Result<()> {
    run!(tx.conn(), execute, INSERT, user.id.0, user.email.as_str(), user.password_hash.as_str(), to_micros(at))?;
    Ok(())
}

/// The person with this address.
pub async fn find_by_email(conn: &mut Conn<'_>, email: &str) -> Result<Option<UserRecord>> {
    let row = run!(conn, fetch_optional(Uuid, String, String), BY_EMAIL, email)?;
    Ok(row.map(|(id, email, password_hash)| UserRecord { id: UserId(id), email, password_hash }))
}

/// Whether anybody has an account here.
pub async fn any(conn: &mut Conn<'_>) -> Result<bool> {
    let (count,) = run!(conn, fetch_one(i64,), ANY)?;
    Ok(count > 0)
}

/// Replaces a password.
pub async fn set_password(tx: &mut WriteTx<'_>, id: UserId, password_hash: &str) -> Result<()> {
    run!(tx.conn(), execute, SET_PASSWORD, id.0, password_hash)?;
    Ok(())
}

/// Gives a person a role in a workspace; replaces the role they had there.
pub async fn join(tx: &mut WriteTx<'_>, tenant_id: TenantId, user_id: UserId, role: Role, at: Timestamp) -> Result<()> {
    run!(tx.conn(), execute, JOIN, tenant_id.0, user_id.0, role.as_str(), to_micros(at))?;
    Ok(())
}

/// The members of a workspace by address.
pub async fn members(conn: &mut Conn<'_>, tenant_id: TenantId) -> Result<Vec<MemberRecord>> {
    let rows = run!(conn, fetch_all MemberRow, MEMBERS, tenant_id.0, MEMBERS_MAX)?;
    rows.into_iter().map(member).collect()
}

/// One member of a workspace.
pub async fn find_member(conn: &mut Conn<'_>, tenant_id: TenantId, user_id: UserId) -> Result<Option<MemberRecord>> {
    run!(conn, fetch_optional MemberRow, MEMBER, tenant_id.0, user_id.0)?.map(member).transpose()
}

/// The workspaces of a person, first joined first.
pub async fn workspaces(conn: &mut Conn<'_>, user_id: UserId) -> Result<Vec<(TenantRecord, Role)>> {
    let rows = run!(conn, fetch_all(Uuid, String, String, String), WORKSPACES, user_id.0)?;
    rows.into_iter()
        .map(|(id, slug, name, role)| {
            let role = Role::parse(&role).ok_or_else(|| Error::inconsistent("memberships", "role", &role))?;
            Ok((TenantRecord { id: TenantId(id), slug, name }, role))
        })
        .collect()
}

/// Whether a member wants an e-mail when something waits for them in this workspace. Who is no member wants none.
pub async fn wants_email(conn: &mut Conn<'_>, tenant_id: TenantId, user_id: UserId) -> Result<bool> {
    let row = run!(conn, fetch_optional(i64,), WANTS_EMAIL, tenant_id.0, user_id.0)?;
    Ok(row.is_some_and(|(wants,)| wants != 0))
}

/// Notes what a member wants.
pub async fn set_wants_email(tx: &mut WriteTx<'_>, tenant_id: TenantId, user_id: UserId, wants: bool) -> Result<()> {
    run!(tx.conn(), execute, SET_WANTS_EMAIL, tenant_id.0, user_id.0, i64::from(wants))?;
    Ok(())
}
