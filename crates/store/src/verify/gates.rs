//! Finds rows of gates that no gate can have.

use crate::{
    engine::{Conn, Error, Result, Texts, run},
    gate::{Row, gate_select},
};
use domain::{
    gate::Gate,
    id::{GateId, TenantId},
    session::Status,
};
use sqlx::AssertSqlSafe;
use uuid::Uuid;

/// Rows that one read returns.
const PAGE: u32 = 500;
/// Most gates that are reported.
const NAMED_MAX: usize = 20;

const AFTER: &str =
    gate_select!("g.tenant_id > $1 OR (g.tenant_id = $1 AND g.id > $2) ORDER BY g.tenant_id, g.id LIMIT $3");

pub(crate) const SQL: Texts = &[("verify::gates::AFTER", AFTER)];

/// The query for gates that wait although their session is final.
fn waiting_of_final_sessions() -> String {
    let final_statuses: Vec<_> =
        Status::ALL.into_iter().filter(|status| status.is_final()).map(|status| status.as_str()).collect();
    format!(
        "SELECT g.tenant_id, g.id, g.session_id FROM gates g JOIN sessions s ON s.tenant_id = g.tenant_id \
         AND s.id = g.session_id WHERE g.state IN ('open', 'held') AND s.status IN ('{}') \
         ORDER BY g.tenant_id, g.id LIMIT {NAMED_MAX}",
        final_statuses.join("', '")
    )
}

pub(crate) fn statements() -> Vec<(&'static str, String)> {
    vec![("verify::gates::waiting_of_final_sessions", waiting_of_final_sessions())]
}

fn problem(tenant: Uuid, gate: Uuid, what: &str) -> String {
    format!("gates (tenant_id {tenant}, id {gate}): {what}")
}

/// Gates of all workspaces whose columns contradict each other or cannot be read, and gates that wait for a decision
/// although their session is final. Each is a text for people. At most 20 of either kind.
pub async fn impossible_gates(conn: &mut Conn<'_>) -> Result<Vec<String>> {
    let mut problems = Vec::new();
    let mut after = (TenantId(Uuid::nil()), GateId(Uuid::nil()));
    while problems.len() < NAMED_MAX {
        let rows = run!(conn, fetch_all Row, AFTER, after.0.0, after.1.0, i64::from(PAGE))?;
        let Some(last) = rows.last() else { break };
        after = last.key();
        for row in rows {
            let (tenant_id, id) = row.key();
            match Gate::try_from(row) {
                Ok(_) => {}
                Err(Error::Inconsistent(what)) => problems.push(problem(tenant_id.0, id.0, &what)),
                Err(error) => return Err(error),
            }
        }
    }
    problems.truncate(NAMED_MAX);
    type Waiting = (Uuid, Uuid, Uuid);
    let sql = waiting_of_final_sessions();
    let waiting: Vec<Waiting> = match conn {
        Conn::Sqlite(c) => c.fetch_all(&sql, &[])?,
        Conn::Postgres(c) => sqlx::query_as(AssertSqlSafe(sql)).fetch_all(&mut **c).await?,
    };
    problems.extend(waiting.into_iter().map(|(tenant, gate, session)| {
        problem(tenant, gate, &format!("it waits for a decision, but its session {session} has ended"))
    }));
    Ok(problems)
}
