//! The server under test: a child process that is started, stopped, killed and started again.

use super::signal;
use anyhow::{Context as _, Result, bail};
use std::{
    fs::OpenOptions,
    io::{BufRead as _, BufReader, Read as _},
    net::{Ipv4Addr, SocketAddr, TcpListener},
    os::unix::process::CommandExt as _,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};
use tokio::{sync::oneshot, time::timeout};

/// Longest start, recovery included.
const START_MAX: Duration = Duration::from_secs(20);
/// Ports below Linux's ephemeral range: while the server is down, no client can be given its port.
const PORTS: std::ops::Range<u16> = 20_000..32_000;

/// How the server is started.
#[derive(Debug, Clone)]
pub struct ServerSpec {
    /// Path of the server binary.
    pub binary: PathBuf,
    /// PostgreSQL, instead of SQLite in the data directory.
    pub database_url: Option<String>,
    /// The bug to plant, for binaries built with `planted-bugs`.
    pub planted: Option<String>,
    /// File for its standard error.
    pub log: PathBuf,
}

impl ServerSpec {
    /// A command of the binary on a data directory.
    pub fn command(&self, arguments: &[&str], data_dir: &Path) -> Command {
        let mut command = Command::new(&self.binary);
        command.args(arguments).arg("--data-dir").arg(data_dir);
        if let Some(url) = &self.database_url {
            command.arg("--database-url").arg(url);
        }
        // What the caller's shell happens to set must not choose another database, or plant a bug.
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("SHIFTBOOK_") {
                command.env_remove(name);
            }
        }
        if let Some(bug) = &self.planted {
            command.env("SHIFTBOOK_PLANTED_BUG", bug);
        }
        // Long runs: a line per request would fill the disk.
        command.env("SHIFTBOOK_LOG", "warn");
        // A group of its own: Ctrl-C reaches only us, and we clean up in order.
        command.process_group(0);
        command
    }
}

/// A server on one address.
pub struct Server {
    spec: ServerSpec,
    /// The server's data directory.
    pub data_dir: PathBuf,
    /// The address, which is the same after each restart.
    pub listen: SocketAddr,
    child: Option<Child>,
}

impl Server {
    /// A server that is not started yet.
    pub fn new(spec: ServerSpec, data_dir: PathBuf, listen: SocketAddr) -> Self {
        Self { spec, data_dir, listen, child: None }
    }

    /// How the server is started.
    pub fn spec(&self) -> &ServerSpec {
        &self.spec
    }

    /// Starts it and waits for the address on its first line. Returns how long that took.
    pub async fn start(&mut self) -> Result<Duration> {
        let began = Instant::now();
        let log = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&self.spec.log)
            .context("cannot open the server's log")?;
        let mut command = self.spec.command(&["serve", "--listen", &self.listen.to_string()], &self.data_dir);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log);
        let mut child = command.spawn().with_context(|| format!("cannot start {}", self.spec.binary.display()))?;
        let stdout = child.stdout.take().context("no stdout")?;
        self.child = Some(child);
        let (sender, first_line) = oneshot::channel();
        std::thread::spawn(move || {
            let mut reader = BufReader::new(stdout);
            let mut line = String::new();
            let read = reader.read_line(&mut line).map(|_| line);
            let _ = sender.send(read);
            // Keep the pipe empty for as long as the server lives.
            let mut rest = [0; 4096];
            while matches!(reader.read(&mut rest), Ok(count) if count > 0) {}
        });
        let line = timeout(START_MAX, first_line).await.context("the server printed nothing in 20 s")???;
        let printed = line.trim().strip_prefix("http://").and_then(|address| address.parse::<SocketAddr>().ok());
        if printed != Some(self.listen) {
            bail!("the server should print http://{} as its first line, but printed {line:?}", self.listen);
        }
        Ok(began.elapsed())
    }

    /// kill -9.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            signal::kill(&mut child);
        }
    }

    /// SIGSTOP.
    pub async fn stop(&self) -> Result<()> {
        signal::stop(self.child.as_ref().context("the server is not running")?).await
    }

    /// SIGCONT.
    pub fn resume(&self) -> Result<()> {
        signal::resume(self.child.as_ref().context("the server is not running")?)
    }

    /// The exit status if the process ended by itself.
    pub fn died(&mut self) -> Option<String> {
        let status = self.child.as_mut()?.try_wait().ok()??;
        Some(status.to_string())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A free loopback address outside the ephemeral range. Not from the seed: two runs may share one.
pub fn free_port() -> Result<SocketAddr> {
    for _ in 0..200 {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, fastrand::u16(PORTS)));
        if TcpListener::bind(address).is_ok() {
            return Ok(address);
        }
    }
    bail!("no free port between {} and {}", PORTS.start, PORTS.end)
}
