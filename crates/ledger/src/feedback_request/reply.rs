//! Answering one named request of a session, as the reply to an elicitation does.

use super::{
    answer::{AnswerOf, NewAnswer, answer_on, may_answer},
    not_found,
};
use crate::{Error, Ledger, Result, guard::require, visibility::require_visible};
use domain::{
    Scope,
    feedback_request::{RequestState, Respondent},
    id::{FeedbackRequestId, SessionId},
    role::Permission,
    session::Session,
};

/// Answers a request of this session, and returns the session. A repeat records nothing and returns the session as it
/// is now, even if it waits for another request.
///
/// # Errors
/// Those of [`super::answer()`]; [`Error::NotFound`] for a request of another session; [`Error::RequestClosed`] if the
/// answer would be late: the session is all that the caller gets, so nothing would say that the agent never reads it.
pub async fn reply(
    ledger: &Ledger,
    scope: &Scope,
    session_id: SessionId,
    id: FeedbackRequestId,
    new: NewAnswer,
) -> Result<Session> {
    require(scope, Permission::StartSession)?;
    new.check()?;
    let respondent = Respondent::of_actor(&scope.caller.to_string(), scope.user_id());
    let of = AnswerOf::new(ledger, scope.caller, respondent);
    let (scope, now) = (*scope, ledger.now());
    ledger
        .write((&scope).into(), async move |tx| {
            let session = store::session::find_locked(tx, scope.tenant_id, session_id).await?;
            let session = require_visible(tx.conn(), &scope, session).await?;
            let request = store::feedback_request::find(tx.conn(), scope.tenant_id, id).await?;
            let request = request.filter(|request| request.session_id == session_id).ok_or_else(not_found)?;
            may_answer(tx.conn(), &scope, &session, &request).await?;
            let answered = answer_on(tx, scope.tenant_id, id, of, new).await?;
            if answered.answer.late {
                let is_past = request.expires_at.is_some_and(|expires| now >= expires);
                let state = match request.state {
                    RequestState::Waiting if is_past => RequestState::Expired,
                    RequestState::Waiting => RequestState::Answered,
                    closed => closed,
                };
                return Err(Error::RequestClosed { state });
            }
            let session = store::session::find(tx.conn(), scope.tenant_id, session_id).await?;
            require_visible(tx.conn(), &scope, session).await
        })
        .await
}
