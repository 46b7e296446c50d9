//! Events and sessions for the unit tests of this crate.

#![expect(clippy::unwrap_used, reason = "compiled for tests only")]

use domain::{
    event::EventRole,
    session::{Status, Type},
};
use serde_json::value::RawValue;
use wire::{event::Event, session::Session};

fn json(text: &str) -> Box<RawValue> {
    RawValue::from_string(text.to_owned()).unwrap()
}

/// An event; each sequence is one second after the previous one.
pub fn event(sequence: u64, kind: &str, content: &str, metadata: &str) -> Event {
    let at = "2026-11-21T07:00:00Z".parse::<domain::Timestamp>().unwrap() + chrono::TimeDelta::seconds(sequence as i64);
    Event {
        id: format!("01935f00-0000-7000-8000-{sequence:012}").parse().unwrap(),
        sequence,
        kind: kind.to_owned(),
        role: EventRole::Agent,
        content: json(content),
        metadata: json(metadata),
        thread_id: None,
        external_event_id: None,
        attempt: Some(1),
        actor: "token:t".into(),
        at,
        recorded_at: at,
        digest: "00".repeat(32),
    }
}

/// A tool call.
pub fn call(sequence: u64, id: &str, tool: &str) -> Event {
    let content =
        format!(r#"[{{"type":"tool-call","toolCallId":"{id}","toolName":"{tool}","input":{{"query":"x"}}}}]"#);
    event(sequence, "agent.tool_call", &content, "{}")
}

/// The result of a tool call.
pub fn answer(sequence: u64, id: &str, output: &str) -> Event {
    let content = format!(r#"[{{"type":"tool-result","toolCallId":"{id}","toolName":"find","output":{output}}}]"#);
    event(sequence, "agent.tool_result", &content, "{}")
}

/// A completed session.
pub fn session() -> Session {
    let at = "2026-11-21T07:00:00Z".parse::<domain::Timestamp>().unwrap();
    Session {
        id: "01935f00-0000-7000-8000-000000000051".parse().unwrap(),
        session_type: Type::Agent,
        status: Status::Completed,
        end_reason: None,
        action_id: Some("01935f00-0000-7000-8000-0000000000a1".parse().unwrap()),
        action_slug: Some("review-inbox".into()),
        agent_slug: Some("scout".into()),
        entity_id: None,
        source: None,
        title: "Review the inbox".into(),
        input: None,
        metadata: json("{}"),
        result: None,
        result_left_out: false,
        usage: None,
        error: None,
        parent_id: None,
        waits_for: None,
        retry_of: None,
        created_by: "user:u".into(),
        attempt: 1,
        attempts_max: 3,
        lease_expires_at: None,
        deadline_at: None,
        tags: Vec::new(),
        assignee_id: None,
        head_sequence: 4,
        head_digest: "ab".repeat(32),
        created_at: at,
        updated_at: at,
        started_at: Some(at),
        completed_at: Some(at),
        duration_ms: Some(0),
    }
}
