//! Which workers are connected. A claim and a heartbeat show that a worker is there; the time is stored, so that any
//! server of a database can tell.

mod recent;
mod see;

pub use see::{claim_seen, see, see_again};
pub use store::AgentWorkers;

pub(crate) use recent::RecentlySeen;

use crate::Result;
use chrono::TimeDelta;
use domain::{Timestamp, id::TenantId};
use store::Conn;

/// Workers that were seen within this time are connected, in seconds. One that waits for work is recorded four times in
/// it. One that holds a session is connected until its lease ends.
const CONNECTED_SECONDS: i64 = 60;

/// The workers by agent. The agent of those that take sessions of any agent is empty.
pub(crate) async fn by_agent_on(conn: &mut Conn<'_>, tenant_id: TenantId, now: Timestamp) -> Result<Vec<AgentWorkers>> {
    let mut workers = store::worker::by_agent(conn, tenant_id, now - TimeDelta::seconds(CONNECTED_SECONDS)).await?;
    // A worker with a long lease is recorded ahead of time.
    workers.iter_mut().for_each(|of| of.seen_at = of.seen_at.min(now));
    Ok(workers)
}
