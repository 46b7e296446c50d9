//! Entering sessions in the roll of their workspace.

use crate::{Error, Ledger, Result};
use store::Access;

/// Sessions entered in one transaction: on SQLite appends wait for it.
const ENTERED_AT_ONCE: u32 = 200;
/// Transactions of one sweep. What is left waits for the next.
const STEPS_MAX: u32 = 20;

/// Enters sessions that were made since the last sweep, and some of those that were there before rolls were kept. How many.
///
/// Safe to run on many servers at once: they take turns.
pub async fn roll(ledger: &Ledger) -> Result<u64> {
    let mut entered = 0;
    for _ in 0..STEPS_MAX {
        if !ledger.store().read(Access::System, |conn| Box::pin(store::roll::is_due(conn))).await? {
            break;
        }
        let step = ledger.store().write::<_, Error, _>(Access::System, |tx| {
            Box::pin(async move { Ok(store::roll::step(tx, ENTERED_AT_ONCE).await?) })
        });
        let step = step.await?;
        entered += step.entered;
        if !step.more {
            break;
        }
    }
    Ok(entered)
}
