//! Questions of agents that keep working, for the people who may answer them.

use super::{answer::may_answer, list::fields_of, not_found};
use crate::{Ledger, RequestRecord, Result, guard::require, visibility::require_visible};
use domain::{
    Scope, Timestamp, id::FeedbackRequestId, limit::OPEN_QUESTIONS_MAX, role::Permission, session::Session, view::Field,
};
use store::{Conn, feedback_request::QuestionReader};

/// Returns the open questions that the caller is asked, for which no session waits and which no one has answered:
/// closest deadline first, then oldest, at most [`OPEN_QUESTIONS_MAX`]. A question leaves the list with its first
/// answer, at its deadline, and at the end of its session. Questions for people without an account are listed for
/// whoever started or manages the session, although every member may answer them. Empty for a token.
pub async fn open(ledger: &Ledger, scope: &Scope) -> Result<Vec<RequestRecord>> {
    require(scope, Permission::Read)?;
    let (reader, now) = (*scope, ledger.now());
    ledger.snapshot(scope, async move |conn| open_on(conn, &reader, now).await).await
}

/// [`open`] on an open connection.
pub(crate) async fn open_on(conn: &mut Conn<'_>, scope: &Scope, now: Timestamp) -> Result<Vec<RequestRecord>> {
    let Some(asked) = question_reader(scope) else { return Ok(Vec::new()) };
    Ok(store::feedback_request::open_for(conn, scope.tenant_id, asked, now, OPEN_QUESTIONS_MAX).await?)
}

/// Returns how many questions [`open_on`] would return, at most `at_most`.
pub(crate) async fn count_open_on(conn: &mut Conn<'_>, scope: &Scope, now: Timestamp, at_most: u32) -> Result<u64> {
    let Some(asked) = question_reader(scope) else { return Ok(0) };
    let at_most = at_most.min(OPEN_QUESTIONS_MAX);
    Ok(store::feedback_request::count_open_for(conn, scope.tenant_id, asked, now, at_most).await?)
}

fn question_reader(scope: &Scope) -> Option<QuestionReader> {
    let user_id = scope.user_id()?;
    Some(QuestionReader {
        user_id,
        decides: scope.may(Permission::Decide),
        manages: scope.may(Permission::ManageSessions),
    })
}

/// A question, and what its form asks.
#[derive(Debug, Clone, PartialEq)]
pub struct Answerable {
    /// The request. Its state takes the end of its session into account.
    pub request: RequestRecord,
    /// Questions of the form. A form that an agent wrote is in no list of views.
    pub fields: Vec<Field>,
    /// Agent of the session that asks.
    pub agent_slug: Option<String>,
    /// Whether someone has answered. A request for which no session waits takes further answers.
    pub is_answered: bool,
}

/// Returns a question for its form, if the caller may answer it. One that is answered or closed is returned too: the
/// form says so.
///
/// # Errors
/// [`crate::Error::NotFound`] if there is no such request or the caller cannot see its session;
/// [`crate::Error::Forbidden`] if others are asked.
pub async fn answerable(ledger: &Ledger, scope: &Scope, id: FeedbackRequestId) -> Result<Answerable> {
    let reader = *scope;
    ledger.snapshot(scope, async move |conn| answerable_on(conn, &reader, id).await).await
}

/// [`answerable`] on an open connection.
pub(crate) async fn answerable_on(conn: &mut Conn<'_>, scope: &Scope, id: FeedbackRequestId) -> Result<Answerable> {
    require(scope, Permission::StartSession)?;
    let (mut found, session) = answerable_request_on(conn, scope, id).await?;
    found.state = found.state.in_session(session.status().is_final());
    Ok(Answerable {
        fields: fields_of(conn, &found).await?,
        agent_slug: session.agent_slug,
        is_answered: store::feedback_request::count_answers(conn, scope.tenant_id, id).await? > 0,
        request: found,
    })
}

/// Returns a question that the caller may answer, and its session.
///
/// # Errors
/// As [`answerable`].
pub(crate) async fn answerable_request_on(
    conn: &mut Conn<'_>,
    scope: &Scope,
    id: FeedbackRequestId,
) -> Result<(RequestRecord, Session)> {
    let found = store::feedback_request::find(conn, scope.tenant_id, id).await?.ok_or_else(not_found)?;
    let session = store::session::find(conn, scope.tenant_id, found.session_id).await?;
    let session = require_visible(conn, scope, session).await.map_err(|_| not_found())?;
    may_answer(conn, scope, &session, &found).await?;
    Ok((found, session))
}
