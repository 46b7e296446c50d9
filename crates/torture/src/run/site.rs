//! A server with its data, its proxy and its account.

use super::Options;
use crate::{
    checker::{Check, FinalSession, Violation},
    client::{Api, Connection},
    counters::Counters,
    history::Recorder,
    nemesis::{Account, Proxy, Server, ServerSpec, free_port, verify},
};
use anyhow::{Context as _, Result};
use std::{
    fs::File,
    io::{Read as _, Seek as _, SeekFrom},
    path::{Path, PathBuf},
    sync::Arc,
};
use tokio::task::block_in_place;
use uuid::Uuid;

/// Old sessions that are looked at again when the run ends.
const SEALED_MAX: usize = 500;

/// A server ready for rounds.
pub struct Site {
    /// The process.
    pub server: Server,
    /// The proxy that cuts connections.
    pub proxy: Proxy,
    /// API token.
    pub token: String,
    /// The tenant the token belongs to.
    pub tenant: Uuid,
    sealed: Vec<(Uuid, u64, String)>,
    work_dir: PathBuf,
    log_read: u64,
}

/// How this run starts its server.
pub fn spec(options: &Options) -> ServerSpec {
    ServerSpec {
        binary: options.server.clone(),
        database_url: options.database_url.clone(),
        planted: options.planted.clone(),
        log: options.work_dir.join("server.log"),
    }
}

/// A tenant of this run's own: a PostgreSQL database may be used by several runs.
pub fn tenant_name(seed: u64) -> String {
    format!("torture-{seed:x}-{}", std::process::id())
}

impl Site {
    /// Account, server, proxy, on a data directory inside the work directory.
    pub async fn create(options: &Options, name: &str, counters: Arc<Counters>) -> Result<Self> {
        let data_dir = options.work_dir.join(name);
        let account = Self::account(options, &data_dir)?;
        Self::open(options, data_dir, account, counters).await
    }

    /// The account alone, by the command line.
    pub fn account(options: &Options, data_dir: &Path) -> Result<Account> {
        std::fs::create_dir_all(data_dir)?;
        block_in_place(|| Account::create(&spec(options), data_dir, &tenant_name(options.seed)))
    }

    /// Starts the server on data that has an account.
    pub async fn open(options: &Options, data_dir: PathBuf, account: Account, counters: Arc<Counters>) -> Result<Self> {
        let mut server = Server::new(spec(options), data_dir, free_port()?);
        server.start().await?;
        let proxy = Proxy::start(server.listen, counters).await?;
        let work_dir = options.work_dir.clone();
        let mut site = Self {
            server,
            proxy,
            token: account.token,
            tenant: Uuid::nil(),
            sealed: Vec::new(),
            work_dir,
            log_read: 0,
        };
        site.tenant = site.unrecorded_client()?.tenant().await?;
        Ok(site)
    }

    /// Remembers final sessions, to see later that nothing changed them.
    pub fn seal(&mut self, sessions: &[FinalSession]) {
        let done = sessions.iter().filter(|session| session.status.is_some_and(domain::session::Status::is_final));
        for session in done.take(SEALED_MAX.saturating_sub(self.sealed.len())) {
            self.sealed.push((session.id, session.head, session.head_digest.clone()));
        }
    }

    /// The checks after the last round: old sessions are unchanged, and `shiftbook verify` finds nothing.
    pub async fn final_checks(&mut self) -> Result<Vec<Violation>> {
        let mut violations = Vec::new();
        let mut api = self.unrecorded_client()?;
        for (id, head, digest) in &self.sealed {
            let now = api.sealed(*id).await?;
            if now.as_ref().is_none_or(|(now_head, now_digest)| now_head != head || now_digest != digest) {
                let what = format!("it was final with head {head} and digest {digest}, and is now {now:?}");
                violations.push(Violation { check: Check::C1, session: Some(*id), what });
            }
        }
        violations.extend(self.verified());
        Ok(violations)
    }

    /// `shiftbook verify` on the data.
    pub fn verified(&self) -> Option<Violation> {
        let outcome = block_in_place(|| verify(self.server.spec(), &self.server.data_dir));
        outcome.err().map(|error| Violation { check: Check::Verify, session: None, what: format!("{error:#}") })
    }

    /// A panic in the server's log is a finding whatever the clients saw.
    pub fn panics(&mut self) -> Option<Violation> {
        let mut file = File::open(&self.server.spec().log).ok()?;
        file.seek(SeekFrom::Start(self.log_read)).ok()?;
        let mut text = Vec::new();
        self.log_read += file.read_to_end(&mut text).ok()? as u64;
        let text = String::from_utf8_lossy(&text);
        let line = text.lines().find(|line| line.contains("panicked at"))?;
        Some(Violation { check: Check::Panic, session: None, what: line.chars().take(300).collect() })
    }

    /// A client whose operations are not part of a checked history.
    fn unrecorded_client(&self) -> Result<Api> {
        let nowhere =
            Recorder::create(&self.work_dir.join("unrecorded_client.jsonl"), false).context("cannot write")?;
        Ok(Api::new(0, Connection::new(self.server.listen, self.token.clone()), Arc::new(nowhere)))
    }
}
