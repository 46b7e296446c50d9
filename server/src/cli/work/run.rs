//! The worker: claims while it has room, and stops in good order.

use super::{
    args::WorkArgs,
    child,
    lease::may_pass,
    limit,
    progress::Progress,
    session::{End, Phase, Worker},
};
use client::{Backoff, Client, Error};
use domain::{Entropy, limit::CLAIM_MAX};
use std::{process::ExitCode, sync::Arc, time::Duration};
use tokio::{
    select,
    signal::unix::{Signal, SignalKind, signal},
    sync::{OwnedSemaphorePermit, Semaphore, watch},
    time::{Instant, sleep, timeout},
};
use tokio_util::task::TaskTracker;
use wire::worker::{Claim, Claimed};

/// The command line is wrong.
const EXIT_USAGE: u8 = 2;

/// Works until it is told to stop.
pub async fn run(args: WorkArgs) -> ExitCode {
    match start(&args) {
        Ok((crew, signals)) => {
            let drain = Duration::from_secs(args.drain_seconds);
            let code = crew.serve(signals, drain).await;
            crew.worker.progress.clear();
            code
        }
        Err(why) => {
            eprintln!("shiftbook work: {why}");
            ExitCode::from(EXIT_USAGE)
        }
    }
}

/// A worker, and what it claims.
struct Crew {
    worker: Arc<Worker>,
    agents: Vec<String>,
    lease_seconds: u32,
    slots: Arc<Semaphore>,
    once: bool,
    stop: watch::Sender<Phase>,
    seed: u64,
}

struct Signals([Signal; 3]);

impl Signals {
    async fn next(&mut self) {
        let [terminate, interrupt, hangup] = &mut self.0;
        select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
            _ = hangup.recv() => {}
        }
    }
}

fn start(args: &WorkArgs) -> Result<(Crew, Signals), String> {
    if let Some(program) = args.command.first().filter(|program| !child::is_program(program)) {
        return Err(format!("there is no program `{}`", program.display()));
    }
    let listen = |kind| signal(kind).map_err(|error| format!("signals cannot be received: {error}"));
    let signals =
        Signals([listen(SignalKind::terminate())?, listen(SignalKind::interrupt())?, listen(SignalKind::hangup())?]);
    let client = Client::new(&args.url, &args.token).map_err(|error| error.to_string())?;
    let (stop, phase) = watch::channel(Phase::Working);
    let worker = Worker {
        client,
        token: args.token.clone(),
        command: args.command.clone(),
        lease: Duration::from_secs(u64::from(args.lease)),
        progress: Arc::new(Progress::new(&args.agents)),
        phase,
    };
    let mut seed = [0; 8];
    crate::ambient::SystemEntropy.fill(&mut seed);
    let crew = Crew {
        worker: Arc::new(worker),
        agents: args.agents.clone(),
        lease_seconds: args.lease,
        slots: Arc::new(Semaphore::new(args.concurrency as usize)),
        once: args.once,
        stop,
        seed: u64::from_le_bytes(seed),
    };
    Ok((crew, signals))
}

impl Crew {
    async fn serve(&self, signals: Signals, drain: Duration) -> ExitCode {
        select! {
            code = self.work() => code,
            () = self.obey(signals, drain) => ExitCode::FAILURE,
            () = self.worker.progress.show() => ExitCode::FAILURE,
        }
    }

    /// Turns signals into phases. Never ends.
    async fn obey(&self, mut signals: Signals, drain: Duration) {
        let progress = &self.worker.progress;
        signals.next().await;
        if progress.is_idle() {
            progress.say("stopping");
        } else {
            progress.say(&format!("stopping: running commands have {} s; once more to stop them now", drain.as_secs()));
        }
        self.stop.send_replace(Phase::Draining);
        select! {
            () = sleep(drain) => {
                progress.say("time is up: stopping commands and releasing their sessions");
                self.stop.send_replace(Phase::Releasing);
                signals.next().await;
            }
            () = signals.next() => {}
        }
        progress.say("stopping at once");
        self.stop.send_replace(Phase::Aborting);
        std::future::pending().await
    }

    async fn work(&self) -> ExitCode {
        let progress = &self.worker.progress;
        let crew = TaskTracker::new();
        let outcome = match self.greet().await {
            Ok(()) => self.claim_while_working(&crew).await,
            Err(why) => Err(why),
        };
        crew.close();
        crew.wait().await;
        match outcome {
            Ok(code) => code,
            Err(why) => {
                progress.say(&format!("the server refuses this worker: {why}"));
                ExitCode::FAILURE
            }
        }
    }

    /// Makes sure that the server is there and knows the token, so that a mistake shows before the first session.
    async fn greet(&self) -> Result<(), Error> {
        let progress = &self.worker.progress;
        let Some(me) = self.patiently(|| self.worker.client.me()).await? else { return Ok(()) };
        progress.say(&format!(
            "working for {} in {} at {}",
            self.agents.join(", "),
            me.tenant.slug,
            self.worker.client.base_url()
        ));
        Ok(())
    }

    async fn claim_while_working(&self, crew: &TaskTracker) -> Result<ExitCode, Error> {
        loop {
            let Some(mut slots) = self.free_slots().await else { return Ok(ExitCode::SUCCESS) };
            let max = u32::try_from(slots.num_permits()).unwrap_or(CLAIM_MAX);
            let claim = Claim {
                agent_slugs: Some(self.agents.clone()),
                max: Some(max),
                lease_seconds: Some(self.lease_seconds),
                wait_seconds: Some(limit::CLAIM_WAIT_SECONDS),
            };
            let asked = Instant::now();
            let Some(claimed) = self.patiently(|| self.claim(&claim)).await? else { return Ok(ExitCode::SUCCESS) };
            if claimed.sessions.is_empty() && asked.elapsed() < limit::EMPTY_PAUSE {
                // A server that is stopping answers its waiting workers at once.
                select! {
                    () = sleep(limit::EMPTY_PAUSE) => {}
                    () = self.worker.reached(Phase::Draining) => {}
                }
            }
            for session in claimed.sessions {
                let worker = Arc::clone(&self.worker);
                if self.once {
                    let completed = worker.run(session).await == End::Completed;
                    return Ok(if completed { ExitCode::SUCCESS } else { ExitCode::FAILURE });
                }
                let slot = slots.split(1);
                crew.spawn(async move {
                    worker.run(session).await;
                    drop(slot);
                });
            }
        }
    }

    /// At least one free slot, and all others that are free now. `None` once the worker is stopping.
    async fn free_slots(&self) -> Option<OwnedSemaphorePermit> {
        let mut slots = select! {
            biased;
            () = self.worker.reached(Phase::Draining) => return None,
            slot = Arc::clone(&self.slots).acquire_owned() => slot.ok()?,
        };
        while slots.num_permits() < CLAIM_MAX as usize {
            match Arc::clone(&self.slots).try_acquire_owned() {
                Ok(another) => slots.merge(another),
                Err(_) => break,
            }
        }
        Some(slots)
    }

    /// One claim. When the worker is told to stop meanwhile, an answer on its way is given a moment, and what it
    /// brings is run like any other: released at once, it would only have lost an attempt.
    async fn claim(&self, claim: &Claim) -> client::Result<Claimed> {
        let answer = self.worker.client.claim(claim);
        tokio::pin!(answer);
        select! {
            answer = &mut answer => answer,
            () = self.worker.reached(Phase::Draining) => {
                timeout(limit::CLAIM_GRACE, answer).await.unwrap_or(Ok(Claimed { sessions: Vec::new() }))
            }
        }
    }

    /// Makes a call until it is answered or refused; a server that is away or in trouble is waited for. `None` once
    /// the worker is stopping and has no answer.
    async fn patiently<T, F: Future<Output = client::Result<T>>>(
        &self,
        call: impl Fn() -> F,
    ) -> Result<Option<T>, Error> {
        let progress = &self.worker.progress;
        let mut backoff = Backoff::new(self.seed).between(Duration::from_millis(200), limit::AWAY_PAUSE_MAX);
        loop {
            let error = match call().await {
                Ok(answer) => {
                    if backoff.tries() > 0 {
                        progress.say("the server is back");
                    }
                    return Ok(Some(answer));
                }
                Err(error) if may_pass(&error) => error,
                Err(error) => return Err(error),
            };
            if backoff.tries() == 0 {
                progress.say(&format!("waiting for the server: {error}"));
            }
            let pause = backoff.pause(&error);
            select! {
                () = sleep(pause) => {}
                () = self.worker.reached(Phase::Draining) => return Ok(None),
            }
        }
    }
}
