//! Rows of `memory_channels`: the channels that documents come from.

use crate::{
    engine::{Conn, Result, Texts, run},
    transaction::WriteTx,
};
use domain::id::{MemoryDocumentId, TenantId};
use std::collections::HashSet;
use uuid::Uuid;

macro_rules! of_channel {
    ($ids:literal) => {
        concat!(
            "SELECT document_id FROM memory_channels WHERE tenant_id = $1 AND document_id ",
            $ids,
            " AND platform = $3 AND channel = $4"
        )
    };
}

const ADD: &str = "INSERT INTO memory_channels (tenant_id, document_id, platform, channel) VALUES ($1, $2, $3, $4) \
     ON CONFLICT (tenant_id, document_id, platform, channel) DO NOTHING";
const DROP: &str = "DELETE FROM memory_channels WHERE tenant_id = $1 AND document_id = $2";
const OF_CHANNEL_SQLITE: &str = of_channel!("IN (SELECT unhex(value) FROM json_each($2))");
const OF_CHANNEL_POSTGRES: &str = of_channel!("= ANY($2)");

pub(crate) const SQL: Texts = &[("memory::channel::ADD", ADD), ("memory::channel::DROP", DROP)];
pub(crate) const SQLITE_SQL: Texts = &[("memory::channel::OF_CHANNEL_SQLITE", OF_CHANNEL_SQLITE)];
pub(crate) const POSTGRES_SQL: Texts = &[("memory::channel::OF_CHANNEL_POSTGRES", OF_CHANNEL_POSTGRES)];

/// Records that a document comes from a channel, given as platform and id. A repeat changes nothing.
pub async fn add_channel(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    id: MemoryDocumentId,
    (platform, channel): (&str, &str),
) -> Result<()> {
    run!(tx.conn(), execute, ADD, tenant_id.0, id.0, platform, channel)?;
    Ok(())
}

/// Removes what is known of the channels of a document.
pub async fn drop_channels(tx: &mut WriteTx<'_>, tenant_id: TenantId, id: MemoryDocumentId) -> Result<()> {
    run!(tx.conn(), execute, DROP, tenant_id.0, id.0)?;
    Ok(())
}

/// Those of the documents that come from a channel.
pub async fn of_channel(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    ids: &[MemoryDocumentId],
    (platform, channel): (&str, &str),
) -> Result<HashSet<MemoryDocumentId>> {
    type Row = (Uuid,);
    let rows: Vec<Row> = match conn {
        Conn::Sqlite(c) => {
            let ids: Vec<String> = ids.iter().map(|id| id.0.simple().to_string()).collect();
            let ids = serde_json::Value::from(ids).to_string();
            c.fetch_all::<Row>(OF_CHANNEL_SQLITE, &[&tenant_id.0, &ids, &platform, &channel])?
        }
        Conn::Postgres(c) => {
            let ids: Vec<Uuid> = ids.iter().map(|id| id.0).collect();
            let query = sqlx::query_as(OF_CHANNEL_POSTGRES).bind(tenant_id.0).bind(ids);
            query.bind(platform).bind(channel).fetch_all(&mut **c).await?
        }
    };
    Ok(rows.into_iter().map(|(id,)| MemoryDocumentId(id)).collect())
}
