//! Results of tools of more than 256 KiB: kept apart from the rows that lists read, and otherwise like other results.

use crate::{
    composite_scene::{self as scene, json_of},
    retention::key,
    tool_run::{claim_one, complete, echo, published, run},
};
use chrono::TimeDelta;
use domain::{
    limit::{DOCUMENT_BYTES_MAX, TOOL_RESULT_BYTES_MAX},
    session::{Session, Status},
};
use ledger::{
    Error, page, retention,
    session::{self, Completion, ListSessions},
    share_link, tool_run,
    verify::Verified,
};
use serde_json::{Value, json};
use testkit::{Fixture, on_both_engines};

on_both_engines!(
    a_result_of_a_tool_has_at_most_its_size_and_that_of_an_agent_less,
    lists_leave_large_results_out_and_say_so,
    a_changed_large_result_is_found,
    a_large_result_is_erased_with_its_session,
    a_link_shows_a_large_result,
    a_step_takes_a_large_result,
);

/// A text that is a result of this size as JSON.
fn of_size(bytes: usize) -> Value {
    "x".repeat(bytes - 2).into()
}

/// A completed run with a result of the largest size.
async fn ran(f: &Fixture) -> Session {
    run(f, &f.member, json!({})).await.unwrap();
    let claimed = claim_one(f).await;
    complete(f, &claimed, of_size(TOOL_RESULT_BYTES_MAX)).await
}

async fn verified(f: &Fixture) -> Verified {
    ledger::verify::all(&f.ledger, &[key()], |_| {}).await.unwrap()
}

/// Reports a result. Returns the fields that were refused.
async fn refused(f: &Fixture, session: &Session, result: &Value) -> Vec<String> {
    let completion = Completion { attempt: session.attempt, result: Some(result.to_string()), usage: None };
    match session::complete(&f.ledger, &f.worker, session.id, completion).await {
        Err(Error::Invalid(issues)) => issues.into_iter().map(|issue| issue.field).collect(),
        other => panic!("{other:?}"),
    }
}

async fn a_result_of_a_tool_has_at_most_its_size_and_that_of_an_agent_less(f: Fixture) {
    published(&f, echo(json!({}))).await;
    run(&f, &f.member, json!({})).await.unwrap();
    let claimed = claim_one(&f).await;
    assert_eq!(refused(&f, &claimed, &of_size(TOOL_RESULT_BYTES_MAX + 1)).await, ["result"]);
    let largest = of_size(TOOL_RESULT_BYTES_MAX);
    let ended = complete(&f, &claimed, largest.clone()).await;
    assert_eq!((ended.status(), json_of(ended.result()) == largest), (Status::Completed, true));
    let again = complete(&f, &claimed, largest.clone()).await;
    assert!(json_of(again.result()) == largest, "a repeat is answered with the result");
    let read = session::get(&f.ledger, &f.member, ended.id).await.unwrap();
    assert_eq!((json_of(read.result()) == largest, read.result_left_out()), (true, false));
    let agent = f.running().await;
    assert_eq!(refused(&f, &agent, &of_size(DOCUMENT_BYTES_MAX + 1)).await, ["result"]);
    let (result, attempt) = (Some(of_size(DOCUMENT_BYTES_MAX).to_string()), agent.attempt);
    let ended = session::complete(&f.ledger, &f.worker, agent.id, Completion { attempt, result, usage: None }).await;
    assert_eq!(ended.unwrap().status(), Status::Completed);
    f.assert_verified().await;
    f.done().await;
}

async fn lists_leave_large_results_out_and_say_so(f: Fixture) {
    published(&f, echo(json!({}))).await;
    let large = ran(&f).await;
    f.clock.advance(TimeDelta::milliseconds(1));
    run(&f, &f.member, json!({})).await.unwrap();
    let claimed = claim_one(&f).await;
    complete(&f, &claimed, of_size(DOCUMENT_BYTES_MAX)).await;
    let expected = [(true, false), (false, true)];
    let shown = |sessions: &[Session]| -> Vec<(bool, bool)> {
        sessions.iter().map(|session| (session.result().is_some(), session.result_left_out())).collect()
    };
    let runs = tool_run::list(
        &f.ledger,
        &f.member,
        tool_run::ListRuns { page: ledger::ListPage { limit: 10, cursor: None }, ..tool_run::ListRuns::default() },
    );
    assert_eq!(shown(&runs.await.unwrap().items), expected);
    let all = ListSessions { limit: 10, ..ListSessions::default() };
    assert_eq!(shown(&session::list(&f.ledger, &f.member, all).await.unwrap().items), expected);
    let by_id = session::list_by_ids(&f.ledger, &f.member, &[large.id]).await.unwrap();
    assert_eq!(shown(&by_id), [(false, true)]);
    // The page of the tool shows the result of the newest run, so that one is read whole.
    f.clock.advance(TimeDelta::milliseconds(1));
    let newest = ran(&f).await;
    let page = page::tool::read(&f.ledger, &f.member, "echo".to_owned(), page::tool::Query::default()).await.unwrap();
    assert_eq!((page.runs[0].session.id, page.runs[0].session.result()), (newest.id, newest.result()));
    assert!(page.runs[2].session.result_left_out());
    f.done().await;
}

async fn a_changed_large_result_is_found(f: Fixture) {
    published(&f, echo(json!({}))).await;
    let run = ran(&f).await;
    assert_eq!(verified(&f).await.bad, None);
    let mut raw = f.engine.raw().await;
    for (change, back) in [
        ("UPDATE session_results SET result = '\"y' || substr(result, 3)", "'\"x' || substr(result, 3)"),
        ("UPDATE session_results SET result = '1' || result", "substr(result, 2)"),
    ] {
        assert_eq!(raw.execute(change).await.unwrap(), 1);
        let (bad, _, problem) = verified(&f).await.bad.expect(change);
        assert_eq!((bad, problem.contains("its row was changed after it ended")), (run.id, true), "{problem}");
        raw.execute(&format!("UPDATE session_results SET result = {back}")).await.unwrap();
        assert_eq!(verified(&f).await.bad, None);
    }
    raw.execute("DELETE FROM session_results").await.unwrap();
    assert_eq!(verified(&f).await.bad.map(|(id, ..)| id), Some(run.id));
    drop(raw);
    f.done().await;
}

async fn a_large_result_is_erased_with_its_session(f: Fixture) {
    published(&f, echo(json!({}))).await;
    let run = ran(&f).await;
    f.clock.advance(TimeDelta::days(2));
    let older_than = f.ledger.now() - TimeDelta::days(1);
    retention::erase_by_operator(&f.ledger, &key(), older_than, |_| {}).await.unwrap();
    let erased = session::get(&f.ledger, &f.member, run.id).await.unwrap();
    assert_eq!((erased.result(), erased.result_left_out()), (None, false));
    let mut raw = f.engine.raw().await;
    assert_eq!(raw.number("SELECT COUNT(*) FROM session_results").await, 0);
    drop(raw);
    assert_eq!(verified(&f).await.bad, None);
    f.done().await;
}

async fn a_link_shows_a_large_result(f: Fixture) {
    published(&f, echo(json!({}))).await;
    let run = ran(&f).await;
    let (link, secret) = share_link::create(&f.ledger, &f.member, run.id, 7).await.unwrap();
    let cookie = share_link::enter(&f.ledger, &secret).await.unwrap().clearance;
    let shared = share_link::read(&f.ledger, link.id, Some(&cookie), 0).await.unwrap();
    assert!(shared.session.result() == run.result());
    f.done().await;
}

async fn a_step_takes_a_large_result(f: Fixture) {
    scene::published(&f, "load", json!({})).await;
    scene::published(&f, "sum", json!({})).await;
    let composite = json!({
        "steps": [
            { "name": "rows", "tool": "load" },
            { "name": "total", "tool": "sum", "input": { "first": "{/steps/rows/first}" } },
        ],
        "result": { "rows": "{/steps/rows}", "total": "{/steps/total}" },
    });
    scene::published(&f, "all", json!({ "kind": "composite", "composite": composite })).await;
    let begun = scene::run(&f, json!({})).await;
    let rows = json!({ "first": 7, "rest": "x".repeat(DOCUMENT_BYTES_MAX) });
    scene::done(&f, "load", rows.clone()).await;
    assert_eq!(scene::done(&f, "sum", json!(7)).await, json!({ "first": 7 }));
    let ended = scene::read(&f, begun.id).await;
    assert!(json_of(ended.result()) == json!({ "rows": rows, "total": 7 }));
    f.assert_verified().await;
    f.done().await;
}
