//! Entities: records that work is about. Every write creates a version that records its author.

mod create;
mod erase;
mod erase_many;
mod erasing;
mod get;
pub mod import;
mod list;
mod sessions;
mod update;
mod versions;

pub(crate) use create::create_on;
pub use create::{NewEntity, create, create_in};
pub use erase::erase;
pub(crate) use erase::erase_on;
pub use erase_many::{EraseMany, ShownEntity, erase_many};
pub use erasing::{Erasable, Erasing, erasing, newest};
pub(crate) use get::get_on;
pub use get::{get, titles};
pub use list::{ListEntities, list};
pub(crate) use list::{ListQuery, list_on};
pub use sessions::{OfEntity, list_sessions, status_map};
pub use update::{EntityChange, update, update_in};
pub(crate) use versions::versions_on;
pub use versions::{cursor_after, list_versions};

use crate::{EntityRecord, Error, Result, guard::Fields};
use domain::{
    entity::{FieldDef, FieldType, Values, apply},
    id::{EntityId, TenantId},
    issue::Issue,
    limit::{DOCUMENT_BYTES_MAX, ENTITY_TITLES_MAX, TITLE_CHARS_MAX},
};
use std::collections::{BTreeSet, HashMap};
use store::{Conn, WriteTx};

/// Returns an entity, locked until the transaction ends, to write its next version.
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no such entity; [`Error::EntityErased`] if it is erased.
pub(crate) async fn writable(tx: &mut WriteTx<'_>, tenant_id: TenantId, id: EntityId) -> Result<EntityRecord> {
    let entity = store::entity::find_locked(tx, tenant_id, id).await?.ok_or(Error::NotFound("entity"))?;
    if entity.erased_at.is_some() { Err(Error::EntityErased) } else { Ok(entity) }
}

/// Refuses a title or values that cannot be stored. Issues of values are reported as `fields.slug`.
fn refuse_wrong(title: &str, values: std::result::Result<&Values, Vec<Issue>>) -> Result<()> {
    let mut fields = Fields::default();
    fields.name("title", title, TITLE_CHARS_MAX);
    match values {
        Ok(values) => {
            let bytes = serde_json::to_string(values).map_or(usize::MAX, |json| json.len());
            if bytes > DOCUMENT_BYTES_MAX {
                fields.refuse("fields", format!("at most {DOCUMENT_BYTES_MAX} bytes as JSON"));
            }
        }
        Err(issues) => {
            for issue in issues {
                fields.refuse(&format!("fields.{}", issue.field), issue.message);
            }
        }
    }
    fields.check()
}

/// Returns the relation fields that have a value, and the entity ids in them.
fn related<'a>(fields: &'a [FieldDef], values: &'a Values) -> impl Iterator<Item = (&'a FieldDef, EntityId)> {
    fields.iter().filter(|f| f.kind == FieldType::Relation).filter_map(|field| {
        let id = values.get(&field.slug)?.as_str()?.parse().ok()?;
        Some((field, id))
    })
}

/// Returns the type slugs of these entities, read in batches.
async fn types_of(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    ids: BTreeSet<EntityId>,
) -> store::Result<HashMap<EntityId, String>> {
    let ids: Vec<EntityId> = ids.into_iter().collect();
    let mut types = HashMap::new();
    for batch in ids.chunks(ENTITY_TITLES_MAX) {
        let found = store::entity::titles(conn, tenant_id, batch).await?;
        types.extend(found.into_iter().map(|found| (found.id, found.type_slug)));
    }
    Ok(types)
}

/// Returns an issue for each relation whose entity does not exist or has another type.
fn relation_issues(fields: &[FieldDef], values: &Values, types: &HashMap<EntityId, String>) -> Vec<Issue> {
    let wrong = |(field, id): (&FieldDef, EntityId)| {
        let wanted = field.relation_type.as_deref().unwrap_or_default();
        let fits = types.get(&id).is_some_and(|slug| slug == wanted);
        (!fits)
            .then(|| Issue { field: field.slug.clone(), message: format!("no entity of type `{wanted}` has this id") })
    };
    related(fields, values).filter_map(wrong).collect()
}

/// Returns the values after a change. Checks the title if it is new, the values, and the relations that changed.
///
/// # Errors
/// [`crate::Error::Invalid`] with every wrong field, as `title` or `fields.slug`.
pub(crate) async fn checked(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    fields: &[FieldDef],
    before: &Values,
    new_title: Option<&str>,
    change: &Values,
) -> Result<Values> {
    let values = apply(fields, before, change);
    refuse_wrong(new_title.unwrap_or("-"), values.as_ref().map_err(Clone::clone))?;
    let after = values.unwrap_or_default();
    let changed: Values = after
        .iter()
        .filter(|(slug, value)| before.get(*slug) != Some(*value))
        .map(|(slug, value)| (slug.clone(), value.clone()))
        .collect();
    let ids = related(fields, &changed).map(|(_, id)| id).collect();
    let types = types_of(conn, tenant_id, ids).await?;
    let issues = relation_issues(fields, &changed, &types);
    if !issues.is_empty() {
        refuse_wrong("-", Err(issues))?;
    }
    Ok(after)
}
