//! Paced runs: sessions that are run again a few at a time, or from a time on.

use crate::{at_once::one_is_over_the_limit, failure_cause::failed};
use chrono::TimeDelta;
use domain::{
    Timestamp,
    id::{PacedRunId, SessionId},
    limit::{PACED_RUN_SESSIONS_MAX, PACED_RUNS_OPEN_MAX, PACED_START_DAYS_MAX},
    paced_run::{Outcome, State},
    session::Status,
};
use ledger::{
    Error, ListPage,
    member::{self, Withdrawal},
    paced_run::{self, NewPacedRun, PacedCounts, PacedRunDetail},
    session::{self, Completion},
};
use testkit::{Fixture, on_both_engines};

on_both_engines!(
    a_paced_run_keeps_a_few_sessions_busy_until_all_have_begun,
    a_paced_run_waits_for_its_time_and_is_cancelled_once,
    a_key_makes_one_paced_run,
    sessions_are_started_with_the_rights_of_that_time,
    wrong_paces_are_refused_and_others_see_nothing,
    open_paced_runs_are_limited_also_when_two_are_made_at_once,
);

async fn seven_failed(f: &Fixture) -> Vec<SessionId> {
    let mut ids = Vec::new();
    for number in 0..7 {
        ids.push(failed(f, &format!("broken {number}")).await);
    }
    f.clock.advance(TimeDelta::seconds(1));
    ids
}

fn paced(sessions: &[SessionId], at_a_time: u32) -> NewPacedRun {
    NewPacedRun { sessions: sessions.to_vec(), at_a_time: Some(at_a_time), start_at: None, idempotency_key: None }
}

async fn make(f: &Fixture, new: NewPacedRun) -> PacedRunId {
    paced_run::create(&f.ledger, &f.operator, new).await.unwrap().run.record.id
}

async fn read(f: &Fixture, id: PacedRunId) -> PacedRunDetail {
    paced_run::get(&f.ledger, &f.operator, id).await.unwrap()
}

async fn counts(f: &Fixture, id: PacedRunId) -> PacedCounts {
    read(f, id).await.run.counts
}

async fn sweep(f: &Fixture) -> u64 {
    paced_run::sweep(&f.ledger).await.unwrap()
}

/// Completes one new session.
async fn complete_one(f: &Fixture) {
    let running = f.claim(1, 3_600).await.pop().unwrap();
    let completion = Completion { attempt: 1, result: None, usage: None };
    session::complete(&f.ledger, &f.worker, running.id, completion).await.unwrap();
}

async fn a_paced_run_keeps_a_few_sessions_busy_until_all_have_begun(mut f: Fixture) {
    let ids = seven_failed(&f).await;
    session::retry(&f.ledger, &f.operator, ids[1]).await.unwrap();
    complete_one(&f).await;
    f.clock.advance(TimeDelta::seconds(1));
    // One that was run again before, one that is named twice, and one that nobody has.
    let named = [&ids[..], &ids[..1], &[SessionId(uuid::Uuid::nil())]].concat();
    let id = make(&f, paced(&named, 2)).await;
    assert_eq!(counts(&f, id).await, PacedCounts { waiting: 8, ..PacedCounts::default() });
    // Two sweeps at once start the same sessions.
    let (one, other) = tokio::join!(paced_run::sweep(&f.ledger), paced_run::sweep(&f.ledger));
    assert!(one.unwrap() + other.unwrap() >= 1);
    sweep(&f).await;
    let begun = counts(&f, id).await;
    assert_eq!((begun.running, begun.already), (2, 1), "{begun:?}");
    assert_eq!(sweep(&f).await, 0, "two are busy");
    f.restart().await;
    for _ in 0..4 {
        complete_one(&f).await;
        sweep(&f).await;
        assert!(counts(&f, id).await.running <= 2);
    }
    complete_one(&f).await;
    sweep(&f).await;
    let PacedRunDetail { run, sessions } = read(&f, id).await;
    assert_eq!((run.record.state, run.counts.started(), run.counts.refused), (State::Done, 6, 1), "{run:?}");
    assert!(run.record.ended_at.is_some() && run.counts.waiting == 0);
    let order: Vec<SessionId> = sessions.iter().map(|session| session.id).collect();
    assert_eq!(order[..7], ids[..], "in the order of the request");
    for session in sessions.iter().filter(|session| session.outcome == Outcome::Started) {
        let new = session::get(&f.ledger, &f.operator, session.new_session_id.unwrap()).await.unwrap();
        assert_eq!((new.retry_of, Some(new.status())), (Some(session.id), session.status));
    }
    assert_eq!(sessions[7].reason.as_deref(), Some("session not found"));
    let of_seven = "SELECT COUNT(*) FROM sessions WHERE retry_of IS NOT NULL";
    assert_eq!(f.engine.raw().await.number(of_seven).await, 7, "each was run again once");
    f.assert_verified().await;
    f.done().await;
}

async fn a_paced_run_waits_for_its_time_and_is_cancelled_once(f: Fixture) {
    let ids = seven_failed(&f).await;
    let at = f.ledger.now() + TimeDelta::hours(3);
    let id = make(&f, NewPacedRun { start_at: Some(at), ..paced(&ids, 3) }).await;
    assert_eq!(sweep(&f).await, 0);
    f.clock.advance(TimeDelta::hours(3));
    assert_eq!((sweep(&f).await, counts(&f, id).await.running), (3, 3));
    for _ in 0..2 {
        let cancelled = paced_run::cancel(&f.ledger, &f.admin, id).await.unwrap().run;
        assert_eq!((cancelled.record.state, cancelled.counts.cancelled), (State::Cancelled, 4));
    }
    complete_one(&f).await;
    assert_eq!(sweep(&f).await, 0, "nothing begins after it was cancelled");
    assert_eq!((counts(&f, id).await.running, counts(&f, id).await.completed), (2, 1), "what has begun goes on");
    f.clock.advance(TimeDelta::days(31));
    make(&f, paced(&ids[6..], 1)).await;
    let listed = paced_run::list(&f.ledger, &f.operator, ListPage::default()).await.unwrap().items;
    assert_eq!(listed.len(), 1, "one that ended long ago is deleted");
    f.done().await;
}

async fn a_key_makes_one_paced_run(f: Fixture) {
    let ids = seven_failed(&f).await;
    let keyed = |at_a_time, start_at: Option<Timestamp>| NewPacedRun {
        idempotency_key: Some("monday".into()),
        start_at,
        ..paced(&ids, at_a_time)
    };
    let id = make(&f, keyed(2, None)).await;
    f.clock.advance(TimeDelta::seconds(5));
    assert_eq!(make(&f, keyed(2, None)).await, id, "a repeat, also later");
    sweep(&f).await;
    assert_eq!(make(&f, keyed(2, None)).await, id, "a repeat after it has begun");
    let others =
        [keyed(3, None), keyed(2, Some(f.ledger.now())), NewPacedRun { sessions: vec![ids[0]], ..keyed(2, None) }];
    for other in others {
        let refused = paced_run::create(&f.ledger, &f.operator, other).await;
        assert!(matches!(refused, Err(Error::IdConflict { .. })), "{refused:?}");
    }
    for (who, count) in [(&f.operator, 1), (&f.admin, 1), (&f.member, 0), (&f.stranger, 0)] {
        let listed = paced_run::list(&f.ledger, who, ListPage::default()).await.unwrap();
        assert_eq!(listed.items.len(), count);
    }
    f.done().await;
}

async fn sessions_are_started_with_the_rights_of_that_time(f: Fixture) {
    let ids = seven_failed(&f).await;
    let id = make(&f, paced(&ids, 1)).await;
    assert_eq!(sweep(&f).await, 1);
    complete_one(&f).await;
    let operator = f.operator.user_id().unwrap();
    member::withdraw(&f.ledger, &f.admin, operator, Withdrawal::Deactivate).await.unwrap();
    for _ in 0..6 {
        assert_eq!(sweep(&f).await, 0);
    }
    let PacedRunDetail { run, sessions } = paced_run::get(&f.ledger, &f.admin, id).await.unwrap();
    assert_eq!((run.record.state, run.counts.completed, run.counts.refused), (State::Done, 1, 6));
    assert_eq!(sessions[6].reason.as_deref(), Some("the caller may not start sessions any more"));
    assert_eq!((sessions[0].outcome, sessions[0].status), (Outcome::Started, Some(Status::Completed)));
    f.done().await;
}

async fn wrong_paces_are_refused_and_others_see_nothing(f: Fixture) {
    let ids = seven_failed(&f).await;
    let far = f.ledger.now() + TimeDelta::days(PACED_START_DAYS_MAX + 1);
    let wrong = [
        (paced(&[], 1), "sessionIds"),
        (paced(&[ids[0]; PACED_RUN_SESSIONS_MAX + 1], 1), "sessionIds"),
        (paced(&[SessionId(uuid::Uuid::nil())], 1), "sessionIds"),
        (paced(&ids, 0), "atATime"),
        (paced(&ids, 501), "atATime"),
        (NewPacedRun { start_at: Some(far), ..paced(&ids, 1) }, "startAt"),
        (NewPacedRun { idempotency_key: Some(String::new()), ..paced(&ids, 1) }, "idempotencyKey"),
    ];
    for (new, field) in wrong {
        let Err(Error::Invalid(issues)) = paced_run::create(&f.ledger, &f.operator, new).await else {
            panic!("{field} was taken");
        };
        assert_eq!(issues.iter().map(|issue| issue.field.as_str()).collect::<Vec<_>>(), [field]);
    }
    // The sessions are the operator's.
    let refused = paced_run::create(&f.ledger, &f.member, paced(&ids, 1)).await;
    assert!(matches!(refused, Err(Error::Invalid(_))), "{refused:?}");
    let id = make(&f, paced(&ids, 1)).await;
    for who in [&f.member, &f.stranger] {
        let read = paced_run::get(&f.ledger, who, id).await;
        let cancelled = paced_run::cancel(&f.ledger, who, id).await;
        assert!(matches!(read, Err(Error::NotFound(_))) && matches!(cancelled, Err(Error::NotFound(_))));
    }
    assert_eq!(read(&f, id).await.run.record.state, State::Open);
    f.done().await;
}

async fn open_paced_runs_are_limited_also_when_two_are_made_at_once(f: Fixture) {
    let ids = [failed(&f, "broken").await];
    f.clock.advance(TimeDelta::seconds(1));
    for _ in 1..PACED_RUNS_OPEN_MAX {
        make(&f, paced(&ids, 1)).await;
    }
    let [one, other] = [(); 2].map(|()| paced_run::create(&f.ledger, &f.operator, paced(&ids, 1)));
    let (one, other) = tokio::join!(one, other);
    one_is_over_the_limit(one, other);
    f.done().await;
}
