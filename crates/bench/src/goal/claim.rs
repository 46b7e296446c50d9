//! G8: sessions made, claimed and completed by 32 workers, beside graphile-worker on PostgreSQL.

use super::{Bench, Series, Site};
use crate::{
    load::{self, CreateScript, PairScript, duplicates},
    process::{References, figure},
    raw::postgres::Databases,
    report::{Bound, Finding, Rounds},
};
use anyhow::Result;
use std::sync::{Arc, atomic::AtomicUsize};

pub const WORKERS: usize = 32;
/// graphile-worker, in process, on another machine: what is compared with where it cannot be run.
const GRAPHILE_PAIRS_PER_SECOND: f64 = 2_498.0;
/// Longest round, in windows: a slow server must not stretch the run.
const WINDOWS_MAX: u32 = 4;
/// A job is cheap where jobs are taken in batches: that round gets this many times the jobs that we get sessions.
const JOBS_PER_SESSION: usize = 4;

pub async fn measure(bench: &mut Bench, site: &Site) -> Result<()> {
    let (Some(references), Some(url)) = (bench.references.clone(), bench.postgres_url.clone()) else {
        eprintln!("G8 compares with a constant: it needs --reference-dir and --postgres-url");
        return in_turns(bench, site, None).await;
    };
    let mut databases = Databases::new(&url)?;
    let measured = match databases.create("graphile_worker").await {
        Ok(url) => in_turns(bench, site, Some(GraphileWorker::new(references, url))).await,
        Err(error) => Err(error),
    };
    // Whatever happened, someone else's PostgreSQL is left as it was.
    databases.drop_all().await?;
    measured
}

async fn in_turns(bench: &mut Bench, site: &Site, mut reference: Option<GraphileWorker>) -> Result<()> {
    let (target, token, pid) = (site.server.address(), &site.account.token, site.server.pid());
    let mut window = bench.plan.window.cold();
    window.measure *= WINDOWS_MAX;
    let (mut created, mut paired, mut twice) = (Series::default(), Series::default(), 0);
    for round in 0..bench.plan.rounds {
        if let Some(reference) = &mut reference {
            reference.round(bench.plan.claims).await?;
        }
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
    let pairs = paired.finding("G8", what, "pair").goals(Bound::AtLeast(1.5), Bound::AtLeast(4.0));
    match reference {
        None => bench.found(pairs.against_constant("graphile-worker", GRAPHILE_PAIRS_PER_SECOND)),
        Some(GraphileWorker { plain, batched, .. }) => {
            bench.found(pairs.against(plain.name(), plain.rounds.highest(), plain.rounds.median()));
            // Not a goal: what a crash may repeat there is more than the same jobs once more.
            let what = format!("the same pairs beside jobs taken 500 at a time, {WORKERS} workers");
            let noted = Finding::highest("G8", what, "/s", &paired.rate);
            bench.found(noted.against(batched.name(), batched.rounds.highest(), batched.rounds.median()));
        }
    }
    let given = Finding::new("G8", format!("sessions given out twice, {WORKERS} workers"), "", twice as f64);
    bench.found(given.goals(Bound::AtMost(0.0), Bound::AtMost(0.0)));
    Ok(())
}

/// graphile-worker in one process, both ways that `graphile-worker.js` knows.
pub struct GraphileWorker {
    references: References,
    /// A database of its own.
    url: String,
    /// A claim and a completion for each job, as ours: this is what ours is measured by.
    plain: Configuration,
    /// Claimed and completed many at a time: faster, and a crash costs more.
    batched: Configuration,
}

struct Configuration {
    word: &'static str,
    rounds: Rounds,
}

impl Configuration {
    fn name(&self) -> String {
        format!("graphile-worker, {}", self.word)
    }
}

impl GraphileWorker {
    pub fn new(references: References, url: String) -> Self {
        let configuration = |word| Configuration { word, rounds: Rounds::default() };
        Self { references, url, plain: configuration("plain"), batched: configuration("batched") }
    }

    /// A round of each configuration, in a process of its own.
    async fn round(&mut self, jobs: usize) -> Result<()> {
        let plain = self.once(self.plain.word, jobs).await?;
        self.plain.rounds.push(plain);
        let batched = self.once(self.batched.word, jobs * JOBS_PER_SESSION).await?;
        self.batched.rounds.push(batched);
        Ok(())
    }

    /// Jobs per second of a round of one configuration: `plain`, `batched` or `adds`.
    pub async fn once(&self, configuration: &str, jobs: usize) -> Result<f64> {
        let mut script = self.references.script("graphile-worker.js");
        script.arg(jobs.to_string()).arg(configuration).env("DATABASE_URL", &self.url);
        figure(&mut script).await
    }
}
