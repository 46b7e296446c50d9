//! The three scenarios. Every run takes them in turn.

use super::{
    Run,
    round::{Mix, Round, WORKER_PROCESSES},
    site::Site,
};
use crate::{
    checker::{Check, Violation},
    history::{Answer, Fault, Outcome},
    nemesis::{self, LoopDisk, WORKER_TASKS_MAX, WorkerSpec},
    workload::WorkerBehavior,
};
use anyhow::{Context as _, Result};
use std::time::Duration;
use tokio::{task::block_in_place, time::sleep};

/// What a round is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scenario {
    /// kill -9, SIGSTOP and cut connections under appends, reads, streams and workers.
    Chaos,
    /// Worker processes that are stopped for two leases or killed; claim storms; races to complete.
    Lease,
    /// Power cuts under appends.
    PowerCut,
}

/// How long each scenario takes.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    /// Load of a chaos round.
    pub chaos: Duration,
    /// Load of a lease round.
    pub lease: Duration,
    /// Power cuts in a row.
    pub cuts: u32,
}

impl Pace {
    /// Everything in two minutes, twice.
    pub const TEST: Self = Self { chaos: Duration::from_secs(15), lease: Duration::from_secs(12), cuts: 3 };
    /// For runs of many minutes.
    pub const LONG: Self = Self { chaos: Duration::from_secs(40), lease: Duration::from_secs(30), cuts: 8 };
}

/// Lease of the lease rounds: the shortest there is, because SIGSTOP lasts two of them.
const SHORT_LEASE_SECONDS: u32 = 1;
/// Lease under chaos: restarts arm it anew.
const CHAOS_LEASE_SECONDS: u32 = 5;
/// Worker processes and clients in each.
const WORKER_PROCESS_COUNT: u32 = 4;
const WORKER_TASKS: u32 = 3;

impl Run {
    /// P-1, P-3, P-4, P-5, P-7, P-12 under kill -9, SIGSTOP and cut connections.
    pub(super) async fn chaos(&mut self, site: &mut Site) -> Result<Vec<Violation>> {
        let mut round = self.begin(site, "chaos")?;
        round.start_appends(Mix { hot: 2, sessions: 32, writers: 16, readers: 6, streamers: 8 }).await?;
        let behavior = WorkerBehavior {
            agent: round.agent(),
            lease_seconds: CHAOS_LEASE_SECONDS,
            silent_percent: 0,
            pause_ms_max: 30,
        };
        round.start_workers(6, &behavior, false);
        round.end_load_after(self.options.pace.chaos.min(self.left()));
        let mut rng = self.fault_rng();
        let faults = nemesis::chaos(&mut site.server, &site.proxy, &round.context, &mut rng, &self.counters).await;
        self.judge(round, site, Vec::new(), faults).await
    }

    /// P-12, P-13, P-14, P-16 with workers that are stopped, killed or silent.
    pub(super) async fn lease(&mut self, site: &mut Site) -> Result<Vec<Violation>> {
        let mut round = self.begin(site, "leases")?;
        let behavior = WorkerBehavior {
            agent: round.agent(),
            lease_seconds: SHORT_LEASE_SECONDS,
            silent_percent: 20,
            pause_ms_max: 250,
        };
        let specs: Vec<WorkerSpec> = (0..WORKER_PROCESS_COUNT)
            .map(|index| {
                let process = WORKER_PROCESSES + index * WORKER_TASKS_MAX;
                WorkerSpec {
                    binary: self.options.torture.clone(),
                    server: site.server.listen,
                    token: site.token.clone(),
                    seed: round.context.seed,
                    process,
                    tasks: WORKER_TASKS,
                    history: self.options.work_dir.join(format!("history-{:04}-worker.{process}.jsonl", self.round)),
                    behavior: behavior.clone(),
                }
            })
            .collect();
        round.start_workers(8, &behavior, true);
        round.end_load_after(self.options.pace.lease.min(self.left()));
        let mut rng = self.fault_rng();
        let mut histories = Vec::new();
        let faults = nemesis::stop_and_kill_workers(
            specs,
            &site.proxy,
            &round.context,
            &mut rng,
            &self.counters,
            &mut histories,
        )
        .await;
        self.judge(round, site, histories, faults).await
    }

    /// P-2: a file system of its own, cut off again and again.
    pub(super) async fn power_cuts(&mut self) -> Result<Vec<Violation>> {
        let work_dir = self.options.work_dir.clone();
        let name = |round: u32| format!("disk-{round:04}");
        let mut disk = block_in_place(|| LoopDisk::create(&work_dir, &name(self.round)))?;
        let account = Site::account(&self.options, &disk.path().join("data"))?;
        block_in_place(|| disk.sync())?;
        let data_dir = disk.path().join("data");
        // Declared after the disk, so dropped before it: a disk in use cannot be unmounted.
        let mut site = Site::open(&self.options, data_dir, account, self.counters.clone()).await?;
        for _ in 0..self.options.pace.cuts {
            if self.left() < super::SCENARIO_MIN {
                break;
            }
            let mut round = self.begin(&site, "power cut")?;
            round.start_appends(Mix { hot: 1, sessions: 12, writers: 12, readers: 2, streamers: 2 }).await?;
            sleep(Duration::from_millis(self.fault_rng().u64(500..1_500))).await;
            // The power cut would hide a server that ended by itself. The verdict of the round names it.
            if site.server.died().is_some() {
                return self.judge(round, &mut site, Vec::new(), Ok(())).await;
            }
            let fault = nemesis::begin(&round.context.recorder, Fault::PowerCut);
            site.server.stop().await?;
            let survivor = block_in_place(|| disk.copy(&work_dir, &name(self.round)))?;
            site.server.kill();
            self.counters.power_cuts.add(1);
            disk = block_in_place(|| survivor);
            site.server.data_dir = disk.path().join("data");
            let back = nemesis::restart(&mut site.server, &self.counters).await;
            round.context.recorder.end(fault, Outcome::Ok(Answer::Done));
            // A little more load: what was lost must not be papered over by new events either.
            sleep(Duration::from_millis(300)).await;
            let mut violations = self.judge(round, &mut site, Vec::new(), back).await?;
            if violations.is_empty() {
                violations.extend(site.verified());
            }
            if !violations.is_empty() {
                return Ok(violations);
            }
        }
        Ok(Vec::new())
    }

    /// The choices of this round's faults.
    fn fault_rng(&self) -> fastrand::Rng {
        fastrand::Rng::with_seed(self.options.seed ^ u64::from(self.round).rotate_left(48))
    }

    fn begin(&mut self, site: &Site, what: &str) -> Result<Round> {
        let number = self.next_round();
        self.print(&format!("round {number}, {what}"));
        Round::new(site, number, self.options.seed, &self.options.work_dir, self.counters.clone())
    }

    /// The verdict of a round, where a server that did not come back is part of it.
    async fn judge(
        &self,
        round: Round,
        site: &mut Site,
        histories: Vec<std::path::PathBuf>,
        faults: Result<()>,
    ) -> Result<Vec<Violation>> {
        let failed =
            faults.err().map(|error| Violation { check: Check::Live, session: None, what: format!("{error:#}") });
        let mut violations = round.judge(site, histories).await.context("no verdict was possible")?;
        violations.extend(failed);
        Ok(violations)
    }
}
