//! Tests of the working copies of tools.

use crate::tool_run::{claim_one, complete, echo, published, run};
use domain::{
    Scope,
    session::{Session, Status},
    tool::{
        Change,
        run::{TEST_SOURCE, ToolRun},
    },
};
use ledger::{
    Error,
    page::{self, tool::EndedRuns},
    session,
    tool::{self, NewTool, ToolChange},
    tool_run::{self, RunTool},
};
use serde_json::{Value, json};
use testkit::{Fixture, on_both_engines};

on_both_engines!(
    a_test_runs_the_working_copy_and_is_marked,
    a_test_of_a_composite_tool_runs_the_steps_that_are_published,
    only_who_changes_tools_tests_them,
    the_page_counts_how_runs_ended_without_tests,
);

fn change(definition: Value) -> Change {
    serde_json::from_value(definition).unwrap()
}

async fn test(f: &Fixture, who: &Scope, slug: &str, input: Value) -> ledger::Result<Session> {
    let run = RunTool { input: Some(input.to_string()), ..RunTool::default() };
    tool_run::test(&f.ledger, who, slug, run).await
}

async fn a_test_runs_the_working_copy_and_is_marked(f: Fixture) {
    published(&f, echo(json!({}))).await;
    let edited = change(json!({ "name": "Echo 2", "outputSchema": { "type": "integer" }, "privateFields": ["text"] }));
    tool::update(&f.ledger, &f.operator, "echo", ToolChange { revision: 1, definition: edited }).await.unwrap();
    let refused = test(&f, &f.operator, "echo", json!({ "times": 0 })).await;
    assert!(matches!(&refused, Err(Error::Invalid(errors)) if errors[0].field == "input/times"), "{refused:?}");
    let begun = test(&f, &f.operator, "echo", json!({ "text": "x", "times": 1 })).await.unwrap();
    assert_eq!((begun.status(), begun.title.as_str()), (Status::Pending, "Test of Echo 2"));
    assert_eq!(begun.source.as_deref(), Some(TEST_SOURCE));
    let run = ToolRun::of_session(&begun).unwrap();
    assert_eq!((run.version, run.revision, run.has_private_input), (0, Some(2), true));
    // A change that comes after the test does not change what it runs.
    let later = change(json!({ "outputSchema": null }));
    tool::update(&f.ledger, &f.operator, "echo", ToolChange { revision: 2, definition: later }).await.unwrap();
    let claimed = claim_one(&f).await;
    let given: Value = serde_json::from_str(claimed.input.as_deref().unwrap()).unwrap();
    assert_eq!(given, json!({ "text": "x", "times": 1 }));
    let failed = complete(&f, &claimed, json!("no number")).await;
    assert_eq!((failed.status(), failed.error_code()), (Status::Failed, Some("output_invalid")));
    let again = session::retry(&f.ledger, &f.operator, begun.id).await;
    assert!(matches!(&again, Err(Error::Invalid(errors)) if errors[0].message.contains("test")), "{again:?}");
    let tool = tool::get(&f.ledger, &f.operator, "echo").await.unwrap();
    assert_eq!((tool.version, tool.revision), (Some(1), 3), "a test changes no tool");
    f.assert_verified().await;
    f.done().await;
}

async fn a_test_of_a_composite_tool_runs_the_steps_that_are_published(f: Fixture) {
    published(&f, echo(json!({}))).await;
    let whole = json!({
        "name": "Twice", "kind": "composite",
        "inputSchema": { "type": "object", "properties": { "text": { "type": "string" } } },
        "composite": { "steps": [{ "name": "one", "tool": "echo", "input": { "text": "{/input/text}" } }] },
    });
    let new = NewTool { slug: Some("twice".to_owned()), definition: change(whole) };
    tool::create(&f.ledger, &f.operator, new).await.unwrap();
    let begun = test(&f, &f.operator, "twice", json!({ "text": "a" })).await.unwrap();
    assert_eq!(begun.status(), Status::Running);
    let step = claim_one(&f).await;
    assert_eq!((step.parent_id, step.source.as_deref()), (Some(begun.id), None));
    complete(&f, &step, json!("done")).await;
    let ended = session::get(&f.ledger, &f.operator, begun.id).await.unwrap();
    assert_eq!((ended.status(), ended.result()), (Status::Completed, Some("\"done\"")));
    tool::unpublish(&f.ledger, &f.operator, "echo").await.unwrap();
    let refused = test(&f, &f.operator, "twice", json!({ "text": "a" })).await;
    assert!(matches!(&refused, Err(Error::Invalid(_))), "{refused:?}");
    f.assert_verified().await;
    f.done().await;
}

async fn only_who_changes_tools_tests_them(f: Fixture) {
    published(&f, echo(json!({}))).await;
    let refused = test(&f, &f.member, "echo", json!({})).await;
    assert!(matches!(refused, Err(Error::Forbidden(_))), "{refused:?}");
    let hidden = test(&f, &f.operator, "none", json!({})).await;
    assert!(matches!(hidden, Err(Error::NotFound(_))), "{hidden:?}");
    let keyed = || RunTool {
        input: Some(r#"{"text":"a"}"#.to_owned()),
        idempotency_key: Some("k".to_owned()),
        ..RunTool::default()
    };
    let first = tool_run::test(&f.ledger, &f.operator, "echo", keyed()).await.unwrap();
    let repeat = tool_run::test(&f.ledger, &f.operator, "echo", keyed()).await.unwrap();
    assert_eq!(first.id, repeat.id);
    let other = tool_run::run(&f.ledger, &f.operator, "echo", keyed()).await;
    assert!(matches!(other, Err(Error::IdConflict { .. })), "{other:?}");
    f.done().await;
}

async fn the_page_counts_how_runs_ended_without_tests(f: Fixture) {
    published(&f, echo(json!({ "outputSchema": { "type": "integer" } }))).await;
    let ended = async || {
        let query = page::tool::Query::default();
        page::tool::read(&f.ledger, &f.member, "echo".to_owned(), query).await.unwrap().ended
    };
    assert_eq!(ended().await, EndedRuns::default());
    for result in [json!(1), json!("no number"), json!(2)] {
        run(&f, &f.member, json!({})).await.unwrap();
        complete(&f, &claim_one(&f).await, result).await;
    }
    test(&f, &f.operator, "echo", json!({})).await.unwrap();
    complete(&f, &claim_one(&f).await, json!("no number")).await;
    // One that waits, and one that was cancelled, have not ended by themselves.
    run(&f, &f.member, json!({})).await.unwrap();
    let cancelled = run(&f, &f.member, json!({})).await.unwrap();
    session::cancel(&f.ledger, &f.member, cancelled.id, None).await.unwrap();
    assert_eq!(ended().await, EndedRuns { ended: 3, failed: 1, is_cut: false });
    f.done().await;
}
