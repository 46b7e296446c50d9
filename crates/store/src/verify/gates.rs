//! Finds rows of gates that no gate can have.

use crate::{
    engine::{Conn, Error, Result, run, statements},
    gate::{Row, gate_select},
};
use domain::{
    gate::Gate,
    id::{GateId, TenantId},
};
use uuid::Uuid;

/// Rows that one read returns.
const PAGE: u32 = 500;
/// Most gates that are reported.
const NAMED_MAX: u32 = 20;

statements! {
    const AFTER: &str = gate_select!("(g.tenant_id, g.id) > ($1, $2) ORDER BY g.tenant_id, g.id LIMIT $3");

    // The statuses are the final ones.
    const WAITING_OF_FINAL_SESSIONS: &str = "SELECT g.tenant_id, g.id, g.session_id FROM gates g JOIN sessions s \
         ON s.tenant_id = g.tenant_id AND s.id = g.session_id WHERE g.state IN ('open', 'held') \
         AND s.status IN ('completed', 'failed', 'abandoned', 'expired') ORDER BY g.tenant_id, g.id LIMIT $1";
}

/// Workspace, gate and session.
type Waiting = (Uuid, Uuid, Uuid);

fn problem(tenant: Uuid, gate: Uuid, what: &str) -> String {
    format!("gates (tenant_id {tenant}, id {gate}): {what}")
}

/// Gates of all workspaces whose columns contradict each other or cannot be read, and gates that wait for a decision
/// although their session is final. Each is a text for people. At most 20 of either kind.
pub async fn impossible_gates(conn: &mut Conn<'_>) -> Result<Vec<String>> {
    let mut problems = Vec::new();
    let mut after = (TenantId(Uuid::nil()), GateId(Uuid::nil()));
    while problems.len() < NAMED_MAX as usize {
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
    problems.truncate(NAMED_MAX as usize);
    let waiting = run!(conn, fetch_all Waiting, WAITING_OF_FINAL_SESSIONS, i64::from(NAMED_MAX))?;
    problems.extend(waiting.into_iter().map(|(tenant, gate, session)| {
        problem(tenant, gate, &format!("it waits for a decision, but its session {session} has ended"))
    }));
    Ok(problems)
}
