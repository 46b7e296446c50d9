//! Verifies the rolls: each session in a roll still exists unchanged, and no roll was changed or truncated.

use crate::{Ledger, Result};
use domain::chain::roll_root;
use store::{
    Access,
    roll::{RollHead, RollState, RolledSession},
};

/// Number of places in a roll that one read returns.
const PLACES: u32 = 1_000;
/// Largest number of missing sessions that are named.
const MISSING_NAMED: usize = 20;

/// Returns the number of sessions in the rolls, and the errors.
pub(super) async fn check(ledger: &Ledger) -> Result<(u64, Vec<String>)> {
    let (mut sessions, mut problems) = (0, Vec::new());
    let states =
        ledger.store().read_by_operator(Access::System, async |conn| store::roll::list_states(conn).await).await?;
    for state in states {
        sessions += state.head.sessions;
        one(ledger, state, &mut problems).await?;
    }
    let gone = ledger
        .store()
        .read_by_operator(Access::System, async |conn| store::roll::list_missing(conn, PLACES).await)
        .await?;
    for (tenant_id, session) in gone.into_iter().take(MISSING_NAMED) {
        problems.push(format!("workspace {tenant_id}: session {session} was created and is missing"));
    }
    Ok((sessions, problems))
}

/// Verifies the roll of one workspace up to the end that its head names.
async fn one(ledger: &Ledger, state: RollState, problems: &mut Vec<String>) -> Result<()> {
    let RollState { tenant_id, head, last } = state;
    let mut found = RollHead { sessions: 0, root: domain::chain::Digest::GENESIS };
    let mut missing = 0;
    loop {
        let range = (found.sessions, head.sessions.max(last));
        let read = ledger.store().read_by_operator(Access::System, async move |conn| {
            store::roll::places(conn, tenant_id, range, PLACES).await
        });
        let places = read.await?;
        let is_last = places.len() < PLACES as usize;
        for place in places {
            let RolledSession { ordinal, session_id, entry, root, now } = place;
            let expected = found.sessions + 1;
            if ordinal != expected {
                problems.push(format!("workspace {tenant_id}: place {expected} of its roll is missing"));
                return Ok(());
            }
            if roll_root(found.root, tenant_id.0, ordinal, session_id.0, entry) != root {
                problems.push(format!("workspace {tenant_id}: place {ordinal} of its roll was changed"));
                return Ok(());
            }
            found = RollHead { sessions: ordinal, root };
            let what = match now {
                Some(now) if now == entry => continue,
                Some(_) => "differs from what was created",
                None => "is missing, or its first event is",
            };
            missing += 1;
            if missing <= MISSING_NAMED {
                problems
                    .push(format!("workspace {tenant_id}: session {session_id} (place {ordinal} of its roll) {what}"));
            }
        }
        if is_last {
            break;
        }
    }
    if missing > MISSING_NAMED {
        problems.push(format!("workspace {tenant_id}: {missing} sessions are missing or changed in all"));
    }
    if found != head {
        problems.push(format!(
            "workspace {tenant_id}: its roll ends at place {}, and should at place {}",
            found.sessions, head.sessions
        ));
    }
    Ok(())
}
