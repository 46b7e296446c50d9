//! C8: the session row is the fold of its events, every transition is a listed one, and the hash chain holds.

use super::{Check, Findings, RowKind, view::View};
use domain::session::Status;

/// C8.
pub(super) fn row_is_the_fold_of_its_events(view: &View<'_>, findings: &mut Findings<'_>) {
    if !view.log.found {
        return;
    }
    if let Some(fault) = &view.log.chain_fault {
        findings.add(Check::C8, fault.clone());
    }
    let mut status: Option<Status> = None;
    let mut attempt = 0;
    for row in &view.log.rows {
        match row.kind {
            RowKind::Claimed => attempt += 1,
            RowKind::StatusChange { from, to } => {
                if let (Some(current), Some(from)) = (status, from)
                    && current != from
                {
                    findings
                        .add(Check::C8, format!("event {} leaves {from}, but the session was {current}", row.sequence));
                }
                if let (Some(from), Some(to)) = (from, to)
                    && !is_listed(from, to)
                {
                    findings.add(
                        Check::C8,
                        format!("event {} goes from {from} to {to}, which is not allowed", row.sequence),
                    );
                }
                status = to.or(status);
            }
            RowKind::Worker | RowKind::Server => {}
        }
    }
    if let (Some(folded), Some(stored)) = (status, view.log.status)
        && folded != stored
    {
        findings.add(Check::C8, format!("its events lead to {folded}, but its row says {stored}"));
    }
    if attempt != view.log.attempt {
        findings.add(Check::C8, format!("its log has {attempt} claims, but its row says attempt {}", view.log.attempt));
    }
}

/// The allowed transitions, written a second time: the harness does not trust the product's table.
fn is_listed(from: Status, to: Status) -> bool {
    use Status::{Abandoned, AwaitingTool, Completed, Draft, Expired, Failed, Idle, Pending, Running, WaitingHuman};
    match from {
        Draft => matches!(to, Pending | Running | Abandoned | Expired),
        Pending => matches!(to, Running | Failed | Abandoned | Expired),
        Running => !matches!(to, Draft | Running),
        WaitingHuman => matches!(to, Pending | Completed | Failed | Abandoned | Expired),
        AwaitingTool => matches!(to, Pending | Failed | Abandoned | Expired),
        Idle => matches!(to, Pending | Running | Completed | Failed | Abandoned | Expired),
        Completed | Failed | Abandoned | Expired => false,
    }
}
