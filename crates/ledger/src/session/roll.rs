//! Adds sessions to the roll of their workspace.

use crate::{Ledger, Result};
use store::{Access, roll::RollPosition};

/// Number of sessions added in one transaction. On SQLite, appends wait for that transaction.
const ENTERED_AT_ONCE: u32 = 200;
/// Largest number of transactions in one sweep. Remaining sessions are added by the next sweep.
const STEPS_MAX: u32 = 20;

/// Adds sessions that were created since the last sweep, and some of those from before rolls existed. Returns
/// how many. The sweep begins at `position`, which it sets to where the next one continues.
///
/// Safe to run on several servers at once: they take turns.
pub async fn roll(ledger: &Ledger, position: &mut RollPosition) -> Result<u64> {
    let mut entered = 0;
    for _ in 0..STEPS_MAX {
        if !ledger.store().read(Access::System, async |conn| store::roll::is_due(conn).await).await? {
            break;
        }
        let after = *position;
        let step =
            ledger.write(Access::System, async move |tx| Ok(store::roll::step(tx, after, ENTERED_AT_ONCE).await?));
        let step = step.await?;
        entered += step.entered;
        *position = step.position;
        if !step.more {
            break;
        }
    }
    Ok(entered)
}
