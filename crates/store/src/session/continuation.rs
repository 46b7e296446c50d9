//! Sessions that run outside of Shiftbook and report their own events: finds the session that continues
//! another.

use super::{Row, record, session_select};
use crate::{
    conn::{Conn, run},
    error::Result,
    record::SessionRecord,
    transaction::WriteTx,
};
use domain::id::{SessionId, TenantId};

// Driven by `sessions_by_parent`.
pub(crate) const NEWEST_CONTINUATION: &str =
    session_select!("tenant_id = $1 AND parent_id = $2 AND source = $3 ORDER BY id DESC LIMIT 1");
pub(crate) const RETITLE: &str = "UPDATE sessions SET title = $3 WHERE tenant_id = $1 AND id = $2";

/// The newest session of this source that was started by `first`.
pub async fn newest_continuation(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    first: SessionId,
    source: &str,
) -> Result<Option<SessionRecord>> {
    record(run!(conn, fetch_optional Row, NEWEST_CONTINUATION, tenant_id.0, first.0, source)?)
}

/// Changes the title of a session. The log does not record it.
pub async fn retitle(tx: &mut WriteTx<'_>, tenant_id: TenantId, id: SessionId, title: &str) -> Result<()> {
    run!(tx.conn(), execute, RETITLE, tenant_id.0, id.0, title)?;
    Ok(())
}
