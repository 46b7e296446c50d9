//! The same done to several sessions.

use crate::problem::Problem;
use domain::{id::UserId, session::BulkVerb};
use ledger::{
    bulk::{BulkChange, BulkRequest, BulkSelection},
    search::SearchLine,
    session::{BulkOutcome, BulkResult, BulkSession, ListSessions},
};
use wire::{
    Code,
    session_bulk::{BulkSessionResult, BulkSessions, BulkSessionsResult},
};

/// Converts a bulk request.
pub fn bulk_request(body: BulkSessions) -> Result<BulkRequest, Problem> {
    let BulkSessions { verb, tag, assignee_id, session_ids, q, timezone, dry_run } = body;
    let change = bulk_change(verb, tag, assignee_id)?;
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
    Ok(BulkRequest { change, selection, preview: dry_run })
}

/// What a verb does with its tag or its member.
fn bulk_change(verb: BulkVerb, tag: Option<String>, assignee: Option<UserId>) -> Result<BulkChange, Problem> {
    let refused = |field: &str, why: &str| Err(Problem::field(Code::InvalidRequest, field, why));
    let takes_tag = matches!(verb, BulkVerb::Tag | BulkVerb::Untag);
    if tag.is_some() && !takes_tag {
        return refused("tag", "only with the verbs `tag` and `untag`");
    }
    if assignee.is_some() && !matches!(verb, BulkVerb::Assign | BulkVerb::AssignBack) {
        return refused("assigneeId", "only with the verbs `assign` and `assign_back`");
    }
    match (verb, tag, assignee) {
        (BulkVerb::RunAgain, ..) => Ok(BulkChange::RunAgain),
        (BulkVerb::Cancel, ..) => Ok(BulkChange::Cancel),
        (BulkVerb::Acknowledge, ..) => Ok(BulkChange::Acknowledge),
        (BulkVerb::Unassign, ..) => Ok(BulkChange::Assign(None)),
        (BulkVerb::AssignBack, _, from) => Ok(BulkChange::AssignBack(from)),
        (BulkVerb::Tag, Some(tag), _) => Ok(BulkChange::Tag(tag)),
        (BulkVerb::Untag, Some(tag), _) => Ok(BulkChange::Untag(tag)),
        (BulkVerb::Assign, _, Some(id)) => Ok(BulkChange::Assign(Some(id))),
        (BulkVerb::Tag | BulkVerb::Untag, None, _) => refused("tag", "the tag"),
        (BulkVerb::Assign, _, None) => refused("assigneeId", "a member of the workspace"),
    }
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
