//! Sessions about one entity, in brief, in one query.

use crate::engine::{Conn, Error, Result, row, run, statements};
use domain::{
    Timestamp,
    clock::from_micros,
    id::{ActionId, EntityId, SessionId, TenantId},
    session::Status,
};
use uuid::Uuid;

statements! {
    const BY_ENTITY: &str = "SELECT s.id, s.action_id, COALESCE(a.slug, s.action_slug) AS action_slug, a.name AS action_name, \
         a.output_config, s.status, s.title, s.started_at, s.completed_at, s.parent_id, s.error_message, s.created_at, \
         (SELECT COUNT(*) FROM sessions c WHERE c.tenant_id = s.tenant_id AND c.parent_id = s.id AND c.private_to IS NULL) AS child_count \
         FROM sessions s LEFT JOIN actions a ON a.tenant_id = s.tenant_id AND a.id = s.action_id \
         WHERE s.tenant_id = $1 AND s.entity_id = $2 AND s.private_to IS NULL AND (s.parent_id IS NULL OR CAST($3 AS bigint) = 0) \
         ORDER BY s.id DESC LIMIT $4";
}

/// A session about an entity, in brief.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OfEntity {
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

row! {
    struct OfEntityRow {
        id: Uuid,
        action_id: Option<Uuid>,
        action_slug: Option<String>,
        action_name: Option<String>,
        output_config: Option<String>,
        status: String,
        title: String,
        started_at: Option<i64>,
        completed_at: Option<i64>,
        parent_id: Option<Uuid>,
        error_message: Option<String>,
        created_at: i64,
        child_count: i64,
    }
}

impl TryFrom<OfEntityRow> for OfEntity {
    type Error = Error;

    fn try_from(row: OfEntityRow) -> Result<Self> {
        Ok(Self {
            id: SessionId(row.id),
            action_id: row.action_id.map(ActionId),
            action_slug: row.action_slug,
            action_name: row.action_name,
            output_config: row.output_config,
            status: Status::parse(&row.status).ok_or_else(|| Error::inconsistent("sessions", "status", &row.status))?,
            title: row.title,
            started_at: row.started_at.map(from_micros),
            completed_at: row.completed_at.map(from_micros),
            parent_id: row.parent_id.map(SessionId),
            error_message: row.error_message,
            created_at: from_micros(row.created_at),
            child_count: u32::try_from(row.child_count).unwrap_or(u32::MAX),
        })
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
    let rows = run!(conn, fetch_all OfEntityRow, BY_ENTITY, tenant_id.0, entity_id.0, parents_only, limit)?;
    rows.into_iter().map(OfEntity::try_from).collect()
}
