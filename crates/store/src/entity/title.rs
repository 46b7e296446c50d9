//! Titles of many entities in one query.

use crate::engine::{Conn, Error, Result, statements};
use domain::{
    entity::Values,
    id::{EntityId, EntityTypeId, TenantId},
    limit::ENTITY_TITLES_MAX,
};
use uuid::Uuid;

statements! {
    const TITLES_SQLITE: &str = "SELECT e.id, e.title, t.slug FROM entities e \
         JOIN entity_types t ON t.tenant_id = e.tenant_id AND t.id = e.type_id \
         WHERE e.tenant_id = $1 AND e.id IN (SELECT unhex(value) FROM json_each($2)) ORDER BY e.id";
    const TITLES_POSTGRES: &str = "SELECT e.id, e.title, t.slug FROM entities e \
         JOIN entity_types t ON t.tenant_id = e.tenant_id AND t.id = e.type_id \
         WHERE e.tenant_id = $1 AND e.id = ANY($2) ORDER BY e.id";

    const TAKEN_SQLITE: &str = "SELECT DISTINCT title FROM entities \
         WHERE tenant_id = $1 AND type_id = $2 AND title IN (SELECT value FROM json_each($3))";
    const TAKEN_POSTGRES: &str = "SELECT DISTINCT title FROM entities \
         WHERE tenant_id = $1 AND type_id = $2 AND title = ANY($3)";

    const VALUES_SQLITE: &str = "SELECT id, title, fields FROM entities \
         WHERE tenant_id = $1 AND id IN (SELECT unhex(value) FROM json_each($2))";
    const VALUES_POSTGRES: &str = "SELECT id, title, fields FROM entities WHERE tenant_id = $1 AND id = ANY($2)";
}

/// What lists show of an entity that something else names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntityTitle {
    /// Id of the entity.
    pub id: EntityId,
    /// Title that people see.
    pub title: String,
    /// The type that the entity has, by the name in addresses: lower-case letters, digits and hyphens.
    pub type_slug: String,
}

/// The title of an entity and the values of its fields.
#[derive(Debug, Clone, PartialEq)]
pub struct EntityValues {
    /// Id of the entity.
    pub id: EntityId,
    /// Title that people see.
    pub title: String,
    /// Values by the slugs of the fields.
    pub values: Values,
}

/// A row of one column. Written out, the formatter would take the tuple for a call's arguments.
type One<T> = (T,);

/// The titles of this list that entities of the type already have. Titles are compared exactly.
pub async fn taken_titles(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    type_id: EntityTypeId,
    titles: &[String],
) -> Result<Vec<String>> {
    let rows: Vec<One<String>> = match conn {
        Conn::Sqlite(c) => {
            let json = serde_json::Value::from(titles).to_string();
            c.fetch_all::<One<String>>(TAKEN_SQLITE, &[&tenant_id.0, &type_id.0, &json])?
        }
        Conn::Postgres(c) => {
            sqlx::query_as(TAKEN_POSTGRES).bind(tenant_id.0).bind(type_id.0).bind(titles).fetch_all(&mut **c).await?
        }
    };
    Ok(rows.into_iter().map(|(title,)| title).collect())
}

/// The titles of these entities, in id order. Ids that are not of this workspace are left
/// out, and repeated ids count once. Only the first [`ENTITY_TITLES_MAX`] different ids are looked up.
pub async fn titles(conn: &mut Conn<'_>, tenant_id: TenantId, ids: &[EntityId]) -> Result<Vec<EntityTitle>> {
    let mut wanted: Vec<Uuid> = Vec::new();
    for id in ids {
        if wanted.len() < ENTITY_TITLES_MAX && !wanted.contains(&id.0) {
            wanted.push(id.0);
        }
    }
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let rows: Vec<(Uuid, String, String)> = match conn {
        Conn::Sqlite(c) => {
            let hex: Vec<String> = wanted.iter().map(|id| id.simple().to_string()).collect();
            let hex = serde_json::Value::from(hex).to_string();
            c.fetch_all::<(Uuid, String, String)>(TITLES_SQLITE, &[&tenant_id.0, &hex])?
        }
        Conn::Postgres(c) => sqlx::query_as(TITLES_POSTGRES).bind(tenant_id.0).bind(wanted).fetch_all(&mut **c).await?,
    };
    Ok(rows.into_iter().map(|(id, title, type_slug)| EntityTitle { id: EntityId(id), title, type_slug }).collect())
}

/// The titles and values of these entities. Ids that are not of this workspace are left out. The caller bounds their
/// number.
pub async fn values(conn: &mut Conn<'_>, tenant_id: TenantId, ids: &[EntityId]) -> Result<Vec<EntityValues>> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let rows: Vec<(Uuid, String, String)> = match conn {
        Conn::Sqlite(c) => {
            let hex: Vec<String> = ids.iter().map(|id| id.0.simple().to_string()).collect();
            let hex = serde_json::Value::from(hex).to_string();
            c.fetch_all::<(Uuid, String, String)>(VALUES_SQLITE, &[&tenant_id.0, &hex])?
        }
        Conn::Postgres(c) => {
            let ids: Vec<Uuid> = ids.iter().map(|id| id.0).collect();
            sqlx::query_as(VALUES_POSTGRES).bind(tenant_id.0).bind(ids).fetch_all(&mut **c).await?
        }
    };
    let read = |(id, title, fields): (Uuid, String, String)| {
        let values =
            serde_json::from_str(&fields).map_err(|_| Error::inconsistent("entities", "fields", "not JSON"))?;
        Ok(EntityValues { id: EntityId(id), title, values })
    };
    rows.into_iter().map(read).collect()
}
