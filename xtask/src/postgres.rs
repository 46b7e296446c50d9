//! Starts a temporary PostgreSQL: a new cluster in a temporary directory, on a free loopback port, with fsync on
//! because durability is tested. If DATABASE_URL is set, that server is used instead; its LC_CTYPE must be of UTF-8.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::process::{capture, run_quietly};
use crate::progress::quiet;
use crate::workspace::{command, find_program, is_root};

/// Environment variable through which tests find PostgreSQL.
pub const URL_VARIABLE: &str = "SHIFTBOOK_TEST_POSTGRES_URL";
const MAJOR_VERSION_MIN: u32 = 15;
const PORT_ATTEMPTS_MAX: u32 = 3;
/// Every test is a process with a connection pool of its own.
const CONNECTIONS_MAX: u32 = 300;

pub enum Postgres {
    /// A server from DATABASE_URL. It is not stopped.
    External(String),
    Own(Cluster),
}

/// A temporary cluster, stopped and removed when it is dropped, also after a failure or Ctrl-C.
pub struct Cluster {
    bin: PathBuf,
    folder: tempfile::TempDir,
    port: u16,
}

impl Postgres {
    pub fn start() -> Result<Postgres> {
        if let Ok(url) = std::env::var("DATABASE_URL") {
            return Ok(Postgres::External(url));
        }
        let bin = find_binaries().context(
            "PostgreSQL 15 or newer is missing: install its server (on Debian `apt-get install postgresql`) or set \
             DATABASE_URL",
        )?;
        quiet("start a throw-away PostgreSQL", || Cluster::start(bin)).map(Postgres::Own)
    }

    pub fn url(&self) -> String {
        match self {
            Postgres::External(url) => url.clone(),
            Postgres::Own(cluster) => format!("postgres://postgres@127.0.0.1:{}/postgres", cluster.port),
        }
    }
}

pub fn is_installed() -> bool {
    std::env::var_os("DATABASE_URL").is_some() || find_binaries().is_some()
}

impl Cluster {
    fn start(bin: PathBuf) -> Result<Cluster> {
        let folder = tempfile::Builder::new().prefix("shiftbook-postgres-").tempdir_in(crate::scratch::folder())?;
        if is_root() {
            run_quietly(command("chown").arg("postgres").arg(folder.path()), None)?;
        }
        let mut cluster = Cluster { bin, folder, port: 0 };
        let mut initdb = cluster.tool("initdb")?;
        initdb.args(["--username=postgres", "--auth=trust", "--encoding=UTF8", "--no-locale"]);
        // With the ctype of the locale C, `lower` changes letters of ASCII alone.
        run_quietly(initdb.arg("--lc-ctype=C.UTF-8"), None)?;
        for attempt in 1.. {
            cluster.port = free_port()?;
            let options = format!(
                "-c listen_addresses=127.0.0.1 -c port={} -c unix_socket_directories= -c max_connections={CONNECTIONS_MAX}",
                cluster.port
            );
            let log = cluster.folder.path().join("log");
            let mut start = cluster.tool("pg_ctl")?;
            start.args(["start", "--wait", "--silent", "--options", &options, "--log"]).arg(&log);
            match run_quietly(&mut start, None) {
                Ok(()) => break,
                // Another process may have taken the port since it was found free.
                Err(_) if attempt < PORT_ATTEMPTS_MAX && !crate::process::interrupted() => {}
                Err(error) => {
                    eprintln!("{}", std::fs::read_to_string(&log).unwrap_or_default());
                    return Err(error);
                }
            }
        }
        Ok(cluster)
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// A program of PostgreSQL for this cluster. PostgreSQL refuses to run as root; root becomes `postgres`.
    fn tool(&self, name: &str) -> Result<Command> {
        let program = self.bin.join(name);
        let mut tool = if is_root() {
            if find_program("runuser").is_none() {
                bail!("as root, PostgreSQL needs `runuser` (package util-linux)");
            }
            let mut tool = command("runuser");
            tool.args(["-u", "postgres", "--"]).arg(program);
            tool
        } else {
            command(program)
        };
        tool.current_dir(self.folder.path()).arg("--pgdata").arg(self.data());
        Ok(tool)
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // Not through `process`, which starts nothing after an interrupt.
        let stopped = self.tool("pg_ctl").map(|mut tool| {
            tool.args(["stop", "--mode=immediate", "--wait", "--silent"]).stderr(std::process::Stdio::null()).status()
        });
        // A cluster that did not start has nothing to stop.
        let _ = stopped;
    }
}

fn free_port() -> Result<u16> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}

/// The newest server on this machine: Debian's folders first, then PATH, then what pg_config names.
fn find_binaries() -> Option<PathBuf> {
    let mut folders = Vec::new();
    if let Ok(versions) = std::fs::read_dir("/usr/lib/postgresql") {
        folders.extend(versions.flatten().map(|version| version.path().join("bin")));
    }
    if let Some(program) = find_program("pg_ctl") {
        folders.extend(program.parent().map(Path::to_path_buf));
    }
    if find_program("pg_config").is_some()
        && let Ok(folder) = capture(command("pg_config").arg("--bindir"))
    {
        folders.push(folder.into());
    }
    let mut found: Vec<(u32, PathBuf)> = folders
        .into_iter()
        .filter(|folder| folder.join("initdb").is_file() && folder.join("pg_ctl").is_file())
        .filter_map(|folder| {
            Some((major_version(&capture(command(folder.join("pg_ctl")).arg("--version")).ok()?)?, folder))
        })
        .filter(|(major, _)| *major >= MAJOR_VERSION_MIN)
        .collect();
    found.sort();
    found.pop().map(|(_, folder)| folder)
}

/// `pg_ctl (PostgreSQL) 15.14 (Debian 15.14-0+deb12u1)` → 15
fn major_version(text: &str) -> Option<u32> {
    let number = text.split_whitespace().find(|word| word.starts_with(|letter: char| letter.is_ascii_digit()))?;
    number.split(|letter: char| !letter.is_ascii_digit()).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_major_version_is_read_from_any_packaging() {
        assert_eq!(major_version("pg_ctl (PostgreSQL) 15.14 (Debian 15.14-0+deb12u1)"), Some(15));
        assert_eq!(major_version("pg_ctl (PostgreSQL) 18beta1"), Some(18));
        assert_eq!(major_version("pg_ctl"), None);
    }
}
