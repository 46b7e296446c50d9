//! The same done to several sessions.

use crate::problem::Problem;
use ledger::{
    bulk::{BulkRequest, BulkSelection},
    search::SearchLine,
    session::{BulkOutcome, BulkResult, BulkSession, ListSessions},
};
use wire::{
    Code,
    session_bulk::{BulkSessionResult, BulkSessions, BulkSessionsResult},
};

/// Converts a bulk request.
pub fn bulk_request(body: BulkSessions) -> Result<BulkRequest, Problem> {
    let BulkSessions { verb, session_ids, q, timezone, dry_run } = body;
    let refused = |field: &str, why: &str| Err(Problem::field(Code::InvalidRequest, field, why));
    let selection = match (session_ids, q) {
        (Some(_), Some(_)) => return refused("sessionIds", "not together with `q`"),
        (Some(_), None) if timezone.is_some() => return refused("timezone", "only with `q`"),
        (Some(ids), None) => BulkSelection::Chosen(ids),
        // What changes sessions has no default: an empty line would be all of them.
        (None, Some(text)) if text.trim().is_empty() => return refused("q", "a condition or a word"),
        (None, Some(text)) => {
            let query = Some(SearchLine { text, timezone });
            BulkSelection::Listed(Box::new(ListSessions { query, ..ListSessions::default() }))
        }
        (None, None) => return refused("sessionIds", "sessions, or a search line as `q`"),
    };
    Ok(BulkRequest { verb, selection, preview: dry_run })
}

/// Converts what happened to several sessions.
pub fn bulk_result(result: BulkResult) -> BulkSessionsResult {
    let count = |of: fn(&BulkOutcome) -> bool| result.count(of) as u64;
    BulkSessionsResult {
        ready: count(|outcome| *outcome == BulkOutcome::Ready),
        done: count(|outcome| matches!(outcome, BulkOutcome::Done(_))),
        already: count(|outcome| matches!(outcome, BulkOutcome::Already(_))),
        refused: count(|outcome| matches!(outcome, BulkOutcome::Refused(_))),
        has_more: result.has_more,
        sessions: result.sessions.into_iter().map(bulk_session).collect(),
    }
}

fn bulk_session(session: BulkSession) -> BulkSessionResult {
    let (outcome, new_session_id, reason) = match session.outcome {
        BulkOutcome::Ready => ("ready", None, None),
        BulkOutcome::Done(new) => ("done", new, None),
        BulkOutcome::Already(new) => ("already", new, None),
        BulkOutcome::Refused(reason) => ("refused", None, Some(reason)),
    };
    BulkSessionResult {
        session_id: session.id,
        title: session.title,
        outcome: outcome.to_owned(),
        new_session_id,
        reason,
    }
}
