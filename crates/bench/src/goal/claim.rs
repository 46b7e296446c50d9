//! G8: sessions made, claimed and completed by 32 workers.

use super::{Bench, Series, Site};
use crate::{
    load::{self, CreateScript, PairScript, duplicates},
    report::{Bound, Finding},
};
use anyhow::Result;
use std::sync::{Arc, atomic::AtomicUsize};

const WORKERS: usize = 32;
/// graphile-worker, in process, on such a machine.
const GRAPHILE_PAIRS_PER_SECOND: f64 = 2_498.0;
/// Longest round, in windows: a slow server must not stretch the run.
const WINDOWS_MAX: u32 = 4;

pub async fn measure(bench: &mut Bench, site: &Site) -> Result<()> {
    let (target, token, pid) = (site.server.address(), &site.account.token, site.server.pid());
    let mut window = bench.plan.window.cold();
    window.measure *= WINDOWS_MAX;
    let (mut created, mut paired, mut twice) = (Series::default(), Series::default(), 0);
    for round in 0..bench.plan.rounds {
        let agent = format!("bench-claim-{round}");
        let left = Arc::new(AtomicUsize::new(bench.plan.claims));
        let makers = (0..WORKERS).map(|_| CreateScript::new(target, token, &agent, left.clone())).collect();
        created.push(load::run(target, makers, window, pid).await?.0);
        let workers = (0..WORKERS).map(|_| PairScript::new(target, token, &agent)).collect();
        let (load, workers) = load::run(target, workers, window, pid).await?;
        twice += duplicates(workers.iter().map(PairScript::held));
        paired.push(load);
    }
    bench.found(created.finding("G8", format!("sessions created, {WORKERS} connections"), "session"));
    let what = format!("claim + complete pairs, {WORKERS} workers");
    let pairs = paired.finding("G8", what, "pair").against_constant("graphile-worker", GRAPHILE_PAIRS_PER_SECOND);
    bench.found(pairs.goals(Bound::AtLeast(1.5), Bound::AtLeast(4.0)));
    let given = Finding::new("G8", format!("sessions given out twice, {WORKERS} workers"), "", twice as f64);
    bench.found(given.goals(Bound::AtMost(0.0), Bound::AtMost(0.0)));
    Ok(())
}
