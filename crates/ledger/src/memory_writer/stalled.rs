//! Writers that wait after failures, or that have sessions which wait: until a time, or for a person.

use crate::Result;
use domain::{Timestamp, id::TenantId};
use store::{Conn, memory_writer::StalledRecord};

/// Most writers of one answer.
const STALLED_MAX: u32 = 50;

/// The writers of the workspace that wait after failures, or that have sessions which wait, by agent. A time of a next
/// try that has passed is left out.
pub(crate) async fn stalled_on(conn: &mut Conn<'_>, tenant_id: TenantId, now: Timestamp) -> Result<Vec<StalledRecord>> {
    let found = store::memory_writer::stalled(conn, tenant_id, STALLED_MAX).await?;
    Ok(found.into_iter().map(|writer| without_past_retry(writer, now)).collect())
}

/// The writer of one agent, if it waits after failures or has sessions which wait.
pub(crate) async fn stalled_of_on(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    agent: &str,
    now: Timestamp,
) -> Result<Option<StalledRecord>> {
    let found = store::memory_writer::stalled_of(conn, tenant_id, agent).await?;
    Ok(found.map(|writer| without_past_retry(writer, now)))
}

/// The writer without a time of a next try that has passed.
fn without_past_retry(writer: StalledRecord, now: Timestamp) -> StalledRecord {
    StalledRecord { retry_at: writer.retry_at.filter(|at| *at > now), ..writer }
}
