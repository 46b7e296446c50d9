//! Rows of `gate_snoozes`: a gate is hidden from one reviewer's inbox until a time.

use super::hex_list;
use crate::{
    engine::{Conn, Result, run, statements},
    transaction::WriteTx,
};
use domain::{
    Timestamp,
    clock::{from_micros, to_micros},
    id::{GateId, TenantId, UserId},
};
use std::collections::HashMap;
use uuid::Uuid;

macro_rules! until {
    ($ids:literal) => {
        concat!(
            "SELECT gate_id, until FROM gate_snoozes WHERE tenant_id = $1 AND gate_id ",
            $ids,
            " AND user_id = $3 AND until > $4"
        )
    };
}

statements! {
    const SNOOZE: &str = "INSERT INTO gate_snoozes (tenant_id, gate_id, user_id, until) VALUES ($1, $2, $3, $4) \
         ON CONFLICT (tenant_id, gate_id, user_id) DO UPDATE SET until = excluded.until";
    const UNSNOOZE: &str = "DELETE FROM gate_snoozes WHERE tenant_id = $1 AND gate_id = $2 AND user_id = $3";
    const UNTIL_SQLITE: &str = until!("IN (SELECT unhex(value) FROM json_each($2))");
    const UNTIL_POSTGRES: &str = until!("= ANY($2)");
}

/// Hides a gate from one person's inbox until `until`.
pub async fn snooze(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    id: GateId,
    user_id: UserId,
    until: Timestamp,
) -> Result<()> {
    run!(tx.conn(), execute, SNOOZE, tenant_id.0, id.0, user_id.0, to_micros(until))?;
    Ok(())
}

/// Ends the snooze.
pub async fn unsnooze(tx: &mut WriteTx<'_>, tenant_id: TenantId, id: GateId, user_id: UserId) -> Result<()> {
    run!(tx.conn(), execute, UNSNOOZE, tenant_id.0, id.0, user_id.0)?;
    Ok(())
}

/// Until when this person has snoozed these gates. Gates that are not snoozed are left out.
pub async fn snoozed_until(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    ids: &[GateId],
    user_id: UserId,
    now: Timestamp,
) -> Result<HashMap<GateId, Timestamp>> {
    type Row = (Uuid, i64);
    let now = to_micros(now);
    let rows: Vec<Row> = match conn {
        Conn::Sqlite(c) => c.fetch_all::<Row>(UNTIL_SQLITE, &[&tenant_id.0, &hex_list(ids), &user_id.0, &now])?,
        Conn::Postgres(c) => {
            let ids: Vec<Uuid> = ids.iter().map(|id| id.0).collect();
            sqlx::query_as(UNTIL_POSTGRES)
                .bind(tenant_id.0)
                .bind(ids)
                .bind(user_id.0)
                .bind(now)
                .fetch_all(&mut **c)
                .await?
        }
    };
    Ok(rows.into_iter().map(|(id, until)| (GateId(id), from_micros(until))).collect())
}
