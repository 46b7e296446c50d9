//! Which workers are connected.

use chrono::TimeDelta;
use domain::{
    Scope,
    limit::{WORKER_NAME_CHARS_MAX, WORKER_ROWS_MAX, WORKERS_NEW_MAX},
};
use ledger::{
    Ledger, Mode,
    page::memory::{self as page, Workers},
    session::Claim,
    worker,
};
use std::time::Duration;
use testkit::{Fixture, on_both_engines};

on_both_engines!(
    a_worker_is_connected_for_a_minute_after_its_last_call_and_known_for_a_day,
    every_server_of_a_database_knows_the_workers_of_the_others,
    a_worker_is_connected_until_the_end_of_its_lease,
    a_worker_that_calls_often_is_written_once_in_15_seconds,
    names_and_rows_are_bounded_and_nothing_is_recorded_of_other_callers,
);

async fn workers(ledger: &Ledger, reader: &Scope, agent: &str) -> Option<Workers> {
    let found = page::agents(ledger, reader).await.unwrap();
    let of_page = page::agent(ledger, reader, agent).await.unwrap().workers;
    assert_eq!(found.agents.get(agent).and_then(|of| of.workers), of_page, "the list and the page of {agent}");
    of_page
}

fn slugs(agents: &[&str]) -> Option<Vec<String>> {
    Some(agents.iter().map(|agent| (*agent).to_owned()).collect())
}

async fn see(f: &Fixture, name: &str, agents: &[&str]) {
    worker::see(&f.ledger, &f.worker, Some(name), slugs(agents).as_deref()).await;
}

async fn a_worker_is_connected_for_a_minute_after_its_last_call_and_known_for_a_day(f: Fixture) {
    assert_eq!(workers(&f.ledger, &f.member, "scout").await, None);
    let first = f.ledger.now();
    see(&f, "a", &["scout", "clerk"]).await;
    f.clock.advance(TimeDelta::seconds(40));
    let second = f.ledger.now();
    see(&f, "b", &["scout"]).await;
    assert_eq!(workers(&f.ledger, &f.member, "scout").await, Some(Workers { connected: 2, seen_at: second }));
    assert_eq!(workers(&f.ledger, &f.member, "clerk").await, Some(Workers { connected: 1, seen_at: first }));
    f.clock.advance(TimeDelta::seconds(40));
    assert_eq!(workers(&f.ledger, &f.member, "scout").await, Some(Workers { connected: 1, seen_at: second }));
    // A heartbeat counts for all agents of the worker.
    let third = f.ledger.now();
    worker::see_again(&f.ledger, &f.worker, Some("a"), f.ledger.now()).await;
    assert_eq!(workers(&f.ledger, &f.member, "scout").await, Some(Workers { connected: 2, seen_at: third }));
    assert_eq!(workers(&f.ledger, &f.member, "clerk").await, Some(Workers { connected: 1, seen_at: third }));
    f.clock.advance(TimeDelta::minutes(10));
    assert_eq!(workers(&f.ledger, &f.member, "scout").await, Some(Workers { connected: 0, seen_at: third }));
    assert_eq!(page::agents(&f.ledger, &f.stranger).await.unwrap(), page::Agents::default());
    f.clock.advance(TimeDelta::hours(25));
    see(&f, "c", &["other"]).await;
    assert_eq!(workers(&f.ledger, &f.member, "scout").await, None);
    f.done().await;
}

async fn a_worker_is_connected_until_the_end_of_its_lease(f: Fixture) {
    f.pending().await;
    let claim = Claim { agent_slugs: slugs(&["scout"]), max: 1, lease_seconds: 600 };
    for (name, count) in [("a", 1), ("b", 0)] {
        let (claim, never) = (claim.clone(), std::future::pending());
        let claimed = worker::claim_seen(&f.ledger, &f.worker, Some(name), claim, Duration::ZERO, never).await.unwrap();
        assert_eq!(claimed.len(), count, "{name}");
    }
    f.clock.advance(TimeDelta::seconds(590));
    let now = f.ledger.now();
    assert_eq!(workers(&f.ledger, &f.member, "scout").await.unwrap().connected, 1, "a holds it");
    // Its heartbeat extends the lease.
    worker::see_again(&f.ledger, &f.worker, Some("a"), now + TimeDelta::seconds(600)).await;
    f.clock.advance(TimeDelta::seconds(590));
    assert_eq!(workers(&f.ledger, &f.member, "scout").await.unwrap().connected, 1);
    f.clock.advance(TimeDelta::seconds(11));
    assert_eq!(workers(&f.ledger, &f.member, "scout").await.unwrap().connected, 0);
    f.done().await;
}

async fn every_server_of_a_database_knows_the_workers_of_the_others(f: Fixture) {
    let other = f.second_ledger(Mode::Tool).await;
    worker::see(&f.ledger, &f.worker, Some("a"), None).await;
    worker::see(&other, &f.worker, Some("b"), None).await;
    worker::see(&other, &f.worker, Some("a"), None).await;
    for ledger in [&f.ledger, &other] {
        let found = page::agents(ledger, &f.member).await.unwrap();
        assert_eq!(found.of_any, Some(Workers { connected: 2, seen_at: f.ledger.now() }));
        assert!(found.agents.is_empty());
    }
    other.close().await;
    f.done().await;
}

async fn a_worker_that_calls_often_is_written_once_in_15_seconds(f: Fixture) {
    see(&f, "a", &["scout"]).await;
    worker::see_again(&f.ledger, &f.worker, Some("a"), f.ledger.now()).await;
    let (written, first) = (f.ledger.stats().items_committed, f.ledger.now());
    for _ in 0..14 {
        f.clock.advance(TimeDelta::seconds(1));
        see(&f, "a", &["scout"]).await;
        worker::see_again(&f.ledger, &f.worker, Some("a"), f.ledger.now()).await;
    }
    assert_eq!(f.ledger.stats().items_committed, written);
    assert_eq!(workers(&f.ledger, &f.member, "scout").await, Some(Workers { connected: 1, seen_at: first }));
    f.clock.advance(TimeDelta::seconds(1));
    see(&f, "a", &["scout"]).await;
    let now = f.ledger.now();
    assert_eq!(workers(&f.ledger, &f.member, "scout").await, Some(Workers { connected: 1, seen_at: now }));
    f.done().await;
}

async fn names_and_rows_are_bounded_and_nothing_is_recorded_of_other_callers(f: Fixture) {
    worker::see(&f.ledger, &f.member, Some("a"), slugs(&["scout"]).as_deref()).await;
    see(&f, "a", &["No slug"]).await;
    assert_eq!(page::agents(&f.ledger, &f.member).await.unwrap(), page::Agents::default());
    // A name that cannot be used counts as none: these are one worker.
    for name in ["", "a b", "ü", &"x".repeat(WORKER_NAME_CHARS_MAX + 1)] {
        see(&f, name, &["scout"]).await;
    }
    assert_eq!(workers(&f.ledger, &f.member, "scout").await.unwrap().connected, 1);
    // A server records few unknown workers at a time.
    let mut names = (0..WORKER_ROWS_MAX + 5).map(|name| name.to_string()).peekable();
    f.clock.advance(TimeDelta::seconds(15));
    for name in names.by_ref().take(WORKERS_NEW_MAX + 1) {
        see(&f, &name, &["many"]).await;
    }
    let new = u64::try_from(WORKERS_NEW_MAX).unwrap();
    assert_eq!(workers(&f.ledger, &f.member, "many").await.unwrap().connected, new);
    while names.peek().is_some() {
        f.clock.advance(TimeDelta::seconds(15));
        for name in names.by_ref().take(WORKERS_NEW_MAX) {
            see(&f, &name, &["many"]).await;
        }
    }
    let rows = f.engine.raw().await.number("SELECT COUNT(*) FROM workers").await;
    assert_eq!(u64::try_from(rows).unwrap(), WORKER_ROWS_MAX);
    f.clock.advance(TimeDelta::minutes(6));
    see(&f, "new", &["many"]).await;
    assert_eq!(workers(&f.ledger, &f.member, "many").await.unwrap().connected, 1);
    f.done().await;
}
