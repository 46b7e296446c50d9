//! Rows of `access_links`: invitations and password resets. Only digests of their secrets are stored.

use super::TenantRecord;
use crate::{
    engine::{Conn, Error, Result, record, run, statements},
    transaction::WriteTx,
};
use domain::{
    Timestamp,
    clock::to_micros,
    id::{LinkId, TenantId, UserId},
    role::Role,
};
use uuid::Uuid;

macro_rules! link_select {
    ($which:literal) => {
        concat!(
            "SELECT l.id, l.tenant_id, t.slug AS tenant_slug, t.name AS tenant_name, l.kind, l.email, l.role, l.user_id, \
             l.by_operator, l.created_by, l.created_at, l.expires_at \
             FROM access_links l JOIN tenants t ON t.id = l.tenant_id WHERE ",
            $which
        )
    };
}

statements! {
    const INSERT: &str = "INSERT INTO access_links (tenant_id, id, secret_digest, kind, email, role, user_id, by_operator, \
         created_by, created_at, expires_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) \
         ON CONFLICT (tenant_id, kind, email) DO UPDATE SET id = excluded.id, secret_digest = excluded.secret_digest, \
         role = excluded.role, user_id = excluded.user_id, by_operator = excluded.by_operator, \
         created_by = excluded.created_by, created_at = excluded.created_at, expires_at = excluded.expires_at";
    const BY_DIGEST: &str = link_select!("l.secret_digest = $1 AND l.expires_at > $2");
    const INVITATIONS: &str = link_select!(
        "l.tenant_id = $1 AND l.kind = 'invitation' AND l.expires_at > $2 ORDER BY l.created_at DESC, l.id LIMIT $3"
    );
    const TAKE: &str = "DELETE FROM access_links WHERE secret_digest = $1 AND expires_at > $2";
    const DELETE_INVITATION: &str = "DELETE FROM access_links WHERE tenant_id = $1 AND id = $2 AND kind = 'invitation'";
    const DELETE_INVITATIONS_OF: &str =
        "DELETE FROM access_links WHERE tenant_id = $1 AND email = $2 AND kind = 'invitation'";
    const DELETE_RESETS: &str = "DELETE FROM access_links WHERE kind = 'reset' AND user_id = $1";
    const DELETE_OF_MEMBER: &str = "DELETE FROM access_links WHERE tenant_id = $1 AND (email = $2 OR created_by = $3)";
    const DELETE_EXPIRED: &str = "DELETE FROM access_links WHERE expires_at <= $1";
}

record! {
    struct Row of "access_links" {
        id: LinkId,
        tenant_id: TenantId,
        tenant_slug: String,
        tenant_name: String,
        kind: String,
        email: String,
        role: Option<String>,
        user_id: Option<Uuid>,
        by_operator: i64,
        created_by: String,
        created_at: Timestamp,
        expires_at: Timestamp,
    }
}

/// The effect of using a link, with the data it needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkPurpose {
    /// Joining the workspace in this role.
    Invitation(Role),
    /// Choosing a new password.
    Reset {
        /// The person whose password is reset.
        user_id: UserId,
        /// Whether the operator of the server made the link. An operator may do so for people of several
        /// workspaces.
        by_operator: bool,
    },
}

impl LinkPurpose {
    const fn kind(self) -> &'static str {
        match self {
            Self::Invitation(_) => INVITATION,
            Self::Reset { .. } => RESET,
        }
    }
}

const INVITATION: &str = "invitation";
const RESET: &str = "reset";

/// A single-use link, without its secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessLinkRecord {
    /// Identifies the link where it is listed or withdrawn. It gives no access.
    pub id: LinkId,
    /// The workspace of the link.
    pub tenant: TenantRecord,
    /// What the link allows.
    pub purpose: LinkPurpose,
    /// E-mail address of the person the link is for.
    pub email: String,
    /// Who made the link.
    pub created_by: String,
    /// Time the link was made (UTC).
    pub created_at: Timestamp,
    /// Time from which the link is invalid (UTC).
    pub expires_at: Timestamp,
}

impl TryFrom<Row> for AccessLinkRecord {
    type Error = Error;

    fn try_from(row: Row) -> Result<Self> {
        let role = row.role.as_deref().and_then(Role::parse);
        let purpose = match (row.kind.as_str(), role, row.user_id) {
            (INVITATION, Some(role), _) => LinkPurpose::Invitation(role),
            (RESET, _, Some(id)) => LinkPurpose::Reset { user_id: UserId(id), by_operator: row.by_operator != 0 },
            _ => return Err(Error::inconsistent("access_links", "kind", &row.kind)),
        };
        Ok(Self {
            id: row.id,
            tenant: TenantRecord { id: row.tenant_id, slug: row.tenant_slug, name: row.tenant_name },
            purpose,
            email: row.email,
            created_by: row.created_by,
            created_at: row.created_at,
            expires_at: row.expires_at,
        })
    }
}

/// Stores a link. It replaces an earlier link of the same kind for the same address in the same workspace.
pub async fn insert(tx: &mut WriteTx<'_>, link: &AccessLinkRecord, secret_digest: [u8; 32]) -> Result<()> {
    let (role, user_id, by_operator) = match link.purpose {
        LinkPurpose::Invitation(role) => (Some(role.as_str()), None, false),
        LinkPurpose::Reset { user_id, by_operator } => (None, Some(user_id.0), by_operator),
    };
    let (tenant_id, kind, email) = (link.tenant.id.0, link.purpose.kind(), link.email.as_str());
    run!(
        tx.conn(),
        execute,
        INSERT,
        tenant_id,
        link.id.0,
        &secret_digest[..],
        kind,
        email,
        role,
        user_id,
        i64::from(by_operator),
        link.created_by.as_str(),
        to_micros(link.created_at),
        to_micros(link.expires_at),
    )?;
    Ok(())
}

/// The link with this secret, if it is still valid.
pub async fn find(conn: &mut Conn<'_>, secret_digest: [u8; 32], now: Timestamp) -> Result<Option<AccessLinkRecord>> {
    let row = run!(conn, fetch_optional Row, BY_DIGEST, &secret_digest[..], to_micros(now))?;
    row.map(AccessLinkRecord::try_from).transpose()
}

/// Valid invitations of a workspace, newest first.
pub async fn invitations(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    now: Timestamp,
    limit: u32,
) -> Result<Vec<AccessLinkRecord>> {
    let rows = run!(conn, fetch_all Row, INVITATIONS, tenant_id.0, to_micros(now), i64::from(limit))?;
    rows.into_iter().map(AccessLinkRecord::try_from).collect()
}

/// Uses a link up. Returns `false` if it is not valid. Of several concurrent calls one returns `true`.
pub async fn take(tx: &mut WriteTx<'_>, secret_digest: [u8; 32], now: Timestamp) -> Result<bool> {
    Ok(run!(tx.conn(), execute, TAKE, &secret_digest[..], to_micros(now))? > 0)
}

/// Withdraws an invitation. Returns `false` if there is none with this id.
pub async fn delete_invitation(tx: &mut WriteTx<'_>, tenant_id: TenantId, id: LinkId) -> Result<bool> {
    Ok(run!(tx.conn(), execute, DELETE_INVITATION, tenant_id.0, id.0)? > 0)
}

/// Deletes the invitations of an address to a workspace.
pub async fn delete_invitations_of(tx: &mut WriteTx<'_>, tenant_id: TenantId, email: &str) -> Result<()> {
    run!(tx.conn(), execute, DELETE_INVITATIONS_OF, tenant_id.0, email)?;
    Ok(())
}

/// Deletes the password resets of a person.
pub async fn delete_resets(tx: &mut WriteTx<'_>, user_id: UserId) -> Result<()> {
    run!(tx.conn(), execute, DELETE_RESETS, user_id.0)?;
    Ok(())
}

/// Deletes the links of a workspace that are for a person, and those that the person (`user:…`) made.
pub async fn delete_of_member(tx: &mut WriteTx<'_>, tenant_id: TenantId, email: &str, created_by: &str) -> Result<()> {
    run!(tx.conn(), execute, DELETE_OF_MEMBER, tenant_id.0, email, created_by)?;
    Ok(())
}

/// Deletes links that are no longer valid. Returns how many.
pub async fn delete_expired(tx: &mut WriteTx<'_>, now: Timestamp) -> Result<u64> {
    Ok(run!(tx.conn(), execute, DELETE_EXPIRED, to_micros(now))?)
}
