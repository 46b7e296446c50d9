//! The build tool of Shiftbook: `cargo xtask run`, `test`, `build`, `e2e`, `tidy`, `bench`, `shots`, `torture`.
//!
//! Each command has a file. Commands start other programs through `process`, which stops them when xtask is
//! interrupted.

mod bench;
mod beside;
mod build;
mod demo;
mod demo_canvas;
mod demo_tools;
mod e2e;
mod embedding;
mod examples;
mod footprint;
mod hosts;
mod lint;
mod postgres;
mod prerequisites;
mod process;
mod progress;
mod run;
mod rust_tests;
mod schemathesis;
mod scratch;
mod scripted_model;
mod served;
mod shots;
mod site;
mod steps;
mod test;
mod tidy;
mod torture;
mod trl;
mod wasm_target;
mod workspace;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

/// Builds, runs and tests Shiftbook.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Build everything and serve it; the first run makes a demo workspace.
    Run(run::Options),
    /// Run every check: format, clippy, tidy, tests on both engines, sizes, torture, browsers, examples.
    Test(test::Options),
    /// Build target/release/shiftbook, one binary with the site inside.
    Build,
    /// Run the end-to-end tests in a real Chromium; further arguments go to Playwright.
    E2e(PassedOn),
    /// Check the rules of this repository that compilers do not know.
    Tidy(tidy::Options),
    /// Measure the release build against the bare engine; arguments go to the binary `bench`.
    Bench(PassedOn),
    /// Take the screenshots of README and docs, of the demo workspace.
    Shots(shots::Options),
    /// Inject faults and check the history; see xtask/src/torture.rs for its arguments.
    Torture(PassedOn),
}

#[derive(clap::Args)]
struct PassedOn {
    /// Arguments for the program.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

fn main() -> ExitCode {
    match dispatch(Arguments::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) if process::interrupted() => {
            eprintln!("interrupted");
            ExitCode::from(130)
        }
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(command: Command) -> Result<()> {
    process::stop_children_on_interrupt()?;
    match command {
        Command::Run(options) => run::run(&options),
        Command::Test(options) => test::test(&options),
        Command::Build => build::build(),
        Command::E2e(PassedOn { arguments }) => e2e::command(&arguments),
        Command::Tidy(options) => tidy::command(&options),
        Command::Bench(PassedOn { arguments }) => bench::bench(&arguments),
        Command::Shots(options) => shots::shots(&options),
        Command::Torture(PassedOn { arguments }) => torture::command(&arguments),
    }
}
