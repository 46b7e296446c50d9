//! Writing entities: the row and its version, together.

use super::EntityRecord;
use crate::{
    engine::{Conn, Error, Result, run, statements},
    transaction::WriteTx,
};
use domain::{
    clock::to_micros,
    entity::Values,
    id::{SessionId, TenantId},
};
use serde_json::json;
use uuid::Uuid;

statements! {
    const INSERT_SQLITE: &str = "INSERT INTO entities (tenant_id, id, type_id, title, fields, version, created_by, updated_by, \
         created_at, updated_at) SELECT $1, unhex(value ->> 0), $2, value ->> 1, value ->> 2, 1, $3, $3, $4, $4 FROM json_each($5)";
    const INSERT_VERSIONS_SQLITE: &str = "INSERT INTO entity_versions (tenant_id, entity_id, version, title, fields, actor, session_id, at) \
         SELECT $1, unhex(value ->> 0), 1, value ->> 1, value ->> 2, $2, $5, $3 FROM json_each($4)";
    const INSERT_POSTGRES: &str = "INSERT INTO entities (tenant_id, id, type_id, title, fields, version, created_by, updated_by, \
         created_at, updated_at) SELECT $1, made.id, $2, made.title, made.fields, 1, $3, $3, $4, $4 \
         FROM UNNEST($5::uuid[], $6::text[], $7::text[]) AS made (id, title, fields)";
    const INSERT_VERSIONS_POSTGRES: &str = "INSERT INTO entity_versions (tenant_id, entity_id, version, title, fields, actor, \
         session_id, at) SELECT $1, made.id, 1, made.title, made.fields, $2, $7, $3 \
         FROM UNNEST($4::uuid[], $5::text[], $6::text[]) AS made (id, title, fields)";
    const UPDATE: &str = "UPDATE entities SET title = $3, fields = $4, version = $5, updated_by = $6, updated_at = $7 \
         WHERE tenant_id = $1 AND id = $2 AND version = $8";
    const INSERT_VERSION: &str = "INSERT INTO entity_versions (tenant_id, entity_id, version, title, fields, actor, session_id, at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
}

fn text(fields: &Values) -> Result<String> {
    serde_json::to_string(fields).map_err(|error| Error::Database(error.to_string()))
}

/// Adds entities of one type with their first versions, in two statements. All are made by one actor at one
/// time, and in one session if `session_id` is set.
pub async fn insert(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    made: &[EntityRecord],
    session_id: Option<SessionId>,
) -> Result<()> {
    let Some(first) = made.first() else { return Ok(()) };
    let (actor, at, type_id) = (first.created_by.as_str(), to_micros(first.created_at), first.type_id.0);
    let session_id = session_id.map(|id| id.0);
    match tx.conn() {
        Conn::Sqlite(c) => {
            let row = |e: &EntityRecord| Ok(json!([e.id.0.simple().to_string(), e.title, text(&e.fields)?]));
            let rows = made.iter().map(row).collect::<Result<Vec<_>>>()?;
            let rows = serde_json::Value::from(rows).to_string();
            c.execute(INSERT_SQLITE, &[&tenant_id.0, &type_id, &actor, &at, &rows])?;
            c.execute(INSERT_VERSIONS_SQLITE, &[&tenant_id.0, &actor, &at, &rows, &session_id])?;
        }
        Conn::Postgres(c) => {
            let ids: Vec<Uuid> = made.iter().map(|e| e.id.0).collect();
            let titles: Vec<&str> = made.iter().map(|e| e.title.as_str()).collect();
            let fields = made.iter().map(|e| text(&e.fields)).collect::<Result<Vec<_>>>()?;
            let query = sqlx::query(INSERT_POSTGRES).bind(tenant_id.0).bind(type_id).bind(actor).bind(at);
            query.bind(&ids).bind(&titles).bind(&fields).execute(&mut **c).await?;
            let query = sqlx::query(INSERT_VERSIONS_POSTGRES).bind(tenant_id.0).bind(actor).bind(at);
            query.bind(&ids).bind(&titles).bind(&fields).bind(session_id).execute(&mut **c).await?;
        }
    }
    Ok(())
}

/// Writes the next version of an entity and its row.
///
/// # Errors
/// [`Error::Inconsistent`] when the row is not at the version before: the caller held no lock.
pub async fn update(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    entity: &EntityRecord,
    session_id: Option<SessionId>,
) -> Result<()> {
    let fields = text(&entity.fields)?;
    let version = entity.version.cast_signed();
    let changed = run!(
        tx.conn(),
        execute,
        UPDATE,
        tenant_id.0,
        entity.id.0,
        entity.title.as_str(),
        fields.as_str(),
        version,
        entity.updated_by.as_str(),
        to_micros(entity.updated_at),
        version - 1,
    )?;
    if changed != 1 {
        return Err(Error::inconsistent("entities", "version", "changed under a lock"));
    }
    run!(
        tx.conn(),
        execute,
        INSERT_VERSION,
        tenant_id.0,
        entity.id.0,
        version,
        entity.title.as_str(),
        fields.as_str(),
        entity.updated_by.as_str(),
        session_id.map(|id| id.0),
        to_micros(entity.updated_at),
    )?;
    Ok(())
}
