//! Runs of composite tools: the order of steps, their inputs, what happens when one fails, and a process that stops.

use crate::composite_scene::{
    children, claim, claim_one, complete, done, fail, json_of, published, read, run, run_of, sentences, status, steps,
};
use chrono::TimeDelta;
use domain::{
    event::Body,
    session::{EndReason, Status, Type},
};
use ledger::session;
use serde_json::{Value, json};
use testkit::{Engine, Fixture, on_both_engines};

on_both_engines!(
    steps_run_one_after_the_other_with_what_the_ones_before_returned,
    steps_that_use_nothing_of_each_other_run_at_the_same_time,
    any_number_of_equal_steps_runs_once_each,
    a_failed_step_fails_the_run_and_cancels_the_others,
    a_failed_step_can_let_the_run_go_on,
    a_failed_step_is_tried_again_after_a_pause,
    a_step_that_a_person_cancelled_is_not_tried_again,
    an_input_that_its_tool_refuses_fails_the_step,
    a_result_that_violates_the_output_schema_fails_the_run,
    a_composite_step_runs_its_own_steps,
    the_end_of_a_step_is_followed_after_a_stop,
    a_pause_is_over_after_a_stop_too,
    an_end_that_is_followed_twice_starts_nothing_twice,
    steps_that_end_at_once_start_the_next_one_once,
);

fn pair() -> Value {
    json!([
        { "name": "first", "tool": "one", "input": { "city": "{/input/city}" } },
        { "name": "second", "tool": "two", "input": { "place": "{/steps/first/place}", "days": 3 } },
    ])
}

/// `two` after `one`, as the tool `all`.
async fn two_after_one(f: &Fixture, more: Value) {
    published(f, "one", json!({ "repeatable": true })).await;
    published(f, "two", json!({})).await;
    let schema = json!({ "type": "object", "properties": { "city": { "type": "string" } } });
    let mut whole = steps(pair(), json!({ "inputSchema": schema }));
    whole.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    published(f, "all", whole).await;
}

async fn steps_run_one_after_the_other_with_what_the_ones_before_returned(f: Fixture) {
    two_after_one(&f, json!({})).await;
    let begun = run(&f, json!({ "city": "Oslo" })).await;
    assert_eq!((begun.status(), begun.session_type, begun.attempt), (Status::Running, Type::Tool, 0));
    assert_eq!(begun.agent_slug.as_deref(), Some("composite:all"));
    assert!(begun.started_at.is_some() && begun.deadline_at().is_some());
    assert!(claim(&f, "two").await.is_empty());
    assert_eq!(done(&f, "one", json!({ "place": [59, 10] })).await, json!({ "city": "Oslo" }));
    assert_eq!(status(&f, begun.id).await, Status::Running);
    assert_eq!(done(&f, "two", json!("rain")).await, json!({ "place": [59, 10], "days": 3 }));
    let ended = read(&f, begun.id).await;
    assert_eq!((ended.status(), json_of(ended.result())), (Status::Completed, json!("rain")));
    let expected = ["Step started first", "Step completed first", "Step started second", "Step completed second"];
    assert_eq!(sentences(&f, begun.id).await, expected);
    // The events name the sessions of the steps, and those name the run.
    let children = children(&f, begun.id).await;
    let ids: Vec<String> = children.iter().map(|child| child.id.to_string()).collect();
    assert_eq!(children.len(), 2);
    assert!(
        children
            .iter()
            .all(|child| (child.parent_id, child.created_by.as_str()) == (Some(begun.id), &*begun.created_by))
    );
    for event in f.log(begun.id).await {
        if let Body::ToolCompositionStepStarted(step) = event.body() {
            assert!(ids.contains(&step.0.session_id.unwrap()) && step.0.tool.is_some());
        }
    }
    f.assert_verified().await;
    f.done().await;
}

async fn steps_that_use_nothing_of_each_other_run_at_the_same_time(f: Fixture) {
    for slug in ["one", "two", "three"] {
        published(&f, slug, json!({})).await;
    }
    let all = json!([
        { "name": "a", "tool": "one" },
        { "name": "b", "tool": "two" },
        { "name": "c", "tool": "three", "input": { "a": "{/steps/a}" }, "after": ["b"] },
    ]);
    let result = json!({ "composite": { "steps": all, "result": { "b": "{/steps/b}", "c": ["{/steps/c/x}"] } } });
    published(&f, "all", steps(json!([]), result)).await;
    let begun = run(&f, json!({})).await;
    let (one, two) = (claim_one(&f, "one").await, claim_one(&f, "two").await);
    complete(&f, &two, json!(2)).await;
    assert!(claim(&f, "three").await.is_empty(), "it began before what it uses has ended");
    complete(&f, &one, json!(1)).await;
    assert_eq!(done(&f, "three", json!({ "x": 3 })).await, json!({ "a": 1 }));
    assert_eq!(json_of(read(&f, begun.id).await.result()), json!({ "b": 2, "c": [3] }));
    f.assert_verified().await;
    f.done().await;
}

async fn any_number_of_equal_steps_runs_once_each(f: Fixture) {
    published(&f, "one", json!({})).await;
    for count in [1, 2, 7, 32_usize] {
        let equal: Vec<Value> = (0..count).map(|at| json!({ "name": format!("s{at}"), "tool": "one" })).collect();
        let slug = format!("all-{count}");
        published(&f, &slug, steps(json!(equal), json!({}))).await;
        let begun = run_of(&f, &slug, json!({})).await;
        let claimed = claim(&f, "one").await;
        assert_eq!(claimed.len(), count);
        for session in &claimed {
            assert_eq!(status(&f, begun.id).await, Status::Running);
            complete(&f, session, json!(count)).await;
        }
        assert_eq!(json_of(read(&f, begun.id).await.result()), json!(count));
        assert_eq!(sentences(&f, begun.id).await.len(), 2 * count);
    }
    f.assert_verified().await;
    f.done().await;
}

async fn a_failed_step_fails_the_run_and_cancels_the_others(f: Fixture) {
    published(&f, "one", json!({})).await;
    published(&f, "two", json!({})).await;
    let all = json!([
        { "name": "a", "tool": "one" },
        { "name": "b", "tool": "two" },
        { "name": "c", "tool": "two", "after": ["a"] },
    ]);
    published(&f, "all", steps(all, json!({}))).await;
    let begun = run(&f, json!({})).await;
    fail(&f, "one").await;
    let ended = read(&f, begun.id).await;
    assert_eq!((ended.status(), ended.error_code()), (Status::Failed, Some("step_failed")));
    assert_eq!(ended.error_message(), Some("its step a failed: no luck"));
    assert!(claim(&f, "two").await.is_empty());
    let statuses: Vec<Status> = children(&f, begun.id).await.iter().map(|child| child.status()).collect();
    assert!(statuses.contains(&Status::Failed) && statuses.contains(&Status::Abandoned), "{statuses:?}");
    assert_eq!(statuses.len(), 2);
    assert_eq!(sentences(&f, begun.id).await, ["Step started a", "Step started b", "Step failed a: no luck"]);
    // The list of causes names the step.
    let mut raw = f.engine.raw().await;
    let steps = "SELECT step FROM failure_causes WHERE step IS NOT NULL";
    assert_eq!(raw.texts(steps).await, ["a"]);
    f.assert_verified().await;
    f.done().await;
}

async fn a_failed_step_can_let_the_run_go_on(f: Fixture) {
    published(&f, "one", json!({})).await;
    published(&f, "two", json!({})).await;
    let all = json!([
        { "name": "a", "tool": "one", "onFailure": "continue" },
        { "name": "b", "tool": "two", "input": { "a": "{/steps/a}", "x": 1 } },
    ]);
    published(&f, "all", steps(all, json!({}))).await;
    let begun = run(&f, json!({})).await;
    fail(&f, "one").await;
    assert_eq!(done(&f, "two", json!("end")).await, json!({ "x": 1 }), "a failed step has no result");
    let ended = read(&f, begun.id).await;
    assert_eq!((ended.status(), json_of(ended.result())), (Status::Completed, json!("end")));
    f.done().await;
}

fn again(retries: u32, backoff: u32) -> Value {
    let mut all = pair();
    all[0]["retries"] = json!(retries);
    all[0]["backoffSeconds"] = json!(backoff);
    json!({ "composite": { "steps": all }, "timeLimitSeconds": 3_600 })
}

async fn a_failed_step_is_tried_again_after_a_pause(f: Fixture) {
    two_after_one(&f, again(2, 10)).await;
    let begun = run(&f, json!({ "city": "Oslo" })).await;
    for (pause, word) in [(10, "first: no luck"), (20, "first: no luck (attempt 2)")] {
        fail(&f, "one").await;
        assert_eq!(sentences(&f, begun.id).await.last().unwrap(), &format!("Step failed {word}"));
        f.clock.advance(TimeDelta::seconds(pause - 1));
        assert_eq!(session::sweep(&f.ledger).await.unwrap().advanced, 0);
        assert!(claim(&f, "one").await.is_empty(), "the pause is not over");
        f.clock.advance(TimeDelta::seconds(1));
        assert_eq!(session::sweep(&f.ledger).await.unwrap().advanced, 1);
    }
    assert_eq!(done(&f, "one", json!({ "place": "x" })).await, json!({ "city": "Oslo" }));
    done(&f, "two", json!("rain")).await;
    assert_eq!(status(&f, begun.id).await, Status::Completed);
    // The tries are used up.
    let begun = run(&f, json!({})).await;
    for pause in [10, 20] {
        fail(&f, "one").await;
        f.clock.advance(TimeDelta::seconds(pause));
        session::sweep(&f.ledger).await.unwrap();
    }
    fail(&f, "one").await;
    let ended = read(&f, begun.id).await;
    assert_eq!((ended.status(), ended.error_code()), (Status::Failed, Some("step_failed")));
    assert_eq!(children(&f, begun.id).await.len(), 3);
    f.assert_verified().await;
    f.done().await;
}

async fn a_step_that_a_person_cancelled_is_not_tried_again(f: Fixture) {
    two_after_one(&f, again(3, 0)).await;
    let begun = run(&f, json!({})).await;
    let step = claim_one(&f, "one").await;
    session::cancel(&f.ledger, &f.member, step.id, None).await.unwrap();
    let ended = read(&f, begun.id).await;
    assert_eq!((ended.status(), ended.error_code()), (Status::Failed, Some("step_failed")));
    assert!(claim(&f, "one").await.is_empty());
    f.done().await;
}

async fn an_input_that_its_tool_refuses_fails_the_step(f: Fixture) {
    let schema = json!({ "type": "object", "properties": { "place": { "type": "string" } }, "required": ["place"] });
    published(&f, "one", json!({})).await;
    published(&f, "two", json!({ "inputSchema": schema })).await;
    let all = json!([
        { "name": "a", "tool": "one" },
        { "name": "b", "tool": "two", "input": { "place": "{/steps/a/place}" } },
    ]);
    published(&f, "all", steps(all, json!({}))).await;
    for (place, problem) in [(json!({ "place": 1 }), "input/place"), (json!({}), "input/place")] {
        let begun = run(&f, json!({})).await;
        done(&f, "one", place).await;
        let ended = read(&f, begun.id).await;
        assert_eq!((ended.status(), ended.error_code()), (Status::Failed, Some("step_failed")));
        let message = ended.error_message().unwrap();
        assert!(
            message.starts_with("its step b failed: its input is not valid") && message.contains(problem),
            "{message}"
        );
        assert_eq!(children(&f, begun.id).await.len(), 1, "nothing ran");
    }
    f.assert_verified().await;
    f.done().await;
}

async fn a_result_that_violates_the_output_schema_fails_the_run(f: Fixture) {
    two_after_one(&f, json!({ "outputSchema": { "type": "string" } })).await;
    for (result, status) in [(json!("rain"), Status::Completed), (json!(3), Status::Failed)] {
        let begun = run(&f, json!({})).await;
        done(&f, "one", json!({})).await;
        done(&f, "two", result).await;
        let ended = read(&f, begun.id).await;
        assert_eq!(ended.status(), status, "{ended:?}");
        let code = (status == Status::Failed).then_some("output_invalid");
        assert_eq!(ended.error_code(), code);
    }
    f.assert_verified().await;
    f.done().await;
}

async fn a_composite_step_runs_its_own_steps(f: Fixture) {
    two_after_one(&f, json!({})).await;
    let outer = json!([
        { "name": "inner", "tool": "all", "input": "{/input}" },
        { "name": "last", "tool": "two", "input": { "of": "{/steps/inner}" } },
    ]);
    published(&f, "outer", steps(outer, json!({}))).await;
    let begun = run_of(&f, "outer", json!({ "city": "Oslo" })).await;
    assert_eq!(done(&f, "one", json!({ "place": 1 })).await, json!({ "city": "Oslo" }));
    done(&f, "two", json!("rain")).await;
    assert_eq!(done(&f, "two", json!("end")).await, json!({ "of": "rain" }));
    assert_eq!(json_of(read(&f, begun.id).await.result()), json!("end"));
    // A failure inside fails the outer run too.
    let begun = run_of(&f, "outer", json!({})).await;
    fail(&f, "one").await;
    let ended = read(&f, begun.id).await;
    let message = "its step inner failed: its step first failed: no luck";
    assert_eq!((ended.status(), ended.error_message()), (Status::Failed, Some(message)));
    // Cancelling the outer run cancels what is open inside.
    let begun = run_of(&f, "outer", json!({})).await;
    session::cancel(&f.ledger, &f.member, begun.id, None).await.unwrap();
    assert!(claim(&f, "one").await.is_empty());
    let inner = children(&f, begun.id).await.remove(0);
    assert_eq!(
        (inner.end_reason(), children(&f, inner.id).await[0].end_reason()),
        (Some(EndReason::Cancelled), Some(EndReason::Cancelled))
    );
    f.assert_verified().await;
    f.done().await;
}

/// What keeps steps from being recorded, and what allows it again.
fn fault(f: &Fixture) -> (&'static str, &'static str) {
    if matches!(f.engine, Engine::Postgres { .. }) {
        (
            "CREATE FUNCTION broken() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'broken'; END $$; \
             CREATE TRIGGER broken BEFORE INSERT ON tool_steps FOR EACH ROW EXECUTE FUNCTION broken()",
            "DROP TRIGGER broken ON tool_steps",
        )
    } else {
        (
            "CREATE TRIGGER broken BEFORE INSERT ON tool_steps BEGIN SELECT RAISE(ABORT, 'broken'); END",
            "DROP TRIGGER broken",
        )
    }
}

/// The process stops between the end of each step and what follows from it.
async fn the_end_of_a_step_is_followed_after_a_stop(mut f: Fixture) {
    two_after_one(&f, json!({})).await;
    let begun = run(&f, json!({ "city": "Oslo" })).await;
    let (refuse, allow) = fault(&f);
    for (slug, result) in [("one", json!({ "place": 1 })), ("two", json!("rain"))] {
        let mut raw = f.engine.raw().await;
        raw.execute(refuse).await.unwrap();
        done(&f, slug, result).await;
        assert_eq!(status(&f, begun.id).await, Status::Running);
        raw.execute(allow).await.unwrap();
        if matches!(f.engine, Engine::Postgres { .. }) {
            raw.execute("DROP FUNCTION broken").await.unwrap();
        }
        drop(raw);
        f.restart().await;
        session::sweep(&f.ledger).await.unwrap();
        assert!(claim(&f, "one").await.is_empty(), "a step ran twice");
    }
    let ended = read(&f, begun.id).await;
    assert_eq!((ended.status(), json_of(ended.result())), (Status::Completed, json!("rain")));
    assert_eq!(children(&f, begun.id).await.len(), 2);
    f.assert_verified().await;
    f.done().await;
}

async fn a_pause_is_over_after_a_stop_too(mut f: Fixture) {
    two_after_one(&f, again(1, 10)).await;
    let begun = run(&f, json!({})).await;
    fail(&f, "one").await;
    f.restart().await;
    f.clock.advance(TimeDelta::seconds(10));
    let sweeps = (0..4).map(|_| session::sweep(&f.ledger));
    let swept = futures_util::future::join_all(sweeps).await;
    assert!(swept.into_iter().map(|swept| swept.unwrap().advanced).sum::<u64>() >= 1);
    done(&f, "one", json!({})).await;
    f.restart().await;
    done(&f, "two", json!(1)).await;
    assert_eq!(status(&f, begun.id).await, Status::Completed);
    // What waits when its run ends is forgotten.
    let begun = run(&f, json!({})).await;
    fail(&f, "one").await;
    session::cancel(&f.ledger, &f.member, begun.id, None).await.unwrap();
    f.clock.advance(TimeDelta::seconds(10));
    assert_eq!(session::sweep(&f.ledger).await.unwrap(), session::Swept::default());
    assert!(claim(&f, "one").await.is_empty());
    f.assert_verified().await;
    f.done().await;
}

async fn an_end_that_is_followed_twice_starts_nothing_twice(f: Fixture) {
    two_after_one(&f, json!({})).await;
    let begun = run(&f, json!({})).await;
    done(&f, "one", json!({})).await;
    let before = f.log(begun.id).await.len();
    let note = "INSERT INTO session_endings (tenant_id, session_id, at) \
                SELECT tenant_id, id, 0 FROM sessions WHERE agent_slug = 'tool:one'";
    f.engine.raw().await.execute(note).await.unwrap();
    assert_eq!(session::sweep(&f.ledger).await.unwrap().followed, 1);
    assert_eq!(f.log(begun.id).await.len(), before);
    assert_eq!(claim(&f, "two").await.len(), 1);
    f.done().await;
}

async fn steps_that_end_at_once_start_the_next_one_once(f: Fixture) {
    published(&f, "one", json!({})).await;
    published(&f, "two", json!({})).await;
    let mut all: Vec<Value> = (0..8).map(|at| json!({ "name": format!("s{at}"), "tool": "one" })).collect();
    let names: Vec<String> = (0..8).map(|at| format!("s{at}")).collect();
    all.push(json!({ "name": "last", "tool": "two", "after": names }));
    published(&f, "all", steps(json!(all), json!({}))).await;
    let begun = run(&f, json!({})).await;
    let claimed = claim(&f, "one").await;
    futures_util::future::join_all(claimed.iter().map(|session| complete(&f, session, json!(1)))).await;
    session::sweep(&f.ledger).await.unwrap();
    done(&f, "two", json!("end")).await;
    assert_eq!(json_of(read(&f, begun.id).await.result()), json!("end"));
    assert_eq!(children(&f, begun.id).await.len(), 9);
    f.assert_verified().await;
    f.done().await;
}
