//! The published version of a view, for a respondent. Every read and write of a form asks here whether it is open.

use super::Respondent;
use crate::{Error, Ledger, Result, ViewVersionRecord, feedback_request};
use domain::{
    Timestamp,
    feedback_request::RequestState,
    id::{FeedbackRequestId, TenantId, ViewId},
    response::{Closed, check_open},
    view::{Publication, Responses, State},
};
use quick_cache::sync::Cache;
use std::sync::Arc;
use store::Conn;
use uuid::Uuid;

/// Number of published versions that are cached.
const CACHED_MAX: usize = 128;

/// Published versions of views by their numbers. A version never changes, and views that have one are never deleted.
/// Those that were made for a question are not cached: retention erases their texts.
pub(crate) type ViewVersions = Cache<(TenantId, ViewId, u64), Arc<ViewVersionRecord>>;

pub(crate) fn view_versions() -> ViewVersions {
    Cache::new(CACHED_MAX)
}

/// Returns the version that takes responses now. A question of an agent names its own version, and its rules on who may
/// answer, and until when, replace those of the view.
///
/// # Errors
/// [`Error::NotFound`] for an unknown view, for one that was made for a question if no question is named, and for a
/// question that does not use the view; [`Error::FormClosed`] for a view that is not published.
pub(crate) async fn published(
    ledger: &Ledger,
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    view_id: ViewId,
    request_id: Option<Uuid>,
) -> Result<ViewVersionRecord> {
    let view = store::view::current(conn, tenant_id, view_id).await?;
    // The form of one question takes answers to that question alone: others would reach no one.
    let view = view.filter(|view| view.listed || request_id.is_some()).ok_or(Error::NotFound("form"))?;
    let Some(newest) = view.version.filter(|_| view.state == State::Published) else {
        return Err(Closed::NotPublished.into());
    };
    let request = match request_id {
        None => None,
        Some(id) => {
            let request = store::feedback_request::find(conn, tenant_id, FeedbackRequestId(id)).await?;
            Some(request.filter(|request| request.view_id == view_id).ok_or(Error::NotFound("form"))?)
        }
    };
    let number = request.as_ref().map_or(newest, |request| request.version);
    let found = version_of(ledger, conn, tenant_id, view_id, number).await?;
    let found = found.ok_or_else(|| Error::Internal(format!("view {view_id} has no version {number}")))?;
    let mut version = ViewVersionRecord::clone(&found);
    if let Some(request) = request {
        version.publication.gate = request.access;
        // `require_open` asks `feedback_request` which members may answer.
        version.publication.audience = None;
        // The agent waits until its own deadline. These end the form, not the questions that were asked with it.
        version.publication.max_responses = None;
        version.publication.opens_at = None;
        version.publication.closes_at = None;
    }
    Ok(version)
}

/// Returns a version that was published. It is not cached here: on SQLite, commands share transactions, so that a
/// version may be read whose publication is not committed.
pub(super) async fn version_of(
    ledger: &Ledger,
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    view_id: ViewId,
    version: u64,
) -> Result<Option<Arc<ViewVersionRecord>>> {
    match ledger.view_versions().get(&(tenant_id, view_id, version)) {
        Some(known) => Ok(Some(known)),
        None => Ok(store::view::version_of(conn, tenant_id, view_id, version).await?.map(Arc::new)),
    }
}

/// Caches a version that a snapshot has found, which reads what is committed. Questions of agents replace rules of
/// their version, so theirs are not cached.
pub(super) fn remember(ledger: &Ledger, tenant_id: TenantId, request_id: Option<Uuid>, version: &ViewVersionRecord) {
    let key = (tenant_id, version.view_id, version.version);
    if request_id.is_none() && ledger.view_versions().get(&key).is_none() {
        ledger.view_versions().insert(key, Arc::new(version.clone()));
    }
}

/// Refuses a respondent whom the form does not take, or takes no answer of now.
///
/// # Errors
/// [`Error::FormClosed`]; for a question of an agent also [`Error::NotFound`] and [`Error::Forbidden`], as
/// [`feedback_request::answerable`].
pub(super) async fn require_open(
    conn: &mut Conn<'_>,
    respondent: &Respondent,
    (version, request_id): (&ViewVersionRecord, Option<Uuid>),
    now: Timestamp,
) -> Result<()> {
    if let Some(id) = request_id
        && !respondent.is_stranger()
    {
        feedback_request::answerable_request_on(conn, respondent.scope(), FeedbackRequestId(id)).await?;
    }
    let submitted = store::response::submitted(conn, respondent.tenant_id(), version.view_id).await?;
    check_open(&version.publication, respondent.kind(), submitted, now)?;
    if !is_in_audience(conn, respondent, &version.publication).await? {
        return Err(Closed::WrongRespondent.into());
    }
    Ok(())
}

/// Whether the form is a question of an agent that takes no answer any more, because its session has ended.
pub(crate) async fn is_cancelled(conn: &mut Conn<'_>, tenant_id: TenantId, request_id: Option<Uuid>) -> Result<bool> {
    let Some(id) = request_id else { return Ok(false) };
    let request = store::feedback_request::find(conn, tenant_id, FeedbackRequestId(id)).await?;
    let request = request.ok_or(Error::NotFound("form"))?;
    let session = store::session::find(conn, tenant_id, request.session_id).await?;
    let is_final = session.is_none_or(|session| session.status().is_final());
    Ok(request.state.in_session(is_final) == RequestState::Cancelled)
}

/// The person to whom the session that asks is private; `None` for a plain form.
pub(super) async fn private_to(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    request_id: Option<Uuid>,
) -> Result<Option<String>> {
    let Some(id) = request_id else { return Ok(None) };
    let request = store::feedback_request::find(conn, tenant_id, FeedbackRequestId(id)).await?;
    let request = request.ok_or(Error::NotFound("form"))?;
    let session = store::session::find(conn, tenant_id, request.session_id).await?;
    Ok(session.and_then(|session| session.private_to))
}

/// Whether the view takes one response of each respondent. A question of an agent always does.
pub(super) fn takes_one(publication: &Publication, request_id: Option<Uuid>) -> bool {
    publication.responses == Responses::One || request_id.is_some()
}

async fn is_in_audience(conn: &mut Conn<'_>, respondent: &Respondent, publication: &Publication) -> Result<bool> {
    let Some(slug) = &publication.audience else { return Ok(true) };
    let scope = respondent.scope();
    let Some(person) = scope.acting_user() else { return Ok(false) };
    let Some(group) = store::group::find_by_slug(conn, scope.tenant_id, slug).await? else { return Ok(false) };
    Ok(group.members.iter().any(|(id, _)| *id == person))
}
