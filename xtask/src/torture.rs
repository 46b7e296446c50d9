//! `cargo xtask torture [--minutes N] [--seed S]`: faults injected into the release binary, and the history checked.
//!
//! `--postgres` runs it on a throw-away PostgreSQL instead of SQLite. `planted [--only BUG]` builds a server with
//! planted bugs and fails unless the harness finds each. All other arguments go to the binary `torture` as they are.

use std::process::Command;

use anyhow::{Context, Result};

use crate::build::Build;
use crate::postgres::Postgres;
use crate::process::{run, run_quietly};
use crate::progress::announced;
use crate::workspace::{cargo, command as program, package_with_binary, target};

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
    torture(Build::Release, &arguments)
}

/// Runs it against the binary that is already built.
pub fn torture(build: Build, arguments: &[String]) -> Result<()> {
    run(&mut call(build, arguments)?)
}

/// Runs torture; its output is shown only if it fails.
pub fn quietly(build: Build, arguments: &[String]) -> Result<()> {
    run_quietly(&mut call(build, arguments)?, None)
}

fn call(build: Build, arguments: &[String]) -> Result<Command> {
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
