//! Unit, contract and HTTP tests on both engines, and the examples of the documentation.

use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::build::{TESTED, checked_cargo};
use crate::postgres::URL_VARIABLE;
use crate::process::{capture, run_quietly, run_watched};
use crate::progress::say;
use crate::scratch;
use crate::steps::{Count, Runner, count_in_line, failed_in_line, slow_in_line};
use crate::workspace::{cargo, command, root};

/// Environment variable: a file to which each test that cannot run on this machine appends a line. Test runners show
/// no output of tests that pass.
const NOT_TESTED_VARIABLE: &str = "SHIFTBOOK_NOT_TESTED_FILE";

/// The test program of the contract. Its scenarios are half of all tests, and a process for each took a tenth of their
/// processor time.
const CONTRACT: &str = "contract";
/// Folder of its package, in which cargo runs it.
const CONTRACT_PACKAGE: &str = "crates/testkit";
/// Longest silence of that program: a scenario that hangs ends the run as a failure. The limit of nextest, which writes
/// nothing while tests pass, is in `.config/nextest.toml`.
const SILENCE_MAX: Duration = Duration::from_secs(240);

/// One call of a test runner.
struct Call {
    runner: Runner,
    command: Command,
    silence: Option<Duration>,
}

/// Runs all of them. nextest where it is installed, because it tells slow and stuck tests apart; the contract in one
/// process; documentation examples always by cargo itself.
pub fn check(postgres_url: &str, tests: &mut Option<Count>) -> Result<()> {
    let mut total = Count::default();
    let mut outcome = Ok(());
    let mut failed = BTreeSet::new();
    let not_tested = tempfile::NamedTempFile::new_in(scratch::folder())?;
    for Call { runner, mut command, silence } in calls()? {
        command.env(URL_VARIABLE, postgres_url).env(NOT_TESTED_VARIABLE, not_tested.path());
        if std::io::stdout().is_terminal() {
            command.env("CARGO_TERM_COLOR", "always");
        }
        let mut slow = BTreeSet::new();
        let mut has_failed = false;
        let result = run_watched(&mut command, silence, &mut |line| {
            if let Some(count) = count_in_line(runner, line) {
                total.add(count);
            }
            slow.extend(slow_in_line(line).map(str::to_owned));
            if let Some(name) = failed_in_line(line) {
                has_failed = true;
                failed.insert(name.to_owned());
            }
        });
        if result.is_err() && !has_failed {
            // One of these hangs, or has ended the process with all others in it.
            failed.extend(slow.into_iter().map(|name| format!("{name} (was still running)")));
        }
        outcome = outcome.and(result);
    }
    *tests = Some(total);
    for line in std::fs::read_to_string(not_tested.path())?.lines() {
        say(&format!("    not tested: {line}"));
    }
    if !failed.is_empty() {
        let names = failed.into_iter().collect::<Vec<_>>().join("\n    ");
        bail!("these did not pass:\n    {names}");
    }
    outcome?;
    if total == Count::default() {
        bail!("no test ran");
    }
    Ok(())
}

/// The calls that run each test once.
fn calls() -> Result<Vec<Call>> {
    let has_nextest = run_quietly(cargo().args(["nextest", "--version"]), None).is_ok();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    // Two threads per core: these tests wait for servers, leases and restarts almost half of the time.
    let threads = (2 * cores).to_string();
    // Scenarios of the contract wait for the database alone.
    let contract_threads = (cores + cores.div_ceil(2)).to_string();
    let of_cargo = |arguments: &[&str]| {
        let mut command = checked_cargo();
        command.args(arguments).args(TESTED);
        command
    };
    let by_cargo = |targets: &[&str]| {
        let mut command = of_cargo(&["test", "--no-fail-fast"]);
        command.args(targets);
        Call { runner: Runner::Cargo, command, silence: None }
    };
    let mut calls = Vec::new();
    if has_nextest {
        let mut others = of_cargo(&["nextest", "run", "--no-fail-fast", "--test-threads", &threads]);
        others.args(["--filterset", &format!("not binary({CONTRACT})")]);
        calls.push(Call { runner: Runner::Nextest, command: others, silence: None });
        let mut contract = command(contract_program()?);
        let package = root().join(CONTRACT_PACKAGE);
        contract.current_dir(&package).env("CARGO_MANIFEST_DIR", &package);
        contract.args(["--quiet", "--test-threads", &contract_threads]);
        calls.push(Call { runner: Runner::Cargo, command: contract, silence: Some(SILENCE_MAX) });
    } else {
        calls.push(by_cargo(&["--lib", "--bins", "--tests"]));
    }
    calls.push(by_cargo(&["--doc"]));
    Ok(calls)
}

/// The program of the contract tests as the step `compile` has built it. Cargo cannot run it alone: with fewer tests
/// chosen, its crates get other features and are compiled once more.
fn contract_program() -> Result<String> {
    let mut built = checked_cargo();
    built.args(["test", "--no-run", "--message-format", "json"]).args(TESTED).args(["--lib", "--bins", "--tests"]);
    capture(&mut built)?.lines().find_map(executable).context("cargo has built no contract tests")
}

/// The program that a message of cargo reports, if it is that of the contract tests.
fn executable(line: &str) -> Option<String> {
    let message: Value = serde_json::from_str(line).ok()?;
    let is_contract = message["reason"] == "compiler-artifact" && message["target"]["name"] == CONTRACT;
    is_contract.then(|| message["executable"].as_str().map(str::to_owned))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_of_the_contract_is_found_among_the_messages_of_cargo() {
        let line = r#"{"reason":"compiler-artifact","target":{"name":"contract"},"executable":"/t/contract-1"}"#;
        assert_eq!(executable(line).as_deref(), Some("/t/contract-1"));
        for other in [
            r#"{"reason":"compiler-artifact","target":{"name":"http"},"executable":"/t/http-1"}"#,
            r#"{"reason":"build-finished","success":true}"#,
            "   Compiling testkit",
        ] {
            assert_eq!(executable(other), None, "{other}");
        }
    }
}
