//! P-12, P-13, P-14, P-16: claims, leases and fencing.

use crate::{append_group::refuse_events_of, graph::changes};
use chrono::TimeDelta;
use domain::{
    failure::RELEASED_TOO_OFTEN,
    id::SessionId,
    limit::{CLAIM_AGENTS_MAX, CLAIM_MAX, LEASE_SECONDS_MAX, LEASE_SECONDS_MIN, RELEASED_ATTEMPTS_MAX},
    session::{EndReason, Refusal, Status, Type, YieldTo},
};
use futures_util::future::join_all;
use ledger::{
    Error, action,
    session::{self, Claim, Completion, Failure, NewSession},
};
use std::{collections::HashSet, time::Duration};
use testkit::{Fixture, on_both_engines, text};

on_both_engines!(
    a_queued_session_is_claimed_by_exactly_one_worker,
    claims_are_oldest_first_and_only_for_the_agents_asked_for,
    a_claim_that_names_no_agents_takes_sessions_of_any_agent_and_of_none,
    a_waiting_claim_is_woken_by_a_new_session,
    a_waiting_claim_ends_when_its_server_stops,
    a_worker_that_lost_its_lease_cannot_write,
    a_heartbeat_keeps_the_lease,
    a_session_whose_workers_all_vanish_fails_with_a_reason,
    leases_have_their_full_length_again_after_a_restart,
    the_first_completion_is_the_recorded_outcome,
    a_completion_without_usage_clears_that_of_earlier_turns,
    a_failure_is_recorded_with_its_error,
    a_claim_outside_of_its_limits_is_refused_by_field,
    a_released_session_goes_to_the_next_worker,
    sessions_that_no_one_takes_after_all_are_free_at_once,
    a_session_that_workers_only_release_fails_with_a_reason,
    a_yielded_session_holds_no_lease,
    the_log_says_what_a_yielded_session_waits_for,
    a_row_that_refers_to_a_session_does_not_keep_it_from_being_claimed,
    a_session_that_cannot_be_claimed_does_not_hold_up_those_behind_it,
);

fn done(attempt: u32, result: &str) -> Completion {
    Completion { attempt, result: Some(result.into()), usage: None }
}

async fn a_queued_session_is_claimed_by_exactly_one_worker(f: Fixture) {
    for _ in 0..60 {
        f.pending().await;
    }
    let claimed: Vec<SessionId> =
        join_all((0..64).map(|n| f.claim(1 + n % 3, 60))).await.into_iter().flatten().map(|s| s.id).collect();
    assert_eq!(claimed.len(), 60);
    assert_eq!(claimed.iter().collect::<HashSet<_>>().len(), 60, "a session was handed out twice");
    f.done().await;
}

async fn claims_are_oldest_first_and_only_for_the_agents_asked_for(f: Fixture) {
    let first = f.pending().await;
    f.clock.advance(TimeDelta::milliseconds(2));
    let second = f.pending().await;
    let claim = |slug: &str| {
        let claim = Claim { agent_slugs: Some(vec![slug.into(), "nobody".into()]), max: 1, lease_seconds: 60 };
        session::claim(&f.ledger, &f.worker, claim, Duration::ZERO)
    };
    assert!(claim("writer").await.unwrap().is_empty());
    assert_eq!(claim("scout").await.unwrap()[0].session.id, first.id);
    assert_eq!(claim("scout").await.unwrap()[0].session.id, second.id);
    f.done().await;
}

async fn a_claim_that_names_no_agents_takes_sessions_of_any_agent_and_of_none(f: Fixture) {
    let unowned = action::NewAction { name: "Nobody's".into(), ..Default::default() };
    let unowned = action::create(&f.ledger, &f.operator, unowned).await.unwrap();
    let of_none = action::trigger(&f.ledger, &f.operator, unowned.id, Default::default()).await.unwrap();
    assert_eq!((of_none.status(), of_none.agent_slug), (Status::Pending, None));
    f.clock.advance(TimeDelta::milliseconds(2));
    let of_scout = f.pending().await;
    let claim = async |agent_slugs: Option<Vec<String>>| {
        let claim = Claim { agent_slugs, max: 1, lease_seconds: 60 };
        let claimed = session::claim(&f.ledger, &f.worker, claim, Duration::ZERO).await.unwrap();
        claimed.into_iter().map(|claimed| claimed.session.id).collect::<Vec<_>>()
    };
    assert!(claim(Some(vec!["writer".into()])).await.is_empty());
    // The oldest session names no agent. Only a claim that names no agent takes it.
    assert_eq!(claim(Some(vec!["scout".into()])).await, [of_scout.id]);
    assert!(claim(Some(vec!["scout".into()])).await.is_empty());
    let second = f.pending().await;
    assert_eq!(claim(None).await, [of_none.id]);
    assert_eq!(claim(None).await, [second.id]);
    f.done().await;
}

async fn a_waiting_claim_is_woken_by_a_new_session(f: Fixture) {
    let claim = Claim { agent_slugs: None, max: 1, lease_seconds: 60 };
    let waiting = session::claim(&f.ledger, &f.worker, claim, Duration::from_secs(30));
    let creating = async {
        tokio::task::yield_now().await;
        f.pending().await
    };
    let (claimed, made) = tokio::join!(waiting, creating);
    assert_eq!(claimed.unwrap()[0].session.id, made.id);
    f.done().await;
}

async fn a_waiting_claim_ends_when_its_server_stops(f: Fixture) {
    let claim = || Claim { agent_slugs: None, max: 1, lease_seconds: 60 };
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let stopped = async { stopped.await.unwrap() };
    let waiting = session::claim_until(&f.ledger, &f.worker, claim(), Duration::from_secs(86_400), stopped);
    let stopping = async {
        tokio::task::yield_now().await;
        stop.send(()).unwrap();
    };
    assert!(tokio::join!(waiting, stopping).0.unwrap().is_empty());
    // A claim that arrives later gets what is there, and does not wait.
    let made = f.pending().await;
    let late = session::claim_until(&f.ledger, &f.worker, claim(), Duration::from_secs(30), async {}).await.unwrap();
    assert_eq!(late[0].session.id, made.id);
    let none = session::claim_until(&f.ledger, &f.worker, claim(), Duration::from_secs(30), async {}).await.unwrap();
    assert!(none.is_empty());
    f.done().await;
}

async fn a_worker_that_lost_its_lease_cannot_write(f: Fixture) {
    let session = f.running_for(10).await;
    f.clock.advance(TimeDelta::seconds(11));
    assert_eq!(session::sweep(&f.ledger).await.unwrap().requeued, 1);
    let again = f.claim(1, 60).await.pop().unwrap();
    assert_eq!((again.id, again.attempt), (session.id, 2));
    let stale = |result: Result<(), Error>| {
        assert!(matches!(result, Err(Error::Refused(Refusal::StaleAttempt { given: 1, current: 2 }))), "{result:?}");
    };
    let (l, w, id) = (&f.ledger, &f.worker, session.id);
    stale(f.append(id, 1, vec![text("late")]).await.map(drop));
    stale(session::heartbeat(l, w, id, 1).await.map(drop));
    stale(session::complete(l, w, id, done(1, "1")).await.map(drop));
    stale(
        session::fail(l, w, id, Failure { attempt: 1, message: "x".into(), code: None, usage: None }).await.map(drop),
    );
    stale(session::yield_to(l, w, id, session::YieldRequest::at(1, YieldTo::Idle)).await.map(drop));
    stale(session::release(l, w, id, 1).await.map(drop));
    f.append(id, 2, vec![text("current")]).await.unwrap();
    session::complete(l, w, id, done(2, "2")).await.unwrap();
    stale(session::complete(l, w, id, done(1, "1")).await.map(drop));
    assert_eq!(session::get(l, w, id).await.unwrap().result(), Some("2"));
    f.done().await;
}

async fn a_heartbeat_keeps_the_lease(f: Fixture) {
    let session = f.running_for(10).await;
    for _ in 0..5 {
        f.clock.advance(TimeDelta::seconds(8));
        session::heartbeat(&f.ledger, &f.worker, session.id, 1).await.unwrap();
        assert_eq!(session::sweep(&f.ledger).await.unwrap(), session::Swept::default());
    }
    f.clock.advance(TimeDelta::seconds(11));
    assert_eq!(session::sweep(&f.ledger).await.unwrap().requeued, 1);
    f.done().await;
}

async fn a_session_whose_workers_all_vanish_fails_with_a_reason(f: Fixture) {
    let session = f.pending().await;
    for attempt in 1..=3 {
        assert_eq!(f.claim(1, 5).await[0].attempt, attempt);
        f.clock.advance(TimeDelta::seconds(6));
        let swept = session::sweep(&f.ledger).await.unwrap();
        assert_eq!((swept.requeued, swept.failed), if attempt < 3 { (1, 0) } else { (0, 1) });
        assert_eq!(f.ledger.counted().leases_expired, u64::from(attempt), "each is counted");
    }
    let ended = session::get(&f.ledger, &f.member, session.id).await.unwrap();
    assert_eq!((ended.status(), ended.end_reason()), (Status::Failed, Some(EndReason::LeaseExhausted)));
    assert_eq!(ended.error_code(), Some("lease_exhausted"));
    assert!(f.claim(1, 5).await.is_empty());
    f.done().await;
}

async fn leases_have_their_full_length_again_after_a_restart(mut f: Fixture) {
    let session = f.running_for(10).await;
    f.clock.advance(TimeDelta::seconds(60));
    f.restart().await;
    let swept = session::sweep(&f.ledger).await.unwrap();
    if matches!(f.engine, testkit::Engine::Sqlite(_)) {
        assert_eq!(swept, session::Swept::default(), "nobody could send a heartbeat while the only server was down");
        session::heartbeat(&f.ledger, &f.worker, session.id, 1).await.unwrap();
    } else {
        assert_eq!(swept.requeued, 1, "other servers were there to take heartbeats");
    }
    f.done().await;
}

async fn the_first_completion_is_the_recorded_outcome(f: Fixture) {
    let session = f.running().await;
    let attempts = (0..16).map(|n| session::complete(&f.ledger, &f.worker, session.id, done(1, &n.to_string())));
    let results: HashSet<String> =
        join_all(attempts).await.into_iter().map(|s| s.unwrap().result().unwrap().to_owned()).collect();
    assert_eq!(results.len(), 1, "everybody hears the same outcome: {results:?}");
    let log = f.log(session.id).await;
    assert_eq!(log.iter().filter(|e| e.kind == "session.completed").count(), 1);
    f.done().await;
}

async fn a_failure_is_recorded_with_its_error(f: Fixture) {
    let session = f.running().await;
    let usage = Some("{\"cost\":1}".to_owned());
    let failure =
        || Failure { attempt: 1, message: "no network".into(), code: Some("exit_7".into()), usage: usage.clone() };
    let failed = session::fail(&f.ledger, &f.worker, session.id, failure()).await.unwrap();
    assert_eq!((failed.status(), failed.end_reason()), (Status::Failed, Some(EndReason::Error)));
    assert_eq!(failed.usage, usage);
    assert_eq!(failed, session::fail(&f.ledger, &f.worker, session.id, failure()).await.unwrap());
    let refused = session::complete(&f.ledger, &f.worker, session.id, done(1, "1")).await;
    assert!(matches!(refused, Err(Error::Refused(Refusal::AlreadyFinal { .. }))), "{refused:?}");
    assert!(f.log(session.id).await.iter().any(|e| e.kind == "session.error" && e.content.contains("no network")));
    f.done().await;
}

async fn a_released_session_goes_to_the_next_worker(f: Fixture) {
    let session = f.running().await;
    let released = session::release(&f.ledger, &f.worker, session.id, 1).await.unwrap();
    assert_eq!((released.status(), released.lease_expires_at()), (Status::Pending, None));
    let again = f.claim(1, 60).await.pop().unwrap();
    assert_eq!((again.id, again.attempt), (session.id, 2));
    f.done().await;
}

async fn a_completion_without_usage_clears_that_of_earlier_turns(f: Fixture) {
    for (usage, expected) in [(Some("{\"cost\":2}"), Some("{\"cost\":2}")), (None, None)] {
        let session = f.running().await;
        let rest = session::YieldRequest::at(session.attempt, YieldTo::Idle);
        let rest = session::YieldRequest { usage: Some("{\"cost\":1}".into()), waits_for_children: true, ..rest };
        let new = NewSession { parent_id: Some(session.id), ..NewSession::of_type(Type::Agent) };
        let child = session::create(&f.ledger, &f.operator, new).await.unwrap();
        let resting = session::yield_to(&f.ledger, &f.worker, session.id, rest).await.unwrap();
        assert_eq!(resting.usage.as_deref(), Some("{\"cost\":1}"));
        session::cancel(&f.ledger, &f.operator, child.id, None).await.unwrap();
        let again = f.claim(1, 60).await.pop().unwrap();
        assert_eq!(again.id, session.id);
        let completion = Completion { attempt: again.attempt, result: None, usage: usage.map(str::to_owned) };
        let ended = session::complete(&f.ledger, &f.worker, again.id, completion).await.unwrap();
        assert_eq!(ended.usage.as_deref(), expected);
    }
    f.done().await;
}

async fn sessions_that_no_one_takes_after_all_are_free_at_once(f: Fixture) {
    let ids = [f.pending().await.id, f.pending().await.id];
    let two = Claim { agent_slugs: None, max: 2, lease_seconds: 3_600 };
    let claimed = session::claim(&f.ledger, &f.worker, two, Duration::ZERO).await.unwrap();
    assert_eq!(claimed.len(), 2);
    session::release_all(&f.ledger, &f.worker, claimed).await;
    for id in ids {
        assert_eq!(session::get(&f.ledger, &f.member, id).await.unwrap().status(), Status::Pending);
    }
    f.done().await;
}

async fn a_claim_outside_of_its_limits_is_refused_by_field(f: Fixture) {
    let agents = |count| Some((0..count).map(|n| format!("agent-{n}")).collect::<Vec<_>>());
    let good = || Claim { agent_slugs: None, max: 1, lease_seconds: 60 };
    for (claim, refused) in [
        (Claim { max: 0, ..good() }, Some("max")),
        (Claim { max: CLAIM_MAX, ..good() }, None),
        (Claim { max: CLAIM_MAX + 1, ..good() }, Some("max")),
        (Claim { lease_seconds: LEASE_SECONDS_MIN - 1, ..good() }, Some("leaseSeconds")),
        (Claim { lease_seconds: LEASE_SECONDS_MAX, ..good() }, None),
        (Claim { lease_seconds: LEASE_SECONDS_MAX + 1, ..good() }, Some("leaseSeconds")),
        (Claim { agent_slugs: agents(0), ..good() }, Some("agentSlugs")),
        (Claim { agent_slugs: agents(CLAIM_AGENTS_MAX), ..good() }, None),
        (Claim { agent_slugs: agents(CLAIM_AGENTS_MAX + 1), ..good() }, Some("agentSlugs")),
        (Claim { agent_slugs: Some(vec!["No slug".into()]), ..good() }, Some("agentSlugs")),
    ] {
        let named = match session::claim(&f.ledger, &f.worker, claim.clone(), Duration::ZERO).await {
            Ok(_) => None,
            Err(Error::Invalid(errors)) => Some(errors[0].field.clone()),
            Err(other) => panic!("{claim:?}: {other:?}"),
        };
        assert_eq!(named.as_deref(), refused, "{claim:?}");
    }
    f.done().await;
}

async fn a_session_that_workers_only_release_fails_with_a_reason(f: Fixture) {
    let session = f.pending().await;
    for attempt in 1..=RELEASED_ATTEMPTS_MAX {
        assert_eq!(f.claim(1, 60).await[0].attempt, attempt);
        let released = session::release(&f.ledger, &f.worker, session.id, attempt).await.unwrap();
        let expected = if attempt < RELEASED_ATTEMPTS_MAX { Status::Pending } else { Status::Failed };
        assert_eq!((released.status(), released.lease_expires_at()), (expected, None), "attempt {attempt}");
    }
    let ended = session::get(&f.ledger, &f.member, session.id).await.unwrap();
    assert_eq!((ended.end_reason(), ended.error_code()), (Some(EndReason::LeaseExhausted), Some(RELEASED_TOO_OFTEN)));
    assert!(f.log(session.id).await.iter().any(|e| e.kind == "session.error" && e.content.contains("was released")));
    assert!(f.claim(1, 60).await.is_empty());
    let again = session::release(&f.ledger, &f.worker, session.id, RELEASED_ATTEMPTS_MAX).await;
    assert!(matches!(again, Err(Error::Refused(Refusal::AlreadyFinal { .. }))), "{again:?}");
    f.assert_verified().await;
    f.done().await;
}

async fn a_yielded_session_holds_no_lease(f: Fixture) {
    for to in [YieldTo::Idle, YieldTo::WaitingHuman, YieldTo::AwaitingTool] {
        let session = f.running_for(5).await;
        let yield_request =
            session::YieldRequest { detail: Some("look at this".into()), ..session::YieldRequest::at(1, to) };
        let yielded = session::yield_to(&f.ledger, &f.worker, session.id, yield_request).await.unwrap();
        assert_eq!((yielded.status(), yielded.lease_expires_at()), (to.status(), None));
        f.clock.advance(TimeDelta::seconds(60));
        assert_eq!(session::sweep(&f.ledger).await.unwrap(), session::Swept::default());
        let refused = f.append(session.id, 1, vec![text("x")]).await;
        assert!(matches!(refused, Err(Error::Refused(Refusal::WrongStatus { .. }))), "{refused:?}");
        assert!(f.log(session.id).await.last().unwrap().metadata.contains("look at this"));
    }
    f.done().await;
}

async fn the_log_says_what_a_yielded_session_waits_for(f: Fixture) {
    for (to, expected) in [
        (YieldTo::Idle, "running → idle: resting"),
        (YieldTo::WaitingHuman, "running → waiting_human: waiting for a person"),
        (YieldTo::AwaitingTool, "running → awaiting_tool: waiting for a tool"),
    ] {
        for detail in [None, Some("  ".to_owned())] {
            let session = f.running().await;
            let rest = session::YieldRequest { detail, ..session::YieldRequest::at(session.attempt, to) };
            session::yield_to(&f.ledger, &f.worker, session.id, rest).await.unwrap();
            assert_eq!(changes(&f, session.id).await.pop().as_deref(), Some(expected));
        }
    }
    f.done().await;
}

async fn a_row_that_refers_to_a_session_does_not_keep_it_from_being_claimed(f: Fixture) {
    let id = f.pending().await.id;
    // What PostgreSQL does until the end of a transaction that inserts a row with a foreign key to the session.
    let mut raw = f.engine.raw().await;
    raw.execute("BEGIN").await.unwrap();
    let locks = if matches!(f.engine, testkit::Engine::Postgres { .. }) { " FOR KEY SHARE" } else { "" };
    raw.execute(&format!("SELECT id FROM sessions{locks}")).await.unwrap();
    let claimed = f.claim(1, 60).await;
    assert_eq!(claimed.iter().map(|session| session.id).collect::<Vec<_>>(), [id]);
    f.append(id, 1, vec![text("Beside it")]).await.unwrap();
    raw.execute("ROLLBACK").await.unwrap();
    f.done().await;
}

async fn a_session_that_cannot_be_claimed_does_not_hold_up_those_behind_it(f: Fixture) {
    let mut queued = Vec::new();
    for _ in 0..5 {
        queued.push(f.pending().await.id);
        f.clock.advance(TimeDelta::milliseconds(2));
    }
    let refused = [queued[0], queued[2]];
    refuse_events_of(&f, &refused).await;
    let claim = async |max: u32| {
        let any = Claim { agent_slugs: None, max, lease_seconds: 60 };
        let claimed = session::claim(&f.ledger, &f.worker, any, Duration::ZERO).await?;
        Ok::<_, Error>(claimed.into_iter().map(|one| one.session.id).collect::<Vec<_>>())
    };
    assert_eq!(claim(1).await.unwrap(), [queued[1]]);
    assert_eq!(claim(2).await.unwrap(), [queued[3], queued[4]]);
    let nothing_else = claim(2).await;
    assert!(matches!(&nothing_else, Err(Error::Internal(text)) if text.contains("planted")), "{nothing_else:?}");
    for id in refused {
        let session = session::get(&f.ledger, &f.worker, id).await.unwrap();
        assert_eq!((session.status(), session.attempt), (Status::Pending, 0), "it can be claimed when it is repaired");
    }
    f.assert_verified().await;
    f.done().await;
}
