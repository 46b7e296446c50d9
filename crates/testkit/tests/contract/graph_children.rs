//! Sessions that start others: fan-out, join, and the cancellation of children.

use crate::graph::{after, changes, complete, fail, noted, now, of_agent, on, run, take};
use chrono::TimeDelta;
use domain::{
    Scope,
    id::SessionId,
    limit::CLAIM_RELATED_MAX,
    session::{EndReason, IfDependencyFails, Refusal, Session, Status, Type, WaitsFor, YieldTo},
};
use futures_util::future::join_all;
use ledger::{
    Error, Mode,
    action::{self, Trigger},
    session::{self, NewSession, YieldRequest},
};
use serde_json::json;
use testkit::{Fixture, on_both_engines, text};

on_both_engines!(
    a_parent_is_resumed_once_when_the_last_of_fifty_children_ends,
    a_parent_whose_children_have_all_ended_goes_on_at_once,
    a_parent_that_waits_for_nothing_is_refused,
    a_child_that_is_added_is_waited_for_too,
    a_claim_after_a_lost_lease_has_the_children_that_were_started,
    a_cancelled_session_cancels_all_its_descendants,
    a_stopped_parent_starts_nothing_more,
    a_cascade_that_is_cut_short_is_finished_by_the_sweep,
    parent_and_child_cannot_wait_for_each_other,
    two_creations_at_one_instant_close_no_circle,
    waiting_for_sessions_uses_up_no_attempt,
    a_claim_lists_so_many_children_and_says_whether_there_are_more,
);

async fn child(f: &Fixture, parent: SessionId, slug: &str) -> Session {
    f.clock.advance(TimeDelta::milliseconds(1));
    let new = NewSession { parent_id: Some(parent), ..of_agent(slug) };
    session::create(&f.ledger, &f.worker, new).await.unwrap()
}

pub async fn wait(f: &Fixture, parent: &Session) -> ledger::Result<Session> {
    let yield_request = YieldRequest { waits_for_children: true, ..YieldRequest::at(parent.attempt, YieldTo::Idle) };
    session::yield_to(&f.ledger, &f.worker, parent.id, yield_request).await
}

/// Returns a running parent session.
async fn parent(f: &Fixture) -> Session {
    after(f, "parent", &[]).await;
    take(f, "parent").await.unwrap().session
}

async fn a_parent_is_resumed_once_when_the_last_of_fifty_children_ends(f: Fixture) {
    let parent = parent(&f).await;
    // Starts the child as a worker does: it triggers an action and names the session that it holds as parent.
    let new = action::NewAction { name: "Part".into(), agent_slug: Some("part".into()), ..Default::default() };
    let part = action::create(&f.ledger, &f.operator, new).await.unwrap();
    let mut children = Vec::new();
    for n in 0..50 {
        f.clock.advance(TimeDelta::milliseconds(1));
        let trigger = Trigger { parent_id: Some(parent.id), input: Some(n.to_string()), ..Trigger::default() };
        children.push(action::trigger(&f.ledger, &f.worker, part.id, trigger).await.unwrap().id);
    }
    let yielded = wait(&f, &parent).await.unwrap();
    assert_eq!((yielded.status(), yielded.waits_for()), (Status::Idle, Some(WaitsFor::Children)));
    assert!(take(&f, "parent").await.is_none());

    let held = f.claim(100, 3_600).await;
    assert_eq!(held.len(), 50);
    let results: Vec<_> = held.iter().map(|session| json!(session.input)).collect();
    let on_postgres = matches!(f.engine, testkit::Engine::Postgres { .. });
    // On PostgreSQL the children end on two servers.
    let other = if on_postgres { f.second_ledger(Mode::Server).await } else { f.ledger.clone() };
    let ends = held.iter().zip(&results).enumerate().map(|(n, (session, result))| {
        let ledger = if n % 2 == 0 { &f.ledger } else { &other };
        let completion = session::Completion { attempt: 1, result: Some(result.to_string()), usage: None };
        session::complete(ledger, &f.worker, session.id, completion)
    });
    for ended in join_all(ends).await {
        ended.unwrap();
    }
    session::sweep(&f.ledger).await.unwrap();
    let recorded = changes(&f, parent.id).await;
    let resumed = "idle → pending: every session that it started has ended";
    assert_eq!(recorded.iter().filter(|change| *change == resumed).count(), 1, "{recorded:?}");
    assert_eq!(recorded.last().unwrap(), resumed);

    let claimed = take(&f, "parent").await.unwrap();
    assert_eq!(claimed.session.attempt, 2);
    assert!(!claimed.has_more_children);
    let related: Vec<_> = claimed.children.iter().map(|related| related.id).collect();
    assert_eq!(related, children);
    for (n, related) in claimed.children.iter().enumerate() {
        assert_eq!(
            (related.status, related.output.clone()),
            (Status::Completed, Some(json!(n.to_string()).to_string()))
        );
    }
    assert_eq!(noted(&f).await, 0);
    if on_postgres {
        other.close().await;
    }
    f.assert_verified().await;
    f.done().await;
}

async fn a_parent_whose_children_have_all_ended_goes_on_at_once(f: Fixture) {
    let parent = parent(&f).await;
    let (good, bad) = (child(&f, parent.id, "good").await, child(&f, parent.id, "bad").await);
    run(&f, "good", &json!(1)).await;
    let held = take(&f, "bad").await.unwrap().session;
    fail(&f, &held).await;
    let yielded = wait(&f, &parent).await.unwrap();
    assert_eq!((yielded.status(), yielded.waits_for()), (Status::Pending, None));
    let recorded = changes(&f, parent.id).await;
    assert_eq!(
        recorded[recorded.len() - 2..],
        [
            "running → idle: waiting for the sessions it started",
            "idle → pending: every session that it started has ended"
        ]
    );
    let claimed = take(&f, "parent").await.unwrap();
    let related: Vec<_> = claimed.children.iter().map(|related| (related.id, related.status)).collect();
    assert_eq!(related, [(good.id, Status::Completed), (bad.id, Status::Failed)]);
    f.done().await;
}

async fn a_parent_that_waits_for_nothing_is_refused(f: Fixture) {
    let parent = parent(&f).await;
    let refused = wait(&f, &parent).await;
    assert!(matches!(&refused, Err(Error::Invalid(fields)) if fields[0].field == "waitFor"), "{refused:?}");
    assert_eq!(now(&f, parent.id).await.status(), Status::Running);
    child(&f, parent.id, "part").await;
    let yield_request = YieldRequest { waits_for_children: true, ..YieldRequest::at(1, YieldTo::WaitingHuman) };
    let refused = session::yield_to(&f.ledger, &f.worker, parent.id, yield_request).await;
    assert!(matches!(&refused, Err(Error::Invalid(fields)) if fields[0].field == "waitFor"), "{refused:?}");
    // A parent that yields as idle without `waits_for_children` stays idle.
    session::yield_to(&f.ledger, &f.worker, parent.id, YieldRequest::at(1, YieldTo::Idle)).await.unwrap();
    run(&f, "part", &json!(1)).await;
    assert_eq!(now(&f, parent.id).await.status(), Status::Idle);
    assert_eq!(noted(&f).await, 0);
    f.done().await;
}

async fn a_child_that_is_added_is_waited_for_too(f: Fixture) {
    let parent = parent(&f).await;
    child(&f, parent.id, "one").await;
    wait(&f, &parent).await.unwrap();
    let late = child(&f, parent.id, "two").await;
    run(&f, "one", &json!(1)).await;
    assert_eq!(now(&f, parent.id).await.status(), Status::Idle);
    session::cancel(&f.ledger, &f.operator, late.id, None).await.unwrap();
    assert_eq!(now(&f, parent.id).await.status(), Status::Pending);
    f.done().await;
}

async fn a_claim_after_a_lost_lease_has_the_children_that_were_started(f: Fixture) {
    let lost = parent(&f).await;
    let started = child(&f, lost.id, "part").await;
    session::release(&f.ledger, &f.worker, lost.id, 1).await.unwrap();
    let claimed = take(&f, "parent").await.unwrap();
    let related: Vec<_> = claimed.children.iter().map(|related| (related.id, related.status)).collect();
    assert_eq!(related, [(started.id, Status::Pending)]);
    f.done().await;
}

async fn waiting_for_sessions_uses_up_no_attempt(f: Fixture) {
    let mut held = parent(&f).await;
    for _ in 0..4 {
        child(&f, held.id, "part").await;
        wait(&f, &held).await.unwrap();
        run(&f, "part", &json!(1)).await;
        held = take(&f, "parent").await.unwrap().session;
    }
    assert_eq!(held.attempt, 5);
    // Earlier attempts that ended with a yield do not count as lost leases.
    for lost in 1..=3 {
        f.clock.advance(TimeDelta::seconds(i64::from(held.lease_seconds().unwrap()) + 1));
        session::sweep(&f.ledger).await.unwrap();
        let expected = if lost < 3 { Status::Pending } else { Status::Failed };
        assert_eq!(now(&f, held.id).await.status(), expected, "after {lost} lost workers");
        if lost < 3 {
            held = take(&f, "parent").await.unwrap().session;
        }
    }
    assert_eq!(now(&f, held.id).await.end_reason(), Some(EndReason::LeaseExhausted));
    f.done().await;
}

async fn a_cancelled_session_cancels_all_its_descendants(f: Fixture) {
    let top = parent(&f).await;
    let done = child(&f, top.id, "done").await;
    run(&f, "done", &json!(1)).await;
    let middle = child(&f, top.id, "middle").await;
    let middle_held = take(&f, "middle").await.unwrap().session;
    let bottom = child(&f, middle.id, "bottom").await;
    let bottom_held = take(&f, "bottom").await.unwrap().session;
    let queued = child(&f, middle.id, "queued").await;
    wait(&f, &middle_held).await.unwrap();
    // A session outside the tree that depends on one of the children.
    let dependent = after(&f, "dependent", &[bottom.id]).await;
    let outside = after(&f, "outside", &[]).await;

    session::cancel(&f.ledger, &f.operator, top.id, Some("not needed".into())).await.unwrap();
    for (id, by) in [(middle.id, top.id), (bottom.id, middle.id), (queued.id, middle.id)] {
        let stopped = now(&f, id).await;
        assert_eq!((stopped.status(), stopped.end_reason()), (Status::Abandoned, Some(EndReason::Cancelled)));
        let recorded = changes(&f, id).await;
        let reason = format!("→ abandoned: session {by}, which started it, was cancelled");
        assert!(recorded.last().unwrap().ends_with(&reason), "{recorded:?}");
        assert_eq!(recorded.iter().filter(|change| change.contains("→ abandoned")).count(), 1);
    }
    assert_eq!(now(&f, dependent.id).await.end_reason(), Some(EndReason::DependencyFailed));
    assert_eq!(now(&f, done.id).await.status(), Status::Completed);
    assert_eq!(now(&f, outside.id).await.status(), Status::Pending);
    // Workers of child sessions get the refusal with their next request.
    let over = |result: Result<(), Error>| {
        assert!(matches!(result, Err(Error::Refused(Refusal::AlreadyFinal { .. }))), "{result:?}");
    };
    over(session::heartbeat(&f.ledger, &f.worker, bottom.id, bottom_held.attempt).await.map(drop));
    over(f.append(bottom.id, bottom_held.attempt, vec![text("late")]).await.map(drop));
    assert_eq!(noted(&f).await, 0);
    f.assert_verified().await;
    f.done().await;
}

async fn a_stopped_parent_starts_nothing_more(f: Fixture) {
    let parent = parent(&f).await;
    let part = child(&f, parent.id, "part").await;
    session::cancel(&f.ledger, &f.operator, parent.id, None).await.unwrap();
    let new = NewSession { parent_id: Some(parent.id), ..of_agent("late") };
    let refused = session::create(&f.ledger, &f.worker, new).await;
    assert!(matches!(refused, Err(Error::Refused(Refusal::AlreadyFinal { .. }))), "{refused:?}");
    // A person can still retry a child that was cancelled with its parent.
    let again = session::retry(&f.ledger, &f.operator, part.id).await.unwrap();
    assert_eq!((again.status(), again.parent_id), (Status::Pending, Some(parent.id)));
    f.done().await;
}

/// The tree has more generations than one request follows.
async fn a_cascade_that_is_cut_short_is_finished_by_the_sweep(f: Fixture) {
    let first = after(&f, "chain", &[]).await;
    let mut chain = vec![first.id];
    for _ in 0..60 {
        chain.push(after(&f, "chain", &[*chain.last().unwrap()]).await.id);
    }
    session::cancel(&f.ledger, &f.operator, first.id, None).await.unwrap();
    let ended = async || {
        let records = session::list_by_ids(&f.ledger, &f.admin, &chain).await.unwrap();
        records.iter().filter(|session| session.status().is_final()).count()
    };
    assert!(ended().await < chain.len(), "one request follows so much at most");
    assert_eq!(noted(&f).await, 1);
    session::sweep(&f.ledger).await.unwrap();
    assert_eq!((ended().await, noted(&f).await), (chain.len(), 0));
    f.done().await;
}

async fn parent_and_child_cannot_wait_for_each_other(f: Fixture) {
    let parent = parent(&f).await;
    let after_parent = after(&f, "after", &[parent.id]).await;
    let beside = child(&f, parent.id, "beside").await;
    let deep = child(&f, after_parent.id, "deep").await;
    let later = after(&f, "later", &[deep.id, after_parent.id]).await;
    let make = async |depends_on: &[SessionId], by: &Scope| {
        let depends_on = on(depends_on, IfDependencyFails::Abandon);
        session::create(&f.ledger, by, NewSession { parent_id: Some(parent.id), depends_on, ..of_agent("part") }).await
    };
    for ids in [&[parent.id][..], &[after_parent.id], &[beside.id, later.id]] {
        let refused = make(ids, &f.worker).await;
        assert!(matches!(&refused, Err(Error::Invalid(fields)) if fields[0].field == "dependsOn"), "{refused:?}");
    }
    // Siblings may depend on each other, and any session may depend on one that waits for none.
    let made = make(&[beside.id, deep.id], &f.worker).await.unwrap();
    assert_eq!((made.status(), made.session_type), (Status::Draft, Type::Agent));
    let wait_for = take(&f, "beside").await.unwrap().session;
    complete(&f, &wait_for, &json!(1)).await;
    assert_eq!(now(&f, made.id).await.status(), Status::Draft);
    run(&f, "deep", &json!(1)).await;
    assert_eq!(now(&f, made.id).await.status(), Status::Pending);
    f.done().await;
}

/// There are two running parents, and one session that depends on each. A child of the first parent may depend
/// on the session that waits for the second parent, or the other way round. Both together would be a cycle.
async fn two_creations_at_one_instant_close_no_circle(f: Fixture) {
    for round in 0..20 {
        let (one, two) = (parent(&f).await, parent(&f).await);
        let (after_one, after_two) = (after(&f, "rest", &[one.id]).await, after(&f, "rest", &[two.id]).await);
        f.clock.advance(TimeDelta::milliseconds(1));
        let below = |parent: &Session, behind: &Session| NewSession {
            parent_id: Some(parent.id),
            depends_on: on(&[behind.id], IfDependencyFails::Abandon),
            ..of_agent("rest")
        };
        let made = join_all([
            session::create(&f.ledger, &f.worker, below(&one, &after_two)),
            session::create(&f.ledger, &f.worker, below(&two, &after_one)),
        ]);
        let made = made.await;
        let refused: Vec<_> = made.iter().filter_map(|made| made.as_ref().err()).collect();
        assert!(
            matches!(&refused[..], [Error::Invalid(fields)] if fields[0].field == "dependsOn"),
            "round {round}: one of two is refused: {refused:?}"
        );
        for parent in [one, two] {
            session::cancel(&f.ledger, &f.operator, parent.id, None).await.unwrap();
        }
    }
    f.done().await;
}

async fn a_claim_lists_so_many_children_and_says_whether_there_are_more(f: Fixture) {
    let mut held = parent(&f).await;
    for _ in 0..CLAIM_RELATED_MAX {
        child(&f, held.id, "part").await;
    }
    for more in [false, true] {
        session::release(&f.ledger, &f.worker, held.id, held.attempt).await.unwrap();
        let claimed = take(&f, "parent").await.unwrap();
        assert_eq!((claimed.children.len(), claimed.has_more_children), (CLAIM_RELATED_MAX as usize, more));
        held = claimed.session;
        child(&f, held.id, "part").await;
    }
    f.done().await;
}
