//! G8 and G9 on PostgreSQL: sessions created, claimed and completed, beside graphile-worker on the same PostgreSQL.

use super::{
    Bench, Series, Site,
    claim::{GraphileWorker, WORKERS},
};
use crate::{
    load::{self, CreateScript, PairScript, duplicates},
    report::{Bound, Finding, Rounds},
};
use anyhow::Result;
use std::sync::{Arc, atomic::AtomicUsize};

const CONNECTIONS: usize = 8;
/// Longest round, in windows: a slow server must not stretch the run.
const WINDOWS_MAX: u32 = 4;

/// Measures both in turns with the reference. Without one they are listed and not judged.
pub async fn measure(bench: &mut Bench, site: &Site, reference: Option<GraphileWorker>) -> Result<()> {
    let (target, token, pid) = (site.server.address(), &site.account.token, site.server.pid());
    let mut window = bench.plan.window.cold();
    window.measure *= WINDOWS_MAX;
    let (mut created, mut paired, mut twice) = (Series::default(), Series::default(), 0);
    let (mut adds, mut jobs) = (Rounds::default(), Rounds::default());
    for round in 0..bench.plan.rounds {
        if let Some(reference) = &reference {
            adds.push(reference.once("adds", bench.plan.claims).await?);
            jobs.push(reference.once("plain", bench.plan.claims).await?);
        }
        let agent = format!("bench-queue-{round}");
        let left = Arc::new(AtomicUsize::new(bench.plan.claims));
        let makers = (0..CONNECTIONS).map(|_| CreateScript::new(target, token, &agent, left.clone())).collect();
        created.push(load::run(target, makers, window, pid).await?.0);
        let workers = (0..WORKERS).map(|_| PairScript::new(target, token, &agent)).collect();
        let (load, workers) = load::run(target, workers, window, pid).await?;
        twice += duplicates(workers.iter().map(PairScript::held));
        paired.push(load);
    }
    let what = format!("sessions created on PostgreSQL, {CONNECTIONS} connections");
    let goals = (Bound::AtLeast(2.0), Bound::AtLeast(3.0));
    bench.found(beside(created.finding("G8", what, "session"), "adds", &adds, goals));
    let what = format!("claim + complete pairs on PostgreSQL, {WORKERS} workers");
    let pairs =
        paired.finding("G9", what, "pair").broken_if(twice > 0, format!("{twice} sessions were given out twice"));
    bench.found(beside(pairs, "plain", &jobs, (Bound::AtLeast(1.0), Bound::AtLeast(1.5))));
    Ok(())
}

fn beside(finding: Finding, configuration: &str, rounds: &Rounds, (must, aim): (Bound, Bound)) -> Finding {
    if rounds.highest() == 0.0 {
        return finding;
    }
    finding.against(format!("graphile-worker, {configuration}"), rounds.highest(), rounds.median()).goals(must, aim)
}
