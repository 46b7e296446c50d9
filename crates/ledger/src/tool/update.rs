//! Changing the working copy of a tool.

use super::{check, check_groups, locked};
use crate::{
    Ledger, Result, ToolRecord,
    guard::{require, require_revision},
};
use domain::{Scope, role::Permission, tool::Change};

/// Parts of a definition to replace, and what they are based on.
#[derive(Debug, Clone, Default)]
pub struct ToolChange {
    /// The revision that the caller read.
    pub revision: u64,
    /// The parts that change.
    pub definition: Change,
}

/// Changes the working copy. What is published stays as it is until the tool is published again. If nothing differs,
/// nothing is written.
///
/// # Errors
/// [`crate::Error::NotFound`] if the workspace has no such tool; [`crate::Error::StaleRevision`] if it was changed
/// since the caller read it and does not have the wanted content already; [`crate::Error::Invalid`] for a wrong
/// definition, and for groups that do not exist.
pub async fn update(ledger: &Ledger, scope: &Scope, slug: &str, change: ToolChange) -> Result<ToolRecord> {
    require(scope, Permission::ManageTools)?;
    let (tenant_id, now, actor) = (scope.tenant_id, ledger.now(), scope.caller.to_string());
    let slug = slug.to_owned();
    ledger
        .write(scope.into(), async move |tx| {
            let before = locked(tx, tenant_id, &slug).await?;
            let read = require_revision(change.revision, before.revision);
            let definition = change.definition.apply(before.definition.clone())?;
            // Also if an older revision was read: a save that was sent twice is no conflict. A revision that never
            // was is refused.
            let is_older = (1..before.revision).contains(&change.revision);
            if definition == before.definition && (is_older || read.is_ok()) {
                return Ok(before);
            }
            read?;
            let revision = before.revision + 1;
            let record = ToolRecord { definition, revision, updated_by: actor, updated_at: now, ..before };
            check(&record)?;
            check_groups(tx.conn(), tenant_id, &record).await?;
            store::tool::update(tx, tenant_id, &record).await?;
            Ok(record)
        })
        .await
}
