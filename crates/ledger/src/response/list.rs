//! Listing responses.

use crate::{
    Ledger, ListPage, Listed, ResponseRecord, Result,
    cursor::{List, encode},
    guard::require,
};
use domain::{
    Caller, Scope,
    id::{SessionId, ViewId},
    response::Stage,
    role::Permission,
};
use store::{ResponseState, response::Filter};

/// Which responses to list.
#[derive(Debug, Clone, Default)]
pub struct ListResponses {
    /// Only those to this view.
    pub view_id: Option<ViewId>,
    /// Only those at this stage.
    pub stage: Option<Stage>,
    /// Only those of the caller.
    pub own: bool,
    /// Size of the page, and where it begins.
    pub page: ListPage,
}

/// Lists responses, newest first.
pub async fn list(ledger: &Ledger, scope: &Scope, query: ListResponses) -> Result<Listed<ResponseRecord>> {
    require(scope, Permission::Read)?;
    let (before, limit) = query.page.before_id(List::Responses)?;
    let (tenant_id, before) = (scope.tenant_id, before.map(SessionId));
    let (state, promoted) = match query.stage {
        None => (None, None),
        Some(Stage::Draft) => (Some(ResponseState::Draft), None),
        Some(Stage::Submitted) => (Some(ResponseState::Submitted), Some(false)),
        Some(Stage::Promoted) => (Some(ResponseState::Submitted), Some(true)),
        Some(Stage::Abandoned) => (Some(ResponseState::Abandoned), None),
    };
    let own = match scope.caller {
        Caller::User(id) => id.0,
        Caller::Token(id) => id.0,
        Caller::Agent(_) | Caller::Respondent(_) | Caller::System => uuid::Uuid::nil(),
    };
    let filter = Filter { view_id: query.view_id, state, respondent: query.own.then_some(own), promoted };
    let read = ledger.store().read(scope.into(), move |conn| {
        Box::pin(async move { store::response::list(conn, tenant_id, filter, before, limit).await })
    });
    Ok(Listed::of(read.await?, |response| encode(List::Responses, response.session_id.0)))
}
