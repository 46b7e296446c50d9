//! Tests the harness itself: each bug that is planted in the server on purpose must be found.

use crate::{
    counters::Counters,
    run::{Options, Pace, Report, Run, Scenario},
};
use anyhow::Result;
use std::{path::PathBuf, sync::Arc, time::Duration};

/// The bugs, each with the scenario that is run first. All scenarios are run for every bug; the order only saves time.
pub const BUGS: [(&str, Scenario); 8] = [
    ("synchronous_normal", Scenario::PowerCut),
    ("ack_before_commit", Scenario::Chaos),
    ("no_fencing", Scenario::Lease),
    ("no_dedup", Scenario::Chaos),
    ("split_batch", Scenario::Chaos),
    ("sequence_gap", Scenario::Chaos),
    ("double_claim", Scenario::Lease),
    ("lease_never_expires", Scenario::Lease),
];

/// Options of a search for the planted bugs.
#[derive(Debug, Clone)]
pub struct Hunt {
    /// A server built with `planted-bugs`.
    pub server: PathBuf,
    /// The binary `torture`, for its worker processes.
    pub torture: PathBuf,
    /// Longest search for each bug.
    pub each: Duration,
    /// Seed of every choice of clients and faults.
    pub seed: u64,
    /// Existing directory for everything that the search writes.
    pub work_dir: PathBuf,
    /// Only these bugs; all when empty.
    pub only: Vec<String>,
}

/// Outcome of the search for one bug.
#[derive(Debug)]
pub struct Catch {
    /// The bug; `None` is the control: the same binary without a bug.
    pub bug: Option<&'static str>,
    /// Report of the run.
    pub report: Report,
}

impl Catch {
    /// Whether the outcome is right: the bug is found, or the control has no findings.
    pub fn is_good(&self) -> bool {
        self.bug.is_some() != self.report.violations.is_empty()
    }
}

/// Runs the control and then the search for each bug, and prints the outcomes.
pub async fn hunt(hunt: &Hunt) -> Result<Vec<Catch>> {
    let wanted = |name: &str| hunt.only.is_empty() || hunt.only.iter().any(|only| only == name);
    let mut catches = Vec::new();
    let bugs = BUGS.iter().filter(|(name, _)| wanted(name)).map(|(name, first)| (Some(*name), *first));
    let control = hunt.only.is_empty().then_some((None, Scenario::Chaos));
    for (bug, first) in control.into_iter().chain(bugs) {
        let name = bug.unwrap_or("control");
        println!("== {name}");
        let work_dir = hunt.work_dir.join(name);
        std::fs::create_dir_all(&work_dir)?;
        let options = Options {
            server: hunt.server.clone(),
            torture: hunt.torture.clone(),
            database_url: None,
            work_dir,
            seed: hunt.seed,
            // The control is one pass through every scenario.
            limit: if bug.is_none() { hunt.each.min(Duration::from_secs(60)) } else { hunt.each },
            pace: Pace::TEST,
            planted: bug.map(str::to_owned),
            first,
        };
        let report = Run::new(options, Arc::new(Counters::default())).finish().await?;
        match report.violations.first() {
            Some(violation) => println!("   found after {:.1} s: {violation}", report.elapsed.as_secs_f64()),
            None => println!("   nothing found in {:.1} s", report.elapsed.as_secs_f64()),
        }
        catches.push(Catch { bug, report });
    }
    Ok(catches)
}
