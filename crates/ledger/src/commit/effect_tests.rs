use super::*;
use chrono::DateTime;
use domain::{
    chain::Digest,
    id::{SessionId, TenantId},
    session::{Actor, Lease, Report, State, TimeLimits, Type, YieldTo, decide},
};
use uuid::Uuid;

const NOW: Timestamp = DateTime::UNIX_EPOCH;

fn pending() -> Session {
    Session {
        tenant_id: TenantId(Uuid::from_u128(1)),
        id: SessionId(Uuid::from_u128(2)),
        session_type: Type::Agent,
        state: State::Pending { deadline_at: None },
        action_id: None,
        action_slug: None,
        agent_slug: None,
        user_id: None,
        entity_id: None,
        source: None,
        title: "Title".into(),
        input: None,
        metadata: "{}".into(),
        usage: None,
        parent_id: None,
        retry_of: None,
        created_by: "system".into(),
        attempt: 0,
        attempts_max: 3,
        head_sequence: 4,
        head_digest: Digest::GENESIS,
        created_at: NOW,
        updated_at: NOW,
        queued_at: Some(NOW),
        started_at: None,
        time_limits: TimeLimits::default(),
        dependency_count: 0,
        awaited: false,
        private_to: None,
        tags: Vec::new(),
        assignee: None,
    }
}

/// The session after a command, and the effects of that command.
fn after(session: &Session, actor: Actor, command: Command, report: Report) -> (Session, Vec<Effect>) {
    let mut after = session.clone();
    after.enter(decide(session.position(), actor, command).unwrap(), report, NOW);
    let effects = effects(session.status(), &after, Cause { command, reason: "why" }, NOW);
    (after, effects)
}

fn claimed(session: &Session) -> Session {
    let lease = Lease { seconds: 60, expires_at: NOW };
    after(session, Actor::Caller, Command::Claim, Report { lease: Some(lease), ..Report::default() }).0
}

fn due(session: &Session) -> DueRecord {
    let (tenant_id, session_id, status) = (session.tenant_id, session.id, session.status());
    DueRecord { tenant_id, session_id, sequence: 4, status, ended_at: NOW }
}

#[test]
fn a_change_that_keeps_the_status_has_no_effects() {
    let running = claimed(&pending());
    assert_eq!(after(&running, Actor::Worker { attempt: 1 }, Command::Append, Report::default()).1, []);
}

#[test]
fn a_completed_session_is_captured_and_announced() {
    let result = Report { result: Some("\"done\"".into()), ..Report::default() };
    let (ended, effects) = after(&claimed(&pending()), Actor::Worker { attempt: 1 }, Command::Complete, result);
    assert_eq!(effects, [Effect::CaptureTurn(due(&ended), Capture::Always), Effect::AnnounceEnd]);
}

#[test]
fn a_failure_is_recorded_with_its_own_message_or_with_the_reason() {
    let running = claimed(&pending());
    let worker = Actor::Worker { attempt: 1 };
    let recorded = |report| {
        let effects = after(&running, worker, Command::Fail, report).1;
        effects.into_iter().find(|effect| matches!(effect, Effect::RecordFailure { .. }))
    };
    let own = Effect::RecordFailure { code: "no_disk".into(), message: "The disk is full".into() };
    assert_eq!(recorded(Report::error("The disk is full", "no_disk")), Some(own));
    let of_reason = Effect::RecordFailure { code: code_of(EndReason::Error).into(), message: "why".into() };
    assert_eq!(recorded(Report::default()), Some(of_reason));
}

#[test]
fn the_gate_of_a_session_that_stops_waiting_is_closed() {
    let (waiting, opened) = after(
        &claimed(&pending()),
        Actor::Worker { attempt: 1 },
        Command::Yield(YieldTo::WaitingHuman),
        Report::default(),
    );
    assert_eq!(opened, []);
    let cancelled = after(&waiting, Actor::Caller, Command::Cancel, Report::default()).1;
    assert_eq!(cancelled[0], Effect::CloseGate(CloseReason::Withdrawn));
    let expired = after(&waiting, Actor::Server, Command::Expire, Report::default()).1;
    assert_eq!(expired[0], Effect::CloseGate(CloseReason::Expired));
}

#[test]
fn only_an_end_that_others_may_wait_for_notifies_them() {
    let complete = |session: &Session| {
        after(&claimed(session), Actor::Worker { attempt: 1 }, Command::Complete, Report::default()).1
    };
    let notified = Effect::NotifyGraph { cascades: false };
    assert!(!complete(&pending()).contains(&notified));
    assert!(complete(&Session { awaited: true, ..pending() }).contains(&notified));
    let parent_id = Some(SessionId(Uuid::from_u128(3)));
    assert!(complete(&Session { parent_id, ..pending() }).contains(&notified));
    let cancelled = after(&pending(), Actor::Caller, Command::Cancel, Report::default()).1;
    assert!(cancelled.contains(&Effect::NotifyGraph { cascades: true }));
}

#[test]
fn a_private_session_is_never_captured() {
    let incognito = Session { metadata: r#"{"incognito":true}"#.into(), ..pending() };
    let of_private_parent = Session { private_to: Some("user:1".into()), ..pending() };
    for (session, captured) in [(incognito, false), (of_private_parent, false), (pending(), true)] {
        let running = claimed(&session);
        let (_, effects) = after(&running, Actor::Worker { attempt: 1 }, Command::Complete, Report::default());
        assert_eq!(effects.iter().any(|effect| matches!(effect, Effect::CaptureTurn(..))), captured);
    }
}
