//! Rows of `entities` and `entity_versions`. Every write of an entity writes both tables.

use crate::{
    engine::{Conn, Page, Result, contains, last_select, record, run, statements},
    // `has` is made of the others, which are looked up where it is used.
    session::{Contains, group_values, groups, has, values},
    transaction::WriteTx,
};
use domain::{
    Timestamp,
    entity::Values,
    id::{EntityId, EntityTypeId, SessionId, TenantId},
};
use uuid::Uuid;

macro_rules! entity_select {
    ($rest:expr) => {
        concat!(
            "SELECT e.id, e.type_id, t.slug AS type_slug, e.title, e.fields, e.version, e.created_by, e.updated_by, \
             e.created_at, e.updated_at, e.erased_at FROM entities e JOIN entity_types t ON t.tenant_id = e.tenant_id AND t.id = e.type_id \
             WHERE e.tenant_id = $1 AND ",
            $rest
        )
    };
}
// One statement per leading filter, so that each uses its own index.
macro_rules! list_select {
    ($engine:ident, $lead:literal) => {
        entity_select!(concat!(
            $lead,
            " AND e.erased_at IS NULL AND e.id < $3 AND e.id >= $6 AND (lower(e.title) LIKE lower($4) ESCAPE '\\' OR $4 IS NULL)",
            has!($engine, "e.title", "$7", "$8"),
            has!($engine, "e.title || ' ' || e.fields", "$9", "$10"),
            " ORDER BY e.id DESC LIMIT $5"
        ))
    };
}

statements! {
    const BY_ID: &str = entity_select!("e.id = $2");
    const BY_ID_LOCKED_POSTGRES: &str = entity_select!("e.id = $2 FOR UPDATE OF e");
    const BY_IDS_SQLITE: &str = entity_select!("e.id IN (SELECT unhex(value) FROM json_each($2))");
    const BY_IDS_POSTGRES: &str = entity_select!("e.id = ANY($2)");
    const LIST_SQLITE: &str = list_select!(sqlite, "CAST($2 AS text) IS NULL");
    const LIST_POSTGRES: &str = list_select!(postgres, "CAST($2 AS text) IS NULL");
    const LIST_BY_TYPE_SQLITE: &str = list_select!(sqlite, "e.type_id = $2");
    const LIST_BY_TYPE_POSTGRES: &str = list_select!(postgres, "e.type_id = $2");
    const LAST: &str = last_select!("entities", "CAST($2 AS text) IS NULL");
    const LAST_BY_TYPE: &str = last_select!("entities", "type_id = $2");
    const VERSIONS: &str = "SELECT version, title, fields, actor, session_id, at FROM entity_versions \
         WHERE tenant_id = $1 AND entity_id = $2 AND (version < $3 OR $3 IS NULL) ORDER BY version DESC LIMIT $4";
}

record! {
    /// An entity at its newest version.
    #[derive(Debug, Clone, PartialEq)]
    pub struct EntityRecord of "entities" {
        /// Identifies the entity.
        pub id: EntityId,
        /// The entity's type.
        pub type_id: EntityTypeId,
        /// Slug of the entity type; unique in the workspace.
        pub type_slug: String,
        /// Title shown to people.
        pub title: String,
        /// Values by field slug.
        pub fields: Values,
        /// Newest version number; the first is 1.
        pub version: u64,
        /// Who made the entity: `user:…`, `token:…` or `system`.
        pub created_by: String,
        /// Who wrote the newest version.
        pub updated_by: String,
        /// Time the entity was made (UTC).
        pub created_at: Timestamp,
        /// Time the newest version was written (UTC).
        pub updated_at: Timestamp,
        /// Time the content was erased (UTC). `updated_by` is who did it. `None` for an entity that has its content.
        pub erased_at: Option<Timestamp>,
    }
}

/// Which entities to list.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Only this type.
    pub type_id: Option<EntityTypeId>,
    /// Only titles that contain this, whatever the case.
    pub title_contains: Option<String>,
    /// Parts of the title.
    pub titles: Contains,
    /// Parts of the title or the values.
    pub texts: Contains,
    /// Only this entity and newer ones. Bounds what a filter by a part of the title reads.
    pub oldest: Option<EntityId>,
}

record! {
    /// The title and values of an entity as one write left them.
    #[derive(Debug, Clone, PartialEq)]
    pub struct EntityVersionRecord of "entity_versions" {
        /// Version number; the first is 1.
        pub version: u64,
        /// Title of the entity in this version.
        pub title: String,
        /// Values of this version by field slug.
        pub fields: Values,
        /// Who wrote this version: `user:…`, `token:…` or `system`.
        pub actor: String,
        /// The session that wrote this version, if one did.
        pub session_id: Option<SessionId>,
        /// Time this version was written (UTC).
        pub at: Timestamp,
    }
}

/// An entity of this workspace.
pub async fn find(conn: &mut Conn<'_>, tenant_id: TenantId, id: EntityId) -> Result<Option<EntityRecord>> {
    Ok(run!(conn, fetch_optional EntityRecord, BY_ID, tenant_id.0, id.0)?)
}

/// The same, locked until the transaction ends. SQLite has one writer and needs no lock.
pub async fn find_locked(tx: &mut WriteTx<'_>, tenant_id: TenantId, id: EntityId) -> Result<Option<EntityRecord>> {
    let sql = if matches!(tx.conn(), Conn::Sqlite(_)) { BY_ID } else { BY_ID_LOCKED_POSTGRES };
    Ok(run!(tx.conn(), fetch_optional EntityRecord, sql, tenant_id.0, id.0)?)
}

/// These entities of the workspace, in no order. Ids of no entity are left out. The caller bounds their number.
pub async fn list_by_ids(conn: &mut Conn<'_>, tenant_id: TenantId, ids: &[EntityId]) -> Result<Vec<EntityRecord>> {
    Ok(match conn {
        Conn::Sqlite(c) => {
            let hex: Vec<String> = ids.iter().map(|id| id.0.simple().to_string()).collect();
            let hex = serde_json::Value::from(hex).to_string();
            c.fetch_all::<EntityRecord>(BY_IDS_SQLITE, &[&tenant_id.0, &hex])?
        }
        Conn::Postgres(c) => {
            let ids: Vec<Uuid> = ids.iter().map(|id| id.0).collect();
            sqlx::query_as::<_, EntityRecord>(BY_IDS_POSTGRES).bind(tenant_id.0).bind(ids).fetch_all(&mut **c).await?
        }
    })
}

/// One page of entities that have their content, newest first. With `before`, only older ones.
pub async fn list(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    filter: &Filter,
    before: Option<EntityId>,
    limit: u32,
) -> Result<Page<EntityRecord>> {
    let tenant = tenant_id.0;
    // Smaller and larger than any id: a comparison that is always true would keep the index from being entered at the
    // right place.
    let (oldest, before) = (filter.oldest.map_or(Uuid::nil(), |id| id.0), before.map_or(Uuid::max(), |id| id.0));
    let title = filter.title_contains.as_deref().map(contains);
    let more = i64::from(limit) + 1;
    let title = title.as_deref();
    let (titles, no_titles) = (filter.titles.all(), filter.titles.none());
    let (texts, no_texts) = (filter.texts.all(), filter.texts.none());
    let (titles, no_titles) = (titles.as_deref(), no_titles.as_deref());
    let (texts, no_texts) = (texts.as_deref(), no_texts.as_deref());
    let is_sqlite = matches!(conn, Conn::Sqlite(_));
    let rows = match filter.type_id {
        Some(id) => {
            let sql = if is_sqlite { LIST_BY_TYPE_SQLITE } else { LIST_BY_TYPE_POSTGRES };
            run!(
                conn,
                fetch_all EntityRecord,
                sql,
                tenant,
                id.0,
                before,
                title,
                more,
                oldest,
                titles,
                no_titles,
                texts,
                no_texts,
            )?
        }
        None => {
            let (sql, no_type) = (if is_sqlite { LIST_SQLITE } else { LIST_POSTGRES }, None::<&str>);
            run!(
                conn,
                fetch_all EntityRecord,
                sql,
                tenant,
                no_type,
                before,
                title,
                more,
                oldest,
                titles,
                no_titles,
                texts,
                no_texts,
            )?
        }
    };
    Ok(Page::of(rows, limit))
}

/// The oldest of the newest `count` entities of the filter's type, or of all. With `before`, of those that are older.
/// `None` if there are fewer. The rest of the filter is ignored.
pub async fn last_looked(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    filter: &Filter,
    before: Option<EntityId>,
    count: u32,
) -> Result<Option<EntityId>> {
    let (tenant, before) = (tenant_id.0, before.map_or(Uuid::max(), |id| id.0));
    let skipped = i64::from(count) - 1;
    let last = match filter.type_id {
        Some(id) => run!(conn, fetch_optional(Uuid,), LAST_BY_TYPE, tenant, id.0, before, skipped)?,
        None => run!(conn, fetch_optional(Uuid,), LAST, tenant, None::<&str>, before, skipped)?,
    };
    Ok(last.map(|(id,)| EntityId(id)))
}

/// One page of an entity's versions, newest first, starting after `before`.
pub async fn versions(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    id: EntityId,
    before: Option<u64>,
    limit: u32,
) -> Result<Page<EntityVersionRecord>> {
    let before = before.map(u64::cast_signed);
    let rows = run!(conn, fetch_all EntityVersionRecord, VERSIONS, tenant_id.0, id.0, before, i64::from(limit) + 1)?;
    Ok(Page::of(rows, limit))
}
