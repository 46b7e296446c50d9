//! Suggestions for canvases in the inbox of one person: those that the person may decide, and those that they decided.

use crate::{
    canvas::{CanvasRecord, SuggestionRecord},
    engine::{Conn, Result, run, statements},
    session::hex_list,
};
use domain::{
    Timestamp,
    clock::to_micros,
    id::{SessionId, TenantId, UserId},
};
use std::collections::BTreeSet;
use uuid::Uuid;

macro_rules! suggestion_columns {
    () => {
        "g.session_id, g.op_id, g.base, g.ops, g.is_strict, g.body_digest, g.author, g.at, g.state, g.decided_by, \
         g.decided_at, g.reason"
    };
}

/// The suggestions of canvases that have not ended and that a person may change: as the creator, or as a participant
/// with the role `edit`.
macro_rules! from_waiting {
    () => {
        " FROM canvas_suggestions g \
         JOIN sessions s ON s.tenant_id = g.tenant_id AND s.id = g.session_id \
         WHERE g.tenant_id = $1 AND g.state = 'open' AND s.status = 'running' \
         AND (s.created_by = $2 OR s.user_id = $3 OR EXISTS (SELECT 1 FROM canvas_participants p \
         WHERE p.tenant_id = g.tenant_id AND p.session_id = g.session_id AND p.participant = $2 \
         AND p.role = 'edit')) "
    };
}

macro_rules! canvases {
    ($ids:literal) => {
        concat!(
            "SELECT session_id, document, document_schema, version, patches, unkept_patches, unkept_bytes, changed_at, \
             is_template FROM canvases WHERE tenant_id = $1 AND session_id ",
            $ids
        )
    };
}

macro_rules! patches {
    ($ids:literal) => {
        concat!("SELECT session_id, op_id FROM canvas_patches WHERE tenant_id = $1 AND session_id ", $ids)
    };
}

statements! {
    const WAITING: &str = concat!(
        "SELECT ",
        suggestion_columns!(),
        from_waiting!(),
        "ORDER BY g.at, g.session_id, g.op_id LIMIT $4"
    );
    const COUNT: &str = concat!("SELECT COUNT(*) FROM (SELECT 1 AS one", from_waiting!(), "LIMIT $4) AS waiting");
    const DECIDED: &str = concat!(
        "SELECT ",
        suggestion_columns!(),
        " FROM canvas_suggestions g \
         JOIN sessions s ON s.tenant_id = g.tenant_id AND s.id = g.session_id \
         WHERE g.tenant_id = $1 AND g.decided_by = $2 AND g.decided_at > $3 AND s.status = 'running' \
         ORDER BY g.decided_at DESC, g.session_id, g.op_id LIMIT $4"
    );
    const CANVASES_SQLITE: &str = canvases!("IN (SELECT unhex(value) FROM json_each($2))");
    const CANVASES_POSTGRES: &str = canvases!("= ANY($2)");
    const PATCHES_SQLITE: &str =
        patches!("IN (SELECT unhex(value) FROM json_each($2)) AND op_id IN (SELECT value FROM json_each($3))");
    const PATCHES_POSTGRES: &str = patches!("= ANY($2) AND op_id = ANY($3)");
}

type One<T> = (T,);

/// The suggestions that a person may decide, oldest first, at most `max`.
pub async fn waiting_for(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    (user_id, actor): (UserId, &str),
    max: u32,
) -> Result<Vec<SuggestionRecord>> {
    Ok(run!(conn, fetch_all SuggestionRecord, WAITING, tenant_id.0, actor, user_id.0, i64::from(max))?)
}

/// Number of the suggestions that a person may decide. Counting stops at `at_most`.
pub async fn count(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    (user_id, actor): (UserId, &str),
    at_most: u32,
) -> Result<u64> {
    let (count,) = run!(conn, fetch_one One<i64>, COUNT, tenant_id.0, actor, user_id.0, i64::from(at_most))?;
    Ok(count.max(0).cast_unsigned())
}

/// The suggestions that an editor accepted or declined since a time, the newest decision first, at most `max`. Those of
/// canvases that have ended are left out.
pub async fn decided_by(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    actor: &str,
    since: Timestamp,
    max: u32,
) -> Result<Vec<SuggestionRecord>> {
    Ok(run!(conn, fetch_all SuggestionRecord, DECIDED, tenant_id.0, actor, to_micros(since), i64::from(max))?)
}

/// The newest versions of these canvases, in no order.
pub async fn canvases(conn: &mut Conn<'_>, tenant_id: TenantId, ids: &[SessionId]) -> Result<Vec<CanvasRecord>> {
    Ok(match conn {
        Conn::Sqlite(c) => c.fetch_all::<CanvasRecord>(CANVASES_SQLITE, &[&tenant_id.0, &hex_list(ids)])?,
        Conn::Postgres(c) => {
            let ids: Vec<Uuid> = ids.iter().map(|id| id.0).collect();
            sqlx::query_as::<_, CanvasRecord>(CANVASES_POSTGRES).bind(tenant_id.0).bind(ids).fetch_all(&mut **c).await?
        }
    })
}

type PatchKey = (Uuid, String);

/// Which of the canvases have an accepted patch with one of these ids: the canvas and the id of each.
pub async fn accepted_patches(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    ids: &[SessionId],
    op_ids: &[String],
) -> Result<BTreeSet<(SessionId, String)>> {
    let rows = match conn {
        Conn::Sqlite(c) => {
            let op_ids = serde_json::Value::from(op_ids).to_string();
            c.fetch_all::<PatchKey>(PATCHES_SQLITE, &[&tenant_id.0, &hex_list(ids), &op_ids])?
        }
        Conn::Postgres(c) => {
            let ids: Vec<Uuid> = ids.iter().map(|id| id.0).collect();
            let query = sqlx::query_as::<_, PatchKey>(PATCHES_POSTGRES).bind(tenant_id.0).bind(ids).bind(op_ids);
            query.fetch_all(&mut **c).await?
        }
    };
    Ok(rows.into_iter().map(|(id, op_id)| (SessionId(id), op_id)).collect())
}
