//! The versions of a workspace's model, and which of them is used.

use crate::{Error, Ledger, Result, audit::Act};
use domain::{Caller, audit::Kind, limit::MEMORY_RANKERS_MAX};
use serde_json::json;
use store::{Access, memory_ranker::RankerRecord};

/// Returns the versions of the workspace with this slug, newest first.
///
/// # Errors
/// [`Error::NotFound`] if there is no such workspace.
pub async fn list_by_operator(ledger: &Ledger, workspace: &str) -> Result<Vec<RankerRecord>> {
    let workspace = workspace.to_owned();
    let read = ledger.store().read(Access::System, async move |conn| {
        let Some(tenant) = store::tenant::find_by_slug(conn, &workspace).await? else { return Ok(None) };
        // The one in use can be older than those that are kept.
        Ok(Some(store::memory_ranker::list(conn, tenant.id, MEMORY_RANKERS_MAX + 1).await?))
    });
    read.await?.ok_or(Error::NotFound("workspace"))
}

/// Lets a version order the memories of the workspace with this slug, or with `None` the formula alone. Other servers
/// follow within a minute. A change is recorded in the audit list, as an act of the operator of the server.
///
/// # Errors
/// [`Error::NotFound`] if there is no such workspace; [`Error::Invalid`] if there is no such version, or if it was
/// refused because it is not better than the formula.
pub async fn use_by_operator(ledger: &Ledger, workspace: &str, version: Option<u64>) -> Result<()> {
    let workspace = workspace.to_owned();
    let act = Act::new(Kind::RankerSwitched, Caller::System, ledger.now());
    let written = ledger.write(Access::System, async move |tx| {
        let tenant = store::tenant::find_by_slug(tx.conn(), &workspace).await?;
        let tenant_id = tenant.ok_or(Error::NotFound("workspace"))?.id;
        let before = store::memory_ranker::in_use(tx.conn(), tenant_id).await?.map(|used| used.version);
        if !store::memory_ranker::switch(tx, tenant_id, version).await? {
            return Err(Error::invalid("version", "there is no such version, or it is not better than the formula"));
        }
        if before != version {
            act.with(json!({ "from": before, "to": version })).record(tx, tenant_id).await?;
        }
        Ok(tenant_id)
    });
    let tenant_id = written.await?;
    ledger.rankers().forget(tenant_id);
    Ok(())
}
