//! One round: sessions of its own, load, drain, final read, verdict.

use super::site::Site;
use crate::{
    checker::{self, Check, Evidence, Violation},
    counters::Counters,
    history::{self, Answer, Outcome, Recorder},
    workload::{self, HeldSession, Phase, RoundContext, Stuck, WorkerBehavior, WorkerSessions},
};
use anyhow::{Context as _, Result, ensure};
use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};
use tokio::{
    sync::watch,
    task::JoinSet,
    time::{Instant, timeout_at},
};
use uuid::Uuid;

/// How long pending requests may take once the faults are over.
const DRAIN_MAX: Duration = Duration::from_secs(15);
/// Lease of the append workload: longer than any round.
const LONG_LEASE_SECONDS: u32 = 3_600;

// Numbers of the clients in the history; worker processes follow from WORKER_PROCESSES on.
const SETUP: u32 = 2;
const DISPATCHER: u32 = 4;
const WATCHER: u32 = 6;
const FINISHER: u32 = 8;
/// Goes directly to the server: a connection that is cut would only delay it.
const CONTRADICTOR: u32 = 10;
const WRITERS: u32 = 100;
const READERS: u32 = 200;
const STREAMERS: u32 = 300;
const WORKERS: u32 = 400;
/// First number of the clients in worker processes.
pub const WORKER_PROCESSES: u32 = 1_000;

/// Sizes of the append workload.
#[derive(Debug, Clone, Copy)]
pub struct Mix {
    /// Sessions that are written to often.
    pub hot: usize,
    /// Sessions in all.
    pub sessions: usize,
    /// Append writers.
    pub writers: u32,
    /// Paging readers.
    pub readers: u32,
    /// Stream readers, first of the hot sessions.
    pub streamers: u32,
}

/// A round under way.
pub struct Round {
    /// What its clients share.
    pub context: RoundContext,
    /// Sessions made for workers.
    worker_sessions: Arc<WorkerSessions>,
    number: u32,
    phase: watch::Sender<Phase>,
    clients: JoinSet<()>,
    streamers: JoinSet<()>,
    held_sessions: Arc<Vec<HeldSession>>,
    history: PathBuf,
    counters: Arc<Counters>,
}

impl Round {
    /// A round of its own seed and history, without clients yet.
    pub fn new(site: &Site, number: u32, seed: u64, work_dir: &Path, counters: Arc<Counters>) -> Result<Self> {
        let history = work_dir.join(format!("history-{number:04}.jsonl"));
        let recorder = Arc::new(Recorder::create(&history, false)?);
        let (phase, receiver) = watch::channel(Phase::Load);
        let context = RoundContext {
            seed: seed ^ u64::from(number).rotate_left(32),
            direct: site.server.listen,
            proxied: site.proxy.address,
            token: site.token.clone(),
            recorder,
            phase: receiver,
            stuck: Arc::new(Stuck::default()),
        };
        Ok(Self {
            context,
            worker_sessions: Arc::new(WorkerSessions::default()),
            number,
            phase,
            clients: JoinSet::new(),
            streamers: JoinSet::new(),
            held_sessions: Arc::new(Vec::new()),
            history,
            counters,
        })
    }

    /// The agent of this round's worker sessions.
    pub fn agent(&self) -> String {
        format!("worker-{}", self.number)
    }

    /// Makes and claims the sessions of the append workload, and starts its clients.
    pub async fn start_appends(&mut self, mix: Mix) -> Result<()> {
        let agent = format!("append-{}", self.number);
        self.held_sessions = Arc::new(self.claim_all(&agent, mix.sessions).await?);
        for index in 0..mix.writers {
            let (context, held_sessions) = (self.context.clone(), self.held_sessions.clone());
            self.clients.spawn(workload::write(context, WRITERS + index, held_sessions, mix.hot));
        }
        let context = self.context.clone();
        self.clients.spawn(workload::contradict(context, CONTRADICTOR, self.held_sessions.clone()));
        for index in 0..mix.readers {
            self.clients.spawn(workload::read(self.context.clone(), READERS + index, self.held_sessions.clone()));
        }
        for (index, held) in (0..mix.streamers).zip(self.held_sessions.iter().cycle()) {
            let (context, counters) = (self.context.clone(), self.counters.clone());
            self.streamers.spawn(workload::stream(context, STREAMERS + index, held.session, counters));
        }
        Ok(())
    }

    /// Starts the queue and `count` workers in this process. With `until_idle` the drain waits until no session
    /// is running any more.
    pub fn start_workers(&mut self, count: u32, behavior: &WorkerBehavior, until_idle: bool) {
        let (context, worker_sessions) = (self.context.clone(), self.worker_sessions.clone());
        self.clients.spawn(workload::dispatch(
            context.clone(),
            DISPATCHER,
            behavior.agent.clone(),
            worker_sessions.clone(),
        ));
        self.clients.spawn(workload::watch(context.clone(), WATCHER, worker_sessions, until_idle));
        for index in 0..count {
            self.clients.spawn(workload::work(context.clone(), WORKERS + index, behavior.clone()));
        }
    }

    /// Ends the load after `load`.
    pub fn end_load_after(&self, load: Duration) {
        let phase = self.phase.clone();
        tokio::spawn(async move {
            tokio::time::sleep(load).await;
            // A round that failed early drains already; its deadline remains.
            phase.send_if_modified(|phase| {
                let is_loading = *phase == Phase::Load;
                if is_loading {
                    *phase = Phase::Drain(Instant::now() + 2 * DRAIN_MAX);
                }
                is_loading
            });
        });
    }

    /// Lets every client finish, reads the logs, and judges. `worker_histories` come from other processes.
    pub async fn judge(mut self, site: &mut Site, worker_histories: Vec<PathBuf>) -> Result<Vec<Violation>> {
        let deadline = Instant::now() + DRAIN_MAX;
        self.phase.send(Phase::Drain(deadline)).ok();
        let mut violations = Vec::new();
        // Clients stop by themselves shortly after the deadline; this is for those that hang.
        let hard_stop = deadline + DRAIN_MAX;
        if timeout_at(hard_stop, join(&mut self.clients)).await.is_err() {
            violations.push(live("clients of the harness hang".into()));
        }
        self.complete_held_sessions().await;
        if timeout_at(hard_stop, join(&mut self.streamers)).await.is_err() {
            violations.push(live("stream readers of the harness hang".into()));
        }
        violations.extend(self.context.stuck.take().into_iter().map(live));
        if let Some(status) = site.server.died() {
            violations.push(live(format!("the server ended by itself: {status}")));
        }

        let mut evidence = Evidence::default();
        match self.read_final_logs(site.tenant).await {
            Ok(sessions) => evidence.sessions = sessions,
            Err(error) => violations.push(live(format!("the final logs cannot be read: {error:#}"))),
        }
        self.context.recorder.finish()?;
        let mut files = worker_histories;
        files.insert(0, self.history.clone());
        for file in &files {
            history::load(file, &mut evidence.operations)?;
        }
        self.counters.tally(&evidence.operations);
        self.counters.rounds.add(1);
        violations.extend(checker::check(&evidence));
        if site.server.spec().database_url.is_none() {
            violations.extend(checker::undisturbed_writes_are_answered(&evidence));
        }
        violations.extend(site.panics());
        if violations.is_empty() {
            site.seal(&evidence.sessions);
            files.iter().try_for_each(std::fs::remove_file).context("cannot remove a checked history")?;
        } else {
            let logs = self.history.with_extension("final.json");
            std::fs::write(logs, serde_json::to_vec(&evidence.sessions)?).context("cannot keep the final logs")?;
        }
        Ok(violations)
    }

    async fn claim_all(&self, agent: &str, count: usize) -> Result<Vec<HeldSession>> {
        let mut api = self.context.api(SETUP);
        for number in 0..count {
            api.create(&crate::client::NewSession { agent: agent.to_owned(), key: format!("{agent}-{number}") })
                .await?;
        }
        let mut held_sessions = Vec::with_capacity(count);
        while held_sessions.len() < count {
            let outcome = api.claim(agent, 100, LONG_LEASE_SECONDS, 0).await;
            let Outcome::Ok(Answer::Claimed { sessions }) = outcome else {
                anyhow::bail!("a claim failed while nothing disturbed it: {outcome:?}");
            };
            ensure!(
                !sessions.is_empty(),
                "{count} sessions were created, but only {} could be claimed",
                held_sessions.len()
            );
            held_sessions.extend(sessions.into_iter().map(|(session, attempt)| HeldSession { session, attempt }));
        }
        Ok(held_sessions)
    }

    /// Completes the append workload's sessions, so that their streams say `end`.
    async fn complete_held_sessions(&self) {
        let mut api = self.context.api(FINISHER);
        let mut rng = self.context.rng(FINISHER);
        for HeldSession { session, attempt } in self.held_sessions.iter() {
            let token = rng.u64(..);
            loop {
                let outcome = api.complete(*session, *attempt, token).await;
                let settled = match &outcome {
                    Outcome::Ok(_) => true,
                    Outcome::Fail { code } => !workload::is_transient(code),
                    Outcome::Info { .. } => false,
                };
                if settled || !self.context.may_retry(&mut rng, "the final completion", &outcome).await {
                    break;
                }
            }
        }
    }

    async fn read_final_logs(&self, tenant: Uuid) -> Result<Vec<checker::FinalSession>> {
        let mut api = self.context.api(FINISHER);
        let all: HashMap<Uuid, ()> = self
            .held_sessions
            .iter()
            .map(|held| held.session)
            .chain(self.worker_sessions.all())
            .map(|id| (id, ()))
            .collect();
        let mut sessions = Vec::with_capacity(all.len());
        for id in all.into_keys() {
            let read = api.final_session(id, tenant).await;
            // A connection may be stale once after a restart; a second failure is a finding.
            sessions.push(match read {
                Ok(session) => session,
                Err(_) => api.final_session(id, tenant).await?,
            });
        }
        Ok(sessions)
    }
}

async fn join(tasks: &mut JoinSet<()>) {
    while tasks.join_next().await.is_some() {}
}

fn live(what: String) -> Violation {
    Violation { check: Check::Live, session: None, what }
}
