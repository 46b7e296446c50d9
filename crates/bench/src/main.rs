//! Measures the release server beside the bare engines: `cargo xtask bench [--quick]`. Figures are ratios within one
//! run.

mod event;
mod goal;
mod histogram;
mod http;
mod ids;
mod load;
mod probe;
mod process;
mod raw;
mod report;
mod seed;

use anyhow::{Context as _, Result, bail};
use clap::{Parser, Subcommand};
use goal::{Bench, Plan};
use load::{AppendScript, PairScript, Window};
use process::{References, ServerSpec};
use std::{
    collections::BTreeSet,
    net::SocketAddr,
    path::{Path, PathBuf},
    time::Duration,
};
use tokio::net::TcpListener;

/// Open files that 1,000 followers and everything else need.
const FILES: u64 = 8_192;
/// Lines of the server's log that are shown when something broke.
const LOG_LINES: usize = 10;

/// Measures the server against its goals
#[derive(Debug, Parser)]
#[command(name = "bench")]
struct Cli {
    /// About two minutes: shorter windows, shorter histories
    #[arg(long)]
    quick: bool,
    /// The server's release binary
    #[arg(long, value_name = "PATH", default_value = "target/release/shiftbook")]
    server: PathBuf,
    /// A PostgreSQL server in which databases may be made and dropped
    #[arg(long, value_name = "URL", env = "SHIFTBOOK_TEST_POSTGRES_URL", hide_env_values = true)]
    postgres_url: Option<String>,
    /// Only these goals, e.g. G1,G4; writes no report unless --report is given
    #[arg(long, value_name = "GOALS", value_delimiter = ',')]
    only: Vec<String>,
    /// Where the report goes
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Figures that a browser measured, as the benchmarks below `end2end/bench` leave them
    #[arg(long, value_name = "FILE")]
    browser: Option<PathBuf>,
    /// The program that renders a page and nothing else (`app/examples/render_page`)
    #[arg(long)]
    renderer: Option<PathBuf>,
    /// The program that writes and reads training data and nothing else (`datalake-probe`)
    #[arg(long)]
    datalake_probe: Option<PathBuf>,
    /// The program that scores candidates and nothing else (`crates/ranker/examples/ranker_probe.rs`)
    #[arg(long)]
    ranker_probe: Option<PathBuf>,
    /// The program that appends to UmaDB (`crates/bench/reference/umadb`); without it G2 is left out
    #[arg(long)]
    umadb: Option<PathBuf>,
    /// Folder of a static model; with it the questions in memory are also asked of a server that compares vectors
    #[arg(long, value_name = "DIR")]
    embedding_model: Option<PathBuf>,
    /// graphile-worker and Svelte, installed by `npm ci` (`crates/bench/reference`); without it they are constants
    #[arg(long, value_name = "DIR")]
    reference_dir: Option<PathBuf>,
    /// Where data directories are made: the disk that is measured
    #[arg(long, value_name = "DIR")]
    work_dir: Option<PathBuf>,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Append to a running server, one event per request unless --batch says more: a load to profile under
    Append {
        #[command(flatten)]
        target: Target,
        /// Events of one request
        #[arg(long, default_value_t = 1)]
        batch: usize,
    },
    /// Claim and complete the pending sessions of an agent on a running server
    Claim {
        #[command(flatten)]
        target: Target,
        /// The agent whose sessions are claimed; they are made beforehand
        #[arg(long)]
        agent: String,
    },
    /// Be the probe that goal G11 compares with
    #[command(hide = true)]
    Probe {
        #[arg(long)]
        data_dir: PathBuf,
        #[arg(long)]
        page: Option<PathBuf>,
    },
}

#[derive(Debug, clap::Args)]
struct Target {
    /// `http://127.0.0.1:PORT`
    #[arg(long)]
    url: String,
    /// An operator's token
    #[arg(long)]
    token: String,
    /// The server's process, whose CPU time is shown
    #[arg(long, default_value_t = std::process::id())]
    pid: u32,
    #[arg(long, default_value_t = 8)]
    connections: usize,
    #[arg(long, default_value_t = 10)]
    seconds: u64,
}

impl Target {
    fn address(&self) -> Result<SocketAddr> {
        let address = self.url.trim_end_matches('/').strip_prefix("http://").and_then(|text| text.parse().ok());
        address.with_context(|| format!("{} is not http://ADDRESS:PORT", self.url))
    }

    fn window(&self) -> Window {
        Window { warm: Duration::ZERO, measure: Duration::from_secs(self.seconds) }
    }
}

fn main() -> Result<()> {
    let cli = Cli::parse();
    let is_probe = matches!(cli.command, Some(Command::Probe { .. }));
    // One thread drives the load: the server shares the cores. The probe replaces a server and gets both.
    let mut runtime = if is_probe {
        tokio::runtime::Builder::new_multi_thread()
    } else {
        tokio::runtime::Builder::new_current_thread()
    };
    allow_open_files();
    runtime.enable_all().build()?.block_on(dispatch(cli))
}

async fn dispatch(cli: Cli) -> Result<()> {
    match &cli.command {
        None => measure(&cli).await,
        Some(Command::Probe { data_dir, page }) => be_probe(data_dir, page.as_deref()).await,
        Some(Command::Append { target, batch }) => {
            let address = target.address()?;
            let held = load::claimed_sessions(address, &target.token, target.connections).await?;
            let scripts = held.iter().map(|held| AppendScript::new(address, &target.token, held, *batch)).collect();
            let (load, _) = load::run(address, scripts, target.window(), target.pid).await?;
            println!("{:.0} events/s; {}", load.per_second(), load.facts("event"));
            Ok(())
        }
        Some(Command::Claim { target, agent }) => {
            let address = target.address()?;
            let scripts = (0..target.connections).map(|_| PairScript::new(address, &target.token, agent)).collect();
            let (load, _) = load::run(address, scripts, target.window(), target.pid).await?;
            println!("{:.0} pairs/s; {}", load.per_second(), load.facts("pair"));
            Ok(())
        }
    }
}

async fn measure(cli: &Cli) -> Result<()> {
    let binary = cli.server.canonicalize().with_context(|| format!("no server at {}", cli.server.display()))?;
    let parent = cli.work_dir.clone().unwrap_or_else(std::env::temp_dir);
    let work = tempfile::Builder::new().prefix("shiftbook-bench-").tempdir_in(parent)?;
    let path = work.path().to_owned();
    let run = report::Run::begin(command_line(), raw::disk::sync_us(&path)?)?;
    let log = path.join("server.log");
    let mut bench = Bench {
        plan: if cli.quick { Plan::QUICK } else { Plan::FULL },
        work: path.clone(),
        spec: ServerSpec { binary, database_url: None, config: None, log: log.clone() },
        postgres_url: cli.postgres_url.clone(),
        renderer: cli.renderer.clone(),
        datalake_probe: cli.datalake_probe.clone(),
        ranker_probe: cli.ranker_probe.clone(),
        umadb: cli.umadb.clone(),
        embedding_model: cli.embedding_model.clone(),
        references: cli.reference_dir.as_deref().map(References::open).transpose()?,
        only: cli.only.iter().map(|goal| goal.trim().to_uppercase()).collect::<BTreeSet<_>>(),
        findings: Vec::new(),
    };
    bench.run().await;
    if let Some(file) = &cli.browser {
        goal::browser::read(&mut bench, file)?;
    }
    if bench.findings.iter().any(|finding| finding.broken.is_some()) {
        let text = std::fs::read_to_string(&log).unwrap_or_default();
        let tail: Vec<&str> = text.lines().rev().take(LOG_LINES).collect();
        eprintln!("the server's log ends with:\n{}", tail.into_iter().rev().collect::<Vec<_>>().join("\n"));
    }
    println!("{}", report::table(&bench.findings));
    let run = run.end(raw::disk::sync_us(&path)?)?;
    let default = cli.only.is_empty().then(|| PathBuf::from("docs/benchmarks.md"));
    if let Some(file) = cli.report.clone().or(default) {
        report::write(&file, &run, &bench.findings)?;
        println!("written to {}", file.display());
    }
    Ok(())
}

/// The command that a reader can repeat.
fn command_line() -> String {
    let words: Vec<String> = std::env::args().skip(1).collect();
    // Where the server and the database happened to be is of no use elsewhere.
    let mut shown = vec!["cargo xtask bench".to_owned()];
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        if matches!(
            word.as_str(),
            "--server"
                | "--postgres-url"
                | "--report"
                | "--work-dir"
                | "--browser"
                | "--renderer"
                | "--datalake-probe"
                | "--ranker-probe"
                | "--reference-dir"
        ) {
            words.next();
        } else {
            shown.push(word);
        }
    }
    shown.join(" ")
}

async fn be_probe(data_dir: &Path, page: Option<&Path>) -> Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}", listener.local_addr()?);
    let page = page.map(std::fs::read).transpose()?.unwrap_or_default();
    probe::serve(listener, data_dir.to_owned(), page.into()).await?;
    bail!("the probe's listener ended")
}

/// Many systems start processes with 1,024 and let them ask for more.
fn allow_open_files() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let wanted = limit.maximum.map_or(FILES, |hard| hard.min(FILES));
    if limit.current.is_some_and(|soft| soft < wanted) {
        // Where it is refused, the first connection too many says so.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), ..limit });
    }
}
