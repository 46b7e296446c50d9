//! P-14: a session whose holder fell silent is back in the queue within its lease and two seconds.

use super::{Check, Findings, claim::renewals, view::View};
use crate::{
    history::{Answer, Op, Outcome},
    time::MILLISECOND,
};

/// What the promise allows beyond the lease.
const RETURN_NS_MAX: u64 = 2_000 * MILLISECOND;
/// What the harness allows on a machine it shares: the observer itself may be late.
const OBSERVATION_NS_MAX: u64 = 1_000 * MILLISECOND;
/// How long a request of unknown outcome may still be on its way to the server.
const IN_FLIGHT_NS_MAX: u64 = 6_000 * MILLISECOND;

/// P-14, from sightings of the row. Sightings near a server fault are left out: leases are re-armed at start.
pub(super) fn lost_leases_return_in_time(view: &View<'_>, faults: &[(u64, u64)], findings: &mut Findings<'_>) {
    for operation in &view.statuses {
        let Outcome::Ok(Answer::Row { status, attempt, .. }) = &operation.outcome else { continue };
        if status != "running" {
            continue;
        }
        let Some((renewed, lease_ns)) = last_renewal(view, *attempt, operation.ended) else { continue };
        let due = renewed + lease_ns + RETURN_NS_MAX + OBSERVATION_NS_MAX;
        let disturbed = faults.iter().any(|(from, to)| *from <= operation.ended && *to >= renewed);
        if operation.invoked > due && !disturbed {
            let late = (operation.invoked - renewed - lease_ns) / MILLISECOND;
            findings.add(
                Check::Lease,
                format!(
                    "attempt {attempt} fell silent, and its session was still running {late} ms after its lease had run out"
                ),
            );
            return;
        }
    }
}

/// The latest instant at which the lease of `attempt` may have been renewed, and the lease.
fn last_renewal(view: &View<'_>, attempt: u32, before: u64) -> Option<(u64, u64)> {
    let certain = renewals(view).filter(|(held, ..)| *held == attempt);
    let (renewed, lease_ns) = certain.map(|(_, lease, operation)| (operation.ended, lease)).max()?;
    let unknown = view.holder_ops.iter().filter_map(|(held, operation)| {
        let heartbeat = matches!((&operation.op, &operation.outcome), (Op::Heartbeat { .. }, Outcome::Info { .. }));
        (heartbeat && *held == attempt && operation.invoked <= before).then_some(operation.invoked + IN_FLIGHT_NS_MAX)
    });
    Some((unknown.max().map_or(renewed, |late| late.max(renewed)), lease_ns))
}
