//! Realistic sessions, events and actions for the gallery.

use chrono::{DateTime, TimeDelta, Utc};
use domain::{
    action::{ActionStatus, OutputType},
    event::EventRole,
    id::{ActionId, EventId, SessionId, TenantId, TokenId, UserId},
    member::MemberStatus,
    role::{Role, TokenScope},
    session::{EndReason, Status, Type},
};
use serde_json::{Value, json, value::RawValue};
use uuid::Uuid;
use wire::{
    access::Member,
    action::Action,
    event::Event,
    me::{Me, Tenant, User},
    session::{Session, SessionError},
    settings::Token,
};

pub fn now() -> DateTime<Utc> {
    DateTime::from_timestamp(1_795_247_100, 0).unwrap_or_default()
}

pub fn ago(minutes: i64) -> DateTime<Utc> {
    now() - TimeDelta::minutes(minutes)
}

pub fn raw(value: &Value) -> Box<RawValue> {
    RawValue::from_string(value.to_string()).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

/// Reads a UUID that this file writes. A mistake in one shows as zeros.
pub fn uuid(text: &str) -> Uuid {
    text.parse().unwrap_or_default()
}

fn user(n: u32) -> UserId {
    UserId(uuid(&format!("01935f04-0000-7000-8000-{n:012}")))
}

pub fn me(role: Role) -> Me {
    Me {
        tenant: Tenant {
            id: TenantId(uuid("01935f03-0000-7000-8000-000000000001")),
            slug: "northwind".into(),
            name: "Northwind Trading".into(),
        },
        user: Some(User { id: user(1), email: "ada@northwind.example".into(), name: String::new() }),
        token: None,
        role,
        scope: None,
    }
}

pub fn session(n: u32, status: Status, title: &str, minutes: i64) -> Session {
    let started = (!matches!(status, Status::Draft | Status::Pending)).then(|| ago(minutes - 1));
    let completed = status.is_final().then(|| ago(minutes / 2));
    Session {
        id: SessionId(uuid(&format!("01935f00-0000-7000-8000-{n:012}"))),
        session_type: if n % 7 == 3 { Type::Mixed } else { Type::Agent },
        status,
        end_reason: match status {
            Status::Completed => Some(EndReason::Done),
            Status::Failed => Some(EndReason::Error),
            Status::Abandoned => Some(EndReason::Cancelled),
            Status::Expired => Some(EndReason::TimedOut),
            _ => None,
        },
        action_id: Some(ActionId(uuid("01935f00-0000-7000-8000-0000000000a1"))),
        action_slug: Some("triage-support-mail".into()),
        agent_slug: Some(["scout", "librarian", "ledger-clerk"][n as usize % 3].into()),
        entity_id: None,
        title: title.into(),
        input: Some(raw(&json!({"mailbox": "support@northwind.example", "since": "2026-11-20"}))),
        metadata: raw(&json!({})),
        result: (status == Status::Completed).then(|| raw(&json!({"answered": 12, "escalated": 2}))),
        result_left_out: false,
        usage: (n % 2 == 1).then(|| raw(&json!({"inputTokens": 48_213, "outputTokens": 3_120, "costUsd": 0.1934}))),
        error: (status == Status::Failed).then(|| SessionError {
            message:
                "IMAP server closed the connection after 3 attempts: [UNAVAILABLE] Too many simultaneous connections"
                    .into(),
            code: Some("imap_unavailable".into()),
        }),
        source: None,
        parent_id: None,
        waits_for: None,
        retry_of: None,
        created_by: "user:u1".into(),
        attempt: u32::from(started.is_some()),
        attempts_max: 3,
        lease_expires_at: None,
        deadline_at: None,
        tags: Vec::new(),
        assignee_id: None,
        head_sequence: 18 + u64::from(n) * 7,
        head_digest: "9f2c41d7e05b8a63".repeat(4),
        created_at: ago(minutes),
        updated_at: completed.unwrap_or_else(|| ago(minutes / 3)),
        started_at: started,
        completed_at: completed,
        duration_ms: completed.zip(started).and_then(|(c, s)| u64::try_from((c - s).num_milliseconds()).ok()),
    }
}

pub fn event(sequence: u64, millis: i64, kind: &str, content: Value, metadata: Value) -> Event {
    let at = ago(20) + TimeDelta::milliseconds(millis);
    Event {
        id: EventId(uuid(&format!("01935f01-0000-7000-8000-{sequence:012}"))),
        sequence,
        kind: kind.into(),
        role: EventRole::System,
        content: raw(&content),
        metadata: raw(&metadata),
        thread_id: None,
        external_event_id: None,
        attempt: Some(1),
        actor: "token:t".into(),
        at,
        recorded_at: at,
        digest: "00".repeat(32),
    }
}

pub fn text(text: &str) -> Value {
    json!([{ "type": "text", "text": text }])
}

pub fn call(id: &str, tool: &str, input: Value) -> Value {
    json!([{ "type": "tool-call", "toolCallId": id, "toolName": tool, "input": input }])
}

pub fn answer(id: &str, tool: &str, output: Value) -> Value {
    json!([{ "type": "tool-result", "toolCallId": id, "toolName": tool, "output": output }])
}

fn change(from: &str, to: &str, reason: &str) -> Value {
    json!({ "from": from, "to": to, "reason": reason })
}

/// A log with every kind of event.
pub fn log() -> Vec<Event> {
    let none = || json!([]);
    let script = vec![
        (0, "session.created", none(), json!({"sessionType": "agent"})),
        (5, "session.status_change", none(), change("draft", "pending", "dispatched")),
        (42_000, "session.claimed", none(), json!({"attempt": 1, "workerName": "worker-3"})),
        (42_001, "session.status_change", none(), change("pending", "running", "claimed by a worker")),
        (
            42_800,
            "user.message",
            text("Please go through what came in since yesterday. Anything about **refunds** comes to me first."),
            json!({}),
        ),
        (
            44_200,
            "agent.thinking",
            text(
                "The inbox may hold mail in several languages. I should fetch headers first, then decide which bodies I need, so that I stay within the budget. Refunds are to be escalated rather than answered.",
            ),
            json!({}),
        ),
        (
            45_000,
            "agent.tool_call",
            call(
                "c1",
                "search_mail",
                json!({"mailbox": "support@northwind.example", "since": "2026-11-20", "limit": 50}),
            ),
            json!({}),
        ),
        (
            45_340,
            "agent.tool_result",
            answer(
                "c1",
                "search_mail",
                json!({"results": (0..14).map(|n| json!({"id": n, "subject": format!("Order {n}")})).collect::<Vec<_>>()}),
            ),
            json!({}),
        ),
        (
            46_000,
            "agent.message",
            text(
                "Found **14 messages**. Three of them mention a refund:\n\n1. Order `4711`: wrong size, sent back on Tuesday\n2. Order `4720`: never arrived ([tracking](https://track.example/4720))\n3. Order `4733`: charged twice\n\n| order | amount | days open |\n|---|---|---|\n| 4711 | €39.90 | 4 |\n| 4720 | €112.00 | 9 |\n\nI will answer the rest now.",
            ),
            json!({}),
        ),
        (
            47_100,
            "agent.tool_call",
            call("c2", "read_order", json!({"order": 4733, "fields": ["payments", "customer"]})),
            json!({}),
        ),
        (
            49_900,
            "agent.tool_result",
            json!([{ "type": "tool-result", "toolCallId": "c2", "toolName": "read_order", "output": { "type": "error-text", "value": "order service answered 503" } }]),
            json!({}),
        ),
        (50_400, "external.event", none(), json!({"source": "statuspage", "title": "Order service degraded"})),
        (52_000, "human.entity_view", none(), json!({"title": "Order 4733"})),
        (53_000, "human.marker", none(), json!({"label": "asked finance about the double charge"})),
        (54_000, "session.status_change", none(), change("running", "waiting_human", "approve three refunds")),
        (
            304_000,
            "session.status_change",
            none(),
            change("waiting_human", "pending", "approved by ada@northwind.example"),
        ),
        (306_000, "session.status_change", none(), change("pending", "running", "claimed by a worker")),
        (
            310_000,
            "agent.tool_call",
            call(
                "c3",
                "send_mail",
                json!({"to": "lee@customer.example", "subject": "Re: Wrong size", "body": "Hello Lee, …"}),
            ),
            json!({}),
        ),
        (312_200, "agent.tool_result", answer("c3", "send_mail", json!("queued as 7f31")), json!({})),
        (
            313_000,
            "agent.message",
            text(
                "مرحبا! تم إرسال الرد 🎉\n\n```rust\nfn main() {\n    println!(\"a code block that is quite a bit longer than the column it has to live in, so that it has to scroll or wrap\");\n}\n```\n\n![a pixel](https://evil.example/pixel.png) <script>alert(1)</script>",
            ),
            json!({}),
        ),
        (314_000, "agent.message", text(&"A very long line without an end ".repeat(320)), json!({})),
        (
            315_000,
            "state.patch",
            json!([{ "type": "patch", "patch": [{"op": "replace", "path": "/stage", "value": "won"}] }]),
            json!({}),
        ),
        (316_000, "acme.build_finished", text("nightly 2291"), json!({"ok": true})),
        (
            317_000,
            "session.error",
            text("IMAP server closed the connection after 3 attempts: [UNAVAILABLE] Too many simultaneous connections"),
            json!({"code": "imap_unavailable", "attempt": 1}),
        ),
        (330_000, "agent.tool_call", call("c4", "search_mail", json!({"query": "refund"})), json!({})),
    ];
    script
        .into_iter()
        .zip(1..)
        .map(|((ms, kind, content, metadata), n)| event(n, ms, kind, content, metadata))
        .collect()
}

/// The end of a long log.
pub fn long_log(from: u64, count: u64) -> Vec<Event> {
    (from..from + count)
        .map(|n| {
            let ms = n as i64 * 900;
            match n % 4 {
                0 => event(n, ms, "agent.message", text(&format!("Step {n} is done. It read `src/lib.rs` and found **{}** places to look at, of which two matter.", n % 13)), json!({})),
                1 => event(n, ms, "agent.tool_call", call(&format!("c{n}"), "read_file", json!({"path": format!("src/part_{n}.rs"), "lines": 200})), json!({})),
                2 => event(n, ms, "agent.tool_result", answer(&format!("c{}", n - 1), "read_file", json!({"lines": ["fn a() {}", "fn b() {}"], "path": "src"})), json!({})),
                _ => event(n, ms, "agent.thinking", text("Next file. The pattern repeats, so a smaller window is enough."), json!({})),
            }
        })
        .collect()
}

pub fn action(n: u32, name: &str, agent: Option<&str>) -> Action {
    Action {
        id: ActionId(uuid(&format!("01935f00-0000-7000-8000-0000000000a{n}"))),
        name: name.into(),
        slug: name.to_lowercase().replace(' ', "-"),
        description:
            "Read what came into the shared mailbox, answer what can be answered, and escalate **refunds** to a person."
                .into(),
        agent_slug: agent.map(str::to_owned),
        assigned_to: Some(user(1)),
        target_entity_id: None,
        output_type: OutputType::Text,
        output_config: raw(&json!({})),
        metadata: raw(&json!({})),
        status: ActionStatus::Active,
        created_at: ago(9_000),
        updated_at: ago(i64::from(n) * 300),
    }
}

pub fn members() -> Vec<Member> {
    [
        (1, "ada@northwind.example", Role::Admin),
        (2, "grace.hopper@northwind.example", Role::Operator),
        (3, "lin@northwind.example", Role::Reviewer),
    ]
    .into_iter()
    .map(|(n, email, role)| Member {
        id: user(n),
        email: email.into(),
        name: String::new(),
        role,
        status: MemberStatus::Active,
        created_at: ago(50_000),
    })
    .collect()
}

pub fn tokens() -> Vec<Token> {
    let token = |n: u32, name: &str, scope, used: Option<i64>, revoked: Option<i64>| Token {
        id: TokenId(uuid(&format!("01935f05-0000-7000-8000-{n:012}"))),
        name: name.into(),
        hint: "sbk_7Qx2".into(),
        role: Role::Operator,
        scope,
        created_at: ago(10_000),
        last_used_at: used.map(ago),
        revoked_at: revoked.map(ago),
        user_id: None,
    };
    vec![
        token(1, "scout on the build machine", Some(TokenScope::Worker), Some(3), None),
        token(2, "nightly export", None, None, None),
        token(3, "old laptop", None, Some(90_000), Some(80_000)),
    ]
}

/// A failure; every second one is acknowledged.
pub fn failure(n: u32) -> wire::failure::Failure {
    let code = ["output_invalid", "timed_out", "lease_exhausted"][n as usize % 3];
    let session = session(n + 1, Status::Failed, "Reconcile the day's payments", 12);
    wire::failure::Failure {
        session_id: session.id,
        title: session.title,
        status: session.status,
        agent_slug: session.agent_slug,
        action_id: session.action_id,
        code: code.into(),
        message: "it was pending for longer than 60 s".into(),
        remediation: domain::failure::remediation(code).into(),
        at: session.updated_at,
        acknowledged_by: None,
        acknowledged_at: (n % 2 == 1).then_some(session.updated_at),
    }
}
