//! What a composite tool may be when it is published, its private values and confirmations, its time limit and its
//! cancellation.

use crate::composite_scene::{
    changed, children, claim, complete, done, draft, fail, json_of, published, read, refused, run, run_of, status,
    steps,
};
use chrono::TimeDelta;
use domain::{
    bundle::PlannedOperation,
    session::{EndReason, Status},
    tool::{Kind, RunState, run::agent_of},
};
use ledger::{
    Error, ListPage,
    bundle::{Mode, install},
    session, tool,
    tool_run::{self, ListRuns, RunTool},
};
use serde_json::{Value, json};
use testkit::{Fixture, on_both_engines};

on_both_engines!(
    a_version_names_the_versions_of_its_steps,
    steps_need_published_tools,
    a_part_that_can_never_have_a_value_is_refused,
    circles_are_refused,
    more_than_eight_levels_are_refused,
    more_sessions_than_a_run_may_start_are_refused,
    only_repeatable_tools_are_tried_again,
    private_values_go_only_to_private_fields,
    a_private_value_stays_private_in_the_sessions_of_steps,
    the_audience_of_each_step_counts,
    a_cancelled_run_cancels_its_steps,
    a_run_has_the_time_of_its_tool,
    a_call_of_a_step_waits_for_confirmation,
    nobody_claims_a_composite_run,
    a_run_is_run_again_with_its_steps,
    sessions_of_tools_are_listed_in_three_states,
    a_bundle_installs_composite_tools_after_what_they_run,
);

/// The example in the documentation.
const EXAMPLE: &str = include_str!("../../../../examples/composite.json");
const PRIVATE: &str = "hunter2-private-value";

fn step(name: &str, tool: &str) -> Value {
    json!({ "name": name, "tool": tool })
}

async fn publish(f: &Fixture, slug: &str) -> ledger::Result<ledger::ToolRecord> {
    tool::publish(&f.ledger, &f.operator, slug, None).await
}

async fn a_version_names_the_versions_of_its_steps(f: Fixture) {
    published(&f, "one", json!({ "outputSchema": { "type": "integer" } })).await;
    published(&f, "all", steps(json!([step("a", "one")]), json!({}))).await;
    changed(&f, "one", json!({ "outputSchema": { "type": "string" } })).await;
    let version = async |number| {
        let version = tool::get_version(&f.ledger, &f.member, "all", number).await.unwrap();
        version.definition.composite().unwrap().steps[0].version
    };
    assert_eq!(version(1).await, Some(1));
    // The run keeps what was published.
    let begun = run(&f, json!({})).await;
    done(&f, "one", json!(1)).await;
    assert_eq!(status(&f, begun.id).await, Status::Completed);
    // Publishing again takes the newest versions, and adds none if nothing differs.
    assert_eq!(publish(&f, "all").await.unwrap().version, Some(2));
    assert_eq!(version(2).await, Some(2));
    assert_eq!(publish(&f, "all").await.unwrap().version, Some(2));
    let copy = tool::get(&f.ledger, &f.member, "all").await.unwrap();
    assert_eq!(copy.definition.composite().unwrap().steps[0].version, None);
    let pinned = json!({ "composite": { "steps": [{ "name": "a", "tool": "one", "version": 1 }] } });
    changed(&f, "all", pinned).await;
    assert_eq!(version(3).await, Some(1));
    f.done().await;
}

async fn steps_need_published_tools(f: Fixture) {
    published(&f, "one", json!({})).await;
    draft(&f, "two", json!({})).await;
    let wrong = json!([
        step("a", "one"),
        step("b", "none"),
        step("c", "two"),
        { "name": "d", "tool": "one", "version": 9 },
    ]);
    draft(&f, "all", steps(wrong, json!({}))).await;
    let fields = ["composite.steps[1].tool", "composite.steps[2].tool", "composite.steps[3].version"];
    assert_eq!(refused(publish(&f, "all").await), fields);
    // A run needs no step that is still published.
    published(&f, "good", steps(json!([step("a", "one")]), json!({}))).await;
    tool::unpublish(&f.ledger, &f.operator, "one").await.unwrap();
    let begun = run_of(&f, "good", json!({})).await;
    done(&f, "one", json!(1)).await;
    assert_eq!(status(&f, begun.id).await, Status::Completed);
    f.done().await;
}

async fn a_part_that_can_never_have_a_value_is_refused(f: Fixture) {
    let place =
        json!({ "type": "object", "additionalProperties": false, "properties": { "city": { "type": "string" } } });
    published(&f, "one", json!({ "outputSchema": place })).await;
    let weather = json!({ "type": "object", "properties": { "city": { "type": "string" } }, "required": ["city"] });
    published(&f, "two", json!({ "inputSchema": weather })).await;
    let with = |input: Value, result: &str| {
        let all = json!([step("a", "one"), { "name": "b", "tool": "two", "input": input }]);
        json!({ "kind": "composite", "composite": { "steps": all, "result": { "of": result } } })
    };
    draft(&f, "all", with(json!({ "city": "{/steps/a/town}" }), "{/steps/a/town}")).await;
    let fields = ["composite.result/of", "composite.steps[1].input/city"];
    assert_eq!(refused(publish(&f, "all").await), fields);
    draft(&f, "none", with(json!({}), "{/steps/a}")).await;
    assert_eq!(refused(publish(&f, "none").await), ["composite.steps[1].input"]);
    published(&f, "good", with(json!({ "city": "{/steps/a/city}" }), "{/steps/a/city}")).await;
    f.done().await;
}

async fn circles_are_refused(f: Fixture) {
    published(&f, "one", json!({})).await;
    draft(&f, "self", steps(json!([step("a", "self")]), json!({}))).await;
    assert_eq!(refused(publish(&f, "self").await), ["composite.steps[0].tool"]);
    published(&f, "inner", steps(json!([step("a", "one")]), json!({}))).await;
    published(&f, "outer", steps(json!([step("a", "inner")]), json!({}))).await;
    let revision = tool::get(&f.ledger, &f.member, "one").await.unwrap().revision;
    let edit = steps(json!([step("a", "outer")]), json!({}));
    let edit = tool::ToolChange { revision, definition: serde_json::from_value(edit).unwrap() };
    tool::update(&f.ledger, &f.operator, "one", edit).await.unwrap();
    assert_eq!(refused(publish(&f, "one").await), ["composite.steps[0].tool"]);
    f.done().await;
}

async fn more_than_eight_levels_are_refused(f: Fixture) {
    published(&f, "level-0", json!({})).await;
    for level in 1..=8 {
        let below = format!("level-{}", level - 1);
        published(&f, &format!("level-{level}"), steps(json!([step("a", &below)]), json!({}))).await;
    }
    draft(&f, "level-9", steps(json!([step("a", "level-8")]), json!({}))).await;
    assert_eq!(refused(publish(&f, "level-9").await), ["composite.steps[0].tool"]);
    let begun = run_of(&f, "level-8", json!({})).await;
    done(&f, "level-0", json!("deep")).await;
    assert_eq!(json_of(read(&f, begun.id).await.result()), json!("deep"));
    f.assert_verified().await;
    f.done().await;
}

async fn more_sessions_than_a_run_may_start_are_refused(f: Fixture) {
    published(&f, "one", json!({})).await;
    let many = |tool: &str, count: usize| {
        let steps: Vec<Value> = (0..count).map(|at| step(&format!("s{at}"), tool)).collect();
        json!(steps)
    };
    published(&f, "ten", steps(many("one", 10), json!({}))).await;
    // Each of these is one session, and ten below it.
    draft(&f, "many", steps(many("ten", 24), json!({}))).await;
    assert_eq!(refused(publish(&f, "many").await), ["composite.steps"]);
    published(&f, "enough", steps(many("ten", 23), json!({}))).await;
    f.done().await;
}

async fn only_repeatable_tools_are_tried_again(f: Fixture) {
    published(&f, "one", json!({})).await;
    let again = json!([{ "name": "a", "tool": "one", "retries": 1 }]);
    draft(&f, "all", steps(again, json!({}))).await;
    assert_eq!(refused(publish(&f, "all").await), ["composite.steps[0].retries"]);
    changed(&f, "one", json!({ "repeatable": true })).await;
    publish(&f, "all").await.unwrap();
    f.done().await;
}

fn with_key() -> Value {
    json!({ "type": "object", "properties": { "key": { "type": "string" }, "city": { "type": "string" } } })
}

async fn private_values_go_only_to_private_fields(f: Fixture) {
    published(&f, "one", json!({ "inputSchema": with_key() })).await;
    let mapped = json!([{ "name": "a", "tool": "one", "input": { "key": "{/input/key}" } }]);
    draft(&f, "all", steps(mapped, json!({ "inputSchema": with_key(), "privateFields": ["key"] }))).await;
    assert_eq!(refused(publish(&f, "all").await), ["composite.steps[0].input/key"]);
    changed(&f, "one", json!({ "privateFields": ["key"] })).await;
    publish(&f, "all").await.unwrap();
    f.done().await;
}

async fn a_private_value_stays_private_in_the_sessions_of_steps(f: Fixture) {
    let private = json!({ "inputSchema": with_key(), "privateFields": ["key"] });
    published(&f, "one", private.clone()).await;
    published(&f, "two", private.clone()).await;
    let mapped = json!([
        { "name": "a", "tool": "one", "input": { "key": "{/input/key}", "city": "{/input/city}" } },
        { "name": "b", "tool": "two", "input": "{/input}", "after": ["a"] },
    ]);
    published(&f, "all", steps(mapped, private)).await;
    let input = json!({ "key": PRIVATE, "city": "Oslo" });
    let begun = run(&f, input.clone()).await;
    for slug in ["one", "two"] {
        assert_eq!(done(&f, slug, json!("ok")).await, input, "whoever runs it gets the whole input");
    }
    assert_eq!(status(&f, begun.id).await, Status::Completed);
    for session in children(&f, begun.id).await.iter().chain([&read(&f, begun.id).await]) {
        assert_eq!(json_of(session.input.as_deref()), json!({ "city": "Oslo" }));
    }
    let mut raw = f.engine.raw().await;
    let mut texts = raw.texts("SELECT content || metadata FROM session_events").await;
    texts.extend(raw.texts("SELECT COALESCE(input, '') || metadata FROM sessions").await);
    assert!(texts.iter().all(|text| !text.contains(PRIVATE)));
    assert_eq!(raw.number("SELECT COUNT(*) FROM tool_private_inputs").await, 0);
    f.assert_verified().await;
    f.done().await;
}

async fn the_audience_of_each_step_counts(f: Fixture) {
    published(&f, "one", json!({ "audience": { "roles": ["operator"] } })).await;
    published(&f, "inner", steps(json!([step("a", "one")]), json!({}))).await;
    published(&f, "all", steps(json!([step("a", "inner")]), json!({}))).await;
    let refused = tool_run::run(&f.ledger, &f.member, "all", RunTool::default()).await;
    assert!(matches!(refused, Err(Error::Forbidden(_))), "{refused:?}");
    tool_run::run(&f.ledger, &f.operator, "all", RunTool::default()).await.unwrap();
    f.done().await;
}

async fn a_cancelled_run_cancels_its_steps(f: Fixture) {
    published(&f, "one", json!({})).await;
    let all = json!([step("a", "one"), step("b", "one"), { "name": "c", "tool": "one", "after": ["a"] }]);
    published(&f, "all", steps(all, json!({}))).await;
    let begun = run(&f, json!({})).await;
    let claimed = claim(&f, "one").await;
    session::cancel(&f.ledger, &f.member, begun.id, None).await.unwrap();
    for child in children(&f, begun.id).await {
        assert_eq!((child.status(), child.end_reason()), (Status::Abandoned, Some(EndReason::Cancelled)));
    }
    assert_eq!((children(&f, begun.id).await.len(), claimed.len()), (2, 2));
    assert_eq!(read(&f, begun.id).await.end_reason(), Some(EndReason::Cancelled));
    f.assert_verified().await;
    f.done().await;
}

async fn a_run_has_the_time_of_its_tool(f: Fixture) {
    published(&f, "one", json!({ "timeLimitSeconds": 600 })).await;
    let all = json!([step("a", "one"), step("b", "one")]);
    published(&f, "all", steps(all, json!({ "timeLimitSeconds": 30 }))).await;
    let begun = run(&f, json!({})).await;
    let claimed = claim(&f, "one").await;
    complete(&f, &claimed[0], json!(1)).await;
    f.clock.advance(TimeDelta::seconds(29));
    assert_eq!(session::sweep(&f.ledger).await.unwrap().expired, 0);
    f.clock.advance(TimeDelta::seconds(1));
    assert_eq!(session::sweep(&f.ledger).await.unwrap().expired, 1);
    let ended = read(&f, begun.id).await;
    assert_eq!((ended.status(), ended.end_reason()), (Status::Expired, Some(EndReason::TimedOut)));
    assert_eq!(ended.error_message(), Some("it was running for longer than 30 s"));
    let open = read(&f, claimed[1].id).await;
    assert_eq!(open.end_reason(), Some(EndReason::Cancelled));
    f.assert_verified().await;
    f.done().await;
}

async fn a_call_of_a_step_waits_for_confirmation(f: Fixture) {
    let call = json!({ "method": "POST", "url": "https://example.org/pay" });
    published(&f, "pay", json!({ "kind": "http", "http": call, "requiresConfirmation": true })).await;
    published(&f, "all", steps(json!([step("a", "pay")]), json!({}))).await;
    let begun = run(&f, json!({})).await;
    let child = children(&f, begun.id).await.remove(0);
    let found = tool_run::server_run(&f.ledger, f.admin.tenant_id, child.id).await.unwrap();
    assert!(found.run.requires_confirmation);
    // The process that queued the call is told at once.
    tool_run::run_queued(&f.ledger, std::time::Duration::from_secs(600)).await;
    assert_eq!(tool_run::waiting_runs(&f.ledger).await.unwrap().len(), 1);
    f.done().await;
}

async fn nobody_claims_a_composite_run(f: Fixture) {
    published(&f, "one", json!({})).await;
    published(&f, "all", steps(json!([step("a", "one")]), json!({}))).await;
    let begun = run(&f, json!({})).await;
    let claim =
        session::Claim { agent_slugs: Some(vec![agent_of(Kind::Composite, "all")]), max: 10, lease_seconds: 30 };
    let claimed = session::claim(&f.ledger, &f.worker, claim, std::time::Duration::ZERO).await.unwrap();
    assert!(claimed.is_empty());
    assert!(f.claim(10, 30).await.is_empty());
    assert_eq!(status(&f, begun.id).await, Status::Running);
    f.done().await;
}

async fn a_run_is_run_again_with_its_steps(f: Fixture) {
    published(&f, "one", json!({})).await;
    published(&f, "all", steps(json!([step("a", "one")]), json!({}))).await;
    let begun = run(&f, json!({ "x": 1 })).await;
    fail(&f, "one").await;
    assert_eq!(status(&f, begun.id).await, Status::Failed);
    let again = session::retry(&f.ledger, &f.member, begun.id).await.unwrap();
    assert_eq!((again.status(), again.retry_of), (Status::Running, Some(begun.id)));
    done(&f, "one", json!("ok")).await;
    assert_eq!(json_of(read(&f, again.id).await.result()), json!("ok"));
    f.assert_verified().await;
    f.done().await;
}

async fn sessions_of_tools_are_listed_in_three_states(f: Fixture) {
    published(&f, "one", json!({})).await;
    published(&f, "all", steps(json!([step("a", "one")]), json!({}))).await;
    f.pending().await;
    let completed = run(&f, json!({})).await;
    done(&f, "one", json!(1)).await;
    let failed = run_of(&f, "one", json!({})).await;
    fail(&f, "one").await;
    let active = run(&f, json!({})).await;
    let list = async |query: ListRuns| {
        let listed = tool_run::list(&f.ledger, &f.member, query).await.unwrap();
        listed.items.into_iter().map(|session| session.id).collect::<Vec<_>>()
    };
    let of = |state| ListRuns { state: Some(state), tool: Some("all".to_owned()), ..ListRuns::default() };
    assert_eq!(list(ListRuns::default()).await.len(), 5);
    assert_eq!(list(of(RunState::Active)).await, [active.id]);
    assert_eq!(list(of(RunState::Completed)).await, [completed.id]);
    assert!(list(of(RunState::Cancelled)).await.is_empty());
    let cancelled = ListRuns { state: Some(RunState::Cancelled), ..ListRuns::default() };
    assert_eq!(list(cancelled).await, [failed.id]);
    let below = ListRuns { parent_id: Some(active.id), ..ListRuns::default() };
    assert_eq!(list(below).await, [children(&f, active.id).await[0].id]);
    // Page by page.
    let mut cursor = None;
    let mut seen = Vec::new();
    loop {
        let page = ListPage { limit: 2, cursor };
        let listed = tool_run::list(&f.ledger, &f.member, ListRuns { page, ..ListRuns::default() }).await.unwrap();
        seen.extend(listed.items.into_iter().map(|session| session.id));
        cursor = listed.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(seen, list(ListRuns::default()).await);
    let other = ListPage { cursor: Some("CwAAAAAAAAAAAAAAAAAAAAA".to_owned()), limit: 0 };
    let wrong = tool_run::list(&f.ledger, &f.member, ListRuns { page: other, ..ListRuns::default() }).await;
    assert!(matches!(wrong, Err(Error::InvalidCursor)), "{wrong:?}");
    assert_eq!(
        refused(
            tool_run::list(&f.ledger, &f.member, ListRuns { tool: Some("A b".to_owned()), ..ListRuns::default() })
                .await
        ),
        ["tool"]
    );
    let agent = f.pending().await;
    let missing = tool_run::get(&f.ledger, &f.member, agent.id).await;
    assert!(matches!(missing, Err(Error::NotFound(_))), "{missing:?}");
    assert_eq!(tool_run::get(&f.ledger, &f.member, active.id).await.unwrap().id, active.id);
    assert!(tool_run::list(&f.ledger, &f.stranger, ListRuns::default()).await.unwrap().items.is_empty());
    f.done().await;
}

async fn a_bundle_installs_composite_tools_after_what_they_run(f: Fixture) {
    let mut bundle: Value = serde_json::from_str(EXAMPLE).unwrap();
    bundle["tools"].as_array_mut().unwrap().reverse();
    let bundle = bundle.to_string();
    let plan = install(&f.ledger, &f.operator, &bundle, Mode::Apply).await.unwrap();
    assert_eq!(plan.items.len(), 3);
    let version = tool::get_version(&f.ledger, &f.member, "morning-report", 1).await.unwrap();
    let composite = version.definition.composite().unwrap().clone();
    assert!(composite.steps.iter().all(|step| step.version == Some(1)));
    // A second installation changes nothing, as the file has it or in another order.
    for file in [EXAMPLE, &bundle] {
        let plan = install(&f.ledger, &f.operator, file, Mode::Apply).await.unwrap();
        assert!(plan.items.iter().all(|item| item.operation == PlannedOperation::Keep), "{plan:?}");
    }
    bundle_of_a_circle(&f).await;
    f.done().await;
}

/// Tools of a bundle that would run each other are refused.
async fn bundle_of_a_circle(f: &Fixture) {
    let tool = |slug: &str, runs: &str| {
        let schema = json!({ "type": "object" });
        let composite = json!({ "steps": [step("a", runs)] });
        json!({
            "slug": slug, "name": slug, "kind": "composite", "composite": composite, "inputSchema": schema,
            "publish": true,
        })
    };
    let bundle = json!({ "tools": [tool("left", "right"), tool("right", "left")] }).to_string();
    let fields = refused(install(&f.ledger, &f.operator, &bundle, Mode::Apply).await);
    assert_eq!(fields, ["tools[0].composite.steps[0].tool"]);
}
