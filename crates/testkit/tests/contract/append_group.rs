//! P-4, P-5: equal events of one request, and writes of a group of which the database refuses some.

use domain::{
    Entropy as _,
    id::{EventId, SessionId},
};
use futures_util::future::join_all;
use ledger::{
    Error,
    event::NewEvent,
    session::{self, Claim, Completion, NewSession},
};
use std::time::Duration;
use store::{Access, Mode, Store};
use testkit::{Engine, Fixture, SeededEntropy, event, on_both_engines, text};

on_both_engines!(
    equal_events_of_one_request_are_recorded_once,
    events_of_one_request_that_share_an_id_and_differ_are_refused,
    a_repeat_of_equal_events_is_answered_with_what_was_recorded,
    a_row_that_the_database_refuses_costs_its_own_append_alone,
    a_command_that_the_database_refuses_costs_no_other_write,
    a_session_that_cannot_be_claimed_costs_no_claim_of_another,
    a_session_that_cannot_be_completed_costs_no_completion_of_another,
    a_write_that_panics_costs_no_other_write,
);

fn id(seed: u64) -> EventId {
    let mut bytes = [0; 16];
    SeededEntropy::new(seed).fill(&mut bytes);
    EventId(uuid::Builder::from_random_bytes(bytes).into_uuid())
}

fn external(key: &str, body: &str) -> NewEvent {
    NewEvent { kind: "external.event".into(), external_event_id: Some(key.into()), ..text(body) }
}

async fn equal_events_of_one_request_are_recorded_once(f: Fixture) {
    for count in [2, 7, 40] {
        let session = f.running().await;
        let by_id = |_| NewEvent { id: Some(id(1)), ..text("same") };
        let by_external = |_| external("z", "x");
        let sent = [vec![text("first")], (0..count).map(by_id).collect(), (0..count).map(by_external).collect()];
        let done = f.append(session.id, 1, sent.concat()).await.unwrap();
        assert_eq!(done.events.len(), 1 + 2 * count, "every event that was sent is answered");
        let places: Vec<u64> = done.events.iter().map(|(_, sequence)| *sequence - session.head_sequence).collect();
        assert_eq!(places[0], 1);
        assert!(places[1..=count].iter().all(|place| *place == 2), "{places:?}");
        assert!(places[1 + count..].iter().all(|place| *place == 3), "{places:?}");
        assert_eq!(done.head_sequence, session.head_sequence + 3);
        assert_eq!(f.log(session.id).await.len() as u64, done.head_sequence);
    }
    f.assert_verified().await;
    f.done().await;
}

async fn events_of_one_request_that_share_an_id_and_differ_are_refused(f: Fixture) {
    let session = f.running().await;
    let same_id =
        vec![text("ok"), NewEvent { id: Some(id(1)), ..text("a") }, NewEvent { id: Some(id(1)), ..text("b") }];
    let same_external = vec![external("z", "a"), external("y", "a"), external("z", "b")];
    let same_body = vec![external("z", "a"), NewEvent { id: Some(id(7)), ..external("z", "a") }];
    for (sent, field) in [
        (same_id, "events[2].id"),
        (same_external, "events[2].externalEventId"),
        // The first one has an id that the server makes, so the second cannot be its repeat.
        (same_body, "events[1].externalEventId"),
    ] {
        let refused = f.append(session.id, 1, sent).await;
        let Err(Error::Invalid(issues)) = refused else { panic!("{field}: {refused:?}") };
        assert_eq!(issues.iter().map(|issue| issue.field.as_str()).collect::<Vec<_>>(), [field]);
    }
    assert_eq!(f.log(session.id).await.len() as u64, session.head_sequence, "nothing is recorded");
    f.done().await;
}

async fn a_repeat_of_equal_events_is_answered_with_what_was_recorded(f: Fixture) {
    let session = f.running().await;
    let sent = || vec![external("z", "x"), text("between"), external("z", "x")];
    let first = f.append(session.id, 1, sent()).await.unwrap();
    let again =
        f.append(session.id, 1, vec![external("z", "x"), external("z", "x"), external("y", "new")]).await.unwrap();
    assert_eq!(first.events[0], first.events[2]);
    assert_eq!(again.events[..2], [first.events[0], first.events[0]]);
    assert_eq!(again.events[2].1, first.head_sequence + 1);
    f.assert_verified().await;
    f.done().await;
}

/// Lets the database refuse every new row of `table` for which `condition` holds. Columns are those of `NEW`.
async fn refuse_rows(f: &Fixture, table: &str, condition: &str) {
    let statements = match &f.engine {
        Engine::Sqlite(_) => vec![format!(
            "CREATE TRIGGER planted BEFORE INSERT ON {table} WHEN {condition} \
             BEGIN SELECT RAISE(ABORT, 'planted refusal'); END"
        )],
        Engine::Postgres { .. } => vec![
            format!(
                "CREATE FUNCTION planted() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
                 IF {condition} THEN RAISE EXCEPTION 'planted refusal' USING ERRCODE = '23514'; END IF; RETURN NEW; \
                 END $$"
            ),
            format!("CREATE TRIGGER planted BEFORE INSERT ON {table} FOR EACH ROW EXECUTE FUNCTION planted()"),
        ],
    };
    let mut raw = f.engine.raw().await;
    for statement in statements {
        raw.execute(&statement).await.unwrap();
    }
}

/// Lets the database refuse every further event of these sessions.
pub(crate) async fn refuse_events_of(f: &Fixture, sessions: &[SessionId]) {
    let literal = |id: &SessionId| match f.engine {
        Engine::Sqlite(_) => format!("x'{}'", id.0.simple()),
        Engine::Postgres { .. } => format!("'{id}'"),
    };
    let literals: Vec<_> = sessions.iter().map(literal).collect();
    refuse_rows(f, "session_events", &format!("NEW.session_id IN ({})", literals.join(", "))).await;
}

/// Whether a write failed for its own reason, without a word about trying again.
fn is_refused_alone<T>(outcome: &Result<T, Error>) -> bool {
    matches!(outcome, Err(Error::Internal(text)) if text.contains("planted"))
}

async fn a_row_that_the_database_refuses_costs_its_own_append_alone(f: Fixture) {
    refuse_rows(&f, "session_events", "NEW.event_type = 'agent.poison'").await;
    let sessions = [f.running().await, f.running().await, f.running().await];
    // Each round is a group of 64, of which every eighth append is refused; the others repeat nothing.
    for round in 0..3 {
        let appends = (0..64_usize).map(|n| {
            let poisoned = n % 8 == 3;
            let last = if poisoned { event("agent.poison") } else { text("sound") };
            f.append(sessions[n % 3].id, 1, vec![text(&format!("{round}-{n}")), last])
        });
        for (n, outcome) in join_all(appends).await.into_iter().enumerate() {
            if n % 8 == 3 {
                assert!(is_refused_alone(&outcome), "{n}: {outcome:?}");
            } else {
                assert!(outcome.is_ok(), "{n}: {outcome:?}");
            }
        }
    }
    let mut recorded = 0;
    for session in &sessions {
        let log = f.log(session.id).await;
        assert!(log.iter().all(|event| event.kind != "agent.poison"));
        recorded += log.iter().filter(|event| event.kind == "agent.message").count();
    }
    assert_eq!(recorded, 3 * (64 - 8) * 2, "a refused append leaves none of its events");
    f.assert_verified().await;
    f.done().await;
}

async fn a_command_that_the_database_refuses_costs_no_other_write(f: Fixture) {
    refuse_rows(&f, "sessions", "NEW.title = 'poison'").await;
    let session = f.running().await;
    let create = async |title: &str| {
        let new = NewSession { title: Some(title.into()), ..NewSession::of_type(domain::session::Type::Agent) };
        let new = NewSession { agent_slug: Some("scout".into()), ..new };
        session::create(&f.ledger, &f.operator, new).await.map(drop)
    };
    let writes = (0..64_usize).map(async |n| match n % 4 {
        0 => create("poison").await,
        1 => create("sound").await,
        _ => f.append(session.id, 1, vec![text("sound")]).await.map(drop),
    });
    for (n, outcome) in join_all(writes).await.into_iter().enumerate() {
        if n % 4 == 0 {
            assert!(is_refused_alone(&outcome), "{n}: {outcome:?}");
        } else {
            assert!(outcome.is_ok(), "{n}: {outcome:?}");
        }
    }
    let log = f.log(session.id).await;
    assert_eq!(log.iter().filter(|event| event.kind == "agent.message").count(), 32);
    f.assert_verified().await;
    f.done().await;
}

async fn a_session_that_cannot_be_claimed_costs_no_claim_of_another(f: Fixture) {
    let mut waiting = Vec::new();
    for _ in 0..64 {
        waiting.push(f.pending().await.id);
    }
    // Sessions of one instant are claimed in the order of their ids.
    let last = waiting.iter().map(|id| id.0).max().unwrap();
    refuse_events_of(&f, &[SessionId(last)]).await;
    let claim = async || {
        let claim = Claim { agent_slugs: Some(vec!["scout".into()]), max: 1, lease_seconds: 60 };
        session::claim(&f.ledger, &f.worker, claim, Duration::ZERO).await
    };
    // A slow PostgreSQL answers some of so many claims too late, and claims for them all the same.
    let is_late = |outcome: &&Result<_, Error>| matches!(outcome, Err(Error::Unavailable(text)) if text.contains("does not answer"));
    let mut raw = f.engine.raw().await;
    // Claims that meet each other may find nothing, so the rounds continue until one is left with the refused session.
    for _ in 0..64 {
        let outcomes = join_all((0..64).map(|_| claim())).await;
        let failed = outcomes.iter().filter(|outcome| outcome.is_err() && !is_late(outcome));
        assert!(failed.into_iter().all(is_refused_alone), "{outcomes:?}");
        if raw.number("SELECT COUNT(*) FROM sessions WHERE status = 'running'").await >= 63 {
            break;
        }
    }
    let running = raw.number("SELECT COUNT(*) FROM sessions WHERE status = 'running'").await;
    assert_eq!(running, 63, "every session but the one that the database refuses");
    f.assert_verified().await;
    f.done().await;
}

async fn a_session_that_cannot_be_completed_costs_no_completion_of_another(f: Fixture) {
    let mut running = Vec::new();
    for _ in 0..32 {
        running.push(f.running().await);
    }
    let refused: Vec<SessionId> = running.iter().step_by(8).map(|session| session.id).collect();
    refuse_events_of(&f, &refused).await;
    let completions = running.iter().map(|session| {
        let completion = Completion { attempt: session.attempt, result: None, usage: None };
        session::complete(&f.ledger, &f.worker, session.id, completion)
    });
    for (session, outcome) in running.iter().zip(join_all(completions).await) {
        if refused.contains(&session.id) {
            assert!(is_refused_alone(&outcome), "{outcome:?}");
        } else {
            assert!(outcome.is_ok(), "{outcome:?}");
        }
        let left = session::get(&f.ledger, &f.worker, session.id).await.unwrap();
        assert_eq!(left.status().is_final(), !refused.contains(&session.id), "{left:?}");
    }
    f.assert_verified().await;
    f.done().await;
}

async fn a_write_that_panics_costs_no_other_write(f: Fixture) {
    let store = Store::open(&f.engine.database(), Mode::Tool).await.unwrap();
    let write = async |n: usize| {
        store
            .write::<_, store::Error, _>(Access::System, async move |_| {
                assert!(n % 8 != 3, "planted panic");
                Ok(n)
            })
            .await
    };
    for (n, outcome) in join_all((0..64).map(write)).await.into_iter().enumerate() {
        match outcome {
            Ok(written) => assert_eq!(written.value, n),
            Err(error) => assert!(n % 8 == 3 && matches!(error, store::Error::Database(_)), "{n}: {error:?}"),
        }
    }
    assert_eq!(write(64).await.unwrap().value, 64);
    store.close().await;
    f.done().await;
}
