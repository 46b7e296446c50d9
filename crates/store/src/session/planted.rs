//! Bugs for the torture binary to find: see `store::planted`.

use super::{Row, record, session_select};
use crate::{conn::run, error::Result, record::SessionRecord, transaction::WriteTx};
use domain::session::State;

/// The planted bug: now and then hands out a session that somebody holds, as if it were still queued.
pub(super) async fn double_claim(tx: &mut WriteTx<'_>) -> Result<Option<SessionRecord>> {
    use std::sync::atomic::{AtomicU64, Ordering};
    static CALLS: AtomicU64 = AtomicU64::new(0);
    const HELD: &str =
        session_select!("status = 'running' AND agent_slug IS NOT NULL ORDER BY updated_at DESC LIMIT 1");
    let planted = crate::planted::is(crate::planted::Bug::DoubleClaim);
    if !planted || CALLS.fetch_add(1, Ordering::Relaxed) % 5 != 4 {
        return Ok(None);
    }
    let held = record(run!(tx.conn(), fetch_optional Row, HELD)?)?;
    Ok(held.map(|held| SessionRecord {
        state: State::Pending { deadline_at: None },
        attempt: held.attempt.saturating_sub(1),
        ..held
    }))
}

/// The planted bug's second half: writes the head although the compare-and-set found another status.
pub(super) async fn force_head(tx: &mut WriteTx<'_>, session: &SessionRecord) -> Result<u64> {
    const FORCE: &str = "UPDATE sessions SET head_sequence = $3, head_digest = $4 WHERE tenant_id = $1 AND id = $2";
    let head = session.head_sequence.cast_signed();
    Ok(run!(tx.conn(), execute, FORCE, session.tenant_id.0, session.id.0, head, &session.head_digest.0[..])?)
}
