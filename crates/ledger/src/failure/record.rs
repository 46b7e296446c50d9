//! Recording a failure in the transaction that ends its session.

use crate::{Result, SessionRecord};
use domain::{
    Timestamp,
    failure::{code_of, remediation},
    id::EventId,
    session::{EndReason, Status},
};
use store::{WriteTx, failure::NewFailure};

/// Records that a session ended failed or expired, or never began because of another one; does nothing otherwise. `ended_by` is the event that
/// ended it, `reason` what is said where the session has no message of its own.
pub(crate) async fn record(
    tx: &mut WriteTx<'_>,
    session: &SessionRecord,
    ended_by: EventId,
    reason: &str,
    at: Timestamp,
) -> Result<()> {
    let end_reason = session.end_reason.unwrap_or(EndReason::Error);
    let never_began = session.status == Status::Abandoned && end_reason == EndReason::DependencyFailed;
    if !never_began && !matches!(session.status, Status::Failed | Status::Expired) {
        return Ok(());
    }
    let code = session.error_code.as_deref().unwrap_or(code_of(end_reason));
    let message = session.error_message.as_deref().unwrap_or(reason);
    let failure = NewFailure { id: ended_by, code, message, remediation: remediation(code), at };
    Ok(store::failure::insert(tx, session, failure).await?)
}
