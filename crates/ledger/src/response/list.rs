//! Reading responses: a list, one of them, the columns of their table, and the record that they were downloaded.

use super::leads::hide_lead;
use crate::{
    Error, Ledger, ListPage, Listed, ResponseRecord, Result,
    audit::Act,
    cursor::{List, encode},
    guard::require,
    visibility::require_visible,
};
use domain::{
    Caller, Scope, Timestamp,
    audit::{Kind, TargetKind},
    id::{SessionId, ViewId},
    limit::{RESPONSE_COLUMNS_MAX, RESPONSE_VERSIONS_MAX},
    response::ResponseStatus,
    response_table::{Column, add_columns},
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

/// Returns a response by the id of its session. Without [`Permission::ReadLeads`] it does not name the lead.
///
/// # Errors
/// [`Error::NotFound`] if there is no such response or the caller cannot see its session.
pub async fn get(ledger: &Ledger, scope: &Scope, id: SessionId) -> Result<ResponseRecord> {
    require(scope, Permission::Read)?;
    let reader = *scope;
    let read = ledger.snapshot(scope, async move |conn| {
        let response = store::response::find(conn, reader.tenant_id, id).await?;
        let response = response.ok_or(Error::NotFound("response"))?;
        let session = store::session::find(conn, reader.tenant_id, id).await?;
        require_visible(conn, &reader, session).await.map_err(|_| Error::NotFound("response"))?;
        Ok(response)
    });
    let mut response = read.await?;
    hide_lead(scope, &mut response);
    Ok(response)
}

/// Returns a column for each field of the versions that the responses to a view are for, those of the newest version
/// first. Without responses there are no columns.
///
/// # Errors
/// [`Error::LimitReached`] if the responses are for too many versions or have too many columns.
pub async fn columns(ledger: &Ledger, scope: &Scope, view_id: ViewId, query: &ListResponses) -> Result<Vec<Column>> {
    require(scope, Permission::Read)?;
    let (tenant_id, filter) =
        (scope.tenant_id, ListResponses { view_id: Some(view_id), ..query.clone() }.filter(scope));
    ledger
        .snapshot(scope, async move |conn| {
            let place = (tenant_id, view_id);
            let used = store::response::versions_of_view(conn, place, filter, RESPONSE_VERSIONS_MAX + 1).await?;
            if used.len() > RESPONSE_VERSIONS_MAX as usize {
                let most = RESPONSE_VERSIONS_MAX;
                return Err(Error::LimitReached(format!("a table has at most {most} versions; filter by version")));
            }
            let mut columns = Vec::new();
            for version in used {
                if let Some(version) = store::view::version_of(conn, tenant_id, view_id, version).await? {
                    add_columns(&mut columns, &version.fields);
                }
                if columns.len() > RESPONSE_COLUMNS_MAX {
                    let most = RESPONSE_COLUMNS_MAX;
                    let text = format!("a table has at most {most} columns; filter by version");
                    return Err(Error::LimitReached(text));
                }
            }
            Ok(columns)
        })
        .await
}

/// Records in the audit list that the caller downloads the responses to this view. A download whose entry cannot be
/// written is not to begin.
pub async fn record_download(ledger: &Ledger, scope: &Scope, view: ViewId) -> Result<()> {
    require(scope, Permission::Read)?;
    let downloaded = Act::new(Kind::ResponsesDownloaded, scope.caller, ledger.now());
    downloaded.on(TargetKind::View, view.0).write(ledger, scope).await
}
