//! Gates for tests of rules.

use super::{Definition, Limits, Subject};
use crate::{
    Timestamp,
    clock::from_micros,
    gate::{Gate, GateKind, PausedToolCall, State, Task, canonical_digest},
    id::{GateId, SessionId, TenantId},
};
use chrono::TimeDelta;
use serde_json::{Number, Value, json};
use uuid::Uuid;

pub fn at(minutes: i64) -> Timestamp {
    from_micros(1_796_000_000_000_000) + TimeDelta::minutes(minutes)
}

/// A gate of a call of `refund` with these arguments.
pub fn gate(id: u128, minutes: i64, input: &Value) -> Gate {
    let call = PausedToolCall {
        tool_call_id: "c".into(),
        tool_name: "refund".into(),
        tool_input: input.as_object().cloned().unwrap_or_default(),
    };
    let task = Task::Tool(call);
    Gate {
        tenant_id: TenantId(Uuid::from_u128(1)),
        id: GateId(Uuid::from_u128(id)),
        session_id: SessionId(Uuid::from_u128(id)),
        action_id: None,
        entity_id: None,
        agent_slug: Some("refund-bot".into()),
        kind: GateKind::Tool,
        state: State::Open,
        title: "refund".into(),
        task_digest: canonical_digest(&task.bound_value()),
        task,
        similar_key: "0123456789abcdef".into(),
        criteria: None,
        score: None,
        flags: Vec::new(),
        attempt: 1,
        quorum: 1,
        self_approval: true,
        requested_by: "system".into(),
        requester_id: None,
        opened_at: at(minutes),
        order_at: i64::MAX,
        due_at: None,
        remind_at: None,
        reminded_at: None,
        escalate_at: None,
        escalate_to: None,
        escalated_at: None,
        action_name: None,
        entity_title: None,
    }
}

pub fn refund(id: u128, minutes: i64, amount: f64) -> Gate {
    gate(id, minutes, &json!({ "amount": amount, "currency": "EUR" }))
}

/// A rule for refunds of at most 50 EUR.
pub fn small_refunds() -> Definition {
    let subject = Subject {
        agent: "refund-bot".into(),
        kind: GateKind::Tool,
        tool: Some("refund".into()),
        fields: vec!["amount".into(), "currency".into()],
    };
    let conditions = serde_json::from_value(json!([
        { "field": "amount", "atMost": 50 }, { "field": "currency", "oneOf": ["EUR"] },
    ]));
    let expires_at = at(0) + TimeDelta::days(90);
    let limits = Limits { per_day: 1_000, amount: None, expires_at, canary_percent: 0 };
    Definition { subject, conditions: conditions.unwrap(), limits }
}

pub fn number(value: f64) -> Number {
    Number::from_f64(value).unwrap()
}
