//! Reading requests and their answers.

use super::not_found;
use crate::{
    Ledger, ListPage, Listed, RequestRecord, Result,
    cursor::{List, decode_at, encode, encode_at, page_size},
    guard::require,
    visibility::require_visible_or_claimed,
};
use domain::{
    Scope,
    clock::to_micros,
    id::{FeedbackRequestId, RequestAnswerId, SessionId},
    role::Permission,
    view::Field,
};
use store::{AnswerRecord, Conn};

/// A request with the state that callers see, and the slug of its view.
#[derive(Debug, Clone)]
pub struct RequestItem {
    /// The request. Its state takes the end of its session into account.
    pub request: RequestRecord,
    /// Slug of the view with the form.
    pub view_slug: String,
    /// Questions of the form, in the version that is answered.
    pub fields: Vec<Field>,
}

/// Which answers to list.
#[derive(Debug, Clone, Default)]
pub struct ListAnswers {
    /// Leaves out late answers and those that a claim has taken.
    pub unconsumed: bool,
    /// Page size and cursor.
    pub page: ListPage,
}

/// Returns a request.
///
/// # Errors
/// [`crate::Error::NotFound`] if there is no such request, or if the caller neither can see its session nor claimed it
/// last.
pub async fn get(ledger: &Ledger, scope: &Scope, id: FeedbackRequestId) -> Result<RequestItem> {
    require(scope, Permission::Read)?;
    let (reader, scope) = (*scope, *scope);
    ledger
        .snapshot(&reader, async move |conn| {
            let found = store::feedback_request::find(conn, scope.tenant_id, id).await?.ok_or_else(not_found)?;
            let session = store::session::find(conn, scope.tenant_id, found.session_id).await?;
            let session = require_visible_or_claimed(conn, &scope, session).await.map_err(|_| not_found())?;
            item(conn, found, session.status().is_final()).await
        })
        .await
}

/// Lists the requests of a session, newest first.
///
/// # Errors
/// [`crate::Error::NotFound`] if there is no such session, or if the caller neither can see it nor claimed it last;
/// [`crate::Error::Invalid`] for a limit above 1,000; [`crate::Error::InvalidCursor`] for a cursor of another list.
pub async fn list(
    ledger: &Ledger,
    scope: &Scope,
    session_id: SessionId,
    page: ListPage,
) -> Result<Listed<RequestItem>> {
    require(scope, Permission::Read)?;
    let (before, limit) = page.before_id(List::FeedbackRequests)?;
    let (reader, scope) = (*scope, *scope);
    ledger
        .snapshot(&reader, async move |conn| {
            let session = store::session::find(conn, scope.tenant_id, session_id).await?;
            let session = require_visible_or_claimed(conn, &scope, session).await?;
            let before = before.map(FeedbackRequestId);
            let found = store::feedback_request::list(conn, scope.tenant_id, session_id, before, limit).await?;
            let mut items = Vec::with_capacity(found.items.len());
            for request in found.items {
                items.push(item(conn, request, session.status().is_final()).await?);
            }
            let found = store::Page { items, has_more: found.has_more };
            let cursor = |last: &RequestItem| encode(List::FeedbackRequests, last.request.id.0);
            Ok(Listed::of(found, cursor))
        })
        .await
}

pub(super) async fn item(conn: &mut Conn<'_>, mut request: RequestRecord, is_final: bool) -> Result<RequestItem> {
    request.state = request.state.in_session(is_final);
    let view = store::view::find(conn, request.tenant_id, request.view_id).await?.ok_or_else(not_found)?;
    let fields = fields_of(conn, &request).await?;
    Ok(RequestItem { request, view_slug: view.slug, fields })
}

/// Returns the questions of a request's form. A form that an agent wrote is in no list of views.
pub(super) async fn fields_of(conn: &mut Conn<'_>, request: &RequestRecord) -> Result<Vec<Field>> {
    let version = store::view::version_of(conn, request.tenant_id, request.view_id, request.version).await?;
    Ok(version.ok_or_else(not_found)?.fields)
}

/// Lists the answers of a session and of the root of its tree, oldest first. Reading does not take an answer.
///
/// # Errors
/// [`crate::Error::NotFound`] if there is no such session, or if the caller neither can see it nor claimed it last;
/// [`crate::Error::Invalid`] for a limit above 1,000; [`crate::Error::InvalidCursor`] for a cursor of another list.
pub async fn answers(
    ledger: &Ledger,
    scope: &Scope,
    session_id: SessionId,
    wanted: ListAnswers,
) -> Result<Listed<AnswerRecord>> {
    require(scope, Permission::Read)?;
    let limit = page_size(wanted.page.limit)?;
    let after = wanted.page.cursor.as_deref().map(|cursor| decode_at(List::RequestAnswers, cursor)).transpose()?;
    let after = after.map(|(at, id)| (at, RequestAnswerId(id)));
    let (reader, scope) = (*scope, *scope);
    ledger
        .snapshot(&reader, async move |conn| {
            let session = store::session::find(conn, scope.tenant_id, session_id).await?;
            let session = require_visible_or_claimed(conn, &scope, session).await?;
            let root = match session.parent_id {
                Some(_) => store::feedback_request::root_of(conn, scope.tenant_id, session_id).await?,
                None => session_id,
            };
            let found = store::session::find(conn, scope.tenant_id, root).await?;
            // A session that the caller may not see keeps its answers to itself.
            let root = match require_visible_or_claimed(conn, &scope, found).await {
                Ok(_) => root,
                Err(crate::Error::NotFound(_)) => session_id,
                Err(error) => return Err(error),
            };
            let of = (session_id, root);
            let found =
                store::feedback_request::answers(conn, scope.tenant_id, of, wanted.unconsumed, after, limit).await?;
            let cursor = |last: &AnswerRecord| encode_at(List::RequestAnswers, to_micros(last.deposited_at), last.id.0);
            Ok(Listed::of(found, cursor))
        })
        .await
}
