//! Listing responses.

use super::leads::hide_lead;
use crate::{
    Ledger, ListPage, Listed, ResponseRecord, Result,
    cursor::{List, encode},
    guard::require,
};
use domain::{
    Caller, Scope, Timestamp,
    id::{SessionId, ViewId},
    response::ResponseStatus,
    role::Permission,
};
use store::{ResponseState, response::Filter};

/// Which responses to list.
#[derive(Debug, Clone, Default)]
pub struct ListResponses {
    /// Only those to this view.
    pub view_id: Option<ViewId>,
    /// Only those with this status.
    pub status: Option<ResponseStatus>,
    /// Only those of the caller.
    pub own: bool,
    /// Only those to this version. It counts only with `view_id`, as the two below.
    pub version: Option<u64>,
    /// Only those whose first save was at this time (UTC) or later.
    pub created_from: Option<Timestamp>,
    /// Only those whose first save was before this time (UTC).
    pub created_before: Option<Timestamp>,
    /// Size of the page, and where it begins.
    pub page: ListPage,
}

impl ListResponses {
    pub(crate) fn filter(&self, scope: &Scope) -> Filter {
        let (state, promoted) = match self.status {
            None => (None, None),
            Some(ResponseStatus::Draft) => (Some(ResponseState::Draft), None),
            Some(ResponseStatus::Submitted) => (Some(ResponseState::Submitted), Some(false)),
            Some(ResponseStatus::Promoted) => (Some(ResponseState::Submitted), Some(true)),
            Some(ResponseStatus::Abandoned) => (Some(ResponseState::Abandoned), None),
        };
        let own = match scope.caller {
            Caller::User(id) => id.0,
            Caller::Token(id) => id.0,
            Caller::Agent(_) | Caller::Respondent(_) | Caller::Rule(_) | Caller::System => uuid::Uuid::nil(),
        };
        Filter {
            view_id: self.view_id,
            state,
            respondent: self.own.then_some(own),
            promoted,
            version: self.version,
            created_from: self.created_from,
            created_before: self.created_before,
            reader: Some(scope.caller),
        }
    }
}

/// Lists responses, newest first. Without [`Permission::ReadLeads`] they do not name the leads. What was answered in an
/// incognito session is listed for its person alone.
///
/// # Errors
/// [`crate::Error::Invalid`] for a limit above 1,000; [`crate::Error::InvalidCursor`] for a cursor of another list.
pub async fn list(ledger: &Ledger, scope: &Scope, query: ListResponses) -> Result<Listed<ResponseRecord>> {
    require(scope, Permission::Read)?;
    let (before, limit) = query.page.before_id(List::Responses)?;
    let (tenant_id, before, filter) = (scope.tenant_id, before.map(SessionId), query.filter(scope));
    let read = ledger
        .store()
        .read(scope.into(), async move |conn| store::response::list(conn, tenant_id, filter, before, limit).await);
    let mut listed = Listed::of(read.await?, |response| encode(List::Responses, response.session_id.0));
    for response in &mut listed.items {
        hide_lead(scope, response);
    }
    Ok(listed)
}
