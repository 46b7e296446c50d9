//! Time limits: each status has its own limit, which ends the session once. Only leaving the status stops it.

use crate::{
    entity::{acme, company},
    gate::{gated, now, says, staged},
};
use chrono::TimeDelta;
use domain::{
    gate::Verdict,
    id::GateId,
    limit::TIME_LIMIT_SECONDS_MAX,
    session::{EndReason, Session, Status, YieldTo},
};
use ledger::{ActionRecord, EntityRecord, Error, LeaseClock, Mode, action, gate, session};
use serde_json::{Value, json};
use testkit::{Fixture, TestClock, on_both_engines};

on_both_engines!(
    each_status_expires_by_its_own_limit,
    moving_on_begins_a_new_limit_and_a_heartbeat_does_not,
    an_approval_takes_effect_although_the_limit_is_over_before,
    an_undone_approval_does_not_extend_the_limit,
    an_item_says_when_its_session_expires,
    a_session_keeps_the_limits_it_was_made_with,
    sessions_without_limits_stay,
    many_servers_expire_a_session_once,
    servers_whose_clocks_are_apart_agree_about_every_limit,
    wrong_limits_are_refused_by_their_key,
);

pub const LIMITS: &str = r#"{"timeLimits":{"pendingSeconds":10,"runningSeconds":20,"waitingSeconds":30}}"#;

/// Creates an action for an agent with this metadata.
pub async fn task(f: &Fixture, metadata: &str) -> ActionRecord {
    let new = action::NewAction {
        name: "Look".into(),
        agent_slug: Some("scout".into()),
        metadata: Some(metadata.into()),
        ..Default::default()
    };
    action::create(&f.ledger, &f.operator, new).await.unwrap()
}

pub async fn queued(f: &Fixture, metadata: &str) -> Session {
    let task = task(f, metadata).await;
    action::trigger(&f.ledger, &f.member, task.id, Default::default()).await.unwrap()
}

async fn read(f: &Fixture, session: &Session) -> Session {
    session::get(&f.ledger, &f.member, session.id).await.unwrap()
}

/// Sweeps just before the limit and at it. Only the second sweep may end the session.
async fn expires_after(f: &Fixture, session: &Session, seconds: i64) {
    let waited = read(f, session).await.status();
    f.clock.advance(TimeDelta::seconds(seconds) - TimeDelta::milliseconds(1));
    assert_eq!(session::sweep(&f.ledger).await.unwrap().expired, 0);
    f.clock.advance(TimeDelta::milliseconds(1));
    assert_eq!(session::sweep(&f.ledger).await.unwrap().expired, 1);
    let ended = read(f, session).await;
    assert_eq!((ended.status(), ended.end_reason()), (Status::Expired, Some(EndReason::TimedOut)), "{waited}");
    assert_eq!(ended.error_code(), Some("timed_out"));
    assert_eq!(ended.error_message().unwrap(), format!("it was {waited} for longer than {seconds} s"));
    assert_eq!((ended.deadline_at(), ended.lease_expires_at()), (None, None));
    let log = f.log(session.id).await;
    let error = log.iter().rfind(|event| event.kind == "session.error").unwrap();
    let metadata: Value = serde_json::from_str(&error.metadata).unwrap();
    assert_eq!(metadata, json!({ "code": "timed_out", "status": waited, "limitSeconds": seconds }));
}

async fn each_status_expires_by_its_own_limit(f: Fixture) {
    let pending = queued(&f, LIMITS).await;
    expires_after(&f, &pending, 10).await;

    queued(&f, LIMITS).await;
    let running = f.claim(1, 3_600).await.pop().unwrap();
    expires_after(&f, &running, 20).await;
    // The worker learns with its next heartbeat that the session has ended.
    let late = session::heartbeat(&f.ledger, &f.worker, running.id, 1).await;
    assert!(matches!(late, Err(Error::Refused(_))), "{late:?}");

    for to in [YieldTo::Idle, YieldTo::WaitingHuman, YieldTo::AwaitingTool] {
        queued(&f, LIMITS).await;
        let waiting = f.claim(1, 3_600).await.pop().unwrap();
        session::yield_to(&f.ledger, &f.worker, waiting.id, session::YieldRequest::at(1, to)).await.unwrap();
        expires_after(&f, &waiting, 30).await;
    }
    f.assert_verified().await;
    f.done().await;
}

async fn moving_on_begins_a_new_limit_and_a_heartbeat_does_not(f: Fixture) {
    let session = queued(&f, LIMITS).await;
    for attempt in 1..=4 {
        f.clock.advance(TimeDelta::seconds(9));
        assert_eq!(f.claim(1, 3_600).await.len(), 1);
        f.clock.advance(TimeDelta::seconds(19));
        session::release(&f.ledger, &f.worker, session.id, attempt).await.unwrap();
        assert_eq!(session::sweep(&f.ledger).await.unwrap().expired, 0);
    }
    f.claim(1, 3_600).await;
    for _ in 0..19 {
        f.clock.advance(TimeDelta::seconds(1));
        session::heartbeat(&f.ledger, &f.worker, session.id, 5).await.unwrap();
        f.append(session.id, 5, vec![testkit::text("at work")]).await.unwrap();
    }
    expires_after_one_more_second(&f, &session).await;
    f.done().await;
}

async fn expires_after_one_more_second(f: &Fixture, session: &Session) {
    assert_eq!(session::sweep(&f.ledger).await.unwrap().expired, 0);
    f.clock.advance(TimeDelta::seconds(1));
    assert_eq!(session::sweep(&f.ledger).await.unwrap().expired, 1);
    assert_eq!(read(f, session).await.status(), Status::Expired);
}

/// A session that waits for approval for at most 30 seconds, approved two seconds before. The limit is over now, and
/// the approval can be undone for three more seconds.
async fn approved_before_the_limit(f: &Fixture) -> (Session, EntityRecord, GateId) {
    let acme = acme(f, &company(f).await, "Acme").await;
    let of = gated(f, Some(acme.id), Value::Null, json!({})).await;
    let metadata = json!({ "requiresApproval": true, "timeLimits": { "waitingSeconds": 30 } }).to_string();
    let limited = action::ActionChange { metadata: Some(metadata), ..Default::default() };
    let of = action::update(&f.ledger, &f.operator, of.id, limited).await.unwrap();
    let (waiting, item) = staged(f, &of, &json!({ "stage": "Won" })).await;
    assert!(waiting.deadline_at().is_some());
    f.clock.advance(TimeDelta::seconds(28));
    gate::decide(&f.ledger, &f.operator, item.gate.id, says(Verdict::Approve)).await.unwrap();
    f.clock.advance(TimeDelta::seconds(2));
    assert_eq!(session::sweep(&f.ledger).await.unwrap(), session::Swept::default());
    assert_eq!(read(f, &waiting).await.status(), Status::WaitingHuman);
    (waiting, acme, item.gate.id)
}

async fn an_approval_takes_effect_although_the_limit_is_over_before(f: Fixture) {
    let (waiting, acme, _) = approved_before_the_limit(&f).await;
    f.clock.advance(TimeDelta::seconds(3));
    // The gate is not swept yet.
    assert_eq!(session::sweep(&f.ledger).await.unwrap(), session::Swept::default());
    assert_eq!(gate::sweep(&f.ledger).await.unwrap().settled, 1);
    let done = read(&f, &waiting).await;
    assert_eq!((done.status(), done.end_reason()), (Status::Completed, Some(EndReason::Done)));
    assert_eq!(now(&f, &acme).await.version, 2);
    f.assert_verified().await;
    f.done().await;
}

async fn an_undone_approval_does_not_extend_the_limit(f: Fixture) {
    let (waiting, acme, id) = approved_before_the_limit(&f).await;
    gate::undo(&f.ledger, &f.operator, id).await.unwrap();
    assert_eq!(session::sweep(&f.ledger).await.unwrap().expired, 1);
    assert_eq!(read(&f, &waiting).await.status(), Status::Expired);
    assert_eq!(now(&f, &acme).await.version, 1);
    f.done().await;
}

async fn an_item_says_when_its_session_expires(f: Fixture) {
    let acme = acme(&f, &company(&f).await, "Acme").await;
    let of = gated(&f, Some(acme.id), Value::Null, json!({})).await;
    let limited = async |approval: Value| {
        let metadata =
            json!({ "requiresApproval": true, "timeLimits": { "waitingSeconds": 600 }, "approval": approval });
        let change = action::ActionChange { metadata: Some(metadata.to_string()), ..Default::default() };
        let of = action::update(&f.ledger, &f.operator, of.id, change).await.unwrap();
        staged(&f, &of, &json!({ "stage": "Won" })).await
    };
    let (waiting, item) = limited(json!({})).await;
    assert_eq!((item.gate.due_at, item.due_at), (None, waiting.deadline_at()));
    let listed = gate::of_sessions(&f.ledger, &f.operator, vec![waiting.id]).await.unwrap();
    assert_eq!(listed[0].due_at, waiting.deadline_at());
    let (_, item) = limited(json!({ "expiresAfterSeconds": 60 })).await;
    assert!(item.due_at.is_some_and(|at| Some(at) == item.gate.due_at), "the closer one counts: {item:?}");
    f.done().await;
}

async fn a_session_keeps_the_limits_it_was_made_with(f: Fixture) {
    let session = queued(&f, LIMITS).await;
    let loose = action::ActionChange { metadata: Some("{}".into()), ..Default::default() };
    action::update(&f.ledger, &f.operator, session.action_id.unwrap(), loose).await.unwrap();
    expires_after(&f, &session, 10).await;
    // A retry creates a new session with the action's present limits.
    let again = session::retry(&f.ledger, &f.operator, session.id).await.unwrap();
    assert_eq!((again.status(), again.deadline_at()), (Status::Pending, None));
    f.done().await;
}

async fn sessions_without_limits_stay(f: Fixture) {
    let session = queued(&f, r#"{"timeLimits":{"waitingSeconds":1}}"#).await;
    f.clock.advance(TimeDelta::days(400));
    assert_eq!(session::sweep(&f.ledger).await.unwrap(), session::Swept::default());
    assert_eq!(read(&f, &session).await.status(), Status::Pending);
    f.done().await;
}

async fn many_servers_expire_a_session_once(f: Fixture) {
    let mut sessions = Vec::new();
    for _ in 0..12 {
        sessions.push(queued(&f, LIMITS).await);
    }
    f.clock.advance(TimeDelta::seconds(11));
    let on_postgres = matches!(f.engine, testkit::Engine::Postgres { .. });
    // SQLite permits one server, so its sweeps share a ledger. On PostgreSQL two servers sweep.
    let other = match on_postgres {
        true => f.second_ledger(Mode::Server).await,
        false => f.ledger.clone(),
    };
    let sweeps = (0..4).flat_map(|_| [session::sweep(&f.ledger), session::sweep(&other)]);
    let swept = futures_util::future::join_all(sweeps).await;
    let expired: u64 = swept.into_iter().map(|swept| swept.unwrap().expired).sum();
    assert_eq!(expired, 12);
    for session in &sessions {
        let errors = f.log(session.id).await.into_iter().filter(|event| event.kind == "session.error").count();
        assert_eq!((read(&f, session).await.status(), errors), (Status::Expired, 1));
    }
    if on_postgres {
        other.close().await;
    }
    f.assert_verified().await;
    f.done().await;
}

async fn wrong_limits_are_refused_by_their_key(f: Fixture) {
    for (limits, named) in [
        (json!(60), "metadata.timeLimits"),
        (json!({ "pendingSeconds": 0 }), "metadata.timeLimits.pendingSeconds"),
        (json!({ "runningSeconds": TIME_LIMIT_SECONDS_MAX + 1 }), "metadata.timeLimits.runningSeconds"),
        (json!({ "idleSeconds": 60 }), "metadata.timeLimits.idleSeconds"),
    ] {
        let metadata = json!({ "timeLimits": limits }).to_string();
        let new = action::NewAction { name: "Look".into(), metadata: Some(metadata), ..Default::default() };
        let Err(Error::Invalid(fields)) = action::create(&f.ledger, &f.operator, new).await else {
            panic!("{limits} was accepted");
        };
        assert_eq!(fields.into_iter().map(|field| field.field).collect::<Vec<_>>(), [named]);
    }
    f.done().await;
}

/// Changes the limit of the only session, because the test cannot change the database's clock.
async fn limit_ends_in(f: &Fixture, seconds: i64) {
    let now = "CAST(EXTRACT(EPOCH FROM now()) * 1000000 AS bigint)";
    let sql = format!("UPDATE sessions SET deadline_at = {now} + {}", seconds * 1_000_000);
    assert_eq!(f.engine.raw().await.execute(&sql).await.unwrap(), 1);
}

async fn servers_whose_clocks_are_apart_agree_about_every_limit(f: Fixture) {
    // SQLite permits only one server.
    if f.engine.file().is_some() {
        return f.done().await;
    }
    let session = queued(&f, r#"{"timeLimits":{"pendingSeconds":3600}}"#).await;
    limit_ends_in(&f, 600).await;
    let mut servers = Vec::new();
    for hours in [-24, -1, 1, 24] {
        let clock = TestClock::at(chrono::DateTime::UNIX_EPOCH + TimeDelta::days(20_000) + TimeDelta::hours(hours));
        servers.push((f.server_with(&clock, LeaseClock::Database).await, clock));
    }
    for (server, clock) in &servers {
        assert_eq!(session::sweep(server).await.unwrap().expired, 0);
        // After a jump, the clock is corrected from the database before the next sweep.
        clock.advance(TimeDelta::days(2));
        server.set_clock().await.unwrap();
        assert_eq!(session::sweep(server).await.unwrap().expired, 0);
    }
    limit_ends_in(&f, -1).await;
    assert_eq!(session::sweep(&servers[0].0).await.unwrap().expired, 1, "by the slowest clock");
    assert_eq!(read(&f, &session).await.status(), Status::Expired);
    for (server, _) in servers {
        server.close().await;
    }
    f.done().await;
}
