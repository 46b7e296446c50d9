//! Resolving actions that a request names by slug or id.

use crate::{ActionRecord, Error, Ledger, Result, guard::require};
use domain::{
    Scope,
    id::{ActionId, TenantId},
    issue::Issue,
    role::Permission,
};
use std::collections::BTreeSet;
use store::{Access, Conn};

/// Largest number of actions in one request.
pub const NAMED_MAX: usize = 100;

/// Returns the ids of the actions with these slugs or ids.
///
/// # Errors
/// [`Error::Invalid`] for `field` if there are more than [`NAMED_MAX`] names. Also for the first name that the
/// workspace does not have.
pub async fn named(ledger: &Ledger, scope: &Scope, field: &str, names: BTreeSet<String>) -> Result<BTreeSet<ActionId>> {
    require(scope, Permission::Read)?;
    let (tenant_id, field) = (scope.tenant_id, field.to_owned());
    ledger.snapshot(scope, async move |conn| ids(conn, tenant_id, &field, names).await).await
}

/// Does the same as [`named`] for the operator of the server, in the workspace with this slug.
///
/// # Errors
/// Those of [`named`], and [`Error::NotFound`] if there is no such workspace.
pub async fn named_by_operator(
    ledger: &Ledger,
    workspace: &str,
    field: &str,
    names: BTreeSet<String>,
) -> Result<BTreeSet<ActionId>> {
    let (workspace, field) = (workspace.to_owned(), field.to_owned());
    let read = ledger.store().read(Access::System, async move |conn| {
        let Some(tenant) = store::tenant::find_by_slug(conn, &workspace).await? else { return Ok(None) };
        Ok(Some(ids(conn, tenant.id, &field, names).await))
    });
    read.await?.ok_or(Error::NotFound("workspace"))?
}

async fn ids(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    field: &str,
    names: BTreeSet<String>,
) -> Result<BTreeSet<ActionId>> {
    let wrong = |message: String| Error::Invalid(vec![Issue::new(field, message)]);
    if names.len() > NAMED_MAX {
        return Err(wrong(format!("at most {NAMED_MAX} tasks")));
    }
    let mut ids = BTreeSet::new();
    for name in names {
        let found: Option<ActionRecord> = match name.parse::<ActionId>() {
            Ok(id) => store::action::find(conn, tenant_id, id).await?,
            Err(_) => store::action::find_by_slug(conn, tenant_id, &name).await?,
        };
        let missing = || wrong(format!("{name:?} is neither the slug nor the id of a task of this workspace"));
        ids.insert(found.ok_or_else(missing)?.id);
    }
    Ok(ids)
}
