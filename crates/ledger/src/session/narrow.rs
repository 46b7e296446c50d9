//! What a search line adds to the filter of a list of sessions.

use crate::search::Selection;
use domain::{
    Timestamp,
    id::{SessionId, least_v7},
    session::Status,
};
use store::session::Filter;

/// Whether a filter has conditions that no index has. A page then compares a bounded number of sessions.
pub(super) fn is_search(filter: &Filter) -> bool {
    filter.title_contains.is_some() || !filter.matching.is_open()
}

/// A filter with what a search line asks for, and the session before which its list begins. One status and one agent
/// lead the list, because each of them has an index.
pub(super) fn narrowed(filter: Filter, before: Option<SessionId>, wanted: Selection) -> (Filter, Option<SessionId>) {
    let Selection { mut matching, window } = wanted;
    let (mut status, mut agent_slug) = (filter.status, filter.agent_slug.clone());
    if let (None, Some([one])) = (status, matching.statuses.any_of.as_deref()) {
        status = Status::parse(one);
        matching.statuses.any_of = None;
    }
    if let (None, Some([one])) = (&agent_slug, matching.agents.any_of.as_deref()) {
        agent_slug = Some(one.clone());
        matching.agents.any_of = None;
    }
    // Ids begin with the time at which their sessions began.
    let id = |at: Timestamp| SessionId(least_v7(at));
    let oldest = filter.oldest.into_iter().chain(window.after.map(id)).max_by_key(|id| id.0);
    let before = before.into_iter().chain(window.before.map(id)).min_by_key(|id| id.0);
    (Filter { status, agent_slug, oldest, matching, ..filter }, before)
}
