//! Rows of `telemetry_opt_in`: whether a workspace shares numbers for training, and when its people were asked.

use crate::{
    engine::{Conn, Result, record, run, statements},
    transaction::WriteTx,
};
use domain::{Timestamp, clock::to_micros, id::TenantId, telemetry::OptIn};

statements! {
    const FIND: &str = "SELECT enabled, last_prompted_at, installed_at FROM telemetry_opt_in WHERE tenant_id = $1";
    const SAVE: &str = "INSERT INTO telemetry_opt_in (tenant_id, enabled, last_prompted_at, installed_at) \
         VALUES ($1, $2, $3, $4) ON CONFLICT (tenant_id) DO UPDATE SET enabled = excluded.enabled";
    const PROMPT_FIRST: &str = "INSERT INTO telemetry_opt_in (tenant_id, last_prompted_at, installed_at) \
         VALUES ($1, $2, $2) ON CONFLICT DO NOTHING";
    const PROMPT_AGAIN: &str = "UPDATE telemetry_opt_in SET last_prompted_at = $2 WHERE tenant_id = $1 \
         AND enabled IS NULL AND (last_prompted_at <= $3 OR last_prompted_at IS NULL)";
}

record! {
    struct Row of "telemetry_opt_in" {
        enabled: Option<bool>,
        last_prompted_at: Option<Timestamp>,
        installed_at: Timestamp,
    }
}

/// The answer of a workspace; `None` if its people were never asked.
pub async fn find(conn: &mut Conn<'_>, tenant_id: TenantId) -> Result<Option<OptIn>> {
    let row = run!(conn, fetch_optional Row, FIND, tenant_id.0)?;
    Ok(row.map(|Row { enabled, last_prompted_at, installed_at }| OptIn { enabled, last_prompted_at, installed_at }))
}

/// Stores an answer. The times of a workspace that has a row stay.
pub async fn save(tx: &mut WriteTx<'_>, tenant_id: TenantId, opt_in: OptIn) -> Result<()> {
    let (asked, installed) = (opt_in.last_prompted_at.map(to_micros), to_micros(opt_in.installed_at));
    run!(tx.conn(), execute, SAVE, tenant_id.0, opt_in.enabled, asked, installed)?;
    Ok(())
}

/// Records that people are asked now, if they were not asked since this time and no one has answered. Returns whether
/// they are to be asked: of several callers at once one gets true.
pub async fn prompt(tx: &mut WriteTx<'_>, tenant_id: TenantId, (now, since): (Timestamp, Timestamp)) -> Result<bool> {
    let (now, since) = (to_micros(now), to_micros(since));
    if run!(tx.conn(), execute, PROMPT_FIRST, tenant_id.0, now)? == 1 {
        return Ok(true);
    }
    Ok(run!(tx.conn(), execute, PROMPT_AGAIN, tenant_id.0, now, since)? == 1)
}
