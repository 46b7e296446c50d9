//! Changing a criteria set by writing a new version.

use super::check;
use crate::{
    CriteriaSetRecord, Error, Ledger, Result,
    guard::{require, require_version},
};
use domain::{Scope, criteria_set::Dimension, id::CriteriaSetId, role::Permission};

/// A change of a criteria set. Fields that are `None` keep their value.
#[derive(Debug, Clone, Default)]
pub struct CriteriaSetChange {
    /// The version that the caller read.
    pub version: u64,
    /// 1 to 200 characters.
    pub name: Option<String>,
    /// At most 10,000 characters.
    pub description: Option<String>,
    /// All dimensions, in the order of evaluation.
    pub dimensions: Option<Vec<Dimension>>,
}

/// Writes a new version. If nothing differs, no version is written.
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no such set; [`Error::StaleVersion`] if it was changed since the caller
/// read it; [`Error::Invalid`] for wrong fields.
pub async fn update(
    ledger: &Ledger,
    scope: &Scope,
    id: CriteriaSetId,
    change: CriteriaSetChange,
) -> Result<CriteriaSetRecord> {
    require(scope, Permission::ManageCriteriaSets)?;
    let (tenant_id, now, actor) = (scope.tenant_id, ledger.now(), scope.caller.to_string());
    ledger
        .write(scope.into(), async move |tx| {
            let before = store::criteria_set::find_locked(tx, tenant_id, id).await?;
            let before = before.ok_or(Error::NotFound("criteria set"))?;
            require_version(change.version, before.version)?;
            let wanted = CriteriaSetRecord {
                name: change.name.unwrap_or_else(|| before.name.clone()),
                description: change.description.unwrap_or_else(|| before.description.clone()),
                dimensions: change.dimensions.unwrap_or_else(|| before.dimensions.clone()),
                ..before.clone()
            };
            if wanted == before {
                return Ok(before);
            }
            let version = before.version + 1;
            let record =
                CriteriaSetRecord { version, newest_version: version, updated_by: actor, updated_at: now, ..wanted };
            check(&record)?;
            store::criteria_set::update(tx, tenant_id, &record).await?;
            Ok(record)
        })
        .await
}
