//! Waiting for the end of a run.

use crate::{
    Ledger, Result,
    event::{Follow, follow},
    session::get,
};
use domain::{Scope, id::SessionId, session::Session};
use futures_util::future::{Either, select};
use std::{pin::pin, time::Duration};

/// Waits at most `wait` for a session to end, and returns it as it is then. Stops waiting when `stop` is ready.
///
/// # Errors
/// [`crate::Error::NotFound`] if there is no such session or the caller cannot see it.
pub async fn wait_for_end(
    ledger: &Ledger,
    scope: &Scope,
    id: SessionId,
    wait: Duration,
    stop: impl Future<Output = ()>,
) -> Result<Session> {
    if !wait.is_zero() {
        let ended = pin!(tokio::time::timeout(wait, end(ledger, scope, id)));
        if let Either::Left((Ok(Err(error)), _)) = select(ended, pin!(stop)).await {
            return Err(error);
        }
    }
    get(ledger, scope, id).await
}

async fn end(ledger: &Ledger, scope: &Scope, id: SessionId) -> Result<()> {
    // A sequence beyond the end of the log is treated as its end.
    let mut following = follow(ledger, scope, id, u64::MAX).await?;
    while !matches!(following.next().await?, Follow::End(_)) {}
    Ok(())
}
