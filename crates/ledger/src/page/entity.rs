//! The pages /entities: a list of entities, and one entity.

use super::{
    choice::{Choices, relations},
    names::{People, people_on, titles},
};
use crate::{
    ActionRecord, EntityRecord, EntityTypeRecord, EntityVersionRecord, Error, Ledger, ListPage, ResponseRecord, Result,
    action::{self, ListActions},
    cursor::List as CursorOf,
    entity::{self, ListEntities, ListQuery, OfEntity},
    guard::require,
};
use domain::{
    Scope,
    action::ActionStatus,
    entity::{FieldDef, FieldType, Values},
    id::EntityId,
    limit::{ENTITY_RESPONSES_MAX, ENTITY_SESSIONS_DEFAULT, ENTITY_SESSIONS_MAX},
    role::Permission,
};
use std::collections::BTreeMap;

/// Number of entities on a page.
const ROWS: u32 = 50;
/// Number of types offered as a filter, or for a relation.
pub(super) const TYPES_MAX: u32 = 200;
/// Number of tasks on an entity's page.
const TASKS_MAX: u32 = 50;
/// Number of versions on a page of history.
pub const VERSIONS: u32 = 20;

/// The list page.
#[derive(Debug)]
pub struct List {
    /// The types of the workspace, newest first.
    pub types: Vec<EntityTypeRecord>,
    /// The entities, newest first.
    pub entities: Vec<EntityRecord>,
    /// Cursor of the next page.
    pub next_cursor: Option<String>,
    /// Options of the relation fields of a new entity, by the slug of the related type.
    pub relations: BTreeMap<String, Choices>,
}

/// The page of one entity.
#[derive(Debug)]
pub struct Page {
    /// The entity at its newest version.
    pub entity: EntityRecord,
    /// Type of the entity, which defines its fields.
    pub of: EntityTypeRecord,
    /// The newest sessions about it, without those that another session started.
    pub sessions: Vec<OfEntity>,
    /// The newest sessions about it, for the marks of its fields: also those that other sessions started, such as the
    /// session that writes the result of a tool.
    pub marked_by: Vec<OfEntity>,
    /// Responses that became this entity, newest first.
    pub responses: Vec<ResponseRecord>,
    /// Active tasks about it, newest first.
    pub tasks: Vec<ActionRecord>,
    /// One page of its versions, newest first, and one more, which is needed to show the change of the last
    /// version.
    pub versions: Vec<EntityVersionRecord>,
    /// Titles of the entities to which its present and earlier values refer, by id.
    pub titles: Vec<(String, String)>,
    /// Options of its relation fields, by the slug of the related type.
    pub relations: BTreeMap<String, Choices>,
    /// Everyone who may have written a version.
    pub people: People,
}

/// Reads one page of the list. `slug` selects a type, and `line` entities that it finds.
///
/// # Errors
/// [`Error::NotFound`] if no type has this slug; [`Error::Invalid`] for a bad line;
/// [`Error::InvalidCursor`] for a cursor of another list.
pub async fn list(
    ledger: &Ledger,
    scope: &Scope,
    slug: Option<String>,
    line: Option<String>,
    cursor: Option<String>,
) -> Result<List> {
    require(scope, Permission::Read)?;
    let reader = *scope;
    let wanted = ListEntities { line, limit: ROWS, cursor, ..ListEntities::default() };
    let asked = ListQuery::of(wanted)?;
    let read = ledger.snapshot(scope, async move |conn| {
        let types = store::entity_type::list(conn, reader.tenant_id, None, TYPES_MAX).await?.items;
        let picked = match &slug {
            Some(slug) => {
                let of = types.iter().find(|of| of.slug == *slug);
                Some(of.ok_or(Error::NotFound("entity type"))?)
            }
            None => None,
        };
        // A new entity has the selected type, or the only type of the workspace.
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
    });
    read.await
}

/// Reads the page of one entity. `versions` is the cursor of its history.
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no such entity; [`Error::InvalidCursor`] for a cursor of another list.
pub async fn read(ledger: &Ledger, scope: &Scope, id: EntityId, versions: Option<String>) -> Result<Page> {
    require(scope, Permission::Read)?;
    let reader = *scope;
    let versions = ListPage { limit: VERSIONS + 1, cursor: versions };
    let (before, limit) = versions.before_version(CursorOf::EntityVersions)?;
    let about = ListActions {
        status: Some(ActionStatus::Active),
        target_entity_id: Some(id),
        limit: TASKS_MAX,
        ..ListActions::default()
    };
    let about = action::ListQuery::of(scope, about)?;
    let read = ledger.snapshot(scope, async move |conn| {
        let tenant_id = reader.tenant_id;
        let entity = entity::get_on(conn, tenant_id, id).await?;
        let of = store::entity_type::find(conn, tenant_id, entity.type_id).await?;
        let of = of.ok_or(Error::NotFound("entity type"))?;
        let versions = entity::versions_on(conn, tenant_id, id, before, limit).await?.items;
        let values = versions.iter().map(|version| &version.fields).chain([&entity.fields]);
        let related = values.flat_map(|values| related(&of.fields, values)).collect();
        Ok(Page {
            sessions: store::session::list_of_entity(conn, tenant_id, id, true, ENTITY_SESSIONS_DEFAULT).await?,
            marked_by: store::session::list_of_entity(conn, tenant_id, id, false, ENTITY_SESSIONS_MAX).await?,
            responses: store::response::of_entity(conn, tenant_id, id, reader.caller, ENTITY_RESPONSES_MAX).await?,
            tasks: action::list_on(conn, &reader, about).await?.items,
            titles: titles(conn, tenant_id, related).await?,
            relations: relations(conn, tenant_id, &of.fields).await?,
            people: people_on(conn, tenant_id).await?,
            entity,
            of,
            versions,
        })
    });
    read.await
}

/// Returns the entities to which these values refer.
fn related(fields: &[FieldDef], values: &Values) -> impl Iterator<Item = EntityId> {
    let slugs = fields.iter().filter(|field| field.kind == FieldType::Relation).map(|field| &field.slug);
    slugs.filter_map(|slug| values.get(slug)?.as_str()?.parse().ok())
}
