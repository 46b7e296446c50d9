//! What needs whom: the buckets of /today.

use crate::{
    entity::{acme, company},
    gate::{decide, gated, open, says, staged},
};
use chrono::TimeDelta;
use domain::{Scope, gate::Verdict, hook::Source, work_queue::Bucket};
use ledger::{
    action::{self, ActionChange},
    gate, hook, session, work_queue,
};
use serde_json::{Value, json};
use testkit::{Fixture, on_both_engines};

on_both_engines!(
    what_a_person_may_decide_needs_them_whosever_task_it_is,
    a_coding_agent_that_waits_needs_its_person_alone,
);

async fn needs(f: &Fixture, scope: &Scope) -> u64 {
    let counted = work_queue::counts(&f.ledger, scope, "UTC").await.unwrap().needs_me;
    let listed = work_queue::section(&f.ledger, scope, Bucket::NeedsMe, "UTC", 100).await.unwrap().sessions;
    let mut ids: Vec<_> = listed.iter().map(|session| session.id).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!((ids.len() as u64, listed.len() as u64), (counted, counted), "the count and the list disagree");
    counted
}

async fn what_a_person_may_decide_needs_them_whosever_task_it_is(f: Fixture) {
    let acme = acme(&f, &company(&f).await, "Acme").await;
    let reviewer = format!("user:{}", f.other_member.user_id().unwrap());
    let named = gated(&f, Some(acme.id), json!({ "reviewers": [reviewer] }), json!({})).await;
    let (_, of_named) = staged(&f, &named, &json!({ "stage": "Won" })).await;
    let anyones = gated(&f, Some(acme.id), Value::Null, json!({})).await;
    let (waiting, of_anyone) = staged(&f, &anyones, &json!({ "stage": "Won" })).await;
    for (scope, expected) in
        [(f.other_member, 1), (f.operator, 1), (f.admin, 1), (f.member, 0), (f.worker, 0), (f.stranger, 0)]
    {
        assert_eq!(needs(&f, &scope).await, expected, "{scope:?}");
    }

    // Their own task counts once, although they may decide it as well; and for them although it is put aside.
    let owner = f.operator.user_id();
    let change = ActionChange { assigned_to: Some(owner), ..ActionChange::default() };
    action::update(&f.ledger, &f.operator, anyones.id, change).await.unwrap();
    assert_eq!(needs(&f, &f.operator).await, 1);
    for scope in [f.operator, f.admin] {
        gate::snooze(&f.ledger, &scope, of_anyone.gate.id, Some(60)).await.unwrap();
    }
    assert_eq!((needs(&f, &f.operator).await, needs(&f, &f.admin).await), (1, 0));
    f.clock.advance(TimeDelta::seconds(61));
    assert_eq!(needs(&f, &f.admin).await, 1);

    // What is decided waits for nobody but the task's own person, until its effect has happened.
    decide(&f, &f.admin, of_anyone.gate.id, says(Verdict::Approve)).await.unwrap();
    assert_eq!((needs(&f, &f.operator).await, needs(&f, &f.admin).await), (1, 0));
    gate::sweep(&f.ledger).await.unwrap();
    f.clock.advance(TimeDelta::seconds(10));
    gate::sweep(&f.ledger).await.unwrap();
    assert_eq!(session::get(&f.ledger, &f.admin, waiting.id).await.unwrap().status, domain::session::Status::Completed);
    assert_eq!(needs(&f, &f.operator).await, 0);

    // A session names its gate, decided or not, and who may decide.
    let of = gate::of_sessions(&f.ledger, &f.other_member, vec![of_named.gate.session_id, waiting.id]).await.unwrap();
    let told: Vec<_> = of.iter().map(|item| (item.gate.id, item.may_decide)).collect();
    assert_eq!(told, [(of_named.gate.id, gate::MayDecide::Yes)]);
    assert!(open(&f, &f.stranger, true).await.is_empty());
    assert!(gate::of_sessions(&f.ledger, &f.stranger, vec![of_named.gate.session_id]).await.unwrap().is_empty());
    f.done().await;
}

async fn a_coding_agent_that_waits_needs_its_person_alone(f: Fixture) {
    let send = |event: &str, more: Value| {
        let mut body = json!({ "session_id": "s-1", "hook_event_name": event, "cwd": "/home/ann" });
        for (key, value) in more.as_object().unwrap() {
            body[key] = value.clone();
        }
        hook::Hook { source: Source::ClaudeCode, body: body.to_string(), id: None, at: None }
    };
    let tool = json!({ "tool_name": "Bash", "tool_input": { "command": "make" }, "tool_use_id": "t-1", "tool_response": "ok" });
    hook::record(&f.ledger, &f.member, send("UserPromptSubmit", json!({ "prompt": "Build it" }))).await.unwrap();
    assert_eq!(needs(&f, &f.member).await, 0);
    hook::record(&f.ledger, &f.member, send("PermissionRequest", tool.clone())).await.unwrap();
    assert_eq!((needs(&f, &f.member).await, needs(&f, &f.admin).await), (1, 0));
    let elsewhere = work_queue::elsewhere(&f.ledger, &f.member, 10).await.unwrap();
    assert_eq!(elsewhere.iter().map(|session| session.title.as_str()).collect::<Vec<_>>(), ["ann: Build it"]);
    assert!(work_queue::elsewhere(&f.ledger, &f.admin, 10).await.unwrap().is_empty());
    hook::record(&f.ledger, &f.member, send("PostToolUse", tool)).await.unwrap();
    assert_eq!(needs(&f, &f.member).await, 0);
    f.done().await;
}
