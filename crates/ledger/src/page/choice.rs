//! Entities offered as options in forms.

use crate::{Error, Result};
use domain::{
    entity::FieldDef,
    id::{EntityId, EntityTypeId, TenantId},
};
use std::collections::BTreeMap;
use store::{Conn, entity::Filter};

/// Number of entities offered in one field. Other entities are selected by typing an id.
const CHOICES_MAX: u32 = 200;

/// Entities offered in a field.
#[derive(Debug)]
pub struct Choices {
    /// Ids and titles, newest first.
    pub options: Vec<(EntityId, String)>,
    /// Whether there are more entities than `options`.
    pub has_more: bool,
}

/// Returns the newest entities of one type or of all types.
pub(super) async fn choices(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    type_id: Option<EntityTypeId>,
) -> Result<Choices> {
    let filter = Filter { type_id, ..Filter::default() };
    let page = store::entity::list(conn, tenant_id, &filter, None, CHOICES_MAX).await?;
    let options = page.items.into_iter().map(|entity| (entity.id, entity.title)).collect();
    Ok(Choices { options, has_more: page.has_more })
}

/// Returns the options of the relation fields among these fields, by the slug of the related type.
pub(super) async fn relations(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    fields: &[FieldDef],
) -> Result<BTreeMap<String, Choices>> {
    let mut relations = BTreeMap::new();
    for slug in fields.iter().filter_map(|field| field.relation_type.as_ref()) {
        if relations.contains_key(slug) {
            continue;
        }
        let of = store::entity_type::find_by_slug(conn, tenant_id, slug).await?;
        let of = of.ok_or(Error::NotFound("entity type"))?;
        relations.insert(slug.clone(), choices(conn, tenant_id, Some(of.id)).await?);
    }
    Ok(relations)
}
