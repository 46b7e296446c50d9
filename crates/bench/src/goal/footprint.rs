//! G15, G16, G17: memory, start, size.

use super::{Bench, Site};
use crate::{
    process::Server,
    report::{Bound, Finding, Rounds},
};
use anyhow::Result;
use std::{fs, time::Duration};
use tokio::time::sleep;

/// How long a server that no one talks to is left alone before its memory is read.
const SETTLE: Duration = Duration::from_secs(1);

/// Measures the start from nothing, and leaves a running server with an account.
pub async fn start(bench: &mut Bench) -> Result<Site> {
    let bytes = fs::metadata(&bench.spec.binary)?.len();
    let size = Finding::new("G17", "the binary, all there is to install", "MiB", bytes as f64 / 1_048_576.0);
    bench.found(size.goals(Bound::AtMost(40.0), Bound::AtMost(30.0)));
    let mut seconds = Rounds::default();
    let mut idle = Rounds::default();
    for round in 0..bench.plan.starts {
        let server = Server::start(&bench.spec, &bench.work.join(format!("empty-{round}"))).await?;
        seconds.push(server.started_in.as_secs_f64());
        if round == 0 {
            sleep(SETTLE).await;
            idle.push(server.memory_mib()?.0);
        }
        server.stop().await?;
    }
    let start = Finding::lowest("G16", "start to first 200, migrations included", "s", &seconds);
    bench.found(start.goals(Bound::AtMost(0.3), Bound::AtMost(0.08)));
    let rested = Finding::highest("G15", "memory of an idle server", "MiB", &idle);
    bench.found(rested.goals(Bound::AtMost(30.0), Bound::AtMost(20.0)));
    let data_dir = bench.work.join("data");
    let account = bench.spec.account(&data_dir).await?;
    Site::open(&bench.spec, &data_dir, account).await
}

/// Reads the peak memory over all loads and stops the server.
pub async fn end(bench: &mut Bench, site: Site) -> Result<()> {
    let (now, most) = site.server.memory_mib()?;
    let peak =
        Finding::new("G15", "peak memory under all loads", "MiB", most).facts(format!("{now:.1} MiB afterwards"));
    bench.found(peak.goals(Bound::AtMost(130.0), Bound::AtMost(65.0)));
    site.server.stop().await?;
    // Frees the memory for the next measurements.
    fs::remove_dir_all(&site.data_dir)?;
    Ok(())
}
