//! Starts a worker pool from the command line and stops it in order.

use super::{args::WorkArgs, progress::Progress};
use crate::{
    agents,
    ambient::{SystemClock, SystemEntropy, is_program},
    config::{self, DatabaseFlags, ServeFlags},
};
use client::{Client, Error};
use domain::Entropy;
use runner::execute::{
    Adapter, End, EventStamp, Observer, Phase, Worker, WorkerPool, WorkerTool,
    command::{ApiAccess, CommandAdapter},
    limit,
};
use std::{process::ExitCode, sync::Arc, time::Duration};
use tokio::{
    select,
    signal::unix::{Signal, SignalKind, signal},
    sync::watch,
    time::sleep,
};

/// Exit code for a command line that cannot be used.
const EXIT_USAGE: u8 = 2;

/// Runs the command until a signal stops it.
pub async fn run(args: WorkArgs) -> ExitCode {
    match start(&args) {
        Ok((work, signals)) => {
            let drain = Duration::from_secs(args.drain_seconds);
            let code = work.serve(signals, drain).await;
            work.progress.clear();
            code
        }
        Err(why) => {
            eprintln!("shiftbook work: {why}");
            ExitCode::from(EXIT_USAGE)
        }
    }
}

/// The worker pool that the command line describes.
struct Work {
    pool: WorkerPool,
    client: Client,
    agents: Vec<String>,
    progress: Arc<Progress>,
    once: bool,
    stop: watch::Sender<Phase>,
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

fn start(args: &WorkArgs) -> Result<(Work, Signals), String> {
    let mut seed = [0; 8];
    SystemEntropy.fill(&mut seed);
    let seed = u64::from_le_bytes(seed);
    // A new one at each start: two workers of one machine are two.
    let name = format!("{seed:016x}");
    let client = Client::for_worker(&args.url, &args.token, &name).map_err(|error| error.to_string())?;
    let (adapter, concurrency) = adapter(args, client.base_url())?;
    let listen = |kind| signal(kind).map_err(|error| format!("signals cannot be received: {error}"));
    let signals =
        Signals([listen(SignalKind::terminate())?, listen(SignalKind::interrupt())?, listen(SignalKind::hangup())?]);
    let (stop, phase) = watch::channel(Phase::Working);
    let agents = args.claimed_agents();
    let progress = Arc::new(Progress::new(&agents));
    let worker = Worker {
        api: Arc::new(client.clone()),
        adapter,
        lease: Duration::from_secs(u64::from(args.lease)),
        observer: progress.clone(),
        stamp: EventStamp::new(Arc::new(SystemClock), Arc::new(SystemEntropy)),
        phase,
    };
    let pool = WorkerPool::new(worker, agents.clone(), concurrency, seed);
    Ok((Work { pool, client, agents, progress, once: args.once, stop }, signals))
}

/// The adapter, from the command or from the settings file, and its concurrency.
fn adapter(args: &WorkArgs, url: &str) -> Result<(Arc<dyn Adapter>, u32), String> {
    let api_access = ApiAccess { url: url.to_owned(), token: Some(args.token.clone()) };
    if let Some(program) = args.command.first() {
        if !is_program(program) {
            return Err(format!("there is no program `{}`", program.display()));
        }
        let (command, format) = (args.command.clone(), args.output_format());
        let withheld = Vec::new();
        let adapter = CommandAdapter {
            command,
            format,
            api_access,
            instructions: None,
            seconds: None,
            output_time: limit::OUTPUT_TIME_MAX,
            withheld,
        };
        let adapter: Arc<dyn Adapter> = Arc::new(adapter);
        let adapter = if args.tools.is_empty() { adapter } else { Arc::new(WorkerTool { inner: adapter }) };
        return Ok((adapter, args.concurrency.unwrap_or(1)));
    }
    let [agent] = args.agents.as_slice() else {
        return Err("without a command, give exactly one --agent that the settings file describes".into());
    };
    let flags = DatabaseFlags { config: args.config.clone(), ..DatabaseFlags::default() };
    let settings = config::load(flags, ServeFlags::default()).map_err(|error| error.to_string())?;
    let described = settings.agents.get(agent).ok_or_else(|| {
        format!("give a command after --, or a settings file (--config) with a table [agents.{agent}]")
    })?;
    let environment = agents::build_environment(&settings, api_access).map_err(|error| error.to_string())?;
    let adapter = described.build(&environment).map_err(|why| format!("agents.{agent}: {why}"))?;
    Ok((adapter, args.concurrency.or(described.concurrency).unwrap_or(1)))
}

impl Work {
    async fn serve(&self, signals: Signals, drain: Duration) -> ExitCode {
        select! {
            code = self.work() => code,
            () = self.handle_signals(signals, drain) => ExitCode::FAILURE,
            () = self.progress.show() => ExitCode::FAILURE,
        }
    }

    /// Turns signals into phases. Returns when the process must exit although sessions are not released: their leases
    /// run out.
    async fn handle_signals(&self, mut signals: Signals, drain: Duration) {
        let progress = &self.progress;
        signals.next().await;
        // Commands are stopped early enough for their sessions to be released when the time is over.
        let reserve = limit::STOP_TIME.min(drain / 3);
        let to_finish = drain.saturating_sub(reserve);
        if progress.is_idle() {
            progress.message("stopping");
        } else {
            progress.message(&format!(
                "stopping: running agents have {} s to finish; press Ctrl-C again to stop them now",
                to_finish.as_secs()
            ));
        }
        self.stop.send_replace(Phase::Draining);
        select! {
            () = sleep(to_finish) => {
                progress.message("time is up: stopping agents and releasing their sessions");
                self.stop.send_replace(Phase::Releasing);
                select! {
                    () = sleep(reserve.saturating_sub(limit::EXIT_TIME)) => {}
                    () = signals.next() => {}
                }
            }
            () = signals.next() => {}
        }
        progress.message("stopping now");
        self.stop.send_replace(Phase::Aborting);
        sleep(limit::EXIT_TIME).await;
        progress.message("not every session could be released; their leases will run out");
    }

    async fn work(&self) -> ExitCode {
        match self.try_work().await {
            Ok(true) => ExitCode::SUCCESS,
            Ok(false) => ExitCode::FAILURE,
            Err(why) => {
                self.progress.message(&format!("the server refuses this worker: {why}"));
                ExitCode::FAILURE
            }
        }
    }

    /// Runs the pool. Returns false if `--once` is given and no session completed or yielded.
    async fn try_work(&self) -> Result<bool, Error> {
        self.check_server().await?;
        if self.once {
            return Ok(matches!(self.pool.work_once().await?, Some(End::Completed | End::Yielded)));
        }
        self.pool.work().await?;
        Ok(true)
    }

    /// Checks that the server is there and knows the token, so that a mistake is reported before the first session.
    async fn check_server(&self) -> Result<(), Error> {
        let Some(me) = self.pool.retry_until_answered(|| self.client.me()).await? else { return Ok(()) };
        self.progress.message(&format!(
            "working for {} in {} at {}",
            self.agents.join(", "),
            me.tenant.slug,
            self.client.base_url()
        ));
        Ok(())
    }
}
