//! Tools with steps for the tests of composite tools, and the workers that run the steps.

use domain::{
    id::SessionId,
    session::{Session, Status},
    tool::Change,
};
use ledger::{
    session::{self, Claim, Completion, Failure, ListSessions},
    tool::{self, NewTool, ToolChange},
    tool_run::{self, RunTool},
};
use serde_json::{Value, json};
use std::time::Duration;
use testkit::Fixture;

/// A definition with these members beside the ones that every tool needs.
pub fn definition(more: Value) -> Change {
    let mut whole = json!({ "name": "Tool", "kind": "worker", "inputSchema": { "type": "object" } });
    whole.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    serde_json::from_value(whole).unwrap()
}

/// A composite definition with these steps.
pub fn steps(steps: Value, more: Value) -> Value {
    let mut whole = json!({ "kind": "composite", "composite": { "steps": steps } });
    whole.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    whole
}

/// Creates a tool.
pub async fn draft(f: &Fixture, slug: &str, more: Value) {
    let new = NewTool { slug: Some(slug.to_owned()), definition: definition(more) };
    tool::create(&f.ledger, &f.operator, new).await.unwrap();
}

/// Creates and publishes a tool.
pub async fn published(f: &Fixture, slug: &str, more: Value) {
    draft(f, slug, more).await;
    tool::publish(&f.ledger, &f.operator, slug, None).await.unwrap();
}

/// Changes a tool and publishes it.
pub async fn changed(f: &Fixture, slug: &str, change: Value) {
    let revision = tool::get(&f.ledger, &f.member, slug).await.unwrap().revision;
    let edit = ToolChange { revision, definition: serde_json::from_value(change).unwrap() };
    tool::update(&f.ledger, &f.operator, slug, edit).await.unwrap();
    tool::publish(&f.ledger, &f.operator, slug, None).await.unwrap();
}

/// Runs the tool `all`.
pub async fn run(f: &Fixture, input: Value) -> Session {
    run_of(f, "all", input).await
}

/// Runs a tool.
pub async fn run_of(f: &Fixture, slug: &str, input: Value) -> Session {
    let run = RunTool { input: Some(input.to_string()), ..RunTool::default() };
    tool_run::run(&f.ledger, &f.member, slug, run).await.unwrap()
}

/// Claims every run of a tool that waits for a worker, oldest first.
pub async fn claim(f: &Fixture, slug: &str) -> Vec<Session> {
    let claim = Claim { agent_slugs: Some(vec![format!("tool:{slug}")]), max: 100, lease_seconds: 600 };
    let claimed = session::claim(&f.ledger, &f.worker, claim, Duration::ZERO).await.unwrap();
    claimed.into_iter().map(|claimed| claimed.session).collect()
}

/// Claims the only run of a tool that waits for a worker.
pub async fn claim_one(f: &Fixture, slug: &str) -> Session {
    let mut claimed = claim(f, slug).await;
    assert_eq!(claimed.len(), 1, "runs of {slug}");
    claimed.remove(0)
}

/// Completes a run.
pub async fn complete(f: &Fixture, session: &Session, result: Value) {
    let completion = Completion { attempt: session.attempt, result: Some(result.to_string()), usage: None };
    session::complete(&f.ledger, &f.worker, session.id, completion).await.unwrap();
}

/// Completes the only run of a tool. Returns its input.
pub async fn done(f: &Fixture, slug: &str, result: Value) -> Value {
    let claimed = claim_one(f, slug).await;
    complete(f, &claimed, result).await;
    json_of(claimed.input.as_deref())
}

/// Fails the only run of a tool.
pub async fn fail(f: &Fixture, slug: &str) {
    let claimed = claim_one(f, slug).await;
    let failure = Failure { attempt: claimed.attempt, message: "no luck".to_owned(), code: None, usage: None };
    session::fail(&f.ledger, &f.worker, claimed.id, failure).await.unwrap();
}

pub async fn read(f: &Fixture, id: SessionId) -> Session {
    session::get(&f.ledger, &f.member, id).await.unwrap()
}

pub async fn status(f: &Fixture, id: SessionId) -> Status {
    read(f, id).await.status()
}

/// The sessions that a session started, newest first.
pub async fn children(f: &Fixture, id: SessionId) -> Vec<Session> {
    let query = ListSessions { parent_id: Some(id), limit: 100, ..ListSessions::default() };
    session::list(&f.ledger, &f.member, query).await.unwrap().items
}

/// The sentences of a log about steps, and the sessions that they name.
pub async fn sentences(f: &Fixture, id: SessionId) -> Vec<String> {
    let log = f.log(id).await;
    let of_steps = log.iter().filter(|event| event.kind.as_str().starts_with("tool.composition_step."));
    of_steps.map(|event| event.body().sentence().unwrap()).collect()
}

pub fn json_of(text: Option<&str>) -> Value {
    serde_json::from_str(text.unwrap()).unwrap()
}

/// The fields that were refused, sorted.
pub fn refused<T: std::fmt::Debug>(result: ledger::Result<T>) -> Vec<String> {
    let Err(ledger::Error::Invalid(errors)) = result else { panic!("{result:?}") };
    let mut fields: Vec<_> = errors.into_iter().map(|error| error.field).collect();
    fields.sort();
    fields
}
