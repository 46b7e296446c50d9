//! The end of requests for which no session waits: their deadline, or the end of the session. The others end with their
//! gates.

use crate::{Ledger, Result, gate::nobody_answered};
use domain::{
    Scope,
    feedback_request::RequestState,
    id::{FeedbackRequestId, RequestAnswerId, SessionId, TenantId},
};
use store::{Access, feedback_request::OpenPosition};

/// Largest number of requests past their deadline that one sweep handles, and of open ones that it looks at.
const BATCH: u32 = 200;

/// Closes requests whose deadline has passed or whose session has ended. If no one answered in time, the agent gets
/// so with its next answers. No list shows these requests any more, so a sweep may reach those of ended sessions late:
/// it looks at some open requests from `position` on, and sets `position` to where the next sweep continues.
///
/// Returns how many requests expired. Safe to run on several servers at once.
///
/// # Errors
/// The error of the last request that failed. It does not stop the others.
pub async fn expire(ledger: &Ledger, position: &mut OpenPosition) -> Result<u64> {
    let (now, after) = (ledger.now(), *position);
    let read = ledger.store().read(Access::System, async move |conn| {
        let due = store::feedback_request::past_deadline(conn, now, BATCH).await?;
        Ok((due, store::feedback_request::of_ended(conn, after, BATCH).await?))
    });
    let (due, (ended, next)) = read.await?;
    let (mut expired, mut failure) = (0, None);
    for (tenant_id, id, session_id) in due.into_iter().chain(ended) {
        match expire_one(ledger, tenant_id, id, session_id).await {
            Ok(is_expired) => expired += u64::from(is_expired),
            // An error of one request does not stop the others.
            Err(error) => failure = Some(error),
        }
    }
    *position = next;
    failure.map_or(Ok(expired), Err)
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
        .write((&scope).into(), async move |tx| {
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
                tx.counts_changed(tenant_id);
            }
            Ok(true)
        })
        .await
}
