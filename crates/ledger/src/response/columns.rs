//! The columns of a table of responses.

use super::ListResponses;
use crate::{Error, Ledger, Result, guard::require};
use domain::{
    Scope,
    id::ViewId,
    limit::{RESPONSE_COLUMNS_MAX, RESPONSE_VERSIONS_MAX},
    response_table::{Column, add_columns},
    role::Permission,
};

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
