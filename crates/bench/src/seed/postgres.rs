//! Sessions that wait to be claimed, in a server's PostgreSQL database.

pub mod story;

use super::AGENT;
use crate::ids::{Ids, now_micros};
use anyhow::Result;
use sqlx::{Connection as _, PgConnection};
use uuid::Uuid;

const TENANT: &str = "SELECT id FROM tenants LIMIT 1";
const SESSIONS: &str = "INSERT INTO sessions (tenant_id, id, session_type, status, agent_slug, title, input, metadata, created_by, \
     attempts_max, head_digest, created_at, updated_at, queued_at) \
     SELECT $1, id, 'agent', 'pending', $2, 'Compare three suppliers', '{\"order\":4711}', '{}', 'system', 3, \
     decode(repeat('00', 32), 'hex'), $3, $3, $3 FROM UNNEST($4::uuid[]) AS id";
const ANALYZE: &str = "ANALYZE sessions";

/// Adds this many pending sessions.
pub async fn pending(url: &str, count: usize) -> Result<()> {
    let mut connection = PgConnection::connect(url).await?;
    let tenant_id: Uuid = sqlx::query_scalar(TENANT).fetch_one(&mut connection).await?;
    let mut ids = Ids::new();
    let ids: Vec<Uuid> = (0..count).map(|_| ids.next()).collect();
    sqlx::query(SESSIONS).bind(tenant_id).bind(AGENT).bind(now_micros()).bind(ids).execute(&mut connection).await?;
    // A table that grew by bulk has no statistics yet; the daemon would be late for a load of seconds.
    sqlx::query(ANALYZE).execute(&mut connection).await?;
    connection.close().await?;
    Ok(())
}
