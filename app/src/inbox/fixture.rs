//! Inbox items for the unit tests of this crate.

#![expect(clippy::unwrap_used, reason = "compiled for tests only")]

use domain::{
    gate::{GateKind, GateState, ReviewerKind},
    id::UserId,
    memory_writer::turn::Taint,
};
use serde_json::{Value, json, value::RawValue};
use wire::{
    approval::{Approval, ApprovalDetail, Reviewer},
    history::HistoryTurn,
};

pub fn raw(value: &Value) -> Box<RawValue> {
    RawValue::from_string(value.to_string()).unwrap()
}

/// The id of a person.
pub fn person(n: u32) -> UserId {
    format!("01935f03-0000-7000-8000-{n:012}").parse().unwrap()
}

fn item(n: u32, kind: GateKind, title: &str, task: Value, proposed: Option<Value>) -> Approval {
    let at = "2026-11-21T07:00:00Z".parse().unwrap();
    Approval {
        id: format!("01935f00-0000-7000-8000-{n:012}").parse().unwrap(),
        kind,
        state: GateState::Open,
        session_id: format!("01935f01-0000-7000-8000-{n:012}").parse().unwrap(),
        action_id: None,
        action_name: Some("Qualify leads".into()),
        agent_slug: Some("scout".into()),
        entity_id: None,
        entity_title: None,
        title: title.into(),
        task: raw(&task),
        proposed: proposed.map(|value| raw(&value)),
        digest: format!("{n:064x}"),
        score: None,
        flags: Vec::new(),
        similar_key: kind.as_str().into(),
        reviewers: vec![Reviewer { kind: ReviewerKind::Group, id: None, name: "legal".into() }],
        quorum: 1,
        approvals: 0,
        may_decide: true,
        approved_by_caller: false,
        may_not_decide_because: None,
        requested_by: "system".into(),
        opened_at: at,
        due_at: None,
        reminded_at: None,
        escalated_at: None,
        snoozed_until: None,
        held_until: None,
        settled_at: None,
        decision: None,
    }
}

/// An output gate for a record with these proposed values.
pub fn output(n: u32, values: Value) -> Approval {
    let task = json!({"kind": "output", "stagedOutput": values});
    Approval {
        entity_id: Some("01935f02-0000-7000-8000-000000000001".parse().unwrap()),
        entity_title: Some(format!("Acme Corp {n}")),
        ..item(n, GateKind::Output, "Qualify leads", task, Some(values))
    }
}

/// A tool gate for a call with these arguments.
pub fn tool(n: u32, input: Value) -> Approval {
    let call = json!({"toolCallId": "c1", "toolName": "send_mail", "toolInput": input});
    item(n, GateKind::Tool, "send_mail", json!({"kind": "tool", "pausedToolCall": call}), Some(input))
}

/// A question gate with one message.
pub fn question(n: u32) -> Approval {
    let task = json!({"kind": "question", "question": {"message": "Which region?"}});
    item(n, GateKind::Question, "Which region?", task, None)
}

/// A memory gate that adds one line with one turn.
pub fn memory(n: u32) -> Approval {
    let turn = json!({"session": "0193b0a0-0000-7000-8000-000000000001", "sequence": 3});
    let line = json!({"line": 3, "session": "0193b0a0-0000-7000-8000-000000000001", "sequence": 3});
    let body = json!({"body": "# Alice\n\n- Plays chess\n", "baseVersion": 1});
    let task = json!({"kind": "memory", "path": "people/shiftbook-alice.md", "baseVersion": 1, "base": "# Alice\n\n",
        "values": body, "evidence": [line], "turns": [turn], "reason": "She said so.", "runId": "r"});
    item(n, GateKind::Memory, "Memory: people/shiftbook-alice.md", task, Some(body))
}

/// A turn of Alice in the session that [`memory`] names.
pub fn turn(sequence: u64, text: &str) -> HistoryTurn {
    HistoryTurn {
        session_id: "0193b0a0-0000-7000-8000-000000000001".parse().unwrap(),
        sequence,
        at: "2026-11-21T06:59:00Z".parse().unwrap(),
        taint: Taint::Person,
        speaker: Some("Alice".into()),
        tool: None,
        text: text.into(),
        channel: None,
    }
}

/// The detail of an item without record, fields, decisions or denials.
pub fn detail(approval: Approval) -> ApprovalDetail {
    ApprovalDetail {
        approval,
        entity: None,
        entity_then: None,
        fields: Vec::new(),
        dimensions: Vec::new(),
        decisions: Vec::new(),
        denials: Vec::new(),
        denials_max: 3,
        handovers: Vec::new(),
        undo_seconds: 5,
        document: None,
        turns: Vec::new(),
    }
}
