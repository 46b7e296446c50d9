//! Causes of failures.

use super::session_failure;
use crate::problem::Problem;
use domain::failure::{cause::Span, remediation};
use ledger::{
    failure::cause::{Cause, CauseList, CausedSession, Progress, RunAgain, When, WhichSessions},
    session::{BulkOutcome, BulkResult, BulkSession},
};
use wire::{
    Code,
    failure_cause::{
        CauseAgent, CauseRunAgain, CausedFailure, FailureCause, FailureCauses, RunCauseAgain, SessionRunAgain,
    },
};

/// Converts a cause.
pub fn failure_cause(cause: Cause) -> FailureCause {
    let record = cause.record;
    FailureCause {
        id: record.id,
        remediation: remediation(&record.code).to_owned(),
        code: record.code,
        tool: record.tool,
        step: record.step,
        message: record.message,
        state: cause.current.state,
        reopened_at: cause.current.reopened_at,
        snoozed_until: record.snoozed_until,
        decided_by: record.decided_by,
        decided_at: record.decided_at,
        failures: record.failures,
        trend: cause.trend.to_vec(),
        agents: cause.agents.into_iter().map(|(agent_slug, failures)| CauseAgent { agent_slug, failures }).collect(),
        more_agents: cause.more_agents,
        first_at: record.first_at,
        last_at: record.last_at,
    }
}

/// Converts a page of causes.
pub fn failure_causes(list: CauseList, progress: Progress) -> FailureCauses {
    let Span { since, until } = list.span;
    FailureCauses {
        items: list.causes.items.into_iter().map(failure_cause).collect(),
        next_cursor: list.causes.next_cursor,
        window: list.window,
        since,
        until,
        is_complete: progress.is_done,
        grouped_percent: grouped_percent(progress),
    }
}

/// How much of the failures is grouped, in percent.
pub fn grouped_percent(progress: Progress) -> u32 {
    if progress.is_done {
        return 100;
    }
    let percent = progress.looked_at.saturating_mul(100) / progress.failures.max(1);
    u32::try_from(percent).unwrap_or(u32::MAX).min(99)
}

/// Converts a failure of a cause.
pub fn caused_failure(caused: CausedSession) -> CausedFailure {
    CausedFailure { failure: session_failure(caused.failure), retried_by: caused.retried_by }
}

/// Converts a request to run sessions again.
pub fn run_again(body: RunCauseAgain) -> Result<RunAgain, Problem> {
    let has_range = body.window.is_some() || body.since.is_some() || body.until.is_some() || body.limit.is_some();
    let which = match body.session_ids {
        Some(_) if has_range => {
            return Err(Problem::field(Code::InvalidRequest, "sessionIds", "not together with a time range"));
        }
        Some(ids) => WhichSessions::Chosen(ids),
        // What starts sessions has no default: an empty body starts nothing.
        None if body.window.is_none() && body.since.is_none() => {
            let why = "sessions, or a time range: `window` or `since`";
            return Err(Problem::field(Code::InvalidRequest, "sessionIds", why));
        }
        None => {
            let when = When { since: body.since, until: body.until, window: body.window, timezone: "UTC".into() };
            WhichSessions::Failed { when, limit: body.limit }
        }
    };
    Ok(RunAgain { which, preview: body.preview })
}

/// Converts what happened to sessions that were to be run again.
pub fn ran_again(result: BulkResult) -> CauseRunAgain {
    let count = |of: fn(&BulkOutcome) -> bool| result.count(of) as u64;
    CauseRunAgain {
        ready: count(|outcome| *outcome == BulkOutcome::Ready),
        started: count(|outcome| matches!(outcome, BulkOutcome::Done(_))),
        already: count(|outcome| matches!(outcome, BulkOutcome::Already(_))),
        refused: count(|outcome| matches!(outcome, BulkOutcome::Refused(_))),
        has_more: result.has_more,
        sessions: result.sessions.into_iter().map(session_run_again).collect(),
    }
}

fn session_run_again(session: BulkSession) -> SessionRunAgain {
    let (outcome, new_session_id, reason) = match session.outcome {
        BulkOutcome::Ready => ("ready", None, None),
        BulkOutcome::Done(new) => ("started", new, None),
        BulkOutcome::Already(new) => ("already", new, None),
        BulkOutcome::Refused(reason) => ("refused", None, Some(reason)),
    };
    SessionRunAgain {
        session_id: session.id,
        title: session.title,
        outcome: outcome.to_owned(),
        new_session_id,
        reason,
    }
}
