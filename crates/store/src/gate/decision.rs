//! Rows of `gate_decisions`. They are added, never changed.

use super::{DecisionRecord, hex_list};
use crate::{
    engine::{Conn, Result, record, run, statements},
    transaction::WriteTx,
};
use domain::{
    Timestamp,
    chain::Digest,
    clock::to_micros,
    gate::Verdict,
    id::{GateId, TenantId, UserId},
};
use std::collections::HashMap;
use uuid::Uuid;

macro_rules! of_gates {
    ($ids:literal) => {
        concat!(
            "SELECT d.gate_id, d.number, d.user_id, d.actor, COALESCE(u.email, '') AS email, d.verdict, d.undoes, d.value, \
             d.value_digest, d.note, d.at, d.entity_version FROM gate_decisions d LEFT JOIN users u ON u.id = d.user_id \
             WHERE d.tenant_id = $1 AND d.gate_id ",
            $ids,
            " ORDER BY d.gate_id, d.number"
        )
    };
}

statements! {
    const INSERT: &str = "INSERT INTO gate_decisions (tenant_id, gate_id, number, user_id, actor, verdict, undoes, value, \
         value_digest, note, at, entity_version) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, \
         (SELECT e.version FROM gates g JOIN entities e ON e.tenant_id = g.tenant_id AND e.id = g.entity_id \
         WHERE g.tenant_id = $1 AND g.id = $2))";
    const OF_GATES_SQLITE: &str = of_gates!("IN (SELECT unhex(value) FROM json_each($2))");
    const OF_GATES_POSTGRES: &str = of_gates!("= ANY($2)");
}

record! {
    struct Row of "gate_decisions" {
        gate_id: GateId,
        number: u32,
        user_id: Option<UserId>,
        actor: String,
        email: String,
        verdict: Option<Verdict>,
        undoes: Option<u32>,
        value: Option<String>,
        value_digest: Digest,
        note: Option<String>,
        at: Timestamp,
        entity_version: Option<u64>,
    }
}

impl From<Row> for DecisionRecord {
    fn from(row: Row) -> Self {
        Self {
            number: row.number,
            user_id: row.user_id,
            actor: row.actor,
            email: row.email,
            verdict: row.verdict,
            undoes: row.undoes,
            value: row.value,
            value_digest: row.value_digest,
            note: row.note,
            at: row.at,
            entity_version: row.entity_version,
        }
    }
}

/// Every decision on these gates, oldest first, undone ones included.
pub async fn decisions(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    ids: &[GateId],
) -> Result<HashMap<GateId, Vec<DecisionRecord>>> {
    let rows: Vec<Row> = match conn {
        Conn::Sqlite(c) => c.fetch_all::<Row>(OF_GATES_SQLITE, &[&tenant_id.0, &hex_list(ids)])?,
        Conn::Postgres(c) => {
            let ids: Vec<Uuid> = ids.iter().map(|id| id.0).collect();
            sqlx::query_as(OF_GATES_POSTGRES).bind(tenant_id.0).bind(ids).fetch_all(&mut **c).await?
        }
    };
    let mut all: HashMap<GateId, Vec<DecisionRecord>> = HashMap::new();
    for row in rows {
        all.entry(row.gate_id).or_default().push(row.into());
    }
    Ok(all)
}

/// Records a decision. The gate must be locked: its number is the next one.
pub async fn add_decision(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    id: GateId,
    decision: &DecisionRecord,
) -> Result<()> {
    run!(
        tx.conn(),
        execute,
        INSERT,
        tenant_id.0,
        id.0,
        i64::from(decision.number),
        decision.user_id.map(|id| id.0),
        decision.actor.as_str(),
        decision.verdict.map(Verdict::as_str),
        decision.undoes.map(i64::from),
        decision.value.as_deref(),
        &decision.value_digest.0[..],
        decision.note.as_deref(),
        to_micros(decision.at),
    )?;
    Ok(())
}
