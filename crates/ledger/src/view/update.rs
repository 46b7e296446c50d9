//! Changing the working copy of a view, and deleting a draft.

use super::{check, listed_locked, resolve, without_dimensions};
use crate::{
    Error, Ledger, Result, ViewRecord,
    guard::{require, require_revision},
};
use domain::{
    Scope,
    id::ViewId,
    role::Permission,
    view::{Field, Publication, State},
};

/// A change of a view. Fields that are `None` keep their value.
#[derive(Debug, Clone, Default)]
pub struct ViewChange {
    /// The revision that the caller read.
    pub revision: u64,
    /// 1 to 300 characters.
    pub title: Option<String>,
    /// At most 10,000 characters.
    pub introduction: Option<String>,
    /// All questions, in the order of the form.
    pub fields: Option<Vec<Field>>,
    /// Who may answer, how often and when, as a whole.
    pub publication: Option<Publication>,
}

/// Changes the working copy. What is published stays as it is until the view is published again. If nothing differs,
/// nothing is written.
///
/// # Errors
/// [`crate::Error::NotFound`] if the workspace has no such view; [`crate::Error::StaleRevision`] if it was changed
/// since the caller read it and does not have the wanted content already; [`crate::Error::Invalid`] for wrong fields,
/// and for criteria sets, entity types and groups that do not exist.
pub async fn update(ledger: &Ledger, scope: &Scope, id: ViewId, change: ViewChange) -> Result<ViewRecord> {
    require(scope, Permission::ManageViews)?;
    let (tenant_id, now, actor) = (scope.tenant_id, ledger.now(), scope.caller.to_string());
    let rules = ledger.clone();
    ledger
        .write(scope.into(), async move |tx| {
            let before = listed_locked(tx, tenant_id, id).await?;
            let read = require_revision(change.revision, before.revision);
            let wanted = ViewRecord {
                title: change.title.unwrap_or_else(|| before.title.clone()),
                introduction: change.introduction.unwrap_or_else(|| before.introduction.clone()),
                fields: change.fields.map_or_else(|| before.fields.clone(), without_dimensions),
                publication: change.publication.unwrap_or_else(|| before.publication.clone()),
                ..before.clone()
            };
            // Also if an older revision was read: a save that was sent twice is no conflict. A revision that never
            // was is refused.
            let is_older = (1..before.revision).contains(&change.revision);
            if wanted == before && (is_older || read.is_ok()) {
                return Ok(before);
            }
            read?;
            let revision = before.revision + 1;
            let record = ViewRecord { revision, updated_by: actor, updated_at: now, ..wanted };
            check(&rules, &record)?;
            resolve(tx.conn(), tenant_id, &record).await?;
            store::view::update(tx, tenant_id, &record).await?;
            Ok(record)
        })
        .await
}

/// Deletes a view that was never published.
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no such view; [`Error::WrongState`] if it was published, because
/// responses name its versions.
pub async fn delete(ledger: &Ledger, scope: &Scope, id: ViewId) -> Result<()> {
    require(scope, Permission::ManageViews)?;
    let tenant_id = scope.tenant_id;
    ledger
        .write(scope.into(), async move |tx| {
            let view = listed_locked(tx, tenant_id, id).await?;
            if view.state != State::Draft {
                return Err(Error::WrongState { what: "view", rule: "only a draft can be deleted", state: view.state });
            }
            Ok(store::view::delete(tx, tenant_id, id).await?)
        })
        .await
}
