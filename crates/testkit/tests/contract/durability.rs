//! P-2: a database that could lose acknowledged writes is used only if the operator allows it. P-63: a backup that may
//! mix two states of the database is refused.

use domain::{Timestamp, id::TenantId};
use ledger::{Database, Error, Ledger, Mode, Options, PasswordCost};
use std::{fs::File, sync::Arc, time::SystemTime};
use store::{Access, Store, TenantRecord};
use testkit::{Engine, SeededEntropy, TestClock};
use uuid::Uuid;

async fn open(url: &str, accept_data_loss: bool) -> Result<Ledger, Error> {
    Ledger::open(Options {
        database: Database::Postgres { url: url.to_owned(), accept_data_loss },
        mode: Mode::Server,
        clock: Arc::new(TestClock::default()),
        lease_clock: ledger::LeaseClock::Database,
        entropy: Arc::new(SeededEntropy::new(2)),
        password_cost: PasswordCost::Least,
        settings: ledger::Settings::default(),
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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backup_during_which_a_server_begins_to_write_is_refused() {
    for has_stopped in [false, true] {
        let engine = Engine::sqlite().await;
        // File systems do not tell two changes of one moment apart.
        let dated = File::options().write(true).open(engine.file().unwrap());
        dated.unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
        // The backup of a stopped server reads the file as one that does not change.
        let reader = Store::open(&engine.database(), Mode::Reader).await.unwrap();
        let server = Store::open(&engine.database(), Mode::Server).await.unwrap();
        let tenant = TenantRecord { id: TenantId(Uuid::max()), slug: "acme".into(), name: "Acme".into() };
        let wrote = server.write::<_, store::Error, _>(Access::System, async move |tx| {
            store::tenant::insert(tx, &tenant, Timestamp::default()).await
        });
        assert!(wrote.await.unwrap().endings.is_empty());
        if has_stopped {
            server.close().await;
        }
        let out = tempfile::tempdir().unwrap();
        let refused = reader.backup(&out.path().join("copy")).await.unwrap_err().to_string();
        assert_eq!(refused, "a server began to write during the copy: run the backup again");
        assert_eq!(std::fs::read_dir(out.path()).unwrap().count(), 0, "a copy is left");
        reader.close().await;
        if !has_stopped {
            server.close().await;
        }
    }
}
