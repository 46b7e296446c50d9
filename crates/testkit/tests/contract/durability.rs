//! P-2: a database that could lose acknowledged writes is used only if the operator allows it.

use ledger::{Database, Error, Ledger, Mode, Options, PasswordCost};
use std::sync::Arc;
use testkit::{Engine, SeededEntropy, TestClock};

async fn open(url: &str, accept_data_loss: bool) -> Result<Ledger, Error> {
    Ledger::open(Options {
        database: Database::Postgres { url: url.to_owned(), accept_data_loss },
        mode: Mode::Server,
        clock: Arc::new(TestClock::default()),
        lease_clock: ledger::LeaseClock::Database,
        entropy: Arc::new(SeededEntropy::new(2)),
        password_cost: PasswordCost::Least,
    })
    .await
}

#[tokio::test]
async fn postgres_that_acknowledges_before_it_has_written_is_refused_by_name() {
    let engine = Engine::postgres().await;
    let Database::Postgres { url, .. } = engine.database() else { unreachable!() };
    let name = url.rsplit('/').next().unwrap().split('?').next().unwrap();
    let mut raw = engine.raw().await;
    raw.execute(&format!("ALTER DATABASE \"{name}\" SET synchronous_commit = off")).await.unwrap();

    let refused = open(&url, false).await.err();
    assert!(matches!(&refused, Some(Error::Unavailable(why)) if why.contains("synchronous_commit")), "{refused:?}");
    open(&url, true).await.unwrap();
}
