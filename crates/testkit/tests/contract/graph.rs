//! Sessions that depend on others: they start when those have completed, and are abandoned with a reason when
//! one does not complete.

use chrono::TimeDelta;
use domain::{
    gate::Verdict,
    id::SessionId,
    limit::{DEPENDENCIES_MAX, DEPENDENTS_MAX},
    session::{EndReason, IfDependencyFails, Session, Status, Type, WaitsFor},
};
use futures_util::future::join_all;
use ledger::{
    Error,
    action::{self, Trigger},
    failure,
    session::{self, Claim, Claimed, Completion, DependsOn, Failure, NewSession},
    work_queue,
};
use serde_json::{Value, json};
use std::time::Duration;
use testkit::{Fixture, on_both_engines};

on_both_engines!(
    a_chain_runs_in_order_and_passes_outputs_on,
    a_diamond_joins_once_with_every_output,
    a_waiting_claim_is_woken_when_the_last_dependency_completes,
    every_way_to_end_counts,
    a_dependency_that_does_not_complete_abandons_its_dependents,
    who_runs_anyway_begins_once_everything_has_ended,
    what_has_ended_before_counts_at_once,
    an_end_without_consequences_gets_them_from_the_sweep,
    another_workspaces_sessions_are_not_there_to_depend_on,
    wrong_dependencies_are_refused_by_their_place,
    a_session_has_so_many_dependents_at_most,
    a_retry_depends_on_the_newest_retries,
    outputs_that_do_not_fit_are_left_out_and_said_to_be,
    the_strip_counts_what_waits_for_others_as_not_begun,
);

pub fn of_agent(slug: &str) -> NewSession {
    NewSession { agent_slug: Some(slug.into()), ..NewSession::of_type(Type::Agent) }
}

pub fn on(ids: &[SessionId], if_fails: IfDependencyFails) -> Vec<DependsOn> {
    ids.iter().map(|id| DependsOn { session_id: *id, if_fails }).collect()
}

/// Creates a session of the agent `slug` that depends on these sessions.
pub async fn after(f: &Fixture, slug: &str, ids: &[SessionId]) -> Session {
    // Ids of the same millisecond do not sort by creation.
    f.clock.advance(TimeDelta::milliseconds(1));
    let new = NewSession { depends_on: on(ids, IfDependencyFails::Abandon), ..of_agent(slug) };
    session::create(&f.ledger, &f.operator, new).await.unwrap()
}

/// Claims a session for a worker of this agent; `None` if none is pending.
pub async fn take(f: &Fixture, slug: &str) -> Option<Claimed> {
    let claim = Claim { agent_slugs: Some(vec![slug.into()]), max: 1, lease_seconds: 3_600 };
    session::claim(&f.ledger, &f.worker, claim, Duration::ZERO).await.unwrap().pop()
}

pub async fn complete(f: &Fixture, session: &Session, result: &Value) {
    let completion = Completion { attempt: session.attempt, result: Some(result.to_string()), usage: None };
    session::complete(&f.ledger, &f.worker, session.id, completion).await.unwrap();
}

pub async fn fail(f: &Fixture, session: &Session) {
    let failure =
        Failure { attempt: session.attempt, message: "no luck".into(), code: Some("exit_1".into()), usage: None };
    session::fail(&f.ledger, &f.worker, session.id, failure).await.unwrap();
}

/// Claims the only session of an agent and completes it.
pub async fn run(f: &Fixture, slug: &str, result: &Value) -> Claimed {
    let claimed = take(f, slug).await.unwrap();
    complete(f, &claimed.session, result).await;
    claimed
}

pub async fn now(f: &Fixture, id: SessionId) -> Session {
    session::get(&f.ledger, &f.admin, id).await.unwrap()
}

/// Returns `from → to: reason` for each change of status.
pub async fn changes(f: &Fixture, id: SessionId) -> Vec<String> {
    let log = f.log(id).await;
    let changes = log.iter().filter(|event| event.kind == "session.status_change");
    changes
        .map(|event| {
            let change: Value = serde_json::from_str(&event.metadata).unwrap();
            format!(
                "{} → {}: {}",
                change["from"].as_str().unwrap(),
                change["to"].as_str().unwrap(),
                change["reason"].as_str().unwrap()
            )
        })
        .collect()
}

pub async fn noted(f: &Fixture) -> i64 {
    f.engine.raw().await.number("SELECT COUNT(*) FROM session_endings").await
}

async fn a_chain_runs_in_order_and_passes_outputs_on(f: Fixture) {
    let first = after(&f, "one", &[]).await;
    let second = after(&f, "two", &[first.id]).await;
    let third = after(&f, "three", &[second.id]).await;
    assert_eq!((first.status(), second.status(), third.status()), (Status::Pending, Status::Draft, Status::Draft));
    assert_eq!((second.waits_for(), second.queued_at), (Some(WaitsFor::Dependencies), None));
    assert!(take(&f, "two").await.is_none() && take(&f, "three").await.is_none());

    run(&f, "one", &json!({ "n": 1 })).await;
    let queued = now(&f, second.id).await;
    assert_eq!((queued.status(), queued.waits_for()), (Status::Pending, None));
    assert_eq!(changes(&f, second.id).await, ["draft → pending: everything it depends on has completed"]);
    assert_eq!(now(&f, third.id).await, third);

    let claimed = run(&f, "two", &json!({ "n": 2 })).await;
    let [related] = &claimed.dependencies[..] else { panic!("{:?}", claimed.dependencies) };
    assert_eq!(
        (related.id, related.status, related.output.as_deref()),
        (first.id, Status::Completed, Some(r#"{"n":1}"#))
    );
    assert!(claimed.children.is_empty());
    // A claim lists direct dependencies only, not the dependencies of these.
    let claimed = run(&f, "three", &json!(3)).await;
    assert_eq!(claimed.dependencies.iter().map(|related| related.id).collect::<Vec<_>>(), [second.id]);
    assert_eq!(noted(&f).await, 0);
    f.assert_verified().await;
    f.done().await;
}

async fn a_diamond_joins_once_with_every_output(f: Fixture) {
    let root = after(&f, "root", &[]).await;
    let mut arms = Vec::new();
    for slug in ["left", "middle", "right"] {
        arms.push(after(&f, slug, &[root.id]).await.id);
    }
    // The dependencies are named in another order than that of their creation.
    arms.reverse();
    let joined = after(&f, "join", &arms).await;
    run(&f, "root", &json!("go")).await;
    let mut held = Vec::new();
    for slug in ["left", "middle", "right"] {
        held.push(take(&f, slug).await.unwrap().session);
    }
    assert_eq!(now(&f, joined.id).await.status(), Status::Draft);
    let results: Vec<_> = held.iter().map(|session| json!(session.id)).collect();
    join_all(held.iter().zip(&results).map(|(session, result)| complete(&f, session, result))).await;
    session::sweep(&f.ledger).await.unwrap();
    assert_eq!(changes(&f, joined.id).await, ["draft → pending: everything it depends on has completed"]);
    let claimed = take(&f, "join").await.unwrap();
    let related: Vec<_> =
        claimed.dependencies.iter().map(|related| (related.id, related.output.clone().unwrap())).collect();
    let expected: Vec<_> = arms.iter().map(|id| (*id, json!(id).to_string())).collect();
    assert_eq!(related, expected);
    f.assert_verified().await;
    f.done().await;
}

async fn a_waiting_claim_is_woken_when_the_last_dependency_completes(f: Fixture) {
    let first = after(&f, "one", &[]).await;
    let second = after(&f, "two", &[first.id]).await;
    let held = take(&f, "one").await.unwrap().session;
    let claim = Claim { agent_slugs: Some(vec!["two".into()]), max: 1, lease_seconds: 60 };
    let waiting = session::claim(&f.ledger, &f.worker, claim, Duration::from_secs(30));
    let completing = async {
        tokio::task::yield_now().await;
        complete(&f, &held, &json!(1)).await;
    };
    let (claimed, ()) = tokio::join!(waiting, completing);
    assert_eq!(claimed.unwrap()[0].session.id, second.id);
    f.done().await;
}

/// Sessions end in many places of the product. Each end reaches the sessions that depend on them.
async fn every_way_to_end_counts(f: Fixture) {
    let anyway = async |slug: &str, id: SessionId| {
        let new = NewSession { depends_on: on(&[id], IfDependencyFails::RunAnyway), ..of_agent(slug) };
        session::create(&f.ledger, &f.operator, new).await.unwrap().id
    };
    // A session that is cancelled before it began.
    let cancelled = after(&f, "a", &[]).await;
    let follows = anyway("b", cancelled.id).await;
    session::cancel(&f.ledger, &f.operator, cancelled.id, None).await.unwrap();
    assert_eq!(now(&f, follows).await.status(), Status::Pending);
    // A session that every worker loses.
    let lost = after(&f, "c", &[]).await;
    let follows = anyway("d", lost.id).await;
    for _ in 0..3 {
        take(&f, "c").await.unwrap();
        f.clock.advance(TimeDelta::seconds(3_601));
        session::sweep(&f.ledger).await.unwrap();
    }
    assert_eq!((now(&f, lost.id).await.status(), now(&f, follows).await.status()), (Status::Failed, Status::Pending));
    // A session whose time limit passes.
    let limited = action::NewAction {
        name: "Look".into(),
        agent_slug: Some("e".into()),
        metadata: Some(r#"{"timeLimits":{"pendingSeconds":10}}"#.into()),
        ..Default::default()
    };
    let limited = action::create(&f.ledger, &f.operator, limited).await.unwrap();
    let overdue = action::trigger(&f.ledger, &f.operator, limited.id, Trigger::default()).await.unwrap();
    let trigger = Trigger { depends_on: on(&[overdue.id], IfDependencyFails::RunAnyway), ..Trigger::default() };
    let follows = action::trigger(&f.ledger, &f.operator, limited.id, trigger).await.unwrap();
    assert_eq!((follows.status(), follows.deadline_at()), (Status::Draft, None));
    f.clock.advance(TimeDelta::seconds(11));
    session::sweep(&f.ledger).await.unwrap();
    assert_eq!(now(&f, overdue.id).await.status(), Status::Expired);
    // The time limit of its own pending status begins now.
    let follows = now(&f, follows.id).await;
    assert_eq!(
        (follows.status(), follows.deadline_at()),
        (Status::Pending, Some(f.ledger.now() + TimeDelta::seconds(10)))
    );
    // A session that completes when a reviewer approves.
    crate::gate::at_once(&f).await;
    let kind = crate::entity::company(&f).await;
    let acme = crate::entity::acme(&f, &kind, "Acme").await;
    let gated = crate::gate::gated(&f, Some(acme.id), Value::Null, json!({})).await;
    session::cancel(&f.ledger, &f.operator, follows.id, None).await.unwrap();
    while f.claim(100, 3_600).await.len() == 100 {}
    let (waiting, item) = crate::gate::staged(&f, &gated, &json!({ "stage": "Won" })).await;
    let follows = anyway("g", waiting.id).await;
    crate::gate::decide(&f, &f.admin, item.gate.id, crate::gate::says(Verdict::Approve)).await.unwrap();
    assert_eq!(
        (now(&f, waiting.id).await.status(), now(&f, follows).await.status()),
        (Status::Completed, Status::Pending)
    );
    assert_eq!(noted(&f).await, 0);
    f.done().await;
}

async fn a_dependency_that_does_not_complete_abandons_its_dependents(f: Fixture) {
    let first = after(&f, "one", &[]).await;
    let other = after(&f, "other", &[]).await;
    let second = after(&f, "two", &[other.id, first.id]).await;
    let third = after(&f, "three", &[second.id]).await;
    let held = take(&f, "one").await.unwrap().session;
    fail(&f, &held).await;
    for (id, cause) in [(second.id, first.id), (third.id, second.id)] {
        let skipped = now(&f, id).await;
        assert_eq!((skipped.status(), skipped.end_reason()), (Status::Abandoned, Some(EndReason::DependencyFailed)));
        assert_eq!((skipped.waits_for(), skipped.error_code()), (None, Some("dependency_failed")));
        let ended = now(&f, cause).await.status();
        let message = format!("session {cause}, which it depends on, ended {ended}");
        assert_eq!(skipped.error_message(), Some(message.as_str()));
        assert_eq!(changes(&f, id).await, [format!("draft → abandoned: {message}")]);
        let record = failure::of_sessions(&f.ledger, &f.member, &[id]).await.unwrap().pop().unwrap();
        assert_eq!((record.code.as_str(), record.message), ("dependency_failed", message));
        assert!(f.log(id).await.iter().any(|event| event.kind == "session.error"));
    }
    // The other dependency continues, and its completion changes nothing.
    run(&f, "other", &json!(1)).await;
    assert!(take(&f, "two").await.is_none());
    assert_eq!(noted(&f).await, 0);
    f.assert_verified().await;
    f.done().await;
}

async fn who_runs_anyway_begins_once_everything_has_ended(f: Fixture) {
    let (bad, good) = (after(&f, "bad", &[]).await, after(&f, "good", &[]).await);
    let depends_on = on(&[bad.id, good.id], IfDependencyFails::RunAnyway);
    let joined = NewSession { depends_on, ..of_agent("join") };
    let joined = session::create(&f.ledger, &f.operator, joined).await.unwrap();
    let held = take(&f, "bad").await.unwrap().session;
    fail(&f, &held).await;
    assert_eq!(now(&f, joined.id).await.status(), Status::Draft);
    run(&f, "good", &json!("fine")).await;
    assert_eq!(changes(&f, joined.id).await, ["draft → pending: everything it depends on has ended"]);
    let claimed = take(&f, "join").await.unwrap();
    let related: Vec<_> = claimed
        .dependencies
        .iter()
        .map(|related| {
            (related.status, related.output.as_deref(), related.error_code.as_deref(), related.error_message.as_deref())
        })
        .collect();
    let good = (Status::Completed, Some("\"fine\""), None, None);
    assert_eq!(related, [(Status::Failed, None, Some("exit_1"), Some("no luck")), good]);
    f.done().await;
}

async fn what_has_ended_before_counts_at_once(f: Fixture) {
    let first = after(&f, "one", &[]).await;
    run(&f, "one", &json!(1)).await;
    let second = after(&f, "two", &[first.id]).await;
    assert_eq!((second.status(), second.waits_for()), (Status::Pending, None));
    assert_eq!(run(&f, "two", &json!(2)).await.dependencies.len(), 1);

    let cancelled = after(&f, "three", &[]).await;
    session::cancel(&f.ledger, &f.operator, cancelled.id, None).await.unwrap();
    let never = after(&f, "four", &[first.id, cancelled.id]).await;
    assert_eq!((never.status(), never.end_reason()), (Status::Abandoned, Some(EndReason::DependencyFailed)));
    assert!(never.completed_at().is_some());
    assert_eq!(failure::of_sessions(&f.ledger, &f.member, &[never.id]).await.unwrap().len(), 1);
    f.assert_verified().await;
    f.done().await;
}

/// The process is killed, or the database fails, between the end of a session and its consequences.
async fn an_end_without_consequences_gets_them_from_the_sweep(f: Fixture) {
    let first = after(&f, "one", &[]).await;
    let second = after(&f, "two", &[first.id]).await;
    let held = take(&f, "one").await.unwrap().session;
    let mut raw = f.engine.raw().await;
    let on_postgres = matches!(f.engine, testkit::Engine::Postgres { .. });
    let (refuse, allow) = if on_postgres {
        (
            "CREATE FUNCTION broken() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'broken'; END $$; \
             CREATE TRIGGER broken BEFORE UPDATE OF status ON sessions FOR EACH ROW WHEN (NEW.status = 'pending') \
             EXECUTE FUNCTION broken()",
            "DROP TRIGGER broken ON sessions",
        )
    } else {
        (
            "CREATE TRIGGER broken BEFORE UPDATE OF status ON sessions WHEN NEW.status = 'pending' \
             BEGIN SELECT RAISE(ABORT, 'broken'); END",
            "DROP TRIGGER broken",
        )
    };
    raw.execute(refuse).await.unwrap();
    // The end itself is recorded nevertheless.
    complete(&f, &held, &json!(1)).await;
    assert_eq!((now(&f, first.id).await.status(), now(&f, second.id).await), (Status::Completed, second.clone()));
    assert_eq!(session::sweep(&f.ledger).await.unwrap().followed, 0);
    assert_eq!(noted(&f).await, 1);
    raw.execute(allow).await.unwrap();
    let sweeps = join_all((0..4).map(|_| session::sweep(&f.ledger))).await;
    assert!(sweeps.into_iter().map(|swept| swept.unwrap().followed).sum::<u64>() >= 1);
    assert_eq!(changes(&f, second.id).await, ["draft → pending: everything it depends on has completed"]);
    assert_eq!(noted(&f).await, 0);
    assert_eq!(session::sweep(&f.ledger).await.unwrap(), session::Swept::default());
    f.assert_verified().await;
    f.done().await;
}

async fn another_workspaces_sessions_are_not_there_to_depend_on(f: Fixture) {
    let own = after(&f, "one", &[]).await;
    let new = NewSession { depends_on: on(&[own.id], IfDependencyFails::Abandon), ..of_agent("two") };
    let refused = session::create(&f.ledger, &f.stranger, new).await;
    assert!(matches!(refused, Err(Error::NotFound(_))), "{refused:?}");
    let child = NewSession { parent_id: Some(own.id), ..of_agent("two") };
    let refused = session::create(&f.ledger, &f.stranger, child).await;
    assert!(matches!(refused, Err(Error::NotFound(_))), "{refused:?}");
    let refused = session::related(&f.ledger, &f.stranger, own.id).await;
    assert!(matches!(refused, Err(Error::NotFound(_))), "{refused:?}");
    assert!(!now(&f, own.id).await.awaited);
    f.done().await;
}

async fn wrong_dependencies_are_refused_by_their_place(f: Fixture) {
    let first = after(&f, "one", &[]).await;
    let many: Vec<_> = vec![first.id; DEPENDENCIES_MAX + 1];
    for (session_type, ids, field) in [
        (Type::Agent, &many[..], "dependsOn"),
        (Type::Agent, &[first.id, first.id][..], "dependsOn[1]"),
        (Type::Response, &[first.id][..], "sessionType"),
        (Type::Mixed, &[first.id][..], "sessionType"),
    ] {
        let new = NewSession {
            session_type,
            depends_on: on(ids, IfDependencyFails::Abandon),
            ..NewSession::of_type(Type::Agent)
        };
        let Err(Error::Invalid(fields)) = session::create(&f.ledger, &f.operator, new).await else {
            panic!("{session_type} {} was accepted", ids.len());
        };
        assert_eq!(fields.into_iter().map(|field| field.field).collect::<Vec<_>>(), [field]);
    }
    // The same key with other dependencies is another request.
    let keyed = |ids: &[SessionId]| NewSession {
        idempotency_key: Some("k".into()),
        depends_on: on(ids, IfDependencyFails::Abandon),
        ..of_agent("two")
    };
    let made = session::create(&f.ledger, &f.operator, keyed(&[first.id])).await.unwrap();
    assert_eq!(session::create(&f.ledger, &f.operator, keyed(&[first.id])).await.unwrap().id, made.id);
    let other = session::create(&f.ledger, &f.operator, keyed(&[])).await;
    assert!(matches!(other, Err(Error::IdConflict { .. })), "{other:?}");
    // The dependencies of a session are immutable.
    let mut raw = f.engine.raw().await;
    assert!(raw.execute("UPDATE session_dependencies SET if_fails = 'run_anyway'").await.is_err());
    assert!(raw.execute("DELETE FROM session_dependencies").await.is_err());
    f.done().await;
}

async fn a_session_has_so_many_dependents_at_most(f: Fixture) {
    let first = after(&f, "one", &[]).await;
    for _ in 0..DEPENDENTS_MAX {
        after(&f, "two", &[first.id]).await;
    }
    let new = NewSession { depends_on: on(&[first.id], IfDependencyFails::Abandon), ..of_agent("two") };
    let refused = session::create(&f.ledger, &f.operator, new.clone()).await;
    assert!(matches!(refused, Err(Error::LimitReached(_))), "{refused:?}");
    run(&f, "one", &json!(1)).await;
    let claim = Claim { agent_slugs: Some(vec!["two".into()]), max: 100, lease_seconds: 60 };
    let mut claimed_count = 0;
    for _ in 0..2 {
        claimed_count += session::claim(&f.ledger, &f.worker, claim.clone(), Duration::ZERO).await.unwrap().len();
    }
    assert_eq!(claimed_count, DEPENDENTS_MAX as usize);
    // A session that has ended is not waited for.
    session::create(&f.ledger, &f.operator, new).await.unwrap();
    f.done().await;
}

async fn a_retry_depends_on_the_newest_retries(f: Fixture) {
    let first = after(&f, "one", &[]).await;
    let second = after(&f, "two", &[first.id]).await;
    let held = take(&f, "one").await.unwrap().session;
    fail(&f, &held).await;
    assert_eq!(now(&f, second.id).await.end_reason(), Some(EndReason::DependencyFailed));
    let again = session::retry(&f.ledger, &f.operator, first.id).await.unwrap();
    let then = session::retry(&f.ledger, &f.operator, second.id).await.unwrap();
    assert_eq!((then.status(), then.waits_for()), (Status::Draft, Some(WaitsFor::Dependencies)));
    run(&f, "one", &json!("mended")).await;
    let claimed = run(&f, "two", &json!(2)).await;
    assert_eq!(claimed.session.id, then.id);
    let [related] = &claimed.dependencies[..] else { panic!("{:?}", claimed.dependencies) };
    assert_eq!((related.id, related.output.as_deref()), (again.id, Some("\"mended\"")));
    // If the failed dependency was not retried, a retry of the dependent session starts without it.
    let third = after(&f, "three", &[first.id]).await;
    assert_eq!(third.status(), Status::Abandoned);
    let anyway = session::retry(&f.ledger, &f.operator, third.id).await.unwrap();
    assert_eq!(anyway.status(), Status::Pending);
    f.done().await;
}

async fn outputs_that_do_not_fit_are_left_out_and_said_to_be(f: Fixture) {
    let mut ids = Vec::new();
    for slug in ["a", "b", "c"] {
        ids.push(after(&f, slug, &[]).await.id);
    }
    let joined = after(&f, "join", &ids).await;
    let large = json!("x".repeat(150 * 1024));
    for (slug, result) in [("a", &json!(1)), ("b", &large), ("c", &large)] {
        run(&f, slug, result).await;
    }
    let claimed = take(&f, "join").await.unwrap();
    assert_eq!(claimed.session.id, joined.id);
    let related: Vec<_> =
        claimed.dependencies.iter().map(|related| (related.output.is_some(), related.output_left_out)).collect();
    assert_eq!(related, [(true, false), (true, false), (false, true)]);
    f.done().await;
}

/// The buckets count running and pending sessions. They do not count drafts and idle sessions.
async fn the_strip_counts_what_waits_for_others_as_not_begun(f: Fixture) {
    let task = action::NewAction {
        name: "Look".into(),
        agent_slug: Some("scout".into()),
        assigned_to: f.operator.user_id(),
        ..Default::default()
    };
    let task = action::create(&f.ledger, &f.operator, task).await.unwrap();
    let first = after(&f, "one", &[]).await;
    let trigger = Trigger { depends_on: on(&[first.id], IfDependencyFails::Abandon), ..Trigger::default() };
    let second = action::trigger(&f.ledger, &f.operator, task.id, trigger).await.unwrap();
    let counts = async || {
        let counts = work_queue::counts(&f.ledger, &f.operator, work_queue::QueueScope::Mine, "UTC").await.unwrap();
        (counts.running, counts.delegatable, counts.failed)
    };
    assert_eq!(counts().await, (0, 1, 0));
    run(&f, "one", &json!(1)).await;
    assert_eq!(counts().await, (1, 0, 0));
    // The session starts another one and waits for it.
    let held = take(&f, "scout").await.unwrap().session;
    let child = NewSession { parent_id: Some(held.id), ..of_agent("child") };
    session::create(&f.ledger, &f.worker, child).await.unwrap();
    let yield_request = session::YieldRequest {
        waits_for_children: true,
        ..session::YieldRequest::at(held.attempt, domain::session::YieldTo::Idle)
    };
    session::yield_to(&f.ledger, &f.worker, second.id, yield_request).await.unwrap();
    assert_eq!(counts().await, (0, 1, 0));
    run(&f, "child", &json!(1)).await;
    assert_eq!(counts().await, (1, 0, 0));
    // A session that was never started because of its dependency is in the bucket of failures.
    let gone = after(&f, "gone", &[]).await;
    let trigger = Trigger { depends_on: on(&[gone.id], IfDependencyFails::Abandon), ..Trigger::default() };
    action::trigger(&f.ledger, &f.operator, task.id, trigger).await.unwrap();
    session::cancel(&f.ledger, &f.operator, gone.id, None).await.unwrap();
    assert_eq!(counts().await, (1, 0, 1));
    f.done().await;
}
