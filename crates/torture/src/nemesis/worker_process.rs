//! Workers in processes of their own, so that they can be stopped and killed like real ones.

use super::signal;
use crate::workload::WorkerBehavior;
use anyhow::{Context as _, Result};
use std::{
    io::Write as _,
    net::SocketAddr,
    os::unix::process::CommandExt as _,
    path::PathBuf,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

/// Most clients in one worker process; their numbers in the history follow the process's first.
pub const WORKER_TASKS_MAX: u32 = 10;
/// Longest wait for a worker to end after its input was closed.
const END_MAX: Duration = Duration::from_secs(20);

/// How a worker process is started.
#[derive(Debug, Clone)]
pub struct WorkerSpec {
    /// Path of the binary `torture`.
    pub binary: PathBuf,
    /// Address of the server.
    pub server: SocketAddr,
    /// API token, passed on standard input, so that process lists do not show it.
    pub token: String,
    /// Seed of the round.
    pub seed: u64,
    /// Process number of its first client in the history.
    pub process: u32,
    /// Number of clients.
    pub tasks: u32,
    /// File for its history.
    pub history: PathBuf,
    /// Behavior of its clients.
    pub behavior: WorkerBehavior,
}

/// A running worker process. Closing its stdin ends it, so it also ends when we die.
pub struct WorkerProcess {
    child: Child,
}

impl WorkerProcess {
    /// Starts `torture worker`.
    pub fn start(spec: &WorkerSpec) -> Result<Self> {
        let mut child = Command::new(&spec.binary)
            .arg("worker")
            .args(["--server-address", &spec.server.to_string()])
            .args(["--seed", &spec.seed.to_string()])
            .args(["--process", &spec.process.to_string()])
            .args(["--tasks", &spec.tasks.to_string()])
            .args(["--agent", &spec.behavior.agent])
            .args(["--lease-seconds", &spec.behavior.lease_seconds.to_string()])
            .args(["--silent-percent", &spec.behavior.silent_percent.to_string()])
            .args(["--pause-ms-max", &spec.behavior.pause_ms_max.to_string()])
            .arg("--history")
            .arg(&spec.history)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .process_group(0)
            .spawn()
            .context("cannot start a worker process")?;
        let stdin = child.stdin.as_mut().context("no stdin")?;
        writeln!(stdin, "{}", spec.token).context("the worker process ended at once")?;
        Ok(Self { child })
    }

    /// SIGSTOP.
    pub async fn stop(&self) -> Result<()> {
        signal::stop(&self.child).await
    }

    /// SIGCONT.
    pub fn resume(&self) -> Result<()> {
        signal::resume(&self.child)
    }

    /// kill -9.
    pub fn kill(mut self) {
        signal::kill(&mut self.child);
    }

    /// Tells it to finish; call `wait` afterwards.
    pub fn close(&mut self) {
        drop(self.child.stdin.take());
    }

    /// Waits until it ended, and kills it when it does not.
    pub async fn wait(mut self) -> Result<()> {
        let deadline = Instant::now() + END_MAX;
        loop {
            if let Some(status) = self.child.try_wait()? {
                anyhow::ensure!(status.success(), "a worker process ended with {status}");
                return Ok(());
            }
            anyhow::ensure!(Instant::now() < deadline, "a worker process did not end");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

impl Drop for WorkerProcess {
    fn drop(&mut self) {
        signal::kill(&mut self.child);
    }
}
