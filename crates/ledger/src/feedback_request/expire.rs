//! The end of requests for which no session waits: their deadline, or the end of the session. The others end with their
//! gates.

use crate::{Error, Ledger, Result, gate::nobody_answered};
use domain::{
    Scope,
    feedback_request::RequestState,
    id::{FeedbackRequestId, RequestAnswerId, SessionId, TenantId},
};
use store::Access;

/// Largest number of requests that one sweep handles.
const BATCH: u32 = 200;

/// Closes requests whose deadline has passed or whose session has ended. If nobody answered in time, the agent is told
/// so with its next answers.
/// Returns how many requests expired. Safe to run on several servers at once.
pub async fn expire(ledger: &Ledger) -> Result<u64> {
    let now = ledger.now();
    let read =
        ledger.store().read(Access::System, move |conn| Box::pin(store::feedback_request::to_close(conn, now, BATCH)));
    let mut expired = 0;
    for (tenant_id, id, session_id) in read.await? {
        expired += u64::from(expire_one(ledger, tenant_id, id, session_id).await?);
    }
    Ok(expired)
}

async fn expire_one(
    ledger: &Ledger,
    tenant_id: TenantId,
    id: FeedbackRequestId,
    session_id: SessionId,
) -> Result<bool> {
    let scope = Scope::system(tenant_id);
    let now = ledger.now();
    let answer_id = RequestAnswerId::new(now, ledger.entropy());
    ledger
        .write((&scope).into(), move |tx| {
            Box::pin(async move {
                let Some(session) = store::session::find_locked(tx, tenant_id, session_id).await? else {
                    return Ok(false);
                };
                let Some(request) = store::feedback_request::find_locked(tx, tenant_id, id).await? else {
                    return Ok(false);
                };
                if request.state != RequestState::Waiting {
                    return Ok(false);
                }
                if session.status().is_final() {
                    store::feedback_request::close(tx, tenant_id, id, RequestState::Cancelled, now).await?;
                    return Ok(false);
                }
                if request.expires_at.is_none_or(|at| at > now) {
                    return Ok(false);
                }
                let answer = store::feedback_request::answer_of_request(tx.conn(), tenant_id, id).await?;
                if answer.is_some() {
                    store::feedback_request::close(tx, tenant_id, id, RequestState::Expired, now).await?;
                } else {
                    nobody_answered(tx, &request, answer_id, now).await?;
                }
                Ok::<_, Error>(true)
            })
        })
        .await
}
