//! A sweep of sessions continues after sessions that it cannot read.

use crate::time_limit::{LIMITS, queued, task};
use chrono::TimeDelta;
use domain::{
    id::SessionId,
    session::{Session, Status},
};
use ledger::{Error, action, session};
use testkit::{Fixture, on_both_engines};

on_both_engines!(
    sessions_that_cannot_be_read_keep_no_other_from_being_queued_again,
    sessions_that_cannot_be_read_keep_no_other_from_expiring,
);

/// More sessions than a sweep reads at once.
const CROWD: usize = 201;

/// Makes all sessions unreadable but the one that the sweep reads last. All are due at the same time.
async fn damage_all_but_last(f: &Fixture, sessions: &[Session]) -> SessionId {
    let damage = "UPDATE sessions SET time_limits = 'damaged' \
         WHERE id <> (SELECT id FROM sessions ORDER BY id DESC LIMIT 1)";
    assert_eq!(f.engine.raw().await.execute(damage).await.unwrap(), CROWD as u64 - 1);
    sessions.iter().map(|session| session.id).max().unwrap()
}

async fn status(f: &Fixture, id: SessionId) -> Status {
    session::get(&f.ledger, &f.member, id).await.unwrap().status()
}

async fn sweep_fails(f: &Fixture) {
    let swept = session::sweep(&f.ledger).await;
    assert!(matches!(swept, Err(Error::Internal(_))), "{swept:?}");
}

async fn sessions_that_cannot_be_read_keep_no_other_from_being_queued_again(f: Fixture) {
    for _ in 0..CROWD {
        f.pending().await;
    }
    let mut running = Vec::new();
    while running.len() < CROWD {
        let claimed = f.claim(100, 60).await;
        assert!(!claimed.is_empty());
        running.extend(claimed);
    }
    let last = damage_all_but_last(&f, &running).await;
    let limited = queued(&f, LIMITS).await.id;
    f.clock.advance(TimeDelta::seconds(61));
    sweep_fails(&f).await;
    assert_eq!(status(&f, last).await, Status::Pending);
    assert_eq!(status(&f, limited).await, Status::Expired, "the next step runs nevertheless");
    sweep_fails(&f).await;
    f.done().await;
}

async fn sessions_that_cannot_be_read_keep_no_other_from_expiring(f: Fixture) {
    let task = task(&f, LIMITS).await;
    let mut waiting = Vec::new();
    for _ in 0..CROWD {
        waiting.push(action::trigger(&f.ledger, &f.member, task.id, Default::default()).await.unwrap());
    }
    let last = damage_all_but_last(&f, &waiting).await;
    f.clock.advance(TimeDelta::seconds(11));
    sweep_fails(&f).await;
    assert_eq!(status(&f, last).await, Status::Expired);
    f.done().await;
}
