//! Creating a criteria set.

use super::check;
use crate::{
    CriteriaSetRecord, Error, Ledger, Result,
    guard::{require, slug_or_of_name},
};
use domain::{Scope, criteria_set::Dimension, id::CriteriaSetId, role::Permission};

/// The fields of a new criteria set.
#[derive(Debug, Clone, Default)]
pub struct NewCriteriaSet {
    /// 1 to 200 characters, e.g. `Brand safety`.
    pub name: String,
    /// Derived from the name when `None`. It never changes, because bundles refer to it.
    pub slug: Option<String>,
    /// Its purpose; at most 10,000 characters.
    pub description: String,
    /// In the order of evaluation.
    pub dimensions: Vec<Dimension>,
}

/// Creates a criteria set at version 1.
///
/// # Errors
/// [`Error::NameTaken`] if the slug is taken; [`Error::Invalid`] for wrong fields.
pub async fn create(ledger: &Ledger, scope: &Scope, new: NewCriteriaSet) -> Result<CriteriaSetRecord> {
    require(scope, Permission::ManageCriteriaSets)?;
    let now = ledger.now();
    let actor = scope.caller.to_string();
    let record = CriteriaSetRecord {
        id: CriteriaSetId::new(now, ledger.entropy()),
        slug: slug_or_of_name(new.slug, &new.name)?,
        name: new.name,
        description: new.description,
        dimensions: new.dimensions,
        version: 1,
        newest_version: 1,
        created_by: actor.clone(),
        updated_by: actor,
        created_at: now,
        updated_at: now,
    };
    check(&record)?;
    let tenant_id = scope.tenant_id;
    ledger
        .write(scope.into(), async move |tx| {
            if !store::criteria_set::insert(tx, tenant_id, &record).await? {
                return Err(Error::NameTaken("the slug"));
            }
            Ok(record)
        })
        .await
}
