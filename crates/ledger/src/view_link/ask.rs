//! Asking people without an account: the request of an agent, and the link by which they answer it.

use super::create_of_request;
use crate::{
    Error, Ledger, Result,
    feedback_request::{self, NewRequest, RecordedRequest},
};
use domain::{Scope, Timestamp, feedback_request::RequestState, id::SessionId, limit::VIEW_LINK_DAYS_MAX, view::Gate};

/// Days for which the link of a request without a deadline works.
const DAYS: u32 = 30;

/// Asks people, as [`feedback_request::ask`] does. If people without an account may answer, the second value is the
/// secret of a link to the form. The server creates the link, because an agent may not manage views. A repeat creates
/// another link, since secrets are not stored. There is no link without an instance key, none if the question has too
/// many, and none from its deadline on.
///
/// # Errors
/// As [`feedback_request::ask`].
pub async fn ask(
    ledger: &Ledger,
    scope: &Scope,
    id: SessionId,
    new: NewRequest,
) -> Result<(RecordedRequest, Option<String>)> {
    let asked = feedback_request::ask(ledger, scope, id, new).await?;
    let request = &asked.request;
    let now = ledger.now();
    let is_over = request.state != RequestState::Waiting || request.expires_at.is_some_and(|at| at <= now);
    if request.access == Gate::Member || is_over {
        return Ok((asked, None));
    }
    let days = days(request.expires_at, now);
    let server = Scope::system(scope.tenant_id);
    let link = match create_of_request(ledger, &server, request.view_id, request.id, days).await {
        Ok((_, secret)) => Some(secret),
        Err(Error::NoInstanceKey | Error::LimitReached(_)) => None,
        Err(error) => return Err(error),
    };
    Ok((asked, link))
}

/// The days until the deadline, begun ones included.
fn days(expires_at: Option<Timestamp>, now: Timestamp) -> u32 {
    let Some(expires_at) = expires_at else { return DAYS };
    let days = u32::try_from((expires_at - now).num_days()).unwrap_or_default();
    days.saturating_add(1).min(VIEW_LINK_DAYS_MAX)
}
