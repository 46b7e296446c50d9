//! `torture`: starts the server, injects faults, and checks what the clients observed.

use anyhow::{Context as _, Result, bail};
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
    time::Duration,
};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader},
    signal::unix::{SignalKind, signal},
    sync::watch,
    task::JoinSet,
    time::Instant,
};
use torture::{
    checker::{self, Evidence},
    counters::Counters,
    history::{self, Recorder},
    nemesis::WORKER_TASKS_MAX,
    planted::{self, Hunt},
    report,
    run::{Options, Pace, Run, Scenario},
    workload::{self, Phase, RoundContext, Stuck, WorkerBehavior},
};

/// Longest run: a release run is 24 h.
const MINUTES_MAX: f64 = 24.0 * 60.0;
/// The tier of `cargo xtask test`: all scenarios twice, cleaning up included.
const TEST_TIER: Duration = Duration::from_secs(112);
/// How long a worker process may take to finish its last requests.
const WORKER_DRAIN: Duration = Duration::from_secs(10);

#[derive(Parser)]
#[command(name = "torture", about = "Injects faults into a shiftbook server and checks what its clients saw")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run the workload under faults; exit code 1 when anything is found.
    Run(RunArguments),
    /// Run against a server with planted bugs; exit code 1 unless every one is found.
    Planted(PlantedArguments),
    /// Judge a kept history again.
    Check {
        /// `history-NNNN.jsonl` in the kept directory; its worker histories and final logs lie beside it.
        history: PathBuf,
    },
    /// A worker process of a run (started by `run`).
    #[command(hide = true)]
    Worker(WorkerArguments),
}

#[derive(Args)]
struct RunArguments {
    /// The server binary.
    #[arg(long, default_value = "target/release/shiftbook")]
    server: PathBuf,
    /// How long, in minutes.
    #[arg(long, default_value_t = 2.0)]
    minutes: f64,
    /// A fixed length and pace instead.
    #[arg(long, conflicts_with = "minutes")]
    tier: Option<Tier>,
    /// Fixes every choice of clients and faults (not how the system interleaves them).
    #[arg(long)]
    seed: Option<u64>,
    /// Use this PostgreSQL database instead of SQLite.
    #[arg(long)]
    database_url: Option<String>,
    #[command(flatten)]
    place: Place,
}

#[derive(Args)]
struct PlantedArguments {
    /// A server binary built with the feature `planted-bugs`.
    #[arg(long)]
    server: PathBuf,
    /// Time for each bug, in minutes.
    #[arg(long, default_value_t = 3.0)]
    minutes: f64,
    /// Fixes every choice of clients and faults.
    #[arg(long)]
    seed: Option<u64>,
    /// Only this bug; may be given several times.
    #[arg(long)]
    only: Vec<String>,
    #[command(flatten)]
    place: Place,
}

#[derive(Args)]
struct Place {
    /// Where to work; a temporary directory when absent.
    #[arg(long)]
    work_dir: Option<PathBuf>,
    /// Keep the work directory also when nothing was found.
    #[arg(long)]
    keep: bool,
}

#[derive(Args)]
struct WorkerArguments {
    #[arg(long)]
    server_address: SocketAddr,
    #[arg(long)]
    seed: u64,
    #[arg(long)]
    process: u32,
    #[arg(long)]
    tasks: u32,
    #[arg(long)]
    agent: String,
    #[arg(long)]
    lease_seconds: u32,
    #[arg(long)]
    silent_percent: u32,
    #[arg(long)]
    pause_ms_max: u64,
    #[arg(long)]
    history: PathBuf,
}

#[derive(Clone, Copy, ValueEnum)]
enum Tier {
    /// Two minutes in all: every fault, several power cuts where they are possible.
    Test,
}

#[tokio::main]
async fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::Run(arguments) => interruptible(run(arguments)).await,
        Command::Planted(arguments) => interruptible(hunt(arguments)).await,
        Command::Check { history } => check(&history),
        Command::Worker(arguments) => worker(arguments).await.map(|()| true),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("torture: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// Dropping the work kills its processes, unmounts its disks and removes its files.
async fn interruptible(work: impl Future<Output = Result<bool>>) -> Result<bool> {
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    tokio::select! {
        outcome = work => outcome,
        _ = interrupt.recv() => bail!("interrupted; everything is cleaned up"),
        _ = terminate.recv() => bail!("terminated; everything is cleaned up"),
    }
}

async fn run(arguments: RunArguments) -> Result<bool> {
    let seed = arguments.seed.unwrap_or_else(|| fastrand::u64(..1 << 32));
    let (limit, pace) = match arguments.tier {
        Some(Tier::Test) => (TEST_TIER, Pace::TEST),
        None if arguments.minutes < 5.0 => (minutes(arguments.minutes)?, Pace::TEST),
        None => (minutes(arguments.minutes)?, Pace::LONG),
    };
    let place = WorkPlace::create(&arguments.place, seed)?;
    println!("torture: seed {seed}, {} s, server {}", limit.as_secs(), arguments.server.display());
    let options = Options {
        server: existing(&arguments.server)?,
        torture: std::env::current_exe().context("where is this binary?")?,
        database_url: arguments.database_url,
        work_dir: place.path().to_owned(),
        seed,
        limit,
        pace,
        planted: None,
        first: Scenario::Chaos,
    };
    let counters = Arc::new(Counters::default());
    let report = Run::new(options, counters.clone()).finish().await?;
    print!("{}", report::summary(&report, &counters, seed));
    let clean = report.violations.is_empty();
    if let Some(kept) = place.leave(!clean)? {
        println!("  kept: {} (judge again with `torture check`)", kept.display());
    }
    println!("{}", if clean { "torture: nothing found" } else { "torture: FOUND A VIOLATION" });
    Ok(clean)
}

async fn hunt(arguments: PlantedArguments) -> Result<bool> {
    let seed = arguments.seed.unwrap_or_else(|| fastrand::u64(..1 << 32));
    if let Some(unknown) = arguments.only.iter().find(|only| planted::BUGS.iter().all(|(name, _)| name != only)) {
        bail!("there is no planted bug {unknown:?}");
    }
    let place = WorkPlace::create(&arguments.place, seed)?;
    println!("torture: seed {seed}, planted bugs in {}", arguments.server.display());
    let hunt = Hunt {
        server: existing(&arguments.server)?,
        torture: std::env::current_exe().context("where is this binary?")?,
        each: minutes(arguments.minutes)?,
        seed,
        work_dir: place.path().to_owned(),
        only: arguments.only,
    };
    let catches = planted::hunt(&hunt).await?;
    print!("{}", report::hunt(&catches));
    let good = catches.iter().all(planted::Catch::is_good);
    if let Some(kept) = place.leave(!good)? {
        println!("  kept: {}", kept.display());
    }
    Ok(good)
}

fn check(history: &Path) -> Result<bool> {
    let mut evidence = Evidence::default();
    let directory = history.parent().context("a history lies in a directory")?;
    let stem = history.file_stem().context("not a history file")?.to_string_lossy().into_owned();
    history::load(history, &mut evidence.operations)?;
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.starts_with(&format!("{stem}-worker.")) {
            history::load(&path, &mut evidence.operations)?;
        }
    }
    let logs = std::fs::read(history.with_extension("final.json")).context("cannot read the final logs")?;
    evidence.sessions = serde_json::from_slice(&logs)?;
    let violations = checker::check(&evidence);
    for violation in &violations {
        println!("VIOLATION {violation}");
    }
    println!(
        "{} operations, {} sessions, {} violations",
        evidence.operations.len(),
        evidence.sessions.len(),
        violations.len()
    );
    Ok(violations.is_empty())
}

async fn worker(arguments: WorkerArguments) -> Result<()> {
    let mut input = BufReader::new(tokio::io::stdin());
    let mut token = String::new();
    input.read_line(&mut token).await.context("the first line of stdin is the token")?;
    let (phase, receiver) = watch::channel(Phase::Load);
    let context = RoundContext {
        seed: arguments.seed,
        direct: arguments.server_address,
        proxied: arguments.server_address,
        token: token.trim().to_owned(),
        recorder: Arc::new(Recorder::create(&arguments.history, true)?),
        phase: receiver,
        stuck: Arc::new(Stuck::default()),
    };
    let behavior = WorkerBehavior {
        agent: arguments.agent,
        lease_seconds: arguments.lease_seconds,
        silent_percent: arguments.silent_percent,
        pause_ms_max: arguments.pause_ms_max,
    };
    let mut tasks = JoinSet::new();
    for index in 0..arguments.tasks.min(WORKER_TASKS_MAX) {
        tasks.spawn(workload::work(context.clone(), arguments.process + index, behavior.clone()));
    }
    // The end of stdin is the end of the load; it also comes when the run dies.
    let _ = input.read_to_end(&mut Vec::new()).await;
    phase.send(Phase::Drain(Instant::now() + WORKER_DRAIN))?;
    while tasks.join_next().await.is_some() {}
    context.recorder.finish()?;
    let stuck = context.stuck.take();
    anyhow::ensure!(stuck.is_empty(), "{}", stuck.join("; "));
    Ok(())
}

fn minutes(value: f64) -> Result<Duration> {
    if !(value > 0.0 && value <= MINUTES_MAX) {
        bail!("minutes must lie between 0 and {MINUTES_MAX}");
    }
    Ok(Duration::from_secs_f64(value * 60.0))
}

fn existing(server: &Path) -> Result<PathBuf> {
    server.canonicalize().with_context(|| format!("there is no server binary at {}; build it first", server.display()))
}

/// The work directory of one run; removed unless something was found or it is to be kept.
struct WorkPlace {
    dir: tempfile::TempDir,
    keep: bool,
}

impl WorkPlace {
    fn create(place: &Place, seed: u64) -> Result<Self> {
        let prefix = format!("torture-{seed}-");
        let dir = match &place.work_dir {
            Some(parent) => {
                std::fs::create_dir_all(parent)?;
                // Absolute, because it is passed to mounts and other processes.
                tempfile::Builder::new().prefix(&prefix).tempdir_in(parent.canonicalize()?)
            }
            None => tempfile::Builder::new().prefix(&prefix).tempdir(),
        };
        Ok(Self { dir: dir.context("cannot make a work directory")?, keep: place.keep })
    }

    fn path(&self) -> &Path {
        self.dir.path()
    }

    fn leave(self, found: bool) -> Result<Option<PathBuf>> {
        if found || self.keep {
            return Ok(Some(self.dir.keep()));
        }
        self.dir.close().context("cannot remove the work directory")?;
        Ok(None)
    }
}
