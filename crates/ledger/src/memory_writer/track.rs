//! Which sessions a memory writer knows of. Each gets a watermark, by which its turns are found.

use crate::{Ledger, Result};
use chrono::TimeDelta;
use domain::{
    Scope, Timestamp,
    id::{TenantId, instant_of_v7, least_v7},
};
use uuid::Uuid;

/// Sessions that began this long before the last look are looked for again: a transaction that makes one may be slow.
const LOOK_BACK: TimeDelta = TimeDelta::hours(1);
/// How often the time of the last look is written.
const TRACKED_EVERY: TimeDelta = TimeDelta::minutes(1);
/// Time without a look after which the sessions that began meanwhile are a backlog.
const GAP_MAX: TimeDelta = TimeDelta::days(1);
/// Sessions that get a watermark in one transaction, so that no other write waits for all of them.
pub(super) const PART: u32 = 1_000;

/// Gives a watermark to the sessions that began since the last look.
pub(super) async fn track_new(
    ledger: &Ledger,
    tenant_id: TenantId,
    agent: &str,
    (tracked_until, now): (Timestamp, Timestamp),
) -> Result<()> {
    if now - tracked_until > GAP_MAX {
        catch_up(ledger, tenant_id, agent, (tracked_until, now)).await
    } else {
        track(ledger, tenant_id, agent, (tracked_until, now)).await
    }
}

/// Gives a watermark to the sessions that began since the last look, and makes the row of a writer that looks for the
/// first time.
async fn track(
    ledger: &Ledger,
    tenant_id: TenantId,
    agent: &str,
    (tracked_until, now): (Timestamp, Timestamp),
) -> Result<()> {
    let (agent, first) = (agent.to_owned(), first_found(tracked_until, now));
    let tracked = ledger.write((&Scope::system(tenant_id)).into(), async move |tx| {
        store::memory_writer::ensure(tx, tenant_id, &agent, now).await?;
        store::memory_writer::track(tx, tenant_id, &agent, first).await?;
        if now - tracked_until >= TRACKED_EVERY {
            store::memory_writer::tracked(tx, tenant_id, &agent, now).await?;
        }
        Ok(())
    });
    tracked.await
}

/// Gives a watermark to the sessions that began while no server looked, in parts, so that no other write waits for all
/// of them. If it is interrupted, the next look does the rest.
async fn catch_up(
    ledger: &Ledger,
    tenant_id: TenantId,
    agent: &str,
    (tracked_until, now): (Timestamp, Timestamp),
) -> Result<()> {
    let (found_from, mut from) = (first_found(tracked_until, now), Some(least_v7(tracked_until - LOOK_BACK)));
    while let Some(first) = from {
        let agent = agent.to_owned();
        let part = ledger.write((&Scope::system(tenant_id)).into(), async move |tx| {
            let range = (first, found_from);
            let (_, next) = store::memory_writer::track_part(tx, tenant_id, &agent, range, PART).await?;
            let until = match next {
                Some(next) => instant_of_v7(next).unwrap_or(tracked_until).clamp(tracked_until, now),
                None => now,
            };
            store::memory_writer::tracked(tx, tenant_id, &agent, until).await?;
            Ok(next)
        });
        from = part.await?;
    }
    Ok(())
}

/// Returns the least id of the sessions that a writer finds by itself at `now`. Those with lesser ids are a backlog. A
/// writer that has not looked for longer than [`GAP_MAX`] begins anew, as at its first look.
pub(super) fn first_found(tracked_until: Timestamp, now: Timestamp) -> Uuid {
    let from = if now - tracked_until > GAP_MAX { now } else { tracked_until };
    least_v7(from - LOOK_BACK)
}
