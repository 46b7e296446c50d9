//! Signals to processes that this run started, by pid.

use anyhow::{Context as _, Result, bail};
use rustix::process::{Pid, Signal, kill_process};
use std::{process::Child, time::Duration};
use tokio::time::{Instant, sleep};

/// Longest wait for every thread of a process to stop.
const STOP_MAX: Duration = Duration::from_secs(5);

/// SIGSTOP, and waits until no thread of the process runs: threads inside an fsync finish it first.
pub async fn stop(child: &Child) -> Result<()> {
    send(child, Signal::STOP)?;
    let deadline = Instant::now() + STOP_MAX;
    while !all_stopped(child.id())? {
        if Instant::now() > deadline {
            bail!("process {} did not stop", child.id());
        }
        sleep(Duration::from_millis(1)).await;
    }
    Ok(())
}

/// SIGCONT.
pub fn resume(child: &Child) -> Result<()> {
    send(child, Signal::CONT)
}

/// SIGKILL, and reaps it. Works on a stopped process too.
pub fn kill(child: &mut Child) {
    // Both fail only when the process is gone already, which is what is wanted.
    let _ = child.kill();
    let _ = child.wait();
}

fn send(child: &Child, signal: Signal) -> Result<()> {
    let raw = i32::try_from(child.id()).context("pid out of range")?;
    let pid = Pid::from_raw(raw).context("pid 0")?;
    kill_process(pid, signal).with_context(|| format!("cannot signal process {raw}"))
}

fn all_stopped(pid: u32) -> Result<bool> {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).context("the process is gone")?;
    for task in tasks {
        let Ok(text) = std::fs::read_to_string(task?.path().join("stat")) else { continue };
        // The state follows the command name, which is in parentheses and may contain anything.
        let state = text.rsplit_once(')').and_then(|(_, rest)| rest.trim_start().chars().next());
        if !matches!(state, Some('T' | 't' | 'Z' | 'X')) {
            return Ok(false);
        }
    }
    Ok(true)
}
