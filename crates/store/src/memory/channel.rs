//! Rows of `memory_channels`: the channels that documents come from.

use crate::{
    engine::{Result, run, statements},
    transaction::WriteTx,
};
use domain::id::{MemoryDocumentId, TenantId};

statements! {
    const ADD: &str = "INSERT INTO memory_channels (tenant_id, document_id, platform, channel) VALUES ($1, $2, $3, $4) \
         ON CONFLICT (tenant_id, document_id, platform, channel) DO NOTHING";
    const DROP: &str = "DELETE FROM memory_channels WHERE tenant_id = $1 AND document_id = $2";
}

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
