//! Publishing the working copy of a view, and withdrawing a view.

use super::{check, check_askable, listed_locked, resolve};
use crate::{
    Error, Ledger, Result, ViewRecord, ViewVersionRecord,
    guard::{require, require_revision},
};
use domain::{
    Scope, Timestamp,
    id::{TenantId, ViewId},
    role::Permission,
    view::State,
};
use store::WriteTx;

/// Publishes the working copy, so that the view takes responses to it. If the version published last is the same, no
/// version is added. `revision` is the revision that the caller read; `None` publishes whatever is newest.
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no such view; [`Error::StaleRevision`] if it was changed since the caller
/// read it; [`Error::Invalid`] if it has no fields, asks people without an account for an entity, or refers to
/// something that does not exist any more.
pub async fn publish(ledger: &Ledger, scope: &Scope, id: ViewId, revision: Option<u64>) -> Result<ViewRecord> {
    require(scope, Permission::ManageViews)?;
    let (tenant_id, now, actor) = (scope.tenant_id, ledger.now(), scope.caller.to_string());
    let rules = ledger.clone();
    ledger
        .write(scope.into(), async move |tx| {
            let before = listed_locked(tx, tenant_id, id).await?;
            require_revision(revision.unwrap_or(before.revision), before.revision)?;
            check(&rules, &before)?;
            if before.fields.is_empty() {
                return Err(Error::invalid("fields", "a published view has at least one field"));
            }
            publish_on(tx, tenant_id, before, (&actor, now)).await
        })
        .await
}

/// Publishes a checked view, which the transaction has locked or created. Returns the view afterwards.
pub(crate) async fn publish_on(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    view: ViewRecord,
    (by, at): (&str, Timestamp),
) -> Result<ViewRecord> {
    check_askable(&view)?;
    let resolved = resolve(tx.conn(), tenant_id, &view).await?;
    let wanted = ViewVersionRecord {
        view_id: view.id,
        version: view.version.unwrap_or(0) + 1,
        title: view.title.clone(),
        introduction: view.introduction.clone(),
        fields: resolved,
        publication: view.publication.clone(),
        published_by: by.to_owned(),
        published_at: at,
    };
    let newest = match view.version {
        Some(version) => store::view::version_of(tx.conn(), tenant_id, view.id, version).await?,
        None => None,
    };
    let version = match newest {
        Some(newest) if is_same(&newest, &wanted) => newest.version,
        _ => {
            store::view::insert_version(tx, tenant_id, &wanted).await?;
            wanted.version
        }
    };
    let published = ViewRecord {
        state: State::Published,
        version: Some(version),
        published_revision: Some(view.revision),
        ..view.clone()
    };
    if published == view {
        return Ok(view);
    }
    let published = ViewRecord { updated_by: by.to_owned(), updated_at: at, ..published };
    store::view::update(tx, tenant_id, &published).await?;
    Ok(published)
}

/// Whether two versions ask the same on the same terms.
fn is_same(a: &ViewVersionRecord, b: &ViewVersionRecord) -> bool {
    (&a.title, &a.introduction, &a.fields, &a.publication) == (&b.title, &b.introduction, &b.fields, &b.publication)
}

/// Closes a view: it takes no responses until it is published again. Its versions and responses stay. A repeat changes
/// nothing.
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no such view; [`Error::WrongState`] if it was never published.
pub async fn unpublish(ledger: &Ledger, scope: &Scope, id: ViewId) -> Result<ViewRecord> {
    require(scope, Permission::ManageViews)?;
    let (tenant_id, now, actor) = (scope.tenant_id, ledger.now(), scope.caller.to_string());
    ledger
        .write(scope.into(), async move |tx| {
            let before = listed_locked(tx, tenant_id, id).await?;
            match before.state {
                State::Unpublished => return Ok(before),
                State::Draft => {
                    let rule = "only a published view can be unpublished";
                    return Err(Error::WrongState { what: "view", rule, state: before.state });
                }
                State::Published => {}
            }
            let record = ViewRecord { state: State::Unpublished, updated_by: actor, updated_at: now, ..before };
            store::view::update(tx, tenant_id, &record).await?;
            Ok(record)
        })
        .await
}
