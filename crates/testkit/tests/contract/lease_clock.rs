//! P-15: leases do not depend on the clock of a server. They use the database's clock, and on SQLite a monotonic clock.

use chrono::{DateTime, TimeDelta};
use domain::session::{Session, Status};
use ledger::{
    LeaseClock,
    session::{self, Claim, Swept},
};
use std::{sync::Arc, time::Duration};
use testkit::{Fixture, TestClock, on_both_engines};

on_both_engines!(
    a_clock_that_jumps_neither_ends_a_lease_nor_keeps_one_alive,
    servers_whose_clocks_are_apart_agree_about_every_lease,
);

/// Length of the leases, seconds.
const LEASE: u32 = 60;

/// Returns the lease clock that a server uses in production, and the test's clock behind it if there is one.
fn leases(f: &Fixture) -> (LeaseClock, Option<TestClock>) {
    match f.engine.file() {
        None => (LeaseClock::Database, None),
        Some(_) => {
            let steady = TestClock::default();
            (LeaseClock::Process(Arc::new(steady.clone())), Some(steady))
        }
    }
}

/// Lets the time of a lease pass without a heartbeat.
async fn let_pass(f: &Fixture, steady: Option<&TestClock>) {
    match steady {
        Some(steady) => steady.advance(TimeDelta::seconds(i64::from(LEASE) + 1)),
        // The test cannot change the database's clock, so it changes the expiry of the leases.
        None => {
            let passed = (i64::from(LEASE) + 1) * 1_000_000;
            let sql = format!("UPDATE sessions SET lease_expires_at = lease_expires_at - {passed}");
            assert!(f.engine.raw().await.execute(&sql).await.unwrap() > 0);
        }
    }
}

async fn a_clock_that_jumps_neither_ends_a_lease_nor_keeps_one_alive(mut f: Fixture) {
    let (leases, steady) = leases(&f);
    f.restart_with(leases).await;
    let mut session = f.running_for(LEASE).await;
    for jump in [TimeDelta::hours(1), TimeDelta::hours(-2), TimeDelta::days(1), TimeDelta::days(-2)] {
        f.clock.advance(jump);
        assert_eq!(session::sweep(&f.ledger).await.unwrap(), Swept::default(), "a living lease, after {jump}");
        session::heartbeat(&f.ledger, &f.worker, session.id, session.attempt).await.unwrap();
        f.clock.advance(-jump);
        assert_eq!(session::sweep(&f.ledger).await.unwrap(), Swept::default(), "a living lease, before {jump}");
    }
    for jump in [TimeDelta::days(-1), TimeDelta::hours(-1)] {
        f.clock.advance(jump);
        let_pass(&f, steady.as_ref()).await;
        assert_eq!(session::sweep(&f.ledger).await.unwrap().requeued, 1, "a dead lease, after {jump}");
        session = f.claim(1, LEASE).await.pop().unwrap();
    }
    assert_eq!(session.attempt, 3);
    f.done().await;
}

async fn servers_whose_clocks_are_apart_agree_about_every_lease(f: Fixture) {
    // SQLite permits only one server.
    if f.engine.file().is_some() {
        return f.done().await;
    }
    let now = f.engine.raw().await.number("SELECT CAST(EXTRACT(EPOCH FROM now()) AS bigint)").await;
    let mut servers = Vec::new();
    for hours in [1, -1, 24, -24] {
        let clock = TestClock::at(DateTime::from_timestamp(now, 0).unwrap() + TimeDelta::hours(hours));
        servers.push(f.server_with(&clock, LeaseClock::Database).await);
    }
    for (at, giver) in servers.iter().enumerate() {
        let made = f.pending().await;
        let claim = Claim { agent_slugs: None, max: 1, lease_seconds: LEASE };
        let claimed = session::claim(giver, &f.worker, claim, Duration::ZERO).await.unwrap().remove(0).session;
        assert_eq!(claimed.id, made.id);
        for other in &servers {
            assert_eq!(session::sweep(other).await.unwrap(), Swept::default(), "the lease of server {at} lives");
            session::heartbeat(other, &f.worker, made.id, 1).await.unwrap();
        }
        let_pass(&f, None).await;
        let other = &servers[(at + 1) % servers.len()];
        assert_eq!(session::sweep(other).await.unwrap().requeued, 1, "the lease of server {at} is dead");
        let back: Session = session::get(giver, &f.member, made.id).await.unwrap();
        assert_eq!((back.status(), back.lease_expires_at()), (Status::Pending, None));
        session::cancel(giver, &f.operator, made.id, None).await.unwrap();
    }
    for server in servers {
        server.close().await;
    }
    f.done().await;
}
