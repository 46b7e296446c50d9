//! The harness against a toy of the product: it finds a planted bug, and nothing where nothing is planted.
//! The whole hunt takes minutes; `cargo xtask torture planted` runs it against the product itself.

use std::{path::PathBuf, sync::Arc, time::Duration};
use torture::{
    counters::Counters,
    run::{Options, Pace, Report, Run, Scenario},
};

async fn run(seconds: u64, planted: Option<&str>, first: Scenario) -> anyhow::Result<(Report, Arc<Counters>)> {
    let work_dir = tempfile::tempdir()?;
    let counters = Arc::new(Counters::default());
    let options = Options {
        server: PathBuf::from(env!("CARGO_BIN_EXE_torture-fake-server")),
        torture: PathBuf::from(env!("CARGO_BIN_EXE_torture")),
        database_url: None,
        work_dir: work_dir.path().to_owned(),
        seed: 1,
        limit: Duration::from_secs(seconds),
        pace: Pace { chaos: Duration::from_secs(4), lease: Duration::from_secs(5), cuts: 1 },
        planted: planted.map(str::to_owned),
        first,
    };
    Ok((Run::new(options, counters.clone()).finish().await?, counters))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_correct_server_survives_every_fault() {
    let (report, counters) = run(30, None, Scenario::Chaos).await.unwrap();
    assert_eq!(report.violations, []);
    assert!(report.ran.contains(&Scenario::Chaos) && report.ran.contains(&Scenario::Lease), "{counters}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ignored_client_ids_are_found() {
    let (report, _) = run(60, Some("no_dedup"), Scenario::Chaos).await.unwrap();
    assert_ne!(report.violations, []);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_ends_by_itself_before_a_kill_is_found() {
    let (report, _) = run(30, Some("exits_by_itself"), Scenario::Chaos).await.unwrap();
    let found = |text: &str| report.violations.iter().any(|violation| violation.what.contains(text));
    assert!(found("the server ended by itself: exit status: 3"), "{:?}", report.violations);
}
