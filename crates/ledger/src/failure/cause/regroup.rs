//! Grouping failures that no rule or an earlier one grouped.

use crate::{Ledger, Result, commit::cause::group};
use domain::limit::CAUSE_REGROUP_MAX;
use store::{
    Access,
    failure::{NewFailure, regroup::Progress},
};

/// Largest number of transactions of one call. The next call continues.
const STEPS_MAX: u32 = 5;

/// Groups failures of all workspaces that are not grouped by the current rule, some at a time. Returns how far it is.
/// Safe to run on several servers at once: they take turns.
pub async fn regroup(ledger: &Ledger) -> Result<Progress> {
    let mut progress = progress(ledger).await?;
    for _ in 0..STEPS_MAX {
        if progress.is_done {
            break;
        }
        let step = ledger.write(Access::System, async move |tx| {
            let next = store::failure::regroup::next(tx, CAUSE_REGROUP_MAX).await?;
            for failed in next.iter().filter(|failed| failed.is_due) {
                let session = store::session::find(tx.conn(), failed.tenant_id, failed.session_id).await?;
                let known = store::failure::find(tx.conn(), failed.tenant_id, failed.session_id).await?;
                if let (Some(session), Some(known)) = (session, known) {
                    let failure =
                        NewFailure { id: failed.id, code: &known.code, message: &known.message, at: failed.at };
                    group(tx, &session, &failure).await?;
                }
            }
            store::failure::regroup::save(tx, &next, CAUSE_REGROUP_MAX).await?;
            Ok(store::failure::regroup::progress(tx.conn()).await?)
        });
        progress = step.await?;
    }
    Ok(progress)
}

/// Returns how far the grouping of all workspaces is. While it goes on, counts of causes are too small.
pub async fn progress(ledger: &Ledger) -> Result<Progress> {
    Ok(ledger.store().read(Access::System, async |conn| store::failure::regroup::progress(conn).await).await?)
}
