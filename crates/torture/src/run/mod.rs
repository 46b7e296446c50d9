//! A run: rounds of one scenario after another until the time is up or something is found.

mod round;
mod scenario;
mod site;

pub use scenario::{Pace, Scenario};
pub use site::tenant_name;

use crate::{
    checker::{Check, Violation},
    counters::Counters,
    nemesis::probe,
};
use anyhow::{Context as _, Result};
use site::Site;
use std::{
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

/// Pause between two progress lines.
const PROGRESS_EVERY: Duration = Duration::from_secs(5);
/// Below this much time left no new scenario is begun.
const SCENARIO_MIN: Duration = Duration::from_secs(8);

/// What to run.
#[derive(Debug, Clone)]
pub struct Options {
    /// The server binary.
    pub server: PathBuf,
    /// The binary `torture`, for its worker processes.
    pub torture: PathBuf,
    /// PostgreSQL instead of SQLite.
    pub database_url: Option<String>,
    /// Existing directory for everything the run writes.
    pub work_dir: PathBuf,
    /// Fixes the choices.
    pub seed: u64,
    /// How long, all in all.
    pub limit: Duration,
    /// How long each scenario takes.
    pub pace: Pace,
    /// The bug to plant.
    pub planted: Option<String>,
    /// Which scenario comes first; all come in turn.
    pub first: Scenario,
}

/// Outcome of a run.
#[derive(Debug)]
pub struct Report {
    /// The violations of the last round; a run ends with the first round that has any.
    pub violations: Vec<Violation>,
    /// What could not be tested on this machine, and why.
    pub not_tested: Vec<String>,
    /// Scenarios that ran.
    pub ran: Vec<Scenario>,
    /// Duration of the run.
    pub elapsed: Duration,
}

/// A run in progress.
pub struct Run {
    options: Options,
    counters: Arc<Counters>,
    started: Instant,
    round: u32,
    label: Arc<Mutex<String>>,
}

impl Run {
    /// A run that is not started yet.
    pub fn new(options: Options, counters: Arc<Counters>) -> Self {
        Self { options, counters, started: Instant::now(), round: 0, label: Arc::default() }
    }

    /// Runs to the end. An error means that no verdict was possible.
    pub async fn finish(mut self) -> Result<Report> {
        let ticker = AbortOnDrop(tokio::spawn(tick(self.label.clone(), self.counters.clone(), self.started)));
        let mut not_tested = Vec::new();
        let mut scenarios = vec![Scenario::Chaos, Scenario::Lease];
        match self.power_cut_obstacle() {
            None => scenarios.push(Scenario::PowerCut),
            Some(obstacle) => not_tested.push(format!("power cuts (P-2): {obstacle}")),
        }
        let start = scenarios.iter().position(|scenario| *scenario == self.options.first).unwrap_or(0);
        scenarios.rotate_left(start);

        let mut site = Site::create(&self.options, "data", self.counters.clone())
            .await
            .context("cannot set up the server under test")?;
        let (mut violations, mut ran) = (Vec::new(), Vec::new());
        for scenario in scenarios.iter().cycle() {
            let left = self.left();
            // The first scenario always runs: a run that tests nothing must not pass.
            if left < SCENARIO_MIN && !ran.is_empty() {
                break;
            }
            violations = match scenario {
                Scenario::Chaos => self.chaos(&mut site).await?,
                Scenario::Lease => self.lease(&mut site).await?,
                Scenario::PowerCut => self.power_cuts().await?,
            };
            ran.push(*scenario);
            if !violations.is_empty() {
                break;
            }
        }
        if violations.is_empty() {
            self.print("reading old sessions again, verifying");
            violations = site.final_checks().await?;
        }
        if violations.is_empty() {
            violations.extend(self.unproven(&ran).into_iter().map(|what| Violation {
                check: Check::Live,
                session: None,
                what,
            }));
        }
        drop(site);
        drop(ticker);
        Ok(Report { violations, not_tested, ran, elapsed: self.started.elapsed() })
    }

    fn left(&self) -> Duration {
        self.options.limit.saturating_sub(self.started.elapsed())
    }

    fn power_cut_obstacle(&self) -> Option<String> {
        if self.options.database_url.is_some() {
            return Some("the data is in PostgreSQL, which this run does not own".into());
        }
        tokio::task::block_in_place(|| probe(&self.options.work_dir)).err().map(|error| format!("{error:#}"))
    }

    /// Faults and operations that the scenarios should have exercised and did not: a run that exercises nothing must
    /// not pass.
    fn unproven(&self, ran: &[Scenario]) -> Vec<String> {
        let counters = &self.counters;
        let due: [(Scenario, u64, &str); 10] = [
            (Scenario::Chaos, counters.appends_acked.get(), "no append was acknowledged"),
            (Scenario::Chaos, counters.kills.get(), "the server was never killed"),
            (Scenario::Chaos, counters.reads.get(), "nothing was read"),
            (Scenario::Chaos, counters.stream_events.get(), "nothing was streamed"),
            (Scenario::Chaos, counters.connection_cuts.get(), "no connection was cut"),
            (Scenario::Lease, counters.worker_stops.get(), "no worker was stopped"),
            (Scenario::Lease, counters.claims.get(), "nothing was claimed"),
            (Scenario::Lease, counters.completions.get(), "nothing was completed"),
            (Scenario::Lease, counters.stale_refused.get(), "no stale write was tried"),
            (Scenario::PowerCut, counters.power_cuts.get(), "the power was never cut"),
        ];
        let missing = due.into_iter().filter(|(scenario, count, _)| ran.contains(scenario) && *count == 0);
        missing.map(|(_, _, what)| format!("the run proves nothing: {what}")).collect()
    }

    fn next_round(&mut self) -> u32 {
        self.round += 1;
        self.round
    }

    fn print(&self, text: &str) {
        *self.label.lock().unwrap_or_else(PoisonError::into_inner) = text.to_owned();
        println!("[{:7.1} s] {text}", self.started.elapsed().as_secs_f64());
    }
}

async fn tick(label: Arc<Mutex<String>>, counters: Arc<Counters>, started: Instant) {
    loop {
        tokio::time::sleep(PROGRESS_EVERY).await;
        let text = label.lock().unwrap_or_else(PoisonError::into_inner).clone();
        println!("[{:7.1} s] {text}: so far {counters}", started.elapsed().as_secs_f64());
    }
}

struct AbortOnDrop(tokio::task::JoinHandle<()>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}
