//! The work queue: the buckets of `/today`, for each person.

use crate::{
    entity::{acme, company},
    gate::{decide, gated, open, says, staged},
};
use chrono::{NaiveTime, TimeDelta};
use domain::{
    Clock as _, Scope, Timestamp,
    gate::Verdict,
    hook::Source,
    session::{Session, YieldTo},
    work_queue::Bucket,
};
use ledger::{
    ActionRecord,
    action::{self, ActionChange, NewAction, Trigger},
    gate, hook,
    session::{self, Completion, Failure},
    work_queue::{self, QueueScope},
};
use serde_json::{Value, json};
use testkit::{Fixture, on_both_engines};

on_both_engines!(
    what_a_person_may_decide_needs_them_whosever_task_it_is,
    a_coding_agent_that_waits_needs_its_person_alone,
    the_day_has_the_oldest_session_and_counts_by_hour,
    everyones_queue_has_the_tasks_of_others_and_unassigned_tasks,
    an_action_whose_session_waits_for_a_person_is_not_ready,
);

/// Returns the counts in the order of the buckets, and asserts that the lists have as many entries.
async fn counted(f: &Fixture, scope: &Scope, whose: QueueScope) -> [u64; 5] {
    let counts = work_queue::counts(&f.ledger, scope, whose, "UTC").await.unwrap();
    let counts = [counts.needs_me, counts.running, counts.delegatable, counts.failed, counts.done_today];
    for (bucket, count) in Bucket::ALL.into_iter().zip(counts) {
        let section = work_queue::section(&f.ledger, scope, whose, bucket, "UTC", 100).await.unwrap();
        assert_eq!((section.sessions.len() + section.actions.len()) as u64, count, "{bucket:?} of {whose:?}");
    }
    counts
}

async fn task(f: &Fixture, name: &str, assigned_to: Option<&Scope>) -> ActionRecord {
    let assigned_to = assigned_to.and_then(Scope::user_id);
    let new = NewAction { name: name.into(), agent_slug: Some("scout".into()), assigned_to, ..NewAction::default() };
    action::create(&f.ledger, &f.operator, new).await.unwrap()
}

async fn claim_session(f: &Fixture, of: &ActionRecord) -> Session {
    action::trigger(&f.ledger, &f.member, of.id, Trigger::default()).await.unwrap();
    f.claim(1, 3_600).await.pop().unwrap()
}

async fn failed(f: &Fixture, session: &Session) {
    let failure = Failure { attempt: session.attempt, message: "x".into(), code: None, usage: None };
    session::fail(&f.ledger, &f.worker, session.id, failure).await.unwrap();
}

async fn everyones_queue_has_the_tasks_of_others_and_unassigned_tasks(f: Fixture) {
    let mine = task(&f, "Mine", Some(&f.operator)).await;
    let others = task(&f, "Others", Some(&f.member)).await;
    let unassigned = task(&f, "Nobody's", None).await;
    for of in [&mine, &others, &unassigned] {
        failed(&f, &claim_session(&f, of).await).await;
        let done = claim_session(&f, of).await;
        let completion = Completion { attempt: done.attempt, result: None, usage: None };
        session::complete(&f.ledger, &f.worker, done.id, completion).await.unwrap();
    }
    // Sessions without an action belong to no one's queue either.
    f.pending().await;
    failed(&f, &f.claim(1, 60).await.pop().unwrap()).await;
    let waiting = claim_session(&f, &unassigned).await;
    f.pending().await;
    let yield_request = session::YieldRequest::at(waiting.attempt, YieldTo::WaitingHuman);
    let oldest = f.clock.now();
    session::yield_to(&f.ledger, &f.worker, waiting.id, yield_request).await.unwrap();
    assert_eq!(counted(&f, &f.operator, QueueScope::Mine).await, [0, 0, 1, 1, 1]);
    assert_eq!(counted(&f, &f.other_member, QueueScope::Mine).await, [0; 5]);
    for scope in [&f.operator, &f.other_member, &f.worker] {
        assert_eq!(counted(&f, scope, QueueScope::Everyone).await, [1, 1, 2, 4, 3], "{scope:?}");
    }
    assert_eq!(counted(&f, &f.stranger, QueueScope::Everyone).await, [0; 5]);
    // A person's own list of failures has the number of failures that no one is responsible for.
    let unassigned_failures = async |scope, whose, bucket| {
        work_queue::section(&f.ledger, scope, whose, bucket, "UTC", 100).await.unwrap().unassigned_failures
    };
    assert_eq!(unassigned_failures(&f.operator, QueueScope::Mine, Bucket::Failed).await, 2);
    assert_eq!(unassigned_failures(&f.operator, QueueScope::Everyone, Bucket::Failed).await, 0);
    assert_eq!(unassigned_failures(&f.operator, QueueScope::Mine, Bucket::Running).await, 0);
    assert_eq!(unassigned_failures(&f.stranger, QueueScope::Mine, Bucket::Failed).await, 0);

    let day = work_queue::day(&f.ledger, &f.operator, QueueScope::Everyone, "UTC").await.unwrap();
    let sums = [day.needs_me, day.running, day.failed, day.done_today].map(|trend| trend.hours.iter().sum::<u64>());
    assert_eq!((day.needs_me.at, sums), (Some(oldest), [1, 9, 4, 3]));
    f.clock.advance(TimeDelta::hours(25));
    assert_eq!(counted(&f, &f.operator, QueueScope::Everyone).await[3..], [0, 0]);
    f.done().await;
}

async fn an_action_whose_session_waits_for_a_person_is_not_ready(f: Fixture) {
    let mine = task(&f, "Mine", Some(&f.operator)).await;
    let ready = async || {
        let mine = counted(&f, &f.operator, QueueScope::Mine).await[2];
        (mine, counted(&f, &f.operator, QueueScope::Everyone).await[2])
    };
    assert_eq!(ready().await, (1, 1));
    for to in [YieldTo::WaitingHuman, YieldTo::AwaitingTool] {
        let session = claim_session(&f, &mine).await;
        assert_eq!(ready().await, (0, 0));
        let yield_request = session::YieldRequest::at(session.attempt, to);
        session::yield_to(&f.ledger, &f.worker, session.id, yield_request).await.unwrap();
        assert_eq!(ready().await, (0, 0), "{to:?}");
        session::cancel(&f.ledger, &f.operator, session.id, None).await.unwrap();
        assert_eq!(ready().await, (1, 1));
    }
    f.done().await;
}

async fn needs(f: &Fixture, scope: &Scope) -> u64 {
    let counted = work_queue::counts(&f.ledger, scope, QueueScope::Mine, "UTC").await.unwrap().needs_me;
    let listed =
        work_queue::section(&f.ledger, scope, QueueScope::Mine, Bucket::NeedsMe, "UTC", 100).await.unwrap().sessions;
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
    let for_anyone = gated(&f, Some(acme.id), Value::Null, json!({})).await;
    let (waiting, of_anyone) = staged(&f, &for_anyone, &json!({ "stage": "Won" })).await;
    for (scope, expected) in
        [(f.other_member, 1), (f.operator, 1), (f.admin, 1), (f.member, 0), (f.worker, 0), (f.stranger, 0)]
    {
        assert_eq!(needs(&f, &scope).await, expected, "{scope:?}");
    }

    // A task that a person owns and may decide counts once, and counts for its owner even while the item is snoozed.
    let owner = f.operator.user_id();
    let change = ActionChange { assigned_to: Some(owner), ..ActionChange::default() };
    action::update(&f.ledger, &f.operator, for_anyone.id, change).await.unwrap();
    assert_eq!(needs(&f, &f.operator).await, 1);
    for scope in [f.operator, f.admin] {
        gate::snooze(&f.ledger, &scope, of_anyone.gate.id, Some(60)).await.unwrap();
    }
    assert_eq!((needs(&f, &f.operator).await, needs(&f, &f.admin).await), (1, 0));
    f.clock.advance(TimeDelta::seconds(61));
    assert_eq!(needs(&f, &f.admin).await, 1);

    // After the decision, and until it takes effect, the session still waits for the owner of the task only.
    decide(&f, &f.admin, of_anyone.gate.id, says(Verdict::Approve)).await.unwrap();
    assert_eq!((needs(&f, &f.operator).await, needs(&f, &f.admin).await), (1, 0));
    gate::sweep(&f.ledger).await.unwrap();
    f.clock.advance(TimeDelta::seconds(10));
    gate::sweep(&f.ledger).await.unwrap();
    assert_eq!(
        session::get(&f.ledger, &f.admin, waiting.id).await.unwrap().status(),
        domain::session::Status::Completed
    );
    assert_eq!(needs(&f, &f.operator).await, 0);

    // Their own request is not theirs to decide where the task forbids it.
    let both: Vec<_> =
        [f.member, f.other_member].iter().filter_map(Scope::user_id).map(|id| format!("user:{id}")).collect();
    let by_others = json!({ "reviewers": both, "selfApproval": false });
    let by_others = gated(&f, Some(acme.id), by_others, json!({})).await;
    staged(&f, &by_others, &json!({ "stage": "Won" })).await;
    for (scope, expected) in [(f.member, 0), (f.other_member, 2)] {
        assert_eq!(needs(&f, &scope).await, expected, "{scope:?}");
        let day = work_queue::day(&f.ledger, &scope, QueueScope::Mine, "UTC").await.unwrap();
        assert_eq!(day.needs_me.at.is_some(), expected > 0, "{scope:?}");
    }

    // A session's open gate is found, with whether the caller may decide it.
    let of = gate::of_sessions(&f.ledger, &f.other_member, vec![of_named.gate.session_id, waiting.id]).await.unwrap();
    let gates: Vec<_> = of.iter().map(|item| (item.gate.id, item.may_decide)).collect();
    assert_eq!(gates, [(of_named.gate.id, gate::MayDecide::Yes)]);
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
    let elsewhere = work_queue::waiting_in_terminal(&f.ledger, &f.member, 10).await.unwrap();
    assert_eq!(elsewhere.iter().map(|session| session.title.as_str()).collect::<Vec<_>>(), ["ann: Build it"]);
    assert!(work_queue::waiting_in_terminal(&f.ledger, &f.admin, 10).await.unwrap().is_empty());
    hook::record(&f.ledger, &f.member, send("PostToolUse", tool)).await.unwrap();
    assert_eq!(needs(&f, &f.member).await, 0);
    f.done().await;
}

async fn the_day_has_the_oldest_session_and_counts_by_hour(f: Fixture) {
    let before_midnight = f.clock.now() + until_midnight(f.clock.now()) - TimeDelta::minutes(30);
    f.clock.advance(before_midnight - f.clock.now());
    let assigned_to = f.operator.user_id();
    let task = NewAction { name: "Look".into(), agent_slug: Some("scout".into()), assigned_to, ..NewAction::default() };
    let task = action::create(&f.ledger, &f.operator, task).await.unwrap();
    let claim_session = async || {
        action::trigger(&f.ledger, &f.operator, task.id, Trigger::default()).await.unwrap();
        f.claim(1, 3_600).await.pop().unwrap()
    };
    let waits = async |session: Session| {
        let yield_request = session::YieldRequest::at(session.attempt, YieldTo::WaitingHuman);
        session::yield_to(&f.ledger, &f.worker, session.id, yield_request).await.unwrap();
    };
    waits(claim_session().await).await;
    assert_eq!(work_queue::day(&f.ledger, &f.operator, QueueScope::Mine, "UTC").await.unwrap().needs_me.hours[23], 1);

    f.clock.advance(TimeDelta::hours(1));
    let half_past_midnight = f.clock.now();
    let done = claim_session().await;
    let completion = Completion { attempt: done.attempt, result: None, usage: None };
    session::complete(&f.ledger, &f.worker, done.id, completion).await.unwrap();
    let bad = claim_session().await;
    let failure = Failure { attempt: bad.attempt, message: "x".into(), code: None, usage: None };
    session::fail(&f.ledger, &f.worker, bad.id, failure).await.unwrap();

    f.clock.advance(TimeDelta::minutes(100));
    let later = f.clock.now();
    waits(claim_session().await).await;
    action::trigger(&f.ledger, &f.operator, task.id, Trigger::default()).await.unwrap();

    let day = work_queue::day(&f.ledger, &f.operator, QueueScope::Mine, "UTC").await.unwrap();
    assert_eq!(day.hours, 3);
    let trends =
        [day.needs_me, day.running, day.failed, day.done_today].map(|trend| (trend.at, trend.hours[..4].to_vec()));
    let expected = [
        (Some(before_midnight), vec![0, 0, 1, 0]),
        (Some(later), vec![2, 0, 2, 0]),
        (Some(half_past_midnight), vec![1, 0, 0, 0]),
        (Some(half_past_midnight), vec![1, 0, 0, 0]),
    ];
    assert_eq!(trends, expected);
    // In a time zone where the previous day has not ended, everything is on that day. Other people's days are empty.
    let yesterday = work_queue::day(&f.ledger, &f.operator, QueueScope::Mine, "America/New_York").await.unwrap();
    assert_eq!(yesterday.needs_me.hours.iter().sum::<u64>(), 2);
    for scope in [f.member, f.stranger] {
        let day = work_queue::day(&f.ledger, &scope, QueueScope::Mine, "UTC").await.unwrap();
        assert_eq!(day, work_queue::Day { hours: 3, ..Default::default() });
    }
    f.done().await;
}

fn until_midnight(now: Timestamp) -> TimeDelta {
    TimeDelta::days(1) - (now.time() - NaiveTime::MIN)
}
