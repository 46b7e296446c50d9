//! Converts paced runs.

use ledger::paced_run::{self as use_case, PacedRunDetail};
use wire::paced_run::{self as sent, NewPacedRun};

/// Converts a request for a paced run.
pub fn new_paced_run(body: NewPacedRun) -> use_case::NewPacedRun {
    let NewPacedRun { session_ids, at_a_time, start_at, idempotency_key } = body;
    use_case::NewPacedRun { sessions: session_ids, at_a_time, start_at, idempotency_key }
}

/// Converts a paced run with its numbers.
pub fn paced_run(run: use_case::PacedRun) -> sent::PacedRun {
    let use_case::PacedRun { record, counts } = run;
    sent::PacedRun {
        id: record.id,
        state: record.state,
        at_a_time: record.at_a_time,
        start_at: record.start_at,
        created_by: record.caller,
        created_at: record.created_at,
        ended_at: record.ended_at,
        waiting: counts.waiting,
        running: counts.running,
        completed: counts.completed,
        failed: counts.failed,
        already: counts.already,
        refused: counts.refused,
        cancelled: counts.cancelled,
    }
}

/// Converts a paced run with its sessions.
pub fn paced_run_detail(detail: PacedRunDetail) -> sent::PacedRunDetail {
    let sessions = detail.sessions.into_iter().map(|session| sent::PacedSession {
        session_id: session.id,
        title: session.title,
        outcome: session.outcome,
        new_session_id: session.new_session_id,
        status: session.status,
        reason: session.reason,
    });
    sent::PacedRunDetail { sessions: sessions.collect(), run: paced_run(detail.run) }
}
