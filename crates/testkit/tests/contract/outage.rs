//! P-44: with an unreachable database, requests are answered in time, and all connections recover.

use chrono::TimeDelta;
use domain::role::Role;
use ledger::{Database, Error, Ledger, Mode, Options, PasswordCost, member, session};
use std::{sync::Arc, time::Duration};
use testkit::{Engine, Fixture, SeededEntropy, TestClock, proxy::Proxy, text};
use tokio::time::timeout;

/// After this time an answer counts as missing. The promise is 3 s; without a limit in the ledger no answer comes.
const ANSWER_MAX: Duration = Duration::from_secs(30);
/// After this time the connections count as stuck.
const RECOVERY_MAX: Duration = Duration::from_secs(60);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_postgres_is_silent_answers_come_in_time_and_afterwards_all_is_well() {
    let engine = Engine::postgres().await;
    let Database::Postgres { url, .. } = engine.database() else { unreachable!() };
    let (before, rest) =
        url.split_once('@').map_or(("postgres://", url.trim_start_matches("postgres://")), |(a, b)| (a, b));
    let (host, database) = rest.split_once('/').unwrap();
    let proxy = Proxy::start(host.parse().expect("the test server listens on an address")).await;
    let separator = if before == "postgres://" { "" } else { "@" };
    let url = format!("{before}{separator}{}/{database}", proxy.address);
    let ledger = Ledger::open(Options {
        database: Database::Postgres { url, accept_data_loss: true },
        mode: Mode::Server,
        clock: Arc::new(TestClock::default()),
        lease_clock: ledger::LeaseClock::Database,
        entropy: Arc::new(SeededEntropy::new(3)),
        password_cost: PasswordCost::Least,
        settings: ledger::Settings::default(),
    })
    .await
    .unwrap();
    let made = member::add_by_operator(&ledger, "acme", "a@acme.test", Role::Admin, "long enough 1").await;
    made.unwrap();
    let scope = ledger::auth::sign_in(&ledger, "a@acme.test", "long enough 1", "").await.unwrap().identity.scope;
    let new = || session::NewSession {
        agent_slug: Some("scout".into()),
        ..session::NewSession::of_type(domain::session::Type::Agent)
    };
    session::create(&ledger, &scope, new()).await.unwrap();

    proxy.go_silent();
    let outcomes = futures_util::future::join_all((0..24).map(async |n| match n % 2 {
        0 => session::create(&ledger, &scope, new()).await.map(drop),
        _ => session::list(&ledger, &scope, session::ListSessions::default()).await.map(drop),
    }));
    for outcome in timeout(ANSWER_MAX, outcomes).await.expect("requests wait for a silent database") {
        assert!(matches!(outcome, Err(Error::Unavailable(_))), "{outcome:?}");
    }

    proxy.recover();
    let recovery = async { while session::create(&ledger, &scope, new()).await.is_err() {} };
    timeout(RECOVERY_MAX, recovery).await.expect("it does not recover");
    // All connections of the pool work, not only the first.
    let all = futures_util::future::join_all((0..40).map(|_| session::create(&ledger, &scope, new()))).await;
    assert!(all.iter().all(Result::is_ok), "{:?}", all.iter().find(|r| r.is_err()));
    let mut raw = engine.raw().await;
    let stuck = "SELECT COUNT(*) FROM pg_stat_activity WHERE state LIKE 'idle in transaction%' AND datname = current_database() \
                 AND now() - state_change > interval '1 second'";
    assert_eq!(raw.number(stuck).await, 0, "a connection is stuck in a transaction");
    ledger.close().await;
    engine.discard().await;
}

/// `pg_dump` locks every table in this way while it runs.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_partition_that_cannot_be_made_during_a_dump_does_not_stop_appends() {
    let f = Fixture::postgres().await;
    let running = f.running().await;
    let mut raw = f.engine.raw().await;
    let partitions = "SELECT COUNT(*) FROM pg_inherits WHERE inhparent = 'session_events'::regclass";
    let made = raw.number(partitions).await;
    raw.execute("BEGIN; LOCK TABLE session_events IN ACCESS SHARE MODE").await.unwrap();
    // The partition of the third month from now is missing.
    f.clock.advance(TimeDelta::days(40));
    timeout(ANSWER_MAX, f.ledger.maintain()).await.expect("maintenance waits for the dump").unwrap();
    f.append(running.id, 1, vec![text("working")]).await.unwrap();
    assert_eq!(raw.number(partitions).await, made);

    raw.execute("COMMIT").await.unwrap();
    f.ledger.maintain().await.unwrap();
    assert!(raw.number(partitions).await > made, "the partition is not made later");
    f.done().await;
}
