//! /entities: a list of entities, and one of them.

use super::{
    choice::{Choices, relations},
    names::{People, people_on, titles},
};
use crate::{
    ActionRecord, EntityRecord, EntityTypeRecord, EntityVersionRecord, Error, Ledger, Result,
    action::{self, ListActions},
    entity::{self, ListEntities, ListQuery, ListVersions, OfEntity, VersionsQuery},
    guard::require,
};
use domain::{
    Scope,
    action::ActionStatus,
    entity::{FieldDef, FieldType, Values},
    id::EntityId,
    limit::ENTITY_SESSIONS_DEFAULT,
    role::Permission,
};
use std::collections::BTreeMap;

/// Entities of one page.
const ROWS: u32 = 50;
/// Types offered as a filter.
const TYPES_MAX: u32 = 200;
/// Tasks listed on an entity's page.
const TASKS_MAX: u32 = 50;
/// Versions on a page of history.
pub const VERSIONS: u32 = 20;

/// The list.
#[derive(Debug)]
pub struct List {
    /// The types of the workspace, newest first.
    pub types: Vec<EntityTypeRecord>,
    /// The entities, newest first.
    pub entities: Vec<EntityRecord>,
    /// Where the next page begins.
    pub next_cursor: Option<String>,
    /// Entities that a new one can refer to, by the slug of their type: of the type that it would have.
    pub relations: BTreeMap<String, Choices>,
}

/// One entity.
#[derive(Debug)]
pub struct Page {
    /// The entity.
    pub entity: EntityRecord,
    /// Its type.
    pub of: EntityTypeRecord,
    /// The newest sessions about it that no other session started.
    pub sessions: Vec<OfEntity>,
    /// Active tasks about it, newest first.
    pub tasks: Vec<ActionRecord>,
    /// One page of its versions, newest first, and one more: the last one's change is told against it.
    pub versions: Vec<EntityVersionRecord>,
    /// Titles of the entities that its values refer to or did, by id.
    pub titles: Vec<(String, String)>,
    /// Entities that its values can refer to, by the slug of their type.
    pub relations: BTreeMap<String, Choices>,
    /// Everybody who may have written a version.
    pub people: People,
}

/// One page of the list. `slug` names the type, where one was picked; a title has to contain `text`.
///
/// # Errors
/// [`Error::NotFound`] where no type has this slug.
pub async fn list(
    ledger: &Ledger,
    scope: &Scope,
    slug: Option<String>,
    text: Option<String>,
    cursor: Option<String>,
) -> Result<List> {
    require(scope, Permission::Read)?;
    let reader = *scope;
    let wanted = ListEntities { type_id: None, title_contains: text, limit: ROWS, cursor };
    let asked = ListQuery::of(wanted)?;
    let read = ledger.snapshot(scope, move |conn| {
        Box::pin(async move {
            let types = store::entity_type::list(conn, reader.tenant_id, None, TYPES_MAX).await?.items;
            let picked = match &slug {
                Some(slug) => {
                    let of = types.iter().find(|of| of.slug == *slug);
                    Some(of.ok_or(Error::NotFound("entity type"))?)
                }
                None => None,
            };
            // A new entity has the type that was picked, or the only one.
            let new = picked.or(match types.as_slice() {
                [only] => Some(only),
                _ => None,
            });
            let listed = entity::list_on(conn, &reader, asked.of_type(picked.map(|of| of.id))).await?;
            let relations = match new {
                Some(of) => relations(conn, reader.tenant_id, &of.fields).await?,
                None => BTreeMap::new(),
            };
            Ok(List { entities: listed.items, next_cursor: listed.next_cursor, relations, types })
        })
    });
    read.await
}

/// One entity, with the page of its versions that the cursor begins.
pub async fn read(ledger: &Ledger, scope: &Scope, id: EntityId, versions: Option<String>) -> Result<Page> {
    require(scope, Permission::Read)?;
    let reader = *scope;
    let versions = VersionsQuery::of(&ListVersions { limit: VERSIONS + 1, cursor: versions })?;
    let about = ListActions {
        status: Some(ActionStatus::Active),
        target_entity_id: Some(id),
        limit: TASKS_MAX,
        ..ListActions::default()
    };
    let about = action::ListQuery::of(scope, about)?;
    let read = ledger.snapshot(scope, move |conn| {
        Box::pin(async move {
            let tenant_id = reader.tenant_id;
            let entity = entity::get_on(conn, tenant_id, id).await?;
            let of = store::entity_type::find(conn, tenant_id, entity.type_id).await?;
            let of = of.ok_or(Error::NotFound("entity type"))?;
            let versions = entity::versions_on(conn, tenant_id, id, versions).await?.items;
            let values = versions.iter().map(|version| &version.fields).chain([&entity.fields]);
            let related = values.flat_map(|values| related(&of.fields, values)).collect();
            Ok(Page {
                sessions: store::session::list_of_entity(conn, tenant_id, id, true, ENTITY_SESSIONS_DEFAULT).await?,
                tasks: action::list_on(conn, &reader, about).await?.items,
                titles: titles(conn, tenant_id, related).await?,
                relations: relations(conn, tenant_id, &of.fields).await?,
                people: people_on(conn, tenant_id).await?,
                entity,
                of,
                versions,
            })
        })
    });
    read.await
}

/// The entities that these values refer to.
fn related(fields: &[FieldDef], values: &Values) -> impl Iterator<Item = EntityId> {
    let slugs = fields.iter().filter(|field| field.kind == FieldType::Relation).map(|field| &field.slug);
    slugs.filter_map(|slug| values.get(slug)?.as_str()?.parse().ok())
}
