//! Rows of `api_tokens`: only digests of secrets are stored.

use super::TenantRecord;
use crate::{
    engine::{Conn, Result, record, run, statements},
    transaction::WriteTx,
};
use domain::{
    Timestamp,
    clock::to_micros,
    id::{TenantId, TokenId, UserId},
    role::{Role, TokenScope},
};

macro_rules! token_select {
    ($which:literal) => {
        concat!(
            "SELECT k.tenant_id, k.id, k.name, k.hint, k.role, k.scope, k.created_at, k.last_used_at, k.revoked_at, k.user_id, \
             t.slug AS tenant_slug, t.name AS tenant_name FROM api_tokens k JOIN tenants t ON t.id = k.tenant_id WHERE ",
            $which
        )
    };
}

statements! {
    const INSERT: &str = "INSERT INTO api_tokens (tenant_id, id, name, secret_digest, hint, role, scope, created_at, user_id) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
    const BY_DIGEST: &str = token_select!("k.secret_digest = $1");
    const BY_ID: &str = token_select!("k.tenant_id = $1 AND k.id = $2");
    // A token that works must be found and revoked, however many were revoked since, and however many people have one.
    const LIST: &str = token_select!(
        "k.tenant_id = $1 ORDER BY CASE WHEN k.revoked_at IS NOT NULL THEN 2 WHEN k.user_id IS NOT NULL THEN 1 ELSE 0 END, \
         k.id DESC LIMIT $2"
    );
    const LIST_OWN: &str = token_select!(
        "k.tenant_id = $1 AND k.user_id = $3 ORDER BY CASE WHEN k.revoked_at IS NULL THEN 0 ELSE 1 END, k.id DESC LIMIT $2"
    );
    const COUNT_WORKING: &str =
        "SELECT COUNT(*) FROM api_tokens WHERE tenant_id = $1 AND user_id IS NULL AND revoked_at IS NULL";
    const COUNT_WORKING_OWN: &str =
        "SELECT COUNT(*) FROM api_tokens WHERE tenant_id = $1 AND user_id = $2 AND revoked_at IS NULL";
    const TOUCH: &str = "UPDATE api_tokens SET last_used_at = $3 WHERE tenant_id = $1 AND id = $2";
    const REVOKE: &str =
        "UPDATE api_tokens SET revoked_at = $3 WHERE tenant_id = $1 AND id = $2 AND revoked_at IS NULL";
    const REVOKE_OF: &str =
        "UPDATE api_tokens SET revoked_at = $3 WHERE tenant_id = $1 AND user_id = $2 AND revoked_at IS NULL";
    const EXISTS: &str = "SELECT COUNT(*) FROM api_tokens WHERE tenant_id = $1 AND id = $2";
    const EXISTS_OWN: &str = "SELECT COUNT(*) FROM api_tokens WHERE tenant_id = $1 AND id = $2 AND user_id = $3";
}

/// An API token, without its secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenRecord {
    /// Identifies the token when it is revoked.
    pub id: TokenId,
    /// Display name, given when the token is made.
    pub name: String,
    /// First characters of the secret, to recognise the token by.
    pub hint: String,
    /// Role of the token in its workspace.
    pub role: Role,
    /// Restriction of the role, if any.
    pub scope: Option<TokenScope>,
    /// Time the token was made (UTC).
    pub created_at: Timestamp,
    /// Time of the last use, to the minute (UTC).
    pub last_used_at: Option<Timestamp>,
    /// Time the token was revoked (UTC).
    pub revoked_at: Option<Timestamp>,
    /// The person the token acts for; `None` for a token of the workspace.
    pub user_id: Option<UserId>,
}

/// Most tokens that one list returns. As many of the workspace may work.
const LISTED_MAX: i64 = domain::limit::TOKENS_MAX.cast_signed();

record! {
    struct Row of "api_tokens" {
        tenant_id: TenantId,
        id: TokenId,
        name: String,
        hint: String,
        role: Role,
        scope: Option<TokenScope>,
        created_at: Timestamp,
        last_used_at: Option<Timestamp>,
        revoked_at: Option<Timestamp>,
        user_id: Option<UserId>,
        tenant_slug: String,
        tenant_name: String,
    }
}

impl Row {
    fn into_records(self) -> (TenantRecord, TokenRecord) {
        let tenant = TenantRecord { id: self.tenant_id, slug: self.tenant_slug, name: self.tenant_name };
        let token = TokenRecord {
            id: self.id,
            name: self.name,
            hint: self.hint,
            role: self.role,
            scope: self.scope,
            created_at: self.created_at,
            last_used_at: self.last_used_at,
            revoked_at: self.revoked_at,
            user_id: self.user_id,
        };
        (tenant, token)
    }
}

/// Stores a token.
pub async fn insert(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    token: &TokenRecord,
    secret_digest: [u8; 32],
) -> Result<()> {
    run!(
        tx.conn(),
        execute,
        INSERT,
        tenant_id.0,
        token.id.0,
        token.name.as_str(),
        &secret_digest[..],
        token.hint.as_str(),
        token.role.as_str(),
        token.scope.map(TokenScope::as_str),
        to_micros(token.created_at),
        token.user_id.map(|id| id.0),
    )?;
    Ok(())
}

/// The token with this secret, revoked or not, and its workspace.
pub async fn find(conn: &mut Conn<'_>, secret_digest: [u8; 32]) -> Result<Option<(TenantRecord, TokenRecord)>> {
    Ok(run!(conn, fetch_optional Row, BY_DIGEST, &secret_digest[..])?.map(Row::into_records))
}

/// The token with this id, revoked or not.
pub async fn find_by_id(conn: &mut Conn<'_>, tenant_id: TenantId, id: TokenId) -> Result<Option<TokenRecord>> {
    let row = run!(conn, fetch_optional Row, BY_ID, tenant_id.0, id.0)?;
    Ok(row.map(Row::into_records).map(|(_, token)| token))
}

/// The tokens of a workspace and its people, or of one person in it. Those that work come before revoked ones, those of
/// the workspace before those of people, and newer ones before older ones.
pub async fn list(conn: &mut Conn<'_>, tenant_id: TenantId, whose: Option<UserId>) -> Result<Vec<TokenRecord>> {
    let rows = match whose {
        None => run!(conn, fetch_all Row, LIST, tenant_id.0, LISTED_MAX)?,
        Some(user_id) => run!(conn, fetch_all Row, LIST_OWN, tenant_id.0, LISTED_MAX, user_id.0)?,
    };
    Ok(rows.into_iter().map(|row| row.into_records().1).collect())
}

/// The number of tokens of a workspace without those of its people, or of one person in it, that are not revoked.
pub async fn count_working(conn: &mut Conn<'_>, tenant_id: TenantId, whose: Option<UserId>) -> Result<u64> {
    let (count,) = match whose {
        None => run!(conn, fetch_one(i64,), COUNT_WORKING, tenant_id.0)?,
        Some(user_id) => run!(conn, fetch_one(i64,), COUNT_WORKING_OWN, tenant_id.0, user_id.0)?,
    };
    Ok(count.cast_unsigned())
}

/// Records the time of the last use.
pub async fn touch(tx: &mut WriteTx<'_>, tenant_id: TenantId, id: TokenId, at: Timestamp) -> Result<()> {
    run!(tx.conn(), execute, TOUCH, tenant_id.0, id.0, to_micros(at))?;
    Ok(())
}

/// Revokes a token; if `whose` is set, only a token of that person. Returns whether it was revoked now: a second
/// revocation changes nothing. `None` if there is no such token.
pub async fn revoke(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    id: TokenId,
    whose: Option<UserId>,
    at: Timestamp,
) -> Result<Option<bool>> {
    let (count,) = match whose {
        None => run!(tx.conn(), fetch_one(i64,), EXISTS, tenant_id.0, id.0)?,
        Some(user_id) => run!(tx.conn(), fetch_one(i64,), EXISTS_OWN, tenant_id.0, id.0, user_id.0)?,
    };
    if count == 0 {
        return Ok(None);
    }
    Ok(Some(run!(tx.conn(), execute, REVOKE, tenant_id.0, id.0, to_micros(at))? > 0))
}

/// Revokes every token of a workspace that acts for this person.
pub async fn revoke_of(tx: &mut WriteTx<'_>, tenant_id: TenantId, user_id: UserId, at: Timestamp) -> Result<()> {
    run!(tx.conn(), execute, REVOKE_OF, tenant_id.0, user_id.0, to_micros(at))?;
    Ok(())
}
