//! Reading captured interactions.

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

/// Filter and page of a list of interactions.
#[derive(Debug, Clone, Default)]
pub struct ListInteractions {
    /// Only interactions of this session.
    pub session_id: Option<SessionId>,
    /// Only interactions with this feedback. `Some(None)` selects those without feedback.
    pub feedback: Option<Option<Feedback>>,
    /// Only interactions with this outcome. `Some(None)` selects those without an outcome: the conversation
    /// has no next turn, or that turn does not indicate one.
    pub outcome: Option<Option<Outcome>>,
    /// Only interactions whose answer was completed at this time or later.
    pub since: Option<Timestamp>,
    /// Page size: 1 to 1,000, or 0 for the default.
    pub limit: u32,
    /// `next_cursor` of the previous page. `None` for the first page.
    pub cursor: Option<String>,
}

/// Returns one page of interactions with their feedback and outcome, newest first. Everyone who can read the
/// workspace's sessions may read them. A page examines at most [`INTERACTIONS_LOOKED_MAX`] interactions.
/// Therefore a filtered page can hold few items or none and still have a next page.
///
/// # Errors
/// [`Error::Invalid`] for a limit above 1,000; [`Error::InvalidCursor`] for a cursor of another list.
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
    let read = ledger.store().read(scope.into(), async move |conn| rows(conn, tenant_id, wanted).await);
    let (items, next) = read.await?;
    Ok(Listed { items, next_cursor: next.map(|InteractionId(id)| encode(List::Interactions, id)) })
}

/// Returns lines of a stream of one workspace as id and JSON, in order of time, after `id`. For the server's
/// operator.
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
    let read = ledger.store().read(Access::System, async move |conn| {
        let Some(tenant) = store::tenant::find_by_slug(conn, &workspace).await? else { return Ok(None) };
        Ok(Some(after(conn, tenant.id, stream, id, limit).await?))
    });
    read.await?.ok_or(Error::NotFound("workspace"))
}
