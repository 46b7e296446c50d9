//! `cargo xtask torture [--minutes N] [--seed S]`: faults injected into the release binary, and the history checked.
//!
//! `--postgres` runs it on a throw-away PostgreSQL instead of SQLite. `planted [--only BUG]` builds a server with
//! planted bugs and fails unless the harness finds each. All other arguments go to the binary `torture` as they are.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Seek as _;
use std::process::Command;
use std::thread::JoinHandle;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};

use crate::build::Build;
use crate::postgres::Postgres;
use crate::process::{run, run_quietly};
use crate::progress::{announced, say, seconds};
use crate::workspace::{cargo, command as program, package_with_binary, target};

/// Minutes of torture on PostgreSQL.
const POSTGRES_MINUTES: &str = "0.75";

pub fn command(arguments: &[String]) -> Result<()> {
    if arguments.first().is_some_and(|first| first == "planted") {
        return planted(&arguments[1..]);
    }
    crate::build::build()?;
    let mut arguments = arguments.to_vec();
    let before = arguments.len();
    arguments.retain(|argument| argument != "--postgres");
    let postgres = if arguments.len() < before { Some(Postgres::start()?) } else { None };
    if let Some(postgres) = &postgres {
        arguments.extend(["--database-url".to_owned(), postgres.url()]);
    }
    run(&mut call(Build::Release, &arguments)?)
}

/// What `cargo xtask test` runs against the binary that is already built: two minutes on SQLite, and beside it one pass
/// through what can be done to a server on PostgreSQL. Both have a fixed duration and leave half of two cores idle, so
/// it runs beside another step.
pub struct Tier {
    run: JoinHandle<Result<()>>,
    started: Instant,
    /// Output of the part on SQLite.
    log: File,
}

impl Tier {
    pub fn start(build: Build, postgres_url: &str) -> Result<Tier> {
        let seed = std::env::var("SHIFTBOOK_TORTURE_SEED").or_else(|_| fresh_seed())?;
        say(&format!("    torture with seed {seed}; again with: cargo xtask torture --tier test --seed {seed}"));
        say(&format!(
            "    on PostgreSQL beside it; again with: cargo xtask torture --postgres --minutes {POSTGRES_MINUTES} --seed {seed}"
        ));
        let mut on_sqlite = call(build, &["--tier", "test", "--seed", &seed])?;
        let mut on_postgres =
            call(build, &["--minutes", POSTGRES_MINUTES, "--seed", &seed, "--database-url", postgres_url])?;
        let log = tempfile::tempfile()?;
        on_sqlite.stdout(log.try_clone()?).stderr(log.try_clone()?);
        let run = std::thread::spawn(move || {
            std::thread::scope(|scope| {
                let beside = scope.spawn(|| run_quietly(&mut on_postgres, None));
                let outcome = run(&mut on_sqlite);
                let Ok(of_postgres) = beside.join() else { bail!("torture on PostgreSQL panicked") };
                outcome.and(of_postgres)
            })
        });
        Ok(Tier { run, started: Instant::now(), log })
    }

    /// Waits for its end and shows what it wrote.
    pub fn finish(mut self) -> Result<()> {
        let Ok(outcome) = self.run.join() else { bail!("torture panicked") };
        self.log.rewind()?;
        std::io::copy(&mut self.log, &mut std::io::stdout())?;
        if outcome.is_ok() {
            say(&format!("    on PostgreSQL: nothing found; {} in all", seconds(self.started.elapsed())));
        }
        outcome
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a fresh seed per run is wanted; it is printed, so every run can be repeated"
)]
fn fresh_seed() -> Result<String> {
    Ok(SystemTime::now().duration_since(UNIX_EPOCH)?.subsec_nanos().to_string())
}

fn call(build: Build, arguments: &[impl AsRef<OsStr>]) -> Result<Command> {
    let mut harness = match build {
        Build::Release | Build::First => harness()?,
        Build::Tests => program(build.program("torture")),
    };
    crate::scratch::on_disk(&mut harness).args(["run", "--server"]).arg(build.shiftbook()).args(arguments);
    Ok(harness)
}

fn planted(arguments: &[String]) -> Result<()> {
    // In a target directory of its own, so that the binary with planted bugs is not used as the product.
    announced("compile a server with planted bugs", || {
        run(cargo()
            .args(["build", "--release", "--package", "server", "--features", "planted-bugs", "--target-dir"])
            .arg(target("planted")))
    })?;
    let mut harness = harness()?;
    crate::scratch::on_disk(&mut harness).args(["planted", "--server"]).arg(target("planted/release/shiftbook"));
    run(harness.args(arguments))
}

fn harness() -> Result<Command> {
    let package = package_with_binary("torture")?.context("no package has a binary `torture`")?;
    let mut torture = cargo();
    torture.args(["run", "--release", "--package", &package, "--bin", "torture", "--"]);
    Ok(torture)
}
