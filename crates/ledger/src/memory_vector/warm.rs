//! Reads stored vectors into memory when a server has started.

use crate::{Ledger, Result};
use domain::{id::TenantId, limit::MEMORY_VECTORS_WARM_BYTES_MAX};
use store::Access;

/// Agents that are read at once.
const AGENTS_AT_ONCE: u32 = 500;

/// Reads the vectors of agents into memory, so that the first claims compare all of them: a claim itself reads few. It
/// ends after [`MEMORY_VECTORS_WARM_BYTES_MAX`]. Returns the number of agents. Without an embedder it reads nothing.
pub async fn warm(ledger: &Ledger) -> Result<u64> {
    let vectors = ledger.vectors();
    if vectors.embedder().is_none() {
        return Ok(0);
    }
    let (mut after, mut agents, mut bytes) = (None::<(TenantId, String)>, 0_u64, 0_u64);
    loop {
        let from = after.clone();
        let read = ledger.store().read(Access::System, async move |conn| {
            store::memory::agents_after(conn, from.as_ref(), AGENTS_AT_ONCE).await
        });
        let page = read.await?;
        let is_last = page.len() < AGENTS_AT_ONCE as usize;
        for agent in page {
            if bytes >= MEMORY_VECTORS_WARM_BYTES_MAX {
                return Ok(agents);
            }
            let (vectors, tenant_id, slug) = (vectors.clone(), agent.tenant_id, agent.agent.clone());
            let read =
                ledger.snapshot_for(Access::System, async move |conn| vectors.warm(conn, (tenant_id, &slug)).await);
            bytes += read.await?;
            agents += 1;
            after = Some((agent.tenant_id, agent.agent));
        }
        if is_last {
            return Ok(agents);
        }
    }
}
