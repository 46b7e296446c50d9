//! Sessions about one entity, in brief, in one query.

use crate::engine::{Conn, Result, record, run, statements};
use domain::{
    Timestamp,
    id::{ActionId, EntityId, SessionId, TenantId},
    session::Status,
};
use std::collections::HashMap;
use uuid::Uuid;

macro_rules! count_select {
    ($ids:literal) => {
        concat!(
            "SELECT entity_id, COUNT(*) FROM sessions WHERE tenant_id = $1 AND entity_id ",
            $ids,
            " AND private_to IS NULL GROUP BY entity_id"
        )
    };
}

statements! {
    const COUNTS_SQLITE: &str = count_select!("IN (SELECT unhex(value) FROM json_each($2))");
    const COUNTS_POSTGRES: &str = count_select!("= ANY($2)");

    const BY_ENTITY: &str = "SELECT s.id, s.action_id, COALESCE(a.slug, s.action_slug) AS action_slug, a.name AS action_name, \
         a.output_config, s.status, s.title, s.started_at, s.completed_at, s.parent_id, s.error_message, s.created_at, \
         (SELECT COUNT(*) FROM sessions c WHERE c.tenant_id = s.tenant_id AND c.parent_id = s.id AND c.private_to IS NULL) AS child_count \
         FROM sessions s LEFT JOIN actions a ON a.tenant_id = s.tenant_id AND a.id = s.action_id \
         WHERE s.tenant_id = $1 AND s.entity_id = $2 AND s.private_to IS NULL AND (s.parent_id IS NULL OR CAST($3 AS bigint) = 0) \
         ORDER BY s.id DESC LIMIT $4";
}

record! {
    /// A session about an entity, in brief.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct OfEntity of "sessions" {
        /// Id of the session.
        pub id: SessionId,
        /// Action that the session executes; `None` for a session without one.
        pub action_id: Option<ActionId>,
        /// That action's slug.
        pub action_slug: Option<String>,
        /// That action's name.
        pub action_name: Option<String>,
        /// Output contract of that action, as JSON.
        pub output_config: Option<String>,
        /// Current status.
        pub status: Status,
        /// Title shown to people.
        pub title: String,
        /// Time it was first claimed or begun (UTC).
        pub started_at: Option<Timestamp>,
        /// Time it became final (UTC).
        pub completed_at: Option<Timestamp>,
        /// The session that started it.
        pub parent_id: Option<SessionId>,
        /// Error text for people, if it failed.
        pub error_message: Option<String>,
        /// Time it was made (UTC).
        pub created_at: Timestamp,
        /// Number of sessions it started, without private ones.
        pub child_count: u32,
    }
}

/// The newest sessions about an entity; `parents_only` leaves out those that another session started.
pub async fn list_of_entity(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    entity_id: EntityId,
    parents_only: bool,
    limit: u32,
) -> Result<Vec<OfEntity>> {
    let (parents_only, limit) = (i64::from(parents_only), i64::from(limit));
    Ok(run!(conn, fetch_all OfEntity, BY_ENTITY, tenant_id.0, entity_id.0, parents_only, limit)?)
}

/// How many sessions are about each of these entities, without private ones. Entities without a session are left out.
/// The caller bounds their number.
pub async fn count_of_entities(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    ids: &[EntityId],
) -> Result<HashMap<EntityId, u64>> {
    type Row = (Uuid, i64);
    let rows: Vec<Row> = match conn {
        Conn::Sqlite(c) => {
            let hex: Vec<String> = ids.iter().map(|id| id.0.simple().to_string()).collect();
            c.fetch_all::<Row>(COUNTS_SQLITE, &[&tenant_id.0, &serde_json::Value::from(hex).to_string()])?
        }
        Conn::Postgres(c) => {
            let ids: Vec<Uuid> = ids.iter().map(|id| id.0).collect();
            sqlx::query_as(COUNTS_POSTGRES).bind(tenant_id.0).bind(ids).fetch_all(&mut **c).await?
        }
    };
    Ok(rows.into_iter().map(|(id, count): Row| (EntityId(id), count.cast_unsigned())).collect())
}
