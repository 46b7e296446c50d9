//! Rows of `view_links`: links to forms. Only digests of their secrets are stored.

use crate::{
    engine::{Conn, Result, record, run, statements},
    transaction::WriteTx,
};
use domain::{
    Timestamp,
    clock::to_micros,
    id::{TenantId, ViewId, ViewLinkId},
};
use uuid::Uuid;

macro_rules! link_select {
    ($which:literal) => {
        concat!(
            "SELECT tenant_id, id, view_id, request_id, hint, created_by, created_at, expires_at, revoked_at, uses, \
             note, last_used_at FROM view_links WHERE ",
            $which
        )
    };
}

statements! {
    const BY_DIGEST: &str = link_select!("secret_digest = $1");
    const BY_ID: &str = link_select!("id = $1");
    const OF_FORM: &str = link_select!(
        "tenant_id = $1 AND view_id = $2 AND request_id IS NULL AND revoked_at IS NULL AND expires_at > $3 \
         ORDER BY id DESC LIMIT $4"
    );
    const OF_QUESTIONS: &str = link_select!(
        "tenant_id = $1 AND view_id = $2 AND request_id IS NOT NULL AND revoked_at IS NULL AND expires_at > $3 \
         ORDER BY id DESC LIMIT $4"
    );
    const COUNT_OF_REQUEST: &str = "SELECT COUNT(*) FROM view_links WHERE tenant_id = $1 AND view_id = $2 \
         AND request_id = $3 AND revoked_at IS NULL AND expires_at > $4";
    const NEWEST_OF_VIEW: &str =
        link_select!("tenant_id = $1 AND view_id = $2 AND request_id IS NULL ORDER BY id DESC LIMIT $3");
    const INSERT: &str = "INSERT INTO view_links (tenant_id, id, view_id, request_id, secret_digest, hint, created_by, \
         created_at, expires_at, uses, note) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 0, $10)";
    const USE: &str = "UPDATE view_links SET uses = uses + 1, last_used_at = $3 WHERE tenant_id = $1 AND id = $2";
    const REVOKE: &str =
        "UPDATE view_links SET revoked_at = $3 WHERE tenant_id = $1 AND id = $2 AND revoked_at IS NULL";
    const EXISTS: &str = "SELECT COUNT(*) FROM view_links WHERE tenant_id = $1 AND id = $2";
}

record! {
    /// A link to a form, without its secret.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct ViewLinkRecord of "view_links" {
        /// Workspace of the form.
        pub tenant_id: TenantId,
        /// Identifies the link in lists and in the address of its form. It gives no access.
        pub id: ViewLinkId,
        /// The form that it opens.
        pub view_id: ViewId,
        /// The agent's question that its responses answer; `None` for a plain form.
        pub request_id: Option<Uuid>,
        /// First characters of the secret.
        pub hint: String,
        /// Who made the link: `user:…`, `token:…` or `system`.
        pub created_by: String,
        /// Time the link was made (UTC).
        pub created_at: Timestamp,
        /// Time from which the link is invalid (UTC).
        pub expires_at: Timestamp,
        /// Time the link was revoked (UTC).
        pub revoked_at: Option<Timestamp>,
        /// Number of times that a browser opened the form with it.
        pub uses: u64,
        /// What the link is for, as its creator wrote it; may be empty.
        pub note: String,
        /// Time a browser opened the form with it last (UTC).
        pub last_used_at: Option<Timestamp>,
    }
}

impl ViewLinkRecord {
    /// Whether the link works at `now`.
    pub fn works(&self, now: Timestamp) -> bool {
        self.revoked_at.is_none() && now < self.expires_at
    }
}

type One<T> = (T,);

/// The link with this secret, whether it works or not.
pub async fn find_by_secret(conn: &mut Conn<'_>, secret_digest: [u8; 32]) -> Result<Option<ViewLinkRecord>> {
    Ok(run!(conn, fetch_optional ViewLinkRecord, BY_DIGEST, &secret_digest[..])?)
}

/// The link with this id in any workspace, whether it works or not.
pub async fn find(conn: &mut Conn<'_>, id: ViewLinkId) -> Result<Option<ViewLinkRecord>> {
    Ok(run!(conn, fetch_optional ViewLinkRecord, BY_ID, id.0)?)
}

/// Links to a form itself that work, newest first. Links to questions that use it are left out.
pub async fn of_form(
    conn: &mut Conn<'_>,
    (tenant_id, view_id): (TenantId, ViewId),
    now: Timestamp,
    limit: u32,
) -> Result<Vec<ViewLinkRecord>> {
    Ok(run!(conn, fetch_all ViewLinkRecord, OF_FORM, tenant_id.0, view_id.0, to_micros(now), i64::from(limit))?)
}

/// Links to the questions that use a form and that work, newest first.
pub async fn of_questions(
    conn: &mut Conn<'_>,
    (tenant_id, view_id): (TenantId, ViewId),
    now: Timestamp,
    limit: u32,
) -> Result<Vec<ViewLinkRecord>> {
    Ok(run!(conn, fetch_all ViewLinkRecord, OF_QUESTIONS, tenant_id.0, view_id.0, to_micros(now), i64::from(limit))?)
}

/// Number of links to one question that work.
pub async fn count_of_request(
    conn: &mut Conn<'_>,
    (tenant_id, view_id): (TenantId, ViewId),
    request_id: Uuid,
    now: Timestamp,
) -> Result<u64> {
    let (count,) =
        run!(conn, fetch_one One<i64>, COUNT_OF_REQUEST, tenant_id.0, view_id.0, request_id, to_micros(now))?;
    Ok(count.max(0).cast_unsigned())
}

/// The newest links of a view, whether they work or not, newest first. Links to questions of agents are left out.
pub async fn newest_of_view(
    conn: &mut Conn<'_>,
    (tenant_id, view_id): (TenantId, ViewId),
    limit: u32,
) -> Result<Vec<ViewLinkRecord>> {
    Ok(run!(conn, fetch_all ViewLinkRecord, NEWEST_OF_VIEW, tenant_id.0, view_id.0, i64::from(limit))?)
}

/// Stores a link.
pub async fn insert(tx: &mut WriteTx<'_>, link: &ViewLinkRecord, secret_digest: [u8; 32]) -> Result<()> {
    run!(
        tx.conn(),
        execute,
        INSERT,
        link.tenant_id.0,
        link.id.0,
        link.view_id.0,
        link.request_id,
        &secret_digest[..],
        link.hint.as_str(),
        link.created_by.as_str(),
        to_micros(link.created_at),
        to_micros(link.expires_at),
        link.note.as_str(),
    )?;
    Ok(())
}

/// Counts one more use of a link.
pub async fn count_use(tx: &mut WriteTx<'_>, tenant_id: TenantId, id: ViewLinkId, now: Timestamp) -> Result<()> {
    run!(tx.conn(), execute, USE, tenant_id.0, id.0, to_micros(now))?;
    Ok(())
}

/// Revokes a link. Returns whether it was revoked now: a repeat keeps the time of the first call. `None` if there is no
/// such link.
pub async fn revoke(tx: &mut WriteTx<'_>, tenant_id: TenantId, id: ViewLinkId, now: Timestamp) -> Result<Option<bool>> {
    let changed = run!(tx.conn(), execute, REVOKE, tenant_id.0, id.0, to_micros(now))?;
    if changed > 0 {
        return Ok(Some(true));
    }
    let (known,) = run!(tx.conn(), fetch_one One<i64>, EXISTS, tenant_id.0, id.0)?;
    Ok((known > 0).then_some(false))
}
