//! What needs whom: the buckets of /today.

use crate::{
    entity::{acme, company},
    gate::{decide, gated, open, says, staged},
};
use chrono::{NaiveTime, TimeDelta};
use domain::{Clock as _, Scope, Timestamp, gate::Verdict, hook::Source, session::YieldTo, work_queue::Bucket};
use ledger::{
    SessionRecord,
    action::{self, ActionChange, NewAction, Trigger},
    gate, hook,
    session::{self, Completion, Failure},
    work_queue,
};
use serde_json::{Value, json};
use testkit::{Fixture, on_both_engines};

on_both_engines!(
    what_a_person_may_decide_needs_them_whosever_task_it_is,
    a_coding_agent_that_waits_needs_its_person_alone,
    the_day_tells_the_oldest_and_counts_by_the_hour,
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

async fn the_day_tells_the_oldest_and_counts_by_the_hour(f: Fixture) {
    let before_midnight = f.clock.now() + until_midnight(f.clock.now()) - TimeDelta::minutes(30);
    f.clock.advance(before_midnight - f.clock.now());
    let assigned_to = f.operator.user_id();
    let task = NewAction { name: "Look".into(), agent_slug: Some("scout".into()), assigned_to, ..NewAction::default() };
    let task = action::create(&f.ledger, &f.operator, task).await.unwrap();
    let taken = async || {
        action::trigger(&f.ledger, &f.operator, task.id, Trigger::default()).await.unwrap();
        f.claim(1, 3_600).await.pop().unwrap()
    };
    let waits = async |session: SessionRecord| {
        let parking = session::Parking::at(session.attempt, YieldTo::WaitingHuman);
        session::yield_to(&f.ledger, &f.worker, session.id, parking).await.unwrap();
    };
    waits(taken().await).await;
    assert_eq!(work_queue::day(&f.ledger, &f.operator, "UTC").await.unwrap().needs_me.hours[23], 1);

    f.clock.advance(TimeDelta::hours(1));
    let half_past_midnight = f.clock.now();
    let done = taken().await;
    let completion = Completion { attempt: done.attempt, result: None, usage: None };
    session::complete(&f.ledger, &f.worker, done.id, completion).await.unwrap();
    let bad = taken().await;
    let failure = Failure { attempt: bad.attempt, message: "x".into(), code: None, usage: None };
    session::fail(&f.ledger, &f.worker, bad.id, failure).await.unwrap();

    f.clock.advance(TimeDelta::minutes(100));
    let later = f.clock.now();
    waits(taken().await).await;
    action::trigger(&f.ledger, &f.operator, task.id, Trigger::default()).await.unwrap();

    let day = work_queue::day(&f.ledger, &f.operator, "UTC").await.unwrap();
    assert_eq!(day.hours, 3);
    let told =
        [day.needs_me, day.running, day.failed, day.done_today].map(|course| (course.at, course.hours[..4].to_vec()));
    let expected = [
        (Some(before_midnight), vec![0, 0, 1, 0]),
        (Some(later), vec![2, 0, 2, 0]),
        (Some(half_past_midnight), vec![1, 0, 0, 0]),
        (Some(half_past_midnight), vec![1, 0, 0, 0]),
    ];
    assert_eq!(told, expected);
    // Where it is still yesterday, all of it lies in one day; and it is nobody else's.
    let yesterday = work_queue::day(&f.ledger, &f.operator, "America/New_York").await.unwrap();
    assert_eq!(yesterday.needs_me.hours.iter().sum::<u64>(), 2);
    for scope in [f.member, f.stranger] {
        let day = work_queue::day(&f.ledger, &scope, "UTC").await.unwrap();
        assert_eq!(day, work_queue::Day { hours: 3, ..Default::default() });
    }
    f.done().await;
}

fn until_midnight(now: Timestamp) -> TimeDelta {
    TimeDelta::days(1) - (now.time() - NaiveTime::MIN)
}
