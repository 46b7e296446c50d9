//! From the command line to a crew at work, and to an orderly end.

use super::{args::WorkArgs, progress::Progress};
use crate::{
    agents,
    ambient::{SystemClock, SystemEntropy, is_program},
    config::{self, DatabaseFlags, ServeFlags},
};
use client::{Client, Error};
use domain::Entropy;
use runner::execute::{
    Adapter, Crew, End, Phase, Report, Stamp, Worker,
    command::{Api, CommandAdapter},
};
use std::{process::ExitCode, sync::Arc, time::Duration};
use tokio::{
    select,
    signal::unix::{Signal, SignalKind, signal},
    sync::watch,
    time::sleep,
};

/// The command line is wrong.
const EXIT_USAGE: u8 = 2;

/// Works until it is told to stop.
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

/// What the command line asks for.
struct Work {
    crew: Crew,
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
    let client = Client::new(&args.url, &args.token).map_err(|error| error.to_string())?;
    let (adapter, concurrency) = adapter(args, client.base_url())?;
    let listen = |kind| signal(kind).map_err(|error| format!("signals cannot be received: {error}"));
    let signals =
        Signals([listen(SignalKind::terminate())?, listen(SignalKind::interrupt())?, listen(SignalKind::hangup())?]);
    let (stop, phase) = watch::channel(Phase::Working);
    let progress = Arc::new(Progress::new(&args.agents));
    let worker = Worker {
        desk: Arc::new(client.clone()),
        adapter,
        lease: Duration::from_secs(u64::from(args.lease)),
        report: progress.clone(),
        stamp: Stamp::new(Arc::new(SystemClock), Arc::new(SystemEntropy)),
        phase,
    };
    let mut seed = [0; 8];
    SystemEntropy.fill(&mut seed);
    let crew = Crew::new(worker, args.agents.clone(), concurrency, u64::from_le_bytes(seed));
    Ok((Work { crew, client, agents: args.agents.clone(), progress, once: args.once, stop }, signals))
}

/// What works on the sessions, and on how many at a time: the command, or what the settings file describes.
fn adapter(args: &WorkArgs, url: &str) -> Result<(Arc<dyn Adapter>, u32), String> {
    let api = Api { url: url.to_owned(), token: Some(args.token.clone()) };
    if let Some(program) = args.command.first() {
        if !is_program(program) {
            return Err(format!("there is no program `{}`", program.display()));
        }
        let (command, format) = (args.command.clone(), args.format);
        let adapter = CommandAdapter { command, format, api, instructions: None, seconds: None };
        return Ok((Arc::new(adapter), args.concurrency.unwrap_or(1)));
    }
    let [agent] = args.agents.as_slice() else {
        return Err("without a command, give exactly one --agent that the settings file describes".into());
    };
    let flags = DatabaseFlags { config: args.config.clone(), ..DatabaseFlags::default() };
    let settings = config::load(flags, ServeFlags::default()).map_err(|error| error.to_string())?;
    let described = settings.agents.get(agent).ok_or_else(|| {
        format!("give a command after --, or a settings file (--config) with a table [agents.{agent}]")
    })?;
    let around = agents::surroundings(&settings, api).map_err(|error| error.to_string())?;
    let adapter = described.build(&around).map_err(|why| format!("agents.{agent}: {why}"))?;
    Ok((adapter, args.concurrency.or(described.concurrency).unwrap_or(1)))
}

impl Work {
    async fn serve(&self, signals: Signals, drain: Duration) -> ExitCode {
        select! {
            code = self.work() => code,
            () = self.obey(signals, drain) => ExitCode::FAILURE,
            () = self.progress.show() => ExitCode::FAILURE,
        }
    }

    /// Turns signals into phases. Never ends.
    async fn obey(&self, mut signals: Signals, drain: Duration) {
        let progress = &self.progress;
        signals.next().await;
        if progress.is_idle() {
            progress.say("stopping");
        } else {
            progress.say(&format!(
                "stopping: running agents have {} s to finish; press Ctrl-C again to stop them now",
                drain.as_secs()
            ));
        }
        self.stop.send_replace(Phase::Draining);
        select! {
            () = sleep(drain) => {
                progress.say("time is up: stopping agents and releasing their sessions");
                self.stop.send_replace(Phase::Releasing);
                signals.next().await;
            }
            () = signals.next() => {}
        }
        progress.say("stopping now");
        self.stop.send_replace(Phase::Aborting);
        std::future::pending().await
    }

    async fn work(&self) -> ExitCode {
        match self.worked().await {
            Ok(true) => ExitCode::SUCCESS,
            Ok(false) => ExitCode::FAILURE,
            Err(why) => {
                self.progress.say(&format!("the server refuses this worker: {why}"));
                ExitCode::FAILURE
            }
        }
    }

    /// Whether it went well: with `--once`, whether the session completed or waits for somebody.
    async fn worked(&self) -> Result<bool, Error> {
        self.greet().await?;
        if self.once {
            return Ok(matches!(self.crew.work_once().await?, None | Some(End::Completed | End::Parked)));
        }
        self.crew.work().await?;
        Ok(true)
    }

    /// Makes sure that the server is there and knows the token, so that a mistake shows before the first session.
    async fn greet(&self) -> Result<(), Error> {
        let Some(me) = self.crew.patiently(|| self.client.me()).await? else { return Ok(()) };
        self.progress.say(&format!(
            "working for {} in {} at {}",
            self.agents.join(", "),
            me.tenant.slug,
            self.client.base_url()
        ));
        Ok(())
    }
}
