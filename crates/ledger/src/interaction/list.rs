//! Reading what was captured.

use super::Stream;
use crate::{
    Error, Ledger, Listed, Result,
    cursor::{List, decode, encode, page_size},
    guard::require,
};
use domain::{
    Scope, Timestamp,
    id::{InteractionId, SessionId, least_v7},
    interaction::Feedback,
    limit::INTERACTIONS_LOOKED_MAX,
    outcome::Outcome,
    role::Permission,
};
use store::{
    Access,
    interaction::{InteractionFilter, InteractionRow, after, list as rows},
};
use uuid::Uuid;

/// Which interactions.
#[derive(Debug, Clone, Default)]
pub struct ListInteractions {
    /// Only those of this session.
    pub session_id: Option<SessionId>,
    /// Only those with this feedback; `Some(None)`: only those that nobody judged.
    pub feedback: Option<Option<Feedback>>,
    /// Only those with this outcome; `Some(None)`: only those about which the next turn says nothing, or that have none.
    pub outcome: Option<Option<Outcome>>,
    /// Only those whose answer was complete then or later.
    pub since: Option<Timestamp>,
    /// 1 to 1,000; 0 for the default.
    pub limit: u32,
    /// From the page before.
    pub cursor: Option<String>,
}

/// One page with what is known about each, newest first. Whoever reads the workspace's sessions reads what was said in
/// them. A page looks at [`INTERACTIONS_LOOKED_MAX`] interactions at most, so that one with a filter may hold few, or
/// none, and have a next one all the same.
pub async fn list(ledger: &Ledger, scope: &Scope, query: ListInteractions) -> Result<Listed<InteractionRow>> {
    require(scope, Permission::Read)?;
    let limit = page_size(query.limit)?;
    let before = query.cursor.as_deref().map(|cursor| decode(List::Interactions, cursor)).transpose()?;
    let wanted = InteractionFilter {
        session_id: query.session_id,
        from: query.since.map_or(Uuid::nil(), least_v7),
        before: before.unwrap_or(Uuid::max()),
        feedback: query.feedback,
        outcome: query.outcome,
        limit,
        looked_max: INTERACTIONS_LOOKED_MAX.max(limit + 1),
    };
    let tenant_id = scope.tenant_id;
    let read = ledger.store().read(scope.into(), move |conn| Box::pin(rows(conn, tenant_id, wanted)));
    let (items, next) = read.await?;
    Ok(Listed { items, next_cursor: next.map(|InteractionId(id)| encode(List::Interactions, id)) })
}

/// Lines of a stream of one workspace in the order of time, after `id`, for the server's own machine: id and JSON.
///
/// # Errors
/// [`Error::NotFound`] if there is no such workspace.
pub async fn page_by_operator(
    ledger: &Ledger,
    workspace: &str,
    stream: Stream,
    id: Uuid,
    limit: u32,
) -> Result<Vec<(Uuid, String)>> {
    let workspace = workspace.to_owned();
    let read = ledger.store().read(Access::System, move |conn| {
        Box::pin(async move {
            let Some(tenant) = store::tenant::find_by_slug(conn, &workspace).await? else { return Ok(None) };
            Ok(Some(after(conn, tenant.id, stream, id, limit).await?))
        })
    });
    read.await?.ok_or(Error::NotFound("workspace"))
}
