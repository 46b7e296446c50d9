//! The product's command line: the account of a run, and the verification of its data.

use super::server::ServerSpec;
use anyhow::{Context as _, Result, bail};
use std::{
    io::Write as _,
    path::Path,
    process::{Command, Output, Stdio},
    time::{Duration, Instant},
};

/// Longest command.
const COMMAND_MAX: Duration = Duration::from_secs(60);

/// A tenant with an operator's token.
#[derive(Debug, Clone)]
pub struct Account {
    /// API token.
    pub token: String,
}

impl Account {
    /// Makes a user and a token in `tenant`.
    pub fn create(spec: &ServerSpec, data_dir: &Path, tenant: &str) -> Result<Self> {
        let email = format!("{tenant}@torture.invalid");
        let mut user = spec.command(
            &["user", "add", "--tenant", tenant, "--email", &email, "--role", "admin", "--password-stdin"],
            data_dir,
        );
        run(&mut user, b"correct horse battery staple\n")?;
        let mut token =
            spec.command(&["token", "add", "--tenant", tenant, "--name", "torture", "--role", "operator"], data_dir);
        let output = run(&mut token, b"")?;
        let token = String::from_utf8(output.stdout).context("the token is not text")?.trim().to_owned();
        if token.is_empty() || token.contains(char::is_whitespace) {
            bail!("`token add` should print the token alone");
        }
        Ok(Self { token })
    }
}

/// Runs `shiftbook verify`. The error holds what it found.
pub fn verify(spec: &ServerSpec, data_dir: &Path) -> Result<()> {
    run(&mut spec.command(&["verify"], data_dir), b"").map(drop)
}

/// Runs a command with a time limit.
pub(super) fn run(command: &mut Command, input: &[u8]) -> Result<Output> {
    let shown = format!("{command:?}");
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot run {shown}"))?;
    if let Some(mut stdin) = child.stdin.take() {
        // A command that does not read its input closes it; that is no error of ours.
        let _ = stdin.write_all(input);
    }
    let deadline = Instant::now() + COMMAND_MAX;
    while child.try_wait()?.is_none() {
        if Instant::now() > deadline {
            super::signal::kill(&mut child);
            bail!("{shown} did not end within {} s", COMMAND_MAX.as_secs());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let output = child.wait_with_output()?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("{shown} failed ({}): {}", output.status, said.trim().chars().take(500).collect::<String>());
    }
    Ok(output)
}
