//! Rows of `gates`, and the gate that a row is.

use super::state::{Columns, state};
use crate::engine::{Error, Result, record};
use domain::{
    chain::Digest,
    clock::from_micros,
    gate::{Gate, GateKind, GateState, Principal, Task, Verdict},
    id::{ActionId, EntityId, GateId, SessionId, TenantId, UserId},
};
use uuid::Uuid;

macro_rules! gate_select {
    ($rest:expr) => {
        concat!(
            "SELECT g.tenant_id, g.id, g.session_id, g.action_id, g.entity_id, g.agent_slug, g.kind, g.state, g.title, g.task, \
             g.task_digest, g.similar_key, g.criteria, g.score, g.flags, g.attempt, g.quorum, g.self_approval, g.requested_by, \
             g.requester_id, g.opened_at, g.order_at, g.due_at, g.remind_at, g.reminded_at, g.escalate_at, g.escalate_to, g.escalated_at, \
             g.held_until, g.settled_at, g.outcome, a.name AS action_name, e.title AS entity_title FROM gates g \
             LEFT JOIN actions a ON a.tenant_id = g.tenant_id AND a.id = g.action_id \
             LEFT JOIN entities e ON e.tenant_id = g.tenant_id AND e.id = g.entity_id WHERE ",
            $rest
        )
    };
}
pub(crate) use gate_select;

record! {
    pub(crate) struct Row of "gates" {
        tenant_id: Uuid,
        id: Uuid,
        session_id: Uuid,
        action_id: Option<Uuid>,
        entity_id: Option<Uuid>,
        agent_slug: Option<String>,
        kind: String,
        state: String,
        title: String,
        task: String,
        task_digest: Vec<u8>,
        similar_key: String,
        criteria: Option<String>,
        score: Option<f64>,
        flags: String,
        attempt: i64,
        quorum: i64,
        self_approval: bool,
        requested_by: String,
        requester_id: Option<Uuid>,
        opened_at: i64,
        order_at: i64,
        due_at: Option<i64>,
        remind_at: Option<i64>,
        reminded_at: Option<i64>,
        escalate_at: Option<i64>,
        escalate_to: Option<String>,
        escalated_at: Option<i64>,
        held_until: Option<i64>,
        settled_at: Option<i64>,
        outcome: Option<String>,
        action_name: Option<String>,
        entity_title: Option<String>,
    }
}

impl Row {
    /// The key of the row, which is readable even if no gate can have the row.
    pub(crate) const fn key(&self) -> (TenantId, GateId) {
        (TenantId(self.tenant_id), GateId(self.id))
    }
}

impl TryFrom<Row> for Gate {
    type Error = Error;

    fn try_from(row: Row) -> Result<Self> {
        let bad = |column, value: &dyn std::fmt::Debug| Error::inconsistent("gates", column, value);
        let outcome = match &row.outcome {
            None => None,
            Some(text) => Some(Verdict::parse(text).ok_or_else(|| bad("outcome", text))?),
        };
        let state = state(Columns {
            state: GateState::parse(&row.state).ok_or_else(|| bad("state", &row.state))?,
            outcome,
            held_until: row.held_until.map(from_micros),
            settled_at: row.settled_at.map(from_micros),
        })?;
        let escalate_to = match &row.escalate_to {
            None => None,
            Some(text) => Some(Principal::parse(text).ok_or_else(|| bad("escalate_to", text))?),
        };
        Ok(Self {
            tenant_id: TenantId(row.tenant_id),
            id: GateId(row.id),
            session_id: SessionId(row.session_id),
            action_id: row.action_id.map(ActionId),
            entity_id: row.entity_id.map(EntityId),
            agent_slug: row.agent_slug,
            kind: GateKind::parse(&row.kind).ok_or_else(|| bad("kind", &row.kind))?,
            state,
            title: row.title,
            task: Task::parse(&row.task).map_err(|_| bad("task", &row.task))?,
            task_digest: Digest::from_slice(&row.task_digest)
                .ok_or_else(|| bad("task_digest", &row.task_digest.len()))?,
            similar_key: row.similar_key,
            criteria: row.criteria,
            score: row.score,
            flags: serde_json::from_str(&row.flags).map_err(|_| bad("flags", &row.flags))?,
            attempt: u32::try_from(row.attempt).map_err(|_| bad("attempt", &row.attempt))?,
            quorum: u32::try_from(row.quorum).map_err(|_| bad("quorum", &row.quorum))?,
            self_approval: row.self_approval,
            requested_by: row.requested_by,
            requester_id: row.requester_id.map(UserId),
            opened_at: from_micros(row.opened_at),
            order_at: row.order_at,
            due_at: row.due_at.map(from_micros),
            remind_at: row.remind_at.map(from_micros),
            reminded_at: row.reminded_at.map(from_micros),
            escalate_at: row.escalate_at.map(from_micros),
            escalate_to,
            escalated_at: row.escalated_at.map(from_micros),
            action_name: row.action_name,
            entity_title: row.entity_title,
        })
    }
}

pub(super) fn record(row: Option<Row>) -> Result<Option<Gate>> {
    row.map(Gate::try_from).transpose()
}

pub(super) fn records(rows: Vec<Row>) -> Result<Vec<Gate>> {
    rows.into_iter().map(Gate::try_from).collect()
}

/// Ids as the engine takes a list of them.
pub(super) fn hex_list(ids: &[GateId]) -> String {
    hex_uuids(ids.iter().map(|id| id.0))
}

pub(super) fn hex_uuids(ids: impl Iterator<Item = Uuid>) -> String {
    let hex: Vec<String> = ids.map(|id| id.simple().to_string()).collect();
    serde_json::Value::from(hex).to_string()
}
