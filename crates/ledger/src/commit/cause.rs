//! Groups a failure with those of the same cause.

use crate::Result;
use domain::{
    failure::cause::{Fingerprint, KINDS, Opening, Origin, fingerprint, origin},
    limit::CAUSE_EVENTS_MAX,
    session::{EndReason, Session},
};
use store::{
    WriteTx,
    failure::{NewFailure, cause::ToGroup},
};

/// Groups a failure. `session` is the session that failed, with its events written. The failure of a session that only
/// its own person can see is left out, because others see causes. Returns the cause if it opened with this failure.
pub(crate) async fn group(
    tx: &mut WriteTx<'_>,
    session: &Session,
    failure: &NewFailure<'_>,
) -> Result<Option<(Opening, Fingerprint)>> {
    if session.private_to.is_some() {
        return Ok(None);
    }
    // What the product ends by itself, such as a session without a worker, has nothing to do with the last tool.
    let from = if session.end_reason() == Some(EndReason::Error) {
        let kinds = KINDS.map(|kind| kind.as_str().to_owned());
        let (tenant_id, end) = (session.tenant_id, session.head_sequence + 1);
        let last = store::event::before(tx.conn(), tenant_id, session.id, end, &kinds, CAUSE_EVENTS_MAX).await?;
        origin(&last.items)
    } else {
        Origin::default()
    };
    let failed = ToGroup { id: failure.id, session, at: failure.at };
    let cause = fingerprint(failure.code, from, failure.message);
    let opening = store::failure::cause::group(tx, failed, &cause).await?;
    Ok(opening.map(|opening| (opening, cause)))
}
