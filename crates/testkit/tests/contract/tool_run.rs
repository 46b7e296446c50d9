//! Runs of tools: sessions that name a published version, with checked inputs and results, and private values that only
//! whoever runs the tool gets.

use chrono::TimeDelta;
use domain::{
    Scope,
    event::{Body, Event},
    id::SessionId,
    limit::DOCUMENT_BYTES_MAX,
    role::Role,
    session::{EndReason, Session, Status, Type},
    tool::Change,
};
use ledger::{
    Error,
    group::{self, NewGroup},
    session::{self, Claim, Claimed, Completion, Failure, NewSession},
    tool::{self, NewTool, ToolChange},
    tool_run::{self, RunTool},
};
use serde_json::{Value, json};
use std::time::Duration;
use testkit::{Fixture, on_both_engines};

on_both_engines!(
    a_run_is_a_session_of_the_published_version,
    a_run_keeps_its_version_when_another_one_is_published,
    an_input_is_refused_by_the_pointer_of_each_problem,
    without_an_input_the_defaults_are_the_input,
    only_its_audience_runs_a_tool,
    only_a_published_tool_runs,
    another_workspace_runs_nothing,
    one_key_runs_once,
    requests_with_one_key_at_once_run_once,
    a_run_has_the_parent_that_its_request_names,
    private_values_are_only_for_whoever_runs_the_tool,
    private_values_are_deleted_at_every_end,
    a_tool_that_may_not_be_repeated_is_claimed_once,
    a_tool_that_may_be_repeated_is_claimed_again,
    a_result_that_violates_the_output_schema_fails_the_run,
    a_worker_has_the_time_of_the_tool,
    a_wait_ends_with_the_run,
    no_other_session_has_the_agent_of_a_tool,
    a_run_is_run_again_by_those_who_may,
    a_server_finds_the_runs_that_it_makes,
    a_claim_of_any_agent_takes_no_run_of_a_tool,
);

const PRIVATE: &str = "hunter2-private-value";

pub(crate) fn echo(more: Value) -> Value {
    let mut whole = json!({
        "name": "Echo", "kind": "worker",
        "inputSchema": {
            "type": "object",
            "properties": {
                "text": { "type": "string" }, "times": { "type": "integer", "minimum": 1, "default": 1 },
                "person": { "type": "object", "properties": { "email": { "type": "string" } } },
            },
            "additionalProperties": false,
        },
    });
    whole.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    whole
}

fn http(more: Value) -> Value {
    let call = json!({ "kind": "http", "http": { "method": "GET", "url": "https://example.org/{text}" } });
    let mut whole = echo(call);
    whole.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    whole
}

fn change(definition: Value) -> Change {
    serde_json::from_value(definition).unwrap()
}

/// Creates and publishes the tool `echo`.
pub(crate) async fn published(f: &Fixture, definition: Value) {
    let new = NewTool { slug: Some("echo".to_owned()), definition: change(definition) };
    tool::create(&f.ledger, &f.operator, new).await.unwrap();
    tool::publish(&f.ledger, &f.operator, "echo", None).await.unwrap();
}

fn with(input: Value) -> RunTool {
    RunTool { input: Some(input.to_string()), ..RunTool::default() }
}

pub(crate) async fn run(f: &Fixture, scope: &Scope, input: Value) -> ledger::Result<Session> {
    tool_run::run(&f.ledger, scope, "echo", with(input)).await
}

async fn claim(f: &Fixture, agent: &str) -> Vec<Claimed> {
    let claim = Claim { agent_slugs: Some(vec![agent.to_owned()]), max: 10, lease_seconds: 30 };
    session::claim(&f.ledger, &f.worker, claim, Duration::ZERO).await.unwrap()
}

pub(crate) async fn claim_one(f: &Fixture) -> Session {
    let mut claimed = claim(f, "tool:echo").await;
    assert_eq!(claimed.len(), 1);
    claimed.pop().unwrap().session
}

pub(crate) async fn complete(f: &Fixture, session: &Session, result: Value) -> Session {
    let completion = Completion { attempt: session.attempt, result: Some(result.to_string()), usage: None };
    session::complete(&f.ledger, &f.worker, session.id, completion).await.unwrap()
}

async fn read(f: &Fixture, id: SessionId) -> Session {
    session::get(&f.ledger, &f.member, id).await.unwrap()
}

fn json_of(text: Option<&str>) -> Value {
    serde_json::from_str(text.unwrap()).unwrap()
}

fn fields<T: std::fmt::Debug>(refused: ledger::Result<T>) -> Vec<String> {
    let Err(Error::Invalid(errors)) = refused else { panic!("{refused:?}") };
    let mut fields: Vec<_> = errors.into_iter().map(|error| error.field).collect();
    fields.sort();
    fields
}

fn kinds(log: &[Event]) -> Vec<&str> {
    log.iter().map(|event| event.kind.as_str()).collect()
}

async fn a_run_is_a_session_of_the_published_version(f: Fixture) {
    published(&f, echo(json!({}))).await;
    let begun = run(&f, &f.member, json!({ "text": "a" })).await.unwrap();
    assert_eq!((begun.session_type, begun.status(), begun.title.as_str()), (Type::Tool, Status::Pending, "Echo"));
    assert_eq!(begun.agent_slug.as_deref(), Some("tool:echo"));
    let tool = tool::get(&f.ledger, &f.member, "echo").await.unwrap();
    let named = &json_of(Some(&begun.metadata))["tool"];
    assert_eq!((&named["id"], &named["slug"], &named["version"]), (&json!(tool.id), &json!("echo"), &json!(1)));
    let log = f.log(begun.id).await;
    assert_eq!(kinds(&log), ["session.created", "tool.session_started", "session.status_change"]);
    let Body::ToolSessionStarted(opened) = log[1].body() else { panic!("{:?}", log[1]) };
    assert_eq!((opened.tool.as_deref(), opened.version), (Some("echo"), Some(1)));
    let claimed = claim_one(&f).await;
    assert_eq!((claimed.id, json_of(claimed.input.as_deref())), (begun.id, json!({ "text": "a" })));
    let ended = complete(&f, &claimed, json!(["a"])).await;
    assert_eq!((ended.status(), json_of(ended.result())), (Status::Completed, json!(["a"])));
    f.assert_verified().await;
    f.done().await;
}

async fn a_run_keeps_its_version_when_another_one_is_published(f: Fixture) {
    published(&f, echo(json!({ "outputSchema": { "type": "string" } }))).await;
    let first = run(&f, &f.member, json!({})).await.unwrap();
    let edit = ToolChange { revision: 1, definition: change(json!({ "outputSchema": { "type": "integer" } })) };
    tool::update(&f.ledger, &f.operator, "echo", edit).await.unwrap();
    // The working copy is for no run.
    let second = run(&f, &f.member, json!({})).await.unwrap();
    tool::publish(&f.ledger, &f.operator, "echo", None).await.unwrap();
    let third = run(&f, &f.member, json!({})).await.unwrap();
    let mut claimed: Vec<Session> = claim(&f, "tool:echo").await.into_iter().map(|claimed| claimed.session).collect();
    claimed.sort_by_key(|session| [first.id, second.id, third.id].iter().position(|id| *id == session.id));
    for (session, result) in claimed.iter().zip([json!("a"), json!("b"), json!(3)]) {
        assert_eq!(complete(&f, session, result).await.status(), Status::Completed);
    }
    f.done().await;
}

async fn an_input_is_refused_by_the_pointer_of_each_problem(f: Fixture) {
    let schema = json!({
        "type": "object", "required": ["a/b"], "additionalProperties": false,
        "properties": { "a/b": {}, "list": { "items": { "type": "integer" } } },
    });
    published(&f, echo(json!({ "inputSchema": schema }))).await;
    for (input, expected) in [
        (json!({}), vec!["input/a~1b"]),
        (json!({ "list": [1, "x", 2.5] }), vec!["input/a~1b", "input/list/1", "input/list/2"]),
        (json!({ "a/b": 1, "c": 1 }), vec!["input"]),
        (json!([]), vec!["input"]),
        (json!("x"), vec!["input"]),
        (json!({ "a/b": "x".repeat(DOCUMENT_BYTES_MAX) }), vec!["input"]),
    ] {
        assert_eq!(fields(run(&f, &f.member, input.clone()).await), expected, "{input:.100}");
    }
    // A message quotes no value.
    let Err(Error::Invalid(errors)) = run(&f, &f.member, json!({ "a/b": 1, "list": [PRIVATE] })).await else {
        panic!()
    };
    assert!(errors.iter().all(|error| !error.message.contains(PRIVATE)), "{errors:?}");
    let keyed = RunTool { idempotency_key: Some("a\nb".to_owned()), ..RunTool::default() };
    assert_eq!(fields(tool_run::run(&f.ledger, &f.member, "echo", keyed).await), ["idempotencyKey"]);
    assert!(claim(&f, "tool:echo").await.is_empty());
    f.done().await;
}

async fn without_an_input_the_defaults_are_the_input(f: Fixture) {
    published(&f, echo(json!({}))).await;
    let begun = tool_run::run(&f.ledger, &f.member, "echo", RunTool::default()).await.unwrap();
    assert_eq!(json_of(begun.input.as_deref()), json!({ "times": 1 }));
    let begun = run(&f, &f.member, json!({})).await.unwrap();
    assert_eq!(json_of(begun.input.as_deref()), json!({}), "a given input is as it was given");
    f.done().await;
}

async fn only_its_audience_runs_a_tool(f: Fixture) {
    let new = NewGroup {
        slug: Some("leads".to_owned()),
        name: "Leads".to_owned(),
        members: vec![f.other_member.user_id().unwrap()],
    };
    group::create(&f.ledger, &f.admin, new).await.unwrap();
    published(&f, echo(json!({ "audience": { "roles": ["operator"], "groups": ["leads"] } }))).await;
    for (scope, may) in [(&f.operator, true), (&f.other_member, true), (&f.member, false), (&f.admin, false)] {
        let begun = run(&f, scope, json!({})).await;
        assert_eq!(begun.is_ok(), may, "{scope:?}: {begun:?}");
        assert!(may || matches!(begun, Err(Error::Forbidden(_))), "{begun:?}");
    }
    f.done().await;
}

async fn only_a_published_tool_runs(f: Fixture) {
    let new = NewTool { slug: Some("echo".to_owned()), definition: change(echo(json!({}))) };
    tool::create(&f.ledger, &f.operator, new).await.unwrap();
    let refused = run(&f, &f.operator, json!({})).await;
    assert!(matches!(refused, Err(Error::WrongState { .. })), "{refused:?}");
    tool::publish(&f.ledger, &f.operator, "echo", None).await.unwrap();
    run(&f, &f.operator, json!({})).await.unwrap();
    tool::unpublish(&f.ledger, &f.operator, "echo").await.unwrap();
    let refused = run(&f, &f.operator, json!({})).await;
    assert!(matches!(refused, Err(Error::WrongState { .. })), "{refused:?}");
    // What was begun goes on.
    let claimed = claim_one(&f).await;
    assert_eq!(complete(&f, &claimed, json!(1)).await.status(), Status::Completed);
    let missing = tool_run::run(&f.ledger, &f.operator, "other", RunTool::default()).await;
    assert!(matches!(missing, Err(Error::NotFound("tool"))), "{missing:?}");
    f.done().await;
}

async fn another_workspace_runs_nothing(f: Fixture) {
    published(&f, echo(json!({}))).await;
    let refused = run(&f, &f.stranger, json!({})).await;
    assert!(matches!(refused, Err(Error::NotFound("tool"))), "{refused:?}");
    f.done().await;
}

fn keyed(key: &str, input: Value) -> RunTool {
    RunTool { idempotency_key: Some(key.to_owned()), ..with(input) }
}

async fn one_key_runs_once(f: Fixture) {
    published(&f, echo(json!({ "privateFields": ["text"] }))).await;
    let run = async |run| tool_run::run(&f.ledger, &f.member, "echo", run).await;
    let first = run(keyed("k", json!({ "text": "a", "times": 2 }))).await.unwrap();
    assert_eq!(run(keyed("k", json!({ "times": 2, "text": "a" }))).await.unwrap().id, first.id);
    for other in [json!({ "text": "b", "times": 2 }), json!({ "text": "a" })] {
        let conflict = run(keyed("k", other)).await;
        assert!(matches!(conflict, Err(Error::IdConflict { .. })), "{conflict:?}");
    }
    let claimed = claim_one(&f).await;
    complete(&f, &claimed, json!("done")).await;
    tool::unpublish(&f.ledger, &f.operator, "echo").await.unwrap();
    let again = run(keyed("k", json!({ "text": "a", "times": 2 }))).await.unwrap();
    assert_eq!((again.id, json_of(again.result())), (first.id, json!("done")));
    let mut raw = f.engine.raw().await;
    assert_eq!(raw.number("SELECT COUNT(*) FROM sessions").await, 1);
    f.done().await;
}

async fn requests_with_one_key_at_once_run_once(f: Fixture) {
    published(&f, echo(json!({}))).await;
    let requests = (0..8).map(|_| tool_run::run(&f.ledger, &f.member, "echo", keyed("k", json!({}))));
    let begun = futures_util::future::join_all(requests).await;
    let ids: std::collections::BTreeSet<_> = begun.iter().flatten().map(|session| session.id.0).collect();
    assert_eq!(ids.len(), 1, "{begun:?}");
    assert!(begun.iter().all(Result::is_ok), "{begun:?}");
    assert_eq!(claim(&f, "tool:echo").await.len(), 1);
    f.done().await;
}

async fn a_run_has_the_parent_that_its_request_names(f: Fixture) {
    published(&f, echo(json!({}))).await;
    let new = NewSession { agent_slug: Some("scout".to_owned()), ..NewSession::of_type(Type::Agent) };
    let parent = session::create(&f.ledger, &f.member, new).await.unwrap().id;
    let run = async |parent_id| {
        let run = RunTool { parent_id, ..keyed("k", json!({})) };
        tool_run::run(&f.ledger, &f.member, "echo", run).await
    };
    let begun = run(Some(parent)).await.unwrap();
    assert_eq!((begun.parent_id, run(Some(parent)).await.unwrap().id), (Some(parent), begun.id));
    assert!(matches!(run(None).await, Err(Error::IdConflict { .. })), "another request has this key");
    let lost = RunTool { parent_id: Some(SessionId(uuid::Uuid::from_u128(7))), ..RunTool::default() };
    assert!(matches!(tool_run::run(&f.ledger, &f.member, "echo", lost).await, Err(Error::NotFound(_))));
    f.done().await;
}

/// Asserts that no session and no event has the private value.
async fn assert_hidden(f: &Fixture) {
    let mut raw = f.engine.raw().await;
    let sessions = "SELECT COALESCE(input, '') || metadata || title || COALESCE(error_message, '') FROM sessions";
    let mut texts = raw.texts(sessions).await;
    texts.extend(raw.texts("SELECT content || metadata FROM session_events").await);
    assert!(texts.iter().all(|text| !text.contains(PRIVATE)), "a private value is stored as it is");
    if f.engine.file().is_some() {
        let everything = raw.everything_but(&["search_events"], &[]).await;
        assert!(everything.iter().all(|row| !row.contains(PRIVATE)), "a private value is stored as it is");
    }
}

async fn private_values_are_only_for_whoever_runs_the_tool(f: Fixture) {
    published(&f, echo(json!({ "privateFields": ["text", "/person/email"] }))).await;
    let input = json!({ "text": PRIVATE, "times": 2, "person": { "email": PRIVATE } });
    let begun = run(&f, &f.member, input.clone()).await.unwrap();
    let public = json!({ "times": 2, "person": {} });
    assert_eq!(json_of(begun.input.as_deref()), public);
    assert_hidden(&f).await;
    let claimed = claim_one(&f).await;
    assert_eq!(json_of(claimed.input.as_deref()), input);
    assert_eq!(json_of(read(&f, begun.id).await.input.as_deref()), public);
    let ended = complete(&f, &claimed, json!(1)).await;
    assert_eq!(json_of(ended.input.as_deref()), public);
    assert_hidden(&f).await;
    let mut raw = f.engine.raw().await;
    assert_eq!(raw.number("SELECT COUNT(*) FROM tool_private_inputs").await, 0);
    f.assert_verified().await;
    f.done().await;
}

async fn private_values_are_deleted_at_every_end(f: Fixture) {
    published(&f, echo(json!({ "privateFields": ["text"] }))).await;
    let begun = async || run(&f, &f.member, json!({ "text": PRIVATE })).await.unwrap();
    let cancelled = begun().await;
    session::cancel(&f.ledger, &f.member, cancelled.id, None).await.unwrap();
    begun().await;
    let failing = claim_one(&f).await;
    let failure = Failure { attempt: 1, message: "no".to_owned(), code: None, usage: None };
    session::fail(&f.ledger, &f.worker, failing.id, failure).await.unwrap();
    begun().await;
    claim_one(&f).await;
    f.clock.advance(TimeDelta::seconds(31));
    assert_eq!(session::sweep(&f.ledger).await.unwrap().failed, 1);
    let mut raw = f.engine.raw().await;
    assert_eq!(raw.number("SELECT COUNT(*) FROM tool_private_inputs").await, 0);
    begun().await;
    assert_eq!(raw.number("SELECT COUNT(*) FROM tool_private_inputs").await, 1);
    f.done().await;
}

async fn a_tool_that_may_not_be_repeated_is_claimed_once(f: Fixture) {
    published(&f, echo(json!({ "retries": 3 }))).await;
    let begun = run(&f, &f.member, json!({})).await.unwrap();
    claim_one(&f).await;
    f.clock.advance(TimeDelta::seconds(31));
    session::sweep(&f.ledger).await.unwrap();
    let ended = read(&f, begun.id).await;
    assert_eq!((ended.status(), ended.error_code()), (Status::Failed, Some("may_have_run")));
    assert!(ended.error_message().unwrap().contains("may have run"), "{ended:?}");
    assert!(claim(&f, "tool:echo").await.is_empty());
    f.done().await;
}

async fn a_tool_that_may_be_repeated_is_claimed_again(f: Fixture) {
    published(&f, echo(json!({ "repeatable": true, "retries": 1 }))).await;
    let begun = run(&f, &f.member, json!({})).await.unwrap();
    for attempt in 1..=2 {
        assert_eq!(claim_one(&f).await.attempt, attempt);
        f.clock.advance(TimeDelta::seconds(31));
        session::sweep(&f.ledger).await.unwrap();
    }
    let ended = read(&f, begun.id).await;
    assert_eq!((ended.status(), ended.error_code()), (Status::Failed, Some("may_have_run")));
    f.done().await;
}

async fn a_result_that_violates_the_output_schema_fails_the_run(f: Fixture) {
    let schema = json!({ "type": "object", "required": ["sum"], "properties": { "sum": { "type": "integer" } } });
    published(&f, echo(json!({ "outputSchema": schema }))).await;
    for (result, is_valid) in [(json!({ "sum": 1 }), true), (json!({ "sum": "1" }), false), (json!(null), false)] {
        run(&f, &f.member, json!({})).await.unwrap();
        let claimed = claim_one(&f).await;
        let ended = complete(&f, &claimed, result.clone()).await;
        let expected = if is_valid { (Status::Completed, None) } else { (Status::Failed, Some("output_invalid")) };
        assert_eq!((ended.status(), ended.error_code()), expected, "{result}");
        assert_eq!(ended.result().is_some(), is_valid);
    }
    f.done().await;
}

async fn a_worker_has_the_time_of_the_tool(f: Fixture) {
    published(&f, echo(json!({ "timeLimitSeconds": 20 }))).await;
    let begun = run(&f, &f.member, json!({})).await.unwrap();
    f.clock.advance(TimeDelta::seconds(60));
    assert_eq!(session::sweep(&f.ledger).await.unwrap().expired, 0, "the time in the queue does not count");
    claim_one(&f).await;
    f.clock.advance(TimeDelta::seconds(20));
    session::sweep(&f.ledger).await.unwrap();
    let ended = read(&f, begun.id).await;
    assert_eq!((ended.status(), ended.end_reason()), (Status::Expired, Some(EndReason::TimedOut)));
    f.done().await;
}

async fn a_wait_ends_with_the_run(f: Fixture) {
    published(&f, echo(json!({}))).await;
    let begun = run(&f, &f.member, json!({})).await.unwrap();
    let never = std::future::pending;
    let waited = tool_run::wait_for_end(&f.ledger, &f.member, begun.id, Duration::ZERO, never()).await.unwrap();
    assert_eq!(waited.status(), Status::Pending);
    let stopped =
        tool_run::wait_for_end(&f.ledger, &f.member, begun.id, Duration::from_secs(600), async {}).await.unwrap();
    assert_eq!(stopped.status(), Status::Pending);
    let wait = tool_run::wait_for_end(&f.ledger, &f.member, begun.id, Duration::from_secs(600), never());
    let work = async {
        let claimed = claim_one(&f).await;
        complete(&f, &claimed, json!("done")).await;
    };
    let (ended, ()) = futures_util::future::join(wait, work).await;
    assert_eq!(json_of(ended.unwrap().result()), json!("done"));
    let again =
        tool_run::wait_for_end(&f.ledger, &f.member, begun.id, Duration::from_secs(600), never()).await.unwrap();
    assert_eq!(again.status(), Status::Completed);
    let missing = tool_run::wait_for_end(&f.ledger, &f.stranger, begun.id, Duration::from_secs(600), never()).await;
    assert!(matches!(missing, Err(Error::NotFound(_))), "{missing:?}");
    f.done().await;
}

async fn no_other_session_has_the_agent_of_a_tool(f: Fixture) {
    published(&f, echo(json!({}))).await;
    for session_type in [Type::Agent, Type::Tool] {
        for agent in ["tool:echo", "http:echo"] {
            let new = NewSession { agent_slug: Some(agent.to_owned()), ..NewSession::of_type(session_type) };
            assert_eq!(fields(session::create(&f.ledger, &f.admin, new).await), ["agentSlug"], "{agent}");
        }
    }
    // Such metadata makes no run of a session.
    let begun = run(&f, &f.member, json!({})).await.unwrap();
    let new = NewSession { metadata: Some(begun.metadata), ..NewSession::of_type(Type::Tool) };
    let forged = session::create(&f.ledger, &f.member, new).await.unwrap();
    assert_eq!(kinds(&f.log(forged.id).await), ["session.created", "session.status_change"]);
    assert!(matches!(tool_run::server_run(&f.ledger, f.admin.tenant_id, forged.id).await, Err(Error::NotFound(_))));
    f.done().await;
}

async fn a_run_is_run_again_by_those_who_may(f: Fixture) {
    published(&f, echo(json!({}))).await;
    let begun = run(&f, &f.member, json!({ "text": "a" })).await.unwrap();
    session::cancel(&f.ledger, &f.member, begun.id, None).await.unwrap();
    let again = session::retry(&f.ledger, &f.member, begun.id).await.unwrap();
    assert_eq!((again.agent_slug, again.attempts_max), (begun.agent_slug.clone(), 1));
    assert_eq!(json_of(again.input.as_deref()), json!({ "text": "a" }));
    assert!(kinds(&f.log(again.id).await).contains(&"tool.session_started"));
    let edit = ToolChange {
        revision: 1,
        definition: change(json!({ "audience": { "roles": ["admin"] }, "privateFields": ["text"] })),
    };
    tool::update(&f.ledger, &f.operator, "echo", edit).await.unwrap();
    tool::publish(&f.ledger, &f.operator, "echo", None).await.unwrap();
    // The audience is the one of the version that would run.
    session::retry(&f.ledger, &f.member, begun.id).await.unwrap();
    let private = run(&f, &f.admin, json!({ "text": PRIVATE })).await.unwrap();
    session::cancel(&f.ledger, &f.admin, private.id, None).await.unwrap();
    let refused = session::retry(&f.ledger, &f.operator, private.id).await;
    assert!(matches!(refused, Err(Error::Forbidden(_))), "{refused:?}");
    assert_eq!(fields(session::retry(&f.ledger, &f.admin, private.id).await), ["id"]);
    tool::unpublish(&f.ledger, &f.operator, "echo").await.unwrap();
    let refused = session::retry(&f.ledger, &f.member, begun.id).await;
    assert!(matches!(refused, Err(Error::WrongState { .. })), "{refused:?}");
    f.done().await;
}

async fn a_server_finds_the_runs_that_it_makes(f: Fixture) {
    published(&f, http(json!({ "privateFields": ["text"] }))).await;
    assert_eq!(tool_run::waiting_runs(&f.ledger).await.unwrap(), []);
    let begun = run(&f, &f.member, json!({ "text": PRIVATE })).await.unwrap();
    assert_eq!((begun.agent_slug.as_deref(), begun.attempts_max), (Some("http:echo"), 3));
    // The process that queued the run is told at once.
    tool_run::run_queued(&f.ledger, Duration::from_secs(600)).await;
    let waiting = tool_run::waiting_runs(&f.ledger).await.unwrap();
    assert_eq!(waiting, [(f.admin.tenant_id, vec!["http:echo".to_owned()])]);
    let found = tool_run::server_run(&f.ledger, f.admin.tenant_id, begun.id).await.unwrap();
    assert_eq!((found.run.slug.as_str(), found.run.version, found.run.has_private_input), ("echo", 1, true));
    assert!(claim(&f, "tool:echo").await.is_empty(), "a worker got a run of the server");
    let claimed = claim(&f, "http:echo").await.pop().unwrap().session;
    assert_eq!(json_of(claimed.input.as_deref())["text"], PRIVATE);
    assert_eq!(tool_run::waiting_runs(&f.ledger).await.unwrap(), []);
    assert_eq!(f.stranger.role, Role::Admin);
    f.done().await;
}

async fn a_claim_of_any_agent_takes_no_run_of_a_tool(f: Fixture) {
    published(&f, echo(json!({ "repeatable": true, "retries": 1 }))).await;
    let begun = run(&f, &f.member, json!({ "text": "a" })).await.unwrap();
    let of_agent = f.pending().await;
    let ids = |sessions: Vec<Session>| sessions.into_iter().map(|session| session.id).collect::<Vec<_>>();
    assert_eq!(ids(f.claim(10, 30).await), [of_agent.id]);
    // Nor one that was claimed before, which is found by another statement.
    assert_eq!(claim_one(&f).await.id, begun.id);
    f.clock.advance(TimeDelta::seconds(31));
    session::sweep(&f.ledger).await.unwrap();
    assert_eq!(ids(f.claim(10, 30).await), [of_agent.id]);
    assert_eq!(claim_one(&f).await.id, begun.id);
    f.done().await;
}
