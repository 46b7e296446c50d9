//! The failures of a workspace.

use crate::{
    Error, FailureRecord, Ledger, Listed, Result,
    cursor::{List, decode, encode, page_size},
    guard::require,
};
use domain::{
    Scope,
    failure::FailureState,
    id::{EventId, SessionId},
    limit::PAGE_MAX,
    role::Permission,
};

/// Filter and page of a list of failures.
#[derive(Debug, Clone, Default)]
pub struct ListFailures {
    /// Only open or only acknowledged failures.
    pub state: Option<FailureState>,
    /// Page size: 1 to 1,000, or 0 for the default.
    pub limit: u32,
    /// `next_cursor` of the previous page. `None` for the first page.
    pub cursor: Option<String>,
}

/// Returns one page of failures, newest first.
///
/// # Errors
/// [`Error::Invalid`] for a limit above 1,000; [`Error::InvalidCursor`] for a cursor of another list.
pub async fn list(ledger: &Ledger, scope: &Scope, query: ListFailures) -> Result<Listed<FailureRecord>> {
    require(scope, Permission::Read)?;
    let limit = page_size(query.limit)?;
    let before = query.cursor.as_deref().map(|cursor| decode(List::Failures, cursor)).transpose()?.map(EventId);
    let (tenant_id, state) = (scope.tenant_id, query.state);
    let read = ledger
        .store()
        .read(scope.into(), async move |conn| store::failure::list(conn, tenant_id, state, before, limit).await);
    let page = read.await?;
    Ok(Listed::of(page, |last| encode(List::Failures, last.id.0)))
}

/// Returns the failures of these sessions. Sessions that did not fail are left out.
///
/// # Errors
/// [`Error::Invalid`] for more than [`PAGE_MAX`] sessions.
pub async fn of_sessions(ledger: &Ledger, scope: &Scope, sessions: &[SessionId]) -> Result<Vec<FailureRecord>> {
    require(scope, Permission::Read)?;
    if sessions.is_empty() {
        return Ok(Vec::new());
    }
    if sessions.len() > PAGE_MAX as usize {
        return Err(Error::invalid("ids", format!("at most {PAGE_MAX}")));
    }
    let (tenant_id, ids) = (scope.tenant_id, sessions.to_vec());
    let read =
        ledger.store().read(scope.into(), async move |conn| store::failure::of_sessions(conn, tenant_id, &ids).await);
    Ok(read.await?)
}
