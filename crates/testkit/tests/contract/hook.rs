//! Hooks of coding agents: one session for each session of the agent, with the agent's status.

use chrono::TimeDelta;
use domain::{
    Scope, Timestamp,
    hook::Source,
    id::SessionId,
    role::Role,
    session::{EndReason, Session, Status, Type},
};
use futures_util::future::join_all;
use ledger::{
    Error, auth,
    hook::{Answer, Hook, record},
    human,
    session::{self, Claim, ListSessions, NewSession},
    token,
};
use serde_json::{Value, json};
use std::time::Duration;
use testkit::{Fixture, on_both_engines};
use uuid::Uuid;

const CLAUDE_CODE: &str = include_str!("../../../domain/fixtures/hooks/claude-code.jsonl");
const MORE: &str = include_str!("../../../domain/fixtures/hooks/claude-code-more.jsonl");
const CODEX: &str = include_str!("../../../domain/fixtures/hooks/codex.jsonl");

on_both_engines!(
    a_recorded_session_becomes_one_session_with_its_statuses_and_transcript,
    sending_every_hook_again_adds_nothing,
    hooks_at_the_same_instant_make_one_session,
    a_permission_waits_for_a_person_until_its_own_call_is_answered,
    a_wait_lasts_however_many_hooks_of_other_agents_follow,
    no_worker_is_handed_such_a_session_and_no_sweep_takes_it,
    workspaces_and_people_do_not_see_into_each_others_agents,
    an_agent_that_goes_on_after_its_end_gets_a_session_under_the_first,
    hooks_at_the_same_instant_after_the_end_make_one_session,
    a_key_of_another_session_is_refused,
    every_other_hook_is_recorded_as_it_came,
    a_session_is_titled_by_its_first_prompt,
    what_is_no_hook_is_refused_by_field,
    the_agent_of_a_person_at_work_gets_their_context,
);

fn hook(source: Source, body: impl ToString) -> Hook {
    Hook { source, body: body.to_string(), id: None, at: None }
}

pub async fn send(f: &Fixture, scope: &Scope, body: impl ToString) -> ledger::Result<Answer> {
    record(&f.ledger, scope, hook(Source::ClaudeCode, body)).await
}

/// A hook of session `s-1`.
pub fn payload(event: &str, more: Value) -> Value {
    let mut payload = json!({ "session_id": "s-1", "hook_event_name": event, "cwd": "/home/ann/ledger" });
    for (name, value) in more.as_object().unwrap() {
        payload[name] = value.clone();
    }
    payload
}

fn tool(event: &str, name: &str, command: &str, id: &str) -> Value {
    payload(
        event,
        json!({ "tool_name": name, "tool_input": { "command": command }, "tool_use_id": id, "tool_response": "ok" }),
    )
}

/// The same hook, called by a subagent.
fn by(agent_id: &str, mut sent: Value) -> Value {
    sent["agent_id"] = agent_id.into();
    sent
}

/// All sessions that hooks created, oldest first.
async fn sessions(f: &Fixture, scope: &Scope) -> Vec<Session> {
    let all = ListSessions { limit: 100, ..ListSessions::default() };
    let mut found = session::list(&f.ledger, scope, all).await.unwrap().items;
    found.retain(|session| session.agent_slug.is_some());
    found.sort_by_key(|session| session.completed_at().is_none());
    found
}

async fn only(f: &Fixture) -> Session {
    let mut found = sessions(f, &f.admin).await;
    assert_eq!(found.len(), 1);
    found.pop().unwrap()
}

async fn status(f: &Fixture) -> Status {
    only(f).await.status()
}

/// All changes of status as `running>waiting_human`, in order.
async fn changes(f: &Fixture, id: SessionId) -> Vec<String> {
    let log = f.log(id).await;
    let changes = log.iter().filter(|event| event.kind == "session.status_change");
    changes
        .map(|event| {
            let metadata: Value = serde_json::from_str(&event.metadata).unwrap();
            format!("{}>{}", metadata["from"].as_str().unwrap(), metadata["to"].as_str().unwrap())
        })
        .collect()
}

async fn a_recorded_session_becomes_one_session_with_its_statuses_and_transcript(f: Fixture) {
    for line in CLAUDE_CODE.lines() {
        send(&f, &f.member, line).await.unwrap();
    }
    let session = only(&f).await;
    assert_eq!((session.session_type, session.status()), (Type::Agent, Status::Completed));
    assert_eq!((session.end_reason(), session.attempt), (Some(EndReason::Done), 0));
    assert_eq!((session.source.as_deref(), session.agent_slug.as_deref()), (Some("claude-code"), Some("claude-code")));
    assert_eq!(session.user_id, f.member.user_id());
    let metadata: Value = serde_json::from_str(&session.metadata).unwrap();
    assert_eq!((&metadata["cwd"], &metadata["model"]), (&json!("/home/ann/work/ledger"), &json!("claude-opus-4-1")));
    assert_eq!(
        changes(&f, session.id).await,
        [
            "draft>pending",
            "pending>running",
            "running>idle",
            "idle>running",
            "running>waiting_human",
            "waiting_human>pending",
            "pending>running",
            "running>idle",
            "idle>running",
            "running>idle",
            "idle>completed",
        ]
    );
    let kinds: Vec<_> = f.log(session.id).await.into_iter().map(|event| event.kind).collect();
    let count = |kind: &str| kinds.iter().filter(|k| *k == kind).count();
    assert_eq!((count("user.message"), count("agent.message")), (2, 2));
    assert_eq!((count("agent.tool_call"), count("agent.tool_result")), (5, 5));
    assert_eq!(kinds.len(), CLAUDE_CODE.lines().count() + 1 + 11, "each hook is one event");
    for line in CODEX.lines() {
        record(&f.ledger, &f.member, hook(Source::Codex, line)).await.unwrap();
    }
    let codex = sessions(&f, &f.admin).await.into_iter().find(|s| s.source.as_deref() == Some("codex")).unwrap();
    assert_eq!((codex.status(), codex.end_reason()), (Status::Completed, Some(EndReason::Done)));
    assert!(changes(&f, codex.id).await.contains(&"waiting_human>pending".to_owned()));
    f.assert_verified().await;
    f.done().await;
}

async fn sending_every_hook_again_adds_nothing(f: Fixture) {
    for (number, line) in CLAUDE_CODE.lines().enumerate() {
        let id = Some(Uuid::from_u128(number as u128));
        let sent = Hook { id, ..hook(Source::ClaudeCode, line) };
        record(&f.ledger, &f.member, sent.clone()).await.unwrap();
        let before = only(&f).await;
        record(&f.ledger, &f.member, sent).await.unwrap();
        assert_eq!(only(&f).await, before, "{line}");
    }
    // The same hooks again, after the end.
    let before = only(&f).await;
    for (number, line) in CLAUDE_CODE.lines().enumerate() {
        let id = Some(Uuid::from_u128(number as u128));
        record(&f.ledger, &f.member, Hook { id, ..hook(Source::ClaudeCode, line) }).await.unwrap();
    }
    assert_eq!(only(&f).await, before);
    // Without an id from the sender, the id in the payload identifies the call.
    let call = tool("PreToolUse", "Bash", "ls", "t-1");
    for _ in 0..3 {
        send(&f, &f.member, &call).await.unwrap();
    }
    let made = sessions(&f, &f.admin).await.into_iter().find(|s| s.status() == Status::Running).unwrap();
    let calls = f.log(made.id).await.into_iter().filter(|event| event.kind == "agent.tool_call").count();
    assert_eq!(calls, 1);
    f.done().await;
}

async fn hooks_at_the_same_instant_make_one_session(f: Fixture) {
    let calls: Vec<_> = (0..12).map(|n| tool("PreToolUse", "Bash", "ls", &format!("t-{n}"))).collect();
    let done = join_all(calls.iter().map(|call| send(&f, &f.member, call))).await;
    assert!(done.iter().all(Result::is_ok), "{done:?}");
    let session = only(&f).await;
    let calls = f.log(session.id).await.into_iter().filter(|event| event.kind == "agent.tool_call").count();
    assert_eq!((session.status(), calls), (Status::Running, 12));
    f.assert_verified().await;
    f.done().await;
}

async fn a_permission_waits_for_a_person_until_its_own_call_is_answered(f: Fixture) {
    for (sent, expected) in [
        (payload("UserPromptSubmit", json!({ "prompt": "clean up" })), Status::Running),
        (tool("PreToolUse", "Bash", "ls", "t-1"), Status::Running),
        (tool("PreToolUse", "Bash", "rm -r build", "t-2"), Status::Running),
        (
            payload("PermissionRequest", json!({ "tool_name": "Bash", "tool_input": { "command": "rm -r build" } })),
            Status::WaitingHuman,
        ),
        (tool("PostToolUse", "Bash", "ls", "t-1"), Status::WaitingHuman),
        (
            payload("Notification", json!({ "notification_type": "permission_prompt", "message": "allow?" })),
            Status::WaitingHuman,
        ),
        (tool("PostToolUse", "Bash", "rm -r build", "t-2"), Status::Running),
        (
            payload("PermissionRequest", json!({ "tool_name": "Write", "tool_input": { "file_path": "a" } })),
            Status::WaitingHuman,
        ),
        // The person denied the call, which no hook reports. The next hook shows that the agent continues.
        (tool("PreToolUse", "Bash", "pwd", "t-3"), Status::Running),
        // Subagents run in parallel: the steps of another one, and of the agent itself, answer nothing.
        (by("a", tool("PermissionRequest", "Bash", "make", "t-4")), Status::WaitingHuman),
        (by("b", tool("PreToolUse", "Bash", "ls", "t-5")), Status::WaitingHuman),
        (tool("PreToolUse", "Bash", "ls", "t-6"), Status::WaitingHuman),
        (by("b", tool("PermissionDenied", "Bash", "ls", "t-5")), Status::WaitingHuman),
        (payload("ElicitationResult", json!({ "action": "accept" })), Status::WaitingHuman),
        (by("b", payload("SubagentStop", json!({}))), Status::WaitingHuman),
        // The call was denied, and the subagent continues.
        (by("a", tool("PreToolUse", "Bash", "cat Makefile", "t-7")), Status::Running),
        (by("a", tool("PermissionRequest", "Bash", "make", "t-8")), Status::WaitingHuman),
        // The call was denied, and the subagent ends without another one.
        (by("a", payload("SubagentStop", json!({}))), Status::Running),
        // A wait whose hook does not say who asks. The subagent's wait has ended and does not count.
        (
            payload("Notification", json!({ "notification_type": "permission_prompt", "message": "allow?" })),
            Status::WaitingHuman,
        ),
        (tool("PreToolUse", "Bash", "pwd", "t-9"), Status::Running),
        (
            payload("PermissionRequest", json!({ "tool_name": "Write", "tool_input": { "file_path": "b" } })),
            Status::WaitingHuman,
        ),
        (payload("Stop", json!({ "last_assistant_message": "I leave it." })), Status::Idle),
    ] {
        send(&f, &f.member, &sent).await.unwrap();
        assert_eq!(status(&f).await, expected, "{sent}");
    }
    let session = only(&f).await;
    let wait = ["running>waiting_human", "waiting_human>pending", "pending>running"];
    let expected = [&["draft>pending", "pending>running"][..], &wait.repeat(6)[..], &["running>idle"][..]].concat();
    assert_eq!(changes(&f, session.id).await, expected);
    f.done().await;
}

async fn a_wait_lasts_however_many_hooks_of_other_agents_follow(f: Fixture) {
    send(&f, &f.member, payload("UserPromptSubmit", json!({ "prompt": "build it" }))).await.unwrap();
    let others = async || {
        for _ in 0..25 {
            send(&f, &f.member, by("b", payload("SubagentStart", json!({})))).await.unwrap();
        }
    };
    send(&f, &f.member, by("a", tool("PermissionRequest", "Bash", "make", "t-1"))).await.unwrap();
    others().await;
    send(&f, &f.member, by("b", tool("PreToolUse", "Bash", "ls", "t-2"))).await.unwrap();
    assert_eq!(status(&f).await, Status::WaitingHuman);
    // Of several requests the newest counts.
    others().await;
    send(&f, &f.member, by("c", tool("PermissionRequest", "Bash", "make test", "t-3"))).await.unwrap();
    send(&f, &f.member, by("a", tool("PreToolUse", "Bash", "ls", "t-4"))).await.unwrap();
    assert_eq!(status(&f).await, Status::WaitingHuman);
    send(&f, &f.member, by("c", tool("PreToolUse", "Bash", "ls", "t-5"))).await.unwrap();
    assert_eq!(status(&f).await, Status::Running);
    let session = only(&f).await;
    let wait = ["running>waiting_human", "waiting_human>pending", "pending>running"];
    assert_eq!(changes(&f, session.id).await, [&["draft>pending", "pending>running"][..], &wait[..]].concat());
    f.done().await;
}

async fn no_worker_is_handed_such_a_session_and_no_sweep_takes_it(mut f: Fixture) {
    let mut lines = CLAUDE_CODE.lines();
    for line in lines.by_ref().take(12) {
        send(&f, &f.member, line).await.unwrap();
        let claim = Claim { agent_slugs: Some(vec!["claude-code".into()]), max: 10, lease_seconds: 5 };
        let claimed = session::claim(&f.ledger, &f.worker, claim, Duration::ZERO).await.unwrap();
        assert!(claimed.is_empty() && f.claim(10, 5).await.is_empty(), "{line}");
    }
    let before = only(&f).await;
    assert_eq!((before.status(), before.lease_expires_at()), (Status::WaitingHuman, None));
    f.clock.advance(TimeDelta::days(2));
    f.restart().await;
    assert_eq!(session::sweep(&f.ledger).await.unwrap(), session::Swept::default());
    assert_eq!(only(&f).await, before);
    send(&f, &f.member, tool("PreToolUse", "Bash", "ls", "t-1").to_string().replace("s-1", &hook_session(&before)))
        .await
        .unwrap();
    for attempt in [0, 1] {
        let refused = f.append(before.id, attempt, vec![testkit::text("not mine")]).await;
        assert!(refused.is_err(), "attempt {attempt}: {refused:?}");
        assert!(session::release(&f.ledger, &f.worker, before.id, attempt).await.is_err());
    }
    f.done().await;
}

fn hook_session(session: &Session) -> String {
    let metadata: Value = serde_json::from_str(&session.metadata).unwrap();
    metadata["hookSessionId"].as_str().unwrap().to_owned()
}

async fn workspaces_and_people_do_not_see_into_each_others_agents(f: Fixture) {
    let prompt = payload("UserPromptSubmit", json!({ "prompt": "hello" }));
    send(&f, &f.member, &prompt).await.unwrap();
    let own = only(&f).await;
    assert!(sessions(&f, &f.stranger).await.is_empty());
    assert!(matches!(session::get(&f.ledger, &f.stranger, own.id).await, Err(Error::NotFound(_))));
    send(&f, &f.stranger, &prompt).await.unwrap();
    let theirs = sessions(&f, &f.stranger).await;
    assert_eq!(theirs.len(), 1);
    assert_ne!(theirs[0].id, own.id);
    assert_eq!(only(&f).await, own, "the same id elsewhere is another session");
    let refused = send(&f, &f.other_member, tool("PreToolUse", "Bash", "ls", "t-1")).await;
    assert!(matches!(refused, Err(Error::Forbidden(_))), "{refused:?}");
    assert_eq!(only(&f).await, own);
    send(&f, &f.operator, tool("PreToolUse", "Bash", "ls", "t-1")).await.unwrap();
    f.done().await;
}

async fn an_agent_that_goes_on_after_its_end_gets_a_session_under_the_first(f: Fixture) {
    let prompt = |text: &str| payload("UserPromptSubmit", json!({ "prompt": text }));
    send(&f, &f.member, prompt("one")).await.unwrap();
    send(&f, &f.member, payload("SessionEnd", json!({ "reason": "other" }))).await.unwrap();
    let first = only(&f).await;
    assert_eq!(first.status(), Status::Completed);
    // Hooks that arrive after the end are answered and change nothing.
    for late in [
        tool("PostToolUse", "Bash", "ls", "t-9"),
        payload("Stop", json!({})),
        payload("SubagentStop", json!({})),
        payload("SessionEnd", json!({ "reason": "other" })),
    ] {
        send(&f, &f.member, late).await.unwrap();
    }
    assert_eq!(only(&f).await, first);
    send(&f, &f.member, payload("SessionStart", json!({ "source": "resume" }))).await.unwrap();
    send(&f, &f.member, prompt("two")).await.unwrap();
    let second = sessions(&f, &f.admin).await.pop().unwrap();
    assert_eq!((second.status(), second.parent_id, second.retry_of), (Status::Running, Some(first.id), None));
    assert!(second.metadata.contains(&format!(r#""continues":"{}""#, first.id)), "{}", second.metadata);
    // A person cancels the session here. The agent does not learn of it and continues.
    session::cancel(&f.ledger, &f.member, second.id, None).await.unwrap();
    send(&f, &f.member, tool("PreToolUse", "Bash", "ls", "t-1")).await.unwrap();
    send(&f, &f.member, tool("PostToolUse", "Bash", "ls", "t-1")).await.unwrap();
    let all = sessions(&f, &f.admin).await;
    let third = all.last().unwrap();
    assert_eq!((all.len(), third.status(), third.parent_id), (3, Status::Running, Some(first.id)));
    assert!(third.metadata.contains(&format!(r#""continues":"{}""#, second.id)));
    f.assert_verified().await;
    f.done().await;
}

async fn hooks_at_the_same_instant_after_the_end_make_one_session(f: Fixture) {
    send(&f, &f.member, payload("UserPromptSubmit", json!({ "prompt": "one" }))).await.unwrap();
    send(&f, &f.member, payload("SessionEnd", json!({}))).await.unwrap();
    let calls: Vec<_> = (0..8).map(|n| tool("PreToolUse", "Bash", "ls", &format!("t-{n}"))).collect();
    let done = join_all(calls.iter().map(|call| send(&f, &f.member, call))).await;
    assert!(done.iter().all(Result::is_ok), "{done:?}");
    assert_eq!(sessions(&f, &f.admin).await.len(), 2);
    f.done().await;
}

async fn a_key_of_another_session_is_refused(f: Fixture) {
    let new = NewSession { idempotency_key: Some("hook:claude-code:s-1".into()), ..NewSession::of_type(Type::Agent) };
    let taken = session::create(&f.ledger, &f.member, new).await.unwrap();
    let refused = send(&f, &f.member, payload("UserPromptSubmit", json!({ "prompt": "hello" }))).await;
    assert!(matches!(refused, Err(Error::IdConflict { .. })), "{refused:?}");
    assert_eq!(session::get(&f.ledger, &f.member, taken.id).await.unwrap(), taken);
    f.done().await;
}

async fn every_other_hook_is_recorded_as_it_came(f: Fixture) {
    let at = Timestamp::from_timestamp(1_799_999_000, 0).unwrap();
    for line in MORE.lines() {
        let sent = Hook { at: Some(at), ..hook(Source::ClaudeCode, line) };
        record(&f.ledger, &f.member, sent).await.unwrap();
    }
    let session = only(&f).await;
    let log = f.log(session.id).await;
    let recorded: Vec<_> = log.iter().filter(|event| !event.kind.starts_with("session.")).collect();
    assert_eq!(recorded.len(), MORE.lines().count() - 1, "all but the error, which is a session.error");
    assert!(log.iter().all(|event| event.at == at), "events happened when the hook was called");
    let last = recorded.last().unwrap();
    assert!(last.metadata.contains(r#""something":{"nested":[1,2,{"deep":true}]}"#), "{}", last.metadata);
    assert!(log.iter().any(|event| event.kind == "session.error" && event.metadata.contains("rate_limit")));
    f.done().await;
}

async fn a_session_is_titled_by_its_first_prompt(f: Fixture) {
    send(&f, &f.member, payload("SessionStart", json!({ "source": "startup" }))).await.unwrap();
    assert_eq!(only(&f).await.title, "ledger");
    for prompt in ["Fix the\nimport", "and commit"] {
        send(&f, &f.member, payload("UserPromptSubmit", json!({ "prompt": prompt }))).await.unwrap();
        assert_eq!(only(&f).await.title, "ledger: Fix the import");
    }
    f.done().await;
}

async fn what_is_no_hook_is_refused_by_field(f: Fixture) {
    for (body, field) in [
        (json!([]), "body"),
        (json!({ "hook_event_name": "Stop" }), "session_id"),
        (json!({ "session_id": "s" }), "hook_event_name"),
    ] {
        match send(&f, &f.member, &body).await {
            Err(Error::Invalid(fields)) => assert_eq!(fields[0].field, field),
            other => panic!("{body}: {other:?}"),
        }
    }
    assert!(sessions(&f, &f.admin).await.is_empty());
    f.done().await;
}

async fn the_agent_of_a_person_at_work_gets_their_context(f: Fixture) {
    let token = token::create_by_operator(&f.ledger, "acme", "laptop", Role::Member, None, Some("mia@acme.test"));
    let secret = token.await.unwrap().1;
    let mias = auth::by_token(&f.ledger, &secret).await.unwrap().unwrap().scope;
    let prompt = |id: &str| payload("UserPromptSubmit", json!({ "prompt": "go on", "prompt_id": id }));
    assert_eq!(send(&f, &mias, prompt("p-1")).await.unwrap().additional_context, None, "she works on nothing");
    human::start(&f.ledger, &f.member, crate::human::task(&f, "Close the books").await).await.unwrap();
    let context = send(&f, &mias, prompt("p-2")).await.unwrap().additional_context.unwrap();
    assert!(context.contains("Close the books") && context.chars().count() < 10_000, "{context}");
    assert!(send(&f, &mias, prompt("p-2")).await.unwrap().additional_context.is_some(), "a repeat is answered too");
    let call = tool("PreToolUse", "Bash", "ls", "t-1");
    assert_eq!(send(&f, &mias, call).await.unwrap().additional_context, None, "nobody waits for it there");
    let session = only(&f).await;
    assert_eq!((session.user_id, session.created_by.starts_with("token:")), (f.member.user_id(), true));
    let log = f.log(session.id).await;
    let injected: Vec<_> = log.iter().filter(|event| event.kind == "session.context_injected").collect();
    assert_eq!(injected.len(), 1);
    let content: Value = serde_json::from_str(&injected[0].content).unwrap();
    assert_eq!(content[0]["text"], context);
    let unowned = payload("UserPromptSubmit", json!({ "session_id": "s-2", "prompt": "go on" }));
    assert_eq!(send(&f, &f.worker, unowned).await.unwrap().additional_context, None, "a token that is nobody's own");
    f.assert_verified().await;
    f.done().await;
}
