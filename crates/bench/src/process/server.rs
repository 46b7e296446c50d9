//! The release server: started on a free port, with an account, ended by its process id.

use super::{Listening, memory_kib};
use crate::http::{Connection, Request};
use anyhow::{Context as _, Result, bail};
use std::{
    fs::OpenOptions,
    net::SocketAddr,
    path::{Path, PathBuf},
    process::Stdio,
    time::{Duration, Instant},
};
use tokio::{io::AsyncWriteExt as _, process::Command, time::sleep};

const TENANT: &str = "bench";
const EMAIL: &str = "bench@example.org";
const PASSWORD: &str = "correct horse battery staple";
/// Pause between two requests while the server starts.
const POLL: Duration = Duration::from_millis(1);
/// Longest time until it answers.
const READY_MAX: Duration = Duration::from_secs(60);

/// How the server is started.
#[derive(Debug, Clone)]
pub struct ServerSpec {
    pub binary: PathBuf,
    /// PostgreSQL, instead of SQLite in the data directory.
    pub database_url: Option<String>,
    /// A file of settings; `None` for the defaults.
    pub config: Option<PathBuf>,
    pub log: PathBuf,
}

impl ServerSpec {
    /// The same server on PostgreSQL.
    pub fn on_postgres(&self, url: &str) -> Self {
        Self { database_url: Some(url.to_owned()), ..self.clone() }
    }

    fn command(&self, data_dir: &Path, arguments: &[&str]) -> Result<Command> {
        let log =
            OpenOptions::new().create(true).append(true).open(&self.log).context("cannot open the server's log")?;
        let mut command = Command::new(&self.binary);
        // What the caller's shell happens to set must not choose another database.
        command.env_clear().args(arguments).arg("--data-dir").arg(data_dir);
        if let Some(url) = &self.database_url {
            command.arg("--database-url").arg(url);
        }
        if let Some(config) = &self.config {
            command.arg("--config").arg(config);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(log);
        Ok(command)
    }

    /// Makes a workspace with an administrator and an operator's token, by the command line.
    pub async fn account(&self, data_dir: &Path) -> Result<Account> {
        let user = ["user", "add", "--tenant", TENANT, "--email", EMAIL, "--role", "admin", "--password-stdin"];
        self.run(data_dir, &user, PASSWORD).await?;
        let token = ["token", "add", "--tenant", TENANT, "--name", "bench", "--role", "operator"];
        Ok(Account { token: self.run(data_dir, &token, "").await?.trim().to_owned() })
    }

    /// Adds members to the workspace of the account, with the addresses of [`person`].
    pub async fn people(&self, data_dir: &Path, count: usize) -> Result<()> {
        for at in 0..count {
            let email = person(at);
            let user = ["user", "add", "--tenant", TENANT, "--email", &email, "--role", "member", "--password-stdin"];
            self.run(data_dir, &user, PASSWORD).await?;
        }
        Ok(())
    }

    /// Runs a command of the program and returns what it prints.
    pub async fn run(&self, data_dir: &Path, arguments: &[&str], input: &str) -> Result<String> {
        let mut child = self.command(data_dir, arguments)?.kill_on_drop(true).spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            // A command that does not read its input closes it; that is no error of ours.
            let _ = stdin.write_all(input.as_bytes()).await;
        }
        let output = child.wait_with_output().await?;
        if !output.status.success() {
            bail!("`shiftbook {}` failed; see {}", arguments.join(" "), self.log.display());
        }
        String::from_utf8(output.stdout).context("the output is not text")
    }
}

/// The address of a person whom [`ServerSpec::people`] adds.
pub fn person(at: usize) -> String {
    format!("person-{at}@example.org")
}

/// The account that the load uses.
#[derive(Debug, Clone)]
pub struct Account {
    pub token: String,
}

/// A running server.
pub struct Server {
    process: Listening,
    /// From the start of the process to its first good answer.
    pub started_in: Duration,
}

impl Server {
    /// Starts it on a free port and waits until it answers.
    pub async fn start(spec: &ServerSpec, data_dir: &Path) -> Result<Self> {
        let began = Instant::now();
        let mut command = spec.command(data_dir, &["serve", "--listen", "127.0.0.1:0"])?;
        let started = Listening::start(&mut command).await;
        let process = started.with_context(|| format!("see {}", spec.log.display()))?;
        let ready = Request::get(process.address, "/readyz", &[]);
        loop {
            let answered = match Connection::open(process.address).await {
                Ok(mut connection) => connection.call(&ready).await.is_ok(),
                Err(_) => false,
            };
            if answered {
                return Ok(Self { process, started_in: began.elapsed() });
            }
            if began.elapsed() > READY_MAX {
                bail!("the server is not ready after {} s", READY_MAX.as_secs());
            }
            sleep(POLL).await;
        }
    }

    pub fn address(&self) -> SocketAddr {
        self.process.address
    }

    pub fn pid(&self) -> u32 {
        self.process.pid
    }

    /// Resident memory now and at most, in MiB.
    pub fn memory_mib(&self) -> Result<(f64, f64)> {
        Ok((memory_kib(self.pid(), "VmRSS")? / 1024.0, memory_kib(self.pid(), "VmHWM")? / 1024.0))
    }

    /// Signs the administrator in and returns the header line of the browser's cookie.
    pub async fn sign_in(&self) -> Result<String> {
        self.sign_in_as(EMAIL).await
    }

    /// The same for another person.
    pub async fn sign_in_as(&self, email: &str) -> Result<String> {
        let form = format!("email={email}&password={}&next=", PASSWORD.replace(' ', "+"));
        let request = Request::form(self.address(), "/sign-in", &form);
        let mut connection = Connection::open(self.address()).await?;
        let answer = connection.call(&request).await?;
        let cookie = answer.header("set-cookie").and_then(|value| value.split(';').next());
        Ok(format!("cookie: {}", cookie.context("signing in gave no cookie")?))
    }

    /// Stops the server with SIGTERM and waits for it.
    pub async fn stop(self) -> Result<()> {
        self.process.stop().await
    }
}
