//! Other processes: the server under test, its command line, nginx, references in Node, and what they cost.

mod nginx;
mod probe;
mod reference;
mod server;
mod usage;

pub use nginx::Nginx;
pub use probe::ProbeProcess;
pub use reference::{References, figure};
pub use server::{Account, Server, ServerSpec, person};
pub use usage::{Usage, machine_and_ours, memory_kib, own_usage, usage};

use anyhow::{Context as _, Result, bail};
use rustix::process::{Pid, Signal, kill_process};
use std::{net::SocketAddr, time::Duration};
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::{Child, ChildStdout, Command},
    time::timeout,
};

/// Longest start.
const START_MAX: Duration = Duration::from_secs(60);
/// Longest orderly end.
const STOP_MAX: Duration = Duration::from_secs(20);

/// A child that listens on loopback and says where on its first line.
struct Listening {
    child: Child,
    pid: u32,
    address: SocketAddr,
    /// Held open: a child must not die of a closed pipe.
    _stdout: BufReader<ChildStdout>,
}

impl Listening {
    async fn start(command: &mut Command) -> Result<Self> {
        let shown = format!("{:?}", command.as_std());
        let mut child = command.kill_on_drop(true).spawn().with_context(|| format!("cannot run {shown}"))?;
        let mut stdout = BufReader::new(child.stdout.take().context("no stdout")?);
        let mut line = String::new();
        timeout(START_MAX, stdout.read_line(&mut line)).await.with_context(|| format!("{shown} printed nothing"))??;
        let Some(address) = line.trim().strip_prefix("http://").and_then(|text| text.parse().ok()) else {
            bail!("{shown} printed {line:?} instead of its address");
        };
        let pid = child.id().context("it ended at once")?;
        Ok(Self { child, pid, address, _stdout: stdout })
    }

    async fn stop(mut self) -> Result<()> {
        end(&mut self.child).await
    }
}

/// Asks a child to end, waits for it, and insists.
async fn end(child: &mut Child) -> Result<()> {
    let pid = child.id().and_then(|pid| Pid::from_raw(pid.try_into().ok()?));
    if let Some(pid) = pid {
        kill_process(pid, Signal::TERM)?;
    }
    if timeout(STOP_MAX, child.wait()).await.is_err() {
        child.kill().await?;
        bail!("a process did not end within {} s", STOP_MAX.as_secs());
    }
    Ok(())
}
