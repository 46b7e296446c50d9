//! Rows of `users` and `memberships`.

use super::TenantRecord;
use crate::{
    engine::{Conn, Error, Result, run, statements},
    transaction::WriteTx,
};
use domain::{
    Timestamp,
    clock::{from_micros, to_micros},
    id::{TenantId, UserId},
    member::MemberStatus,
    role::Role,
};
use uuid::Uuid;

macro_rules! member_select {
    ($which:literal) => {
        concat!(
            "SELECT m.user_id, u.email, u.name, m.role, m.status, m.created_at FROM memberships m \
             JOIN users u ON u.id = m.user_id WHERE m.tenant_id = $1 AND ",
            $which
        )
    };
}

statements! {
    const INSERT: &str = "INSERT INTO users (id, email, name, password_hash, created_at) VALUES ($1, $2, $3, $4, $5)";
    const BY_EMAIL: &str = "SELECT id, email, name, password_hash FROM users WHERE email = $1";
    const BY_ID: &str = "SELECT id, email, name, password_hash FROM users WHERE id = $1";
    // Rows that refer to the person can be written meanwhile.
    const BY_ID_LOCKED_POSTGRES: &str =
        "SELECT id, email, name, password_hash FROM users WHERE id = $1 FOR NO KEY UPDATE";
    const ANY_USER: &str = "SELECT COUNT(*) FROM (SELECT 1 FROM users LIMIT 1) AS one";
    const SETUP_LOCK_POSTGRES: &str = "SELECT 1 FROM pg_advisory_xact_lock(hashtextextended('shiftbook.setup', 4052))";
    const SET_PASSWORD: &str = "UPDATE users SET password_hash = $2 WHERE id = $1";
    const SET_NAME: &str = "UPDATE users SET name = $2 WHERE id = $1";
    const INSERT_MEMBER: &str = "INSERT INTO memberships (tenant_id, user_id, role, created_at) VALUES ($1, $2, $3, $4) \
         ON CONFLICT (tenant_id, user_id) DO UPDATE SET role = excluded.role, status = 'active', status_at = excluded.created_at";
    const MEMBERS: &str = member_select!("m.status IS NOT NULL ORDER BY u.email LIMIT $2");
    const MEMBER: &str = member_select!("m.user_id = $2 AND m.status = 'active'");
    const MEMBER_LOCKED_POSTGRES: &str =
        member_select!("m.user_id = $2 AND m.status = 'active' FOR NO KEY UPDATE OF m");
    const ANY_MEMBER: &str = member_select!("m.user_id = $2");
    const ADMINS: &str = "SELECT user_id FROM memberships WHERE tenant_id = $1 AND role = 'admin' AND status = 'active' \
         ORDER BY user_id";
    // A stronger lock would hold up rows that refer to the workspace, such as the audit entry of a sign-in, which holds
    // its person's row meanwhile: whoever holds this lock and waits for that row would wait for ever.
    const TENANT_LOCKED_POSTGRES: &str = "SELECT id FROM tenants WHERE id = $1 FOR NO KEY UPDATE";
    const SET_ROLE: &str = "UPDATE memberships SET role = $3 WHERE tenant_id = $1 AND user_id = $2";
    const SET_STATUS: &str = "UPDATE memberships SET status = $3, status_at = $4 WHERE tenant_id = $1 AND user_id = $2";
    const IS_MEMBER_ELSEWHERE: &str =
        "SELECT COUNT(*) FROM memberships WHERE user_id = $2 AND tenant_id <> $1 AND status <> 'removed'";
    const WANTS_EMAIL: &str =
        "SELECT wants_email FROM memberships WHERE tenant_id = $1 AND user_id = $2 AND status = 'active'";
    const SET_WANTS_EMAIL: &str = "UPDATE memberships SET wants_email = $3 WHERE tenant_id = $1 AND user_id = $2";
    const WORKSPACES: &str = "SELECT t.id, t.slug, t.name, m.role FROM memberships m JOIN tenants t ON t.id = m.tenant_id \
         WHERE m.user_id = $1 AND m.status = 'active' ORDER BY m.created_at, t.slug";
}

/// A person's account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserRecord {
    /// Identifies the person in all workspaces.
    pub id: UserId,
    /// Sign-in address, lower case.
    pub email: String,
    /// Display name; empty until the person sets it.
    pub name: String,
    /// Hash of the password, an argon2id PHC string.
    pub password_hash: String,
}

/// A person's membership in a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemberRecord {
    /// Id of the person's account.
    pub user_id: UserId,
    /// Sign-in address, lower case.
    pub email: String,
    /// Display name; empty until the person sets it.
    pub name: String,
    /// Role in this workspace.
    pub role: Role,
    /// Whether they may use the workspace.
    pub status: MemberStatus,
    /// Time the person joined (UTC).
    pub created_at: Timestamp,
}

impl MemberRecord {
    /// What others call them: their name, or their address.
    pub fn display_name(&self) -> &str {
        if self.name.is_empty() { &self.email } else { &self.name }
    }
}

/// Most members that one list returns, including removed ones.
const MEMBERS_MAX: i64 = 1_000;

type MemberRow = (Uuid, String, String, String, String, i64);
type UserRow = (Uuid, String, String, String);

fn member((user_id, email, name, role, status, created_at): MemberRow) -> Result<MemberRecord> {
    let role = Role::parse(&role).ok_or_else(|| Error::inconsistent("memberships", "role", &role))?;
    let status = MemberStatus::parse(&status).ok_or_else(|| Error::inconsistent("memberships", "status", &status))?;
    Ok(MemberRecord { user_id: UserId(user_id), email, name, role, status, created_at: from_micros(created_at) })
}

fn user((id, email, name, password_hash): UserRow) -> UserRecord {
    UserRecord { id: UserId(id), email, name, password_hash }
}

/// Adds a person. The e-mail address must not be in use.
pub async fn insert(tx: &mut WriteTx<'_>, user: &UserRecord, at: Timestamp) -> Result<()> {
    let (email, name, hash) = (user.email.as_str(), user.name.as_str(), user.password_hash.as_str());
    run!(tx.conn(), execute, INSERT, user.id.0, email, name, hash, to_micros(at))?;
    Ok(())
}

/// The person with this address.
pub async fn find_by_email(conn: &mut Conn<'_>, email: &str) -> Result<Option<UserRecord>> {
    Ok(run!(conn, fetch_optional UserRow, BY_EMAIL, email)?.map(user))
}

/// The person with this id.
pub async fn find(conn: &mut Conn<'_>, id: UserId) -> Result<Option<UserRecord>> {
    Ok(run!(conn, fetch_optional UserRow, BY_ID, id.0)?.map(user))
}

/// The same, locked until the transaction ends. Whoever also locks the membership locks the person first. SQLite has
/// one writer and needs no lock.
pub async fn find_locked(tx: &mut WriteTx<'_>, id: UserId) -> Result<Option<UserRecord>> {
    let sql = if matches!(tx.conn(), Conn::Sqlite(_)) { BY_ID } else { BY_ID_LOCKED_POSTGRES };
    Ok(run!(tx.conn(), fetch_optional UserRow, sql, id.0)?.map(user))
}

/// Makes other calls wait until the transaction ends, so that one set-up sees the account of another. SQLite has one
/// writer and needs no lock.
pub async fn lock_setup(tx: &mut WriteTx<'_>) -> Result<()> {
    if let Conn::Postgres(c) = tx.conn() {
        sqlx::query(SETUP_LOCK_POSTGRES).execute(&mut **c).await?;
    }
    Ok(())
}

/// Whether any person has an account.
pub async fn any(conn: &mut Conn<'_>) -> Result<bool> {
    let (count,) = run!(conn, fetch_one(i64,), ANY_USER)?;
    Ok(count > 0)
}

/// Replaces the hash of a person's password.
pub async fn set_password(tx: &mut WriteTx<'_>, id: UserId, password_hash: &str) -> Result<()> {
    run!(tx.conn(), execute, SET_PASSWORD, id.0, password_hash)?;
    Ok(())
}

/// Replaces a person's display name.
pub async fn set_name(tx: &mut WriteTx<'_>, id: UserId, name: &str) -> Result<()> {
    run!(tx.conn(), execute, SET_NAME, id.0, name)?;
    Ok(())
}

/// Gives a person a role in a workspace and makes them active there; replaces the role they had there.
pub async fn join(tx: &mut WriteTx<'_>, tenant_id: TenantId, user_id: UserId, role: Role, at: Timestamp) -> Result<()> {
    run!(tx.conn(), execute, INSERT_MEMBER, tenant_id.0, user_id.0, role.as_str(), to_micros(at))?;
    Ok(())
}

/// All members and former members of a workspace, sorted by address.
pub async fn members(conn: &mut Conn<'_>, tenant_id: TenantId) -> Result<Vec<MemberRecord>> {
    let rows = run!(conn, fetch_all MemberRow, MEMBERS, tenant_id.0, MEMBERS_MAX)?;
    rows.into_iter().map(member).collect()
}

/// One active member of a workspace.
pub async fn find_member(conn: &mut Conn<'_>, tenant_id: TenantId, user_id: UserId) -> Result<Option<MemberRecord>> {
    run!(conn, fetch_optional MemberRow, MEMBER, tenant_id.0, user_id.0)?.map(member).transpose()
}

/// The same, with the membership locked until the transaction ends. SQLite has one writer and needs no lock.
pub async fn find_member_locked(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    user_id: UserId,
) -> Result<Option<MemberRecord>> {
    let sql = if matches!(tx.conn(), Conn::Sqlite(_)) { MEMBER } else { MEMBER_LOCKED_POSTGRES };
    run!(tx.conn(), fetch_optional MemberRow, sql, tenant_id.0, user_id.0)?.map(member).transpose()
}

/// One member of a workspace, active or not.
pub async fn find_any_member(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    user_id: UserId,
) -> Result<Option<MemberRecord>> {
    run!(conn, fetch_optional MemberRow, ANY_MEMBER, tenant_id.0, user_id.0)?.map(member).transpose()
}

/// The active admins of a workspace. Other calls wait until the transaction ends, so that two admins cannot
/// remove each other's access at the same time. SQLite has one writer and needs no lock.
pub async fn lock_admins(tx: &mut WriteTx<'_>, tenant_id: TenantId) -> Result<Vec<UserId>> {
    if let Conn::Postgres(c) = tx.conn() {
        sqlx::query(TENANT_LOCKED_POSTGRES).bind(tenant_id.0).execute(&mut **c).await?;
    }
    let rows = run!(tx.conn(), fetch_all(Uuid,), ADMINS, tenant_id.0)?;
    Ok(rows.into_iter().map(|(id,)| UserId(id)).collect())
}

/// Gives a member another role.
pub async fn set_role(tx: &mut WriteTx<'_>, tenant_id: TenantId, user_id: UserId, role: Role) -> Result<()> {
    run!(tx.conn(), execute, SET_ROLE, tenant_id.0, user_id.0, role.as_str())?;
    Ok(())
}

/// Changes the status of a member.
pub async fn set_status(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    user_id: UserId,
    status: MemberStatus,
    at: Timestamp,
) -> Result<()> {
    run!(tx.conn(), execute, SET_STATUS, tenant_id.0, user_id.0, status.as_str(), to_micros(at))?;
    Ok(())
}

/// Whether a person is a member of another workspace, active or not, and not removed there.
pub async fn is_member_elsewhere(conn: &mut Conn<'_>, tenant_id: TenantId, user_id: UserId) -> Result<bool> {
    let (count,) = run!(conn, fetch_one(i64,), IS_MEMBER_ELSEWHERE, tenant_id.0, user_id.0)?;
    Ok(count > 0)
}

/// The workspaces in which a person is active, first joined first.
pub async fn workspaces(conn: &mut Conn<'_>, user_id: UserId) -> Result<Vec<(TenantRecord, Role)>> {
    let rows = run!(conn, fetch_all(Uuid, String, String, String), WORKSPACES, user_id.0)?;
    rows.into_iter()
        .map(|(id, slug, name, role)| {
            let role = Role::parse(&role).ok_or_else(|| Error::inconsistent("memberships", "role", &role))?;
            Ok((TenantRecord { id: TenantId(id), slug, name }, role))
        })
        .collect()
}

/// Whether a member wants an e-mail when something waits for them in this workspace. `false` for a person
/// who is not an active member.
pub async fn wants_email(conn: &mut Conn<'_>, tenant_id: TenantId, user_id: UserId) -> Result<bool> {
    let row = run!(conn, fetch_optional(i64,), WANTS_EMAIL, tenant_id.0, user_id.0)?;
    Ok(row.is_some_and(|(wants,)| wants != 0))
}

/// Stores whether a member wants such e-mails.
pub async fn set_wants_email(tx: &mut WriteTx<'_>, tenant_id: TenantId, user_id: UserId, wants: bool) -> Result<()> {
    run!(tx.conn(), execute, SET_WANTS_EMAIL, tenant_id.0, user_id.0, i64::from(wants))?;
    Ok(())
}
