//! The page of a form that members answer: /views/{slug}/answer.

use super::choice::choices;
use crate::{Error, Ledger, Result, guard::require, view};
use domain::{
    Scope,
    id::{EntityId, TenantId, ViewId},
    role::Permission,
    view::Field,
};
use std::collections::BTreeMap;
use store::Conn;

/// The entities that the questions of a form offer, by the key of the question: ids and titles, newest first. A type
/// with more entities than a field offers is left out: its entities are answered by their id.
pub type EntityOptions = BTreeMap<String, Vec<(EntityId, String)>>;

/// A form for its page. The questions themselves are read for the respondent ([`crate::response::read`]).
#[derive(Debug)]
pub struct Page {
    /// The view with the form.
    pub view_id: ViewId,
    /// Entities that the questions of the published version offer.
    pub entities: EntityOptions,
}

/// Reads the page of the view with this slug, published or not.
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no view with this slug.
pub async fn read(ledger: &Ledger, scope: &Scope, slug: &str) -> Result<Page> {
    require(scope, Permission::Read)?;
    let (tenant_id, slug) = (scope.tenant_id, slug.to_owned());
    let read = ledger.snapshot(scope, async move |conn| {
        let view = view::get_by_slug_on(conn, tenant_id, &slug).await?;
        let fields = match view.version {
            Some(version) => {
                let published = store::view::version_of(conn, tenant_id, view.id, version).await?;
                published.ok_or(Error::NotFound("view in that version"))?.fields
            }
            None => Vec::new(),
        };
        Ok(Page { view_id: view.id, entities: offered(conn, tenant_id, &entity_types(&fields)).await? })
    });
    read.await
}

/// Returns the entities that these questions offer.
pub async fn entities(ledger: &Ledger, scope: &Scope, fields: &[Field]) -> Result<EntityOptions> {
    let types = entity_types(fields);
    if types.is_empty() {
        return Ok(EntityOptions::new());
    }
    require(scope, Permission::Read)?;
    let tenant_id = scope.tenant_id;
    ledger.snapshot(scope, async move |conn| offered(conn, tenant_id, &types).await).await
}

/// [`entities`] on an open connection.
pub(super) async fn entities_on(conn: &mut Conn<'_>, tenant_id: TenantId, fields: &[Field]) -> Result<EntityOptions> {
    offered(conn, tenant_id, &entity_types(fields)).await
}

/// The slugs of the entity types that the questions refer to, by key.
fn entity_types(fields: &[Field]) -> Vec<(String, String)> {
    let of = |field: &Field| Some((field.key.clone(), field.kind.entity_type()?.to_owned()));
    fields.iter().filter_map(of).collect()
}

async fn offered(conn: &mut Conn<'_>, tenant_id: TenantId, types: &[(String, String)]) -> Result<EntityOptions> {
    let mut options = EntityOptions::new();
    for (key, slug) in types {
        let Some(of) = store::entity_type::find_by_slug(conn, tenant_id, slug).await? else { continue };
        let found = choices(conn, tenant_id, Some(of.id)).await?;
        if !found.has_more {
            options.insert(key.clone(), found.options);
        }
    }
    Ok(options)
}
