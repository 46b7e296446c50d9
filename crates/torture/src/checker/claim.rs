//! C9: one successful claim per attempt, no write of a past attempt, disjoint holders, one recorded outcome.

use super::{Check, Findings, RowKind, is_refused, view::View};
use crate::{
    history::{Answer, Op, Operation, Outcome},
    time::MILLISECOND,
};
use domain::session::Status;
use std::collections::BTreeMap;

/// Leases are kept on a clock that may be slewed against ours.
const CLOCK_TOLERANCE_NS: u64 = 10 * MILLISECOND;

/// C9: claims and fencing.
pub(super) fn one_holder_at_a_time(view: &View<'_>, findings: &mut Findings<'_>) {
    let mut by_attempt: BTreeMap<u32, u32> = BTreeMap::new();
    for (attempt, ..) in &view.claims {
        *by_attempt.entry(*attempt).or_default() += 1;
    }
    for (attempt, count) in &by_attempt {
        if *count > 1 {
            findings.add(Check::C9, format!("attempt {attempt} was handed out {count} times"));
        }
    }
    if let Some((highest, _)) = by_attempt.last_key_value()
        && view.log.found
        && *highest > view.log.attempt
    {
        let stored = view.log.attempt;
        findings
            .add(Check::C9, format!("attempt {highest} was handed out, but the session is only at attempt {stored}"));
    }
    in_log_order(view, findings);
    for (attempt, operation) in &view.holder_ops {
        if matches!(operation.outcome, Outcome::Ok(_)) {
            stale_write(view, *attempt, operation, findings);
        } else if is_refused(operation) {
            refused_holder(view, *attempt, operation, findings);
        }
    }
    for (attempt, _, claim) in &view.claims {
        early_claim(view, *attempt, claim, findings);
    }
}

/// Worker events lie between their own claim and the next, and only while the session runs.
fn in_log_order(view: &View<'_>, findings: &mut Findings<'_>) {
    let (mut current, mut status) = (0, None);
    for row in &view.log.rows {
        match row.kind {
            RowKind::Claimed => current += 1,
            RowKind::StatusChange { to, .. } => status = to,
            RowKind::Server => {}
            RowKind::Worker => {
                let at = row.sequence;
                if let Some(attempt) = row.attempt
                    && attempt != current
                {
                    findings.add(
                        Check::C9,
                        format!("event {at} was written under attempt {attempt}, while attempt {current} was current"),
                    );
                } else if status.is_some_and(|status| status != Status::Running) {
                    findings.add(Check::C9, format!("event {at} was written while the session was not running"));
                }
            }
        }
    }
}

/// A write is accepted though a newer attempt had been handed out before it was sent.
fn stale_write(view: &View<'_>, attempt: u32, operation: &Operation, findings: &mut Findings<'_>) {
    let newer_than = |sent| view.claims.iter().find(|(other, _, claim)| *other > attempt && claim.ended < sent);
    let mut newer = newer_than(operation.invoked);
    if newer.is_some()
        && let Op::Append { events, .. } = &operation.op
        && let Some((id, _)) = events.first()
    {
        // A repeat of an append that was sent before the newer claim answers with what was recorded then.
        let first = view.writes.iter().find(|write| write.events.first().is_some_and(|sent| sent.0 == *id));
        newer = first.and_then(|write| newer_than(write.first_invoked));
    }
    if let Some((other, ..)) = newer {
        let name = name(&operation.op);
        findings.add(
            Check::C9,
            format!("a stale {name} of attempt {attempt} was accepted after attempt {other} had been handed out"),
        );
    }
}

/// A claim succeeds though the previous holder's lease was certainly still in force.
fn early_claim(view: &View<'_>, attempt: u32, claim: &Operation, findings: &mut Findings<'_>) {
    for (held, lease_ns, renewal) in renewals(view) {
        if held < attempt
            && renewal.ended < claim.invoked
            && renewal.invoked + lease_ns > claim.ended + CLOCK_TOLERANCE_NS
            && !gave_up(view, held, claim.ended, None)
        {
            let left = (renewal.invoked + lease_ns - claim.ended) / MILLISECOND;
            findings.add(
                Check::C9,
                format!("attempt {attempt} was handed out while attempt {held} held the lease for {left} ms more"),
            );
            return;
        }
    }
}

/// The rightful holder is refused though its lease was certainly in force.
fn refused_holder(view: &View<'_>, attempt: u32, operation: &Operation, findings: &mut Findings<'_>) {
    let Outcome::Fail { code } = &operation.outcome else { return };
    if !matches!(code.as_str(), "stale_attempt" | "wrong_status" | "already_final") {
        return;
    }
    let holds = renewals(view).any(|(held, lease_ns, renewal)| {
        held == attempt
            && renewal.ended < operation.invoked
            && renewal.invoked + lease_ns > operation.ended + CLOCK_TOLERANCE_NS
    });
    if holds && !gave_up(view, attempt, operation.ended, Some(operation)) {
        let name = name(&operation.op);
        findings.add(
            Check::C9,
            format!("a {name} of attempt {attempt} was refused ({code}) while that attempt held the lease"),
        );
    }
}

/// Successful claims and heartbeats: attempt, lease in ns, operation.
pub(super) fn renewals<'a>(view: &'a View<'_>) -> impl Iterator<Item = (u32, u64, &'a Operation)> {
    let lease_of =
        |attempt| view.claims.iter().find(|(other, ..)| *other == attempt).map(|claim| claim.1 * MILLISECOND);
    let claims =
        view.claims.iter().map(|(attempt, lease_ms, operation)| (*attempt, lease_ms * MILLISECOND, *operation));
    let heartbeats = view.holder_ops.iter().filter_map(move |(attempt, operation)| {
        let renewed = matches!((&operation.op, &operation.outcome), (Op::Heartbeat { .. }, Outcome::Ok(_)));
        renewed.then(|| lease_of(*attempt)).flatten().map(|lease| (*attempt, lease, *operation))
    });
    claims.chain(heartbeats)
}

/// Whether the holder may have completed or released the session by then.
fn gave_up(view: &View<'_>, attempt: u32, by: u64, except: Option<&Operation>) -> bool {
    view.holder_ops.iter().any(|(other, operation)| {
        *other == attempt
            && matches!(operation.op, Op::Complete { .. } | Op::Release { .. })
            && operation.invoked <= by
            && !is_refused(operation)
            && except.is_none_or(|skip| !std::ptr::eq(skip, *operation))
    })
}

/// C9, P-16: however many workers complete a session, one outcome is recorded and all get that one.
pub(super) fn one_recorded_outcome(view: &View<'_>, findings: &mut Findings<'_>) {
    for (attempt, operation) in &view.holder_ops {
        let Op::Complete { token, .. } = operation.op else { continue };
        match &operation.outcome {
            Outcome::Ok(Answer::Completed { token: answered }) => {
                if view.log.status != Some(Status::Completed) {
                    findings
                        .add(Check::C9, format!("a completion was accepted, but the session is {:?}", view.log.status));
                } else if *answered != view.log.token {
                    findings.add(
                        Check::C9,
                        format!(
                            "a completion with token {token} was told outcome {answered:?}, but {:?} is recorded",
                            view.log.token
                        ),
                    );
                }
            }
            Outcome::Fail { code }
                if matches!(code.as_str(), "already_final" | "wrong_status")
                    && view.log.status == Some(Status::Completed)
                    && view.log.attempt == *attempt
                    && completed_before(view, operation) =>
            {
                findings.add(
                    Check::C9,
                    format!("a repeated completion of attempt {attempt} got {code}, not the recorded outcome"),
                );
            }
            _ => {}
        }
    }
}

fn completed_before(view: &View<'_>, repeat: &Operation) -> bool {
    view.holder_ops.iter().any(|(_, other)| {
        matches!((&other.op, &other.outcome), (Op::Complete { .. }, Outcome::Ok(_))) && other.ended < repeat.ended
    })
}

fn name(op: &Op) -> &'static str {
    match op {
        Op::Append { .. } => "append",
        Op::Heartbeat { .. } => "heartbeat",
        Op::Complete { .. } => "complete",
        Op::Release { .. } => "release",
        _ => "request",
    }
}
