//! What running the failures of several causes again would do.

use super::span::When;
use crate::{
    Error, Ledger, Result,
    guard::require,
    session::{BulkResult, plan_again_on},
};
use domain::{
    Scope,
    id::{CauseId, SessionId},
    limit::{BULK_CAUSES_MAX, BULK_SESSIONS_MAX},
    role::Permission,
};
use std::collections::BTreeSet;

/// A cause, and what would happen to its failures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CauseAgain {
    /// The cause.
    pub id: CauseId,
    /// Its error code.
    pub code: String,
    /// Its normalised message.
    pub message: String,
    /// Its sessions that failed in the time range and were not run again, oldest first, and whether it has more.
    pub result: BulkResult,
}

/// What would happen to the failures of several causes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CausesAgain {
    /// The causes in the order of the request.
    pub causes: Vec<CauseAgain>,
    /// Number of causes that the workspace does not have, or no longer.
    pub missing: usize,
}

/// Decides which sessions of several causes would be run again. All causes together have at most [`BULK_SESSIONS_MAX`]
/// sessions: those of the first causes. Nothing is started.
///
/// # Errors
/// [`Error::Invalid`] for no or more than [`BULK_CAUSES_MAX`] causes, and for a wrong time range; [`Error::Forbidden`]
/// if the caller may not start sessions.
pub async fn plan_again(ledger: &Ledger, scope: &Scope, ids: Vec<CauseId>, when: When) -> Result<CausesAgain> {
    require(scope, Permission::StartSession)?;
    when.check()?;
    let mut seen = BTreeSet::new();
    let ids: Vec<CauseId> = ids.into_iter().filter(|id| seen.insert(*id)).collect();
    if ids.is_empty() || ids.len() > BULK_CAUSES_MAX {
        return Err(Error::invalid("cause", format!("select 1 to {BULK_CAUSES_MAX} causes")));
    }
    let (reader, now) = (*scope, ledger.now());
    let planned = ledger.snapshot(scope, async move |conn| {
        let tenant_id = reader.tenant_id;
        let span = when.span(conn, &reader, now).await?;
        let (mut found, mut sessions, mut missing) = (Vec::new(), Vec::<SessionId>::new(), 0);
        for id in ids {
            let Some(cause) = store::failure::cause::find(conn, tenant_id, id, span).await? else {
                missing += 1;
                continue;
            };
            let left = BULK_SESSIONS_MAX.saturating_sub(sessions.len());
            let wanted = u32::try_from(left + 1).unwrap_or(u32::MAX);
            let mut own = store::failure::cause::to_run_again(conn, tenant_id, id, span, wanted).await?;
            let has_more = own.len() > left;
            own.truncate(left);
            found.push((cause, own.len(), has_more));
            sessions.append(&mut own);
        }
        let mut planned = plan_again_on(conn, &reader, sessions).await?.into_iter();
        let causes = found.into_iter().map(|(cause, count, has_more)| {
            let sessions = planned.by_ref().take(count).collect();
            let result = BulkResult { sessions, has_more };
            CauseAgain { id: cause.id, code: cause.code, message: cause.message, result }
        });
        Ok(CausesAgain { causes: causes.collect(), missing })
    });
    planned.await
}
