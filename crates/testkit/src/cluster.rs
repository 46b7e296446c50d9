//! A PostgreSQL of a test's own, for faults that must not reach the server that other tests use.

use crate::{Engine, not_tested};
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, PgConnection};
use std::{
    path::{Path, PathBuf},
    process::Command,
};
use tempfile::TempDir;

/// The account under which PostgreSQL runs when the tests run as root, which it refuses.
const ACCOUNT: &str = "postgres";

/// A running server that listens on a socket in its own folder. Dropping it stops it.
pub struct Cluster {
    bin: PathBuf,
    folder: TempDir,
}

impl Cluster {
    /// Starts a server with the programs of the test server; `None` if they are not on this machine.
    pub async fn start() -> Option<Self> {
        let engine = Engine::postgres().await;
        let bin =
            PathBuf::from(engine.raw().await.texts("SELECT setting FROM pg_config WHERE name = 'BINDIR'").await.pop()?);
        engine.discard().await;
        if !bin.join("initdb").is_file() {
            not_tested(&format!("faults of PostgreSQL's disk (P-43): its programs are not in {}", bin.display()));
            return None;
        }
        let cluster = Self { bin, folder: tempfile::tempdir().unwrap() };
        cluster.give(cluster.folder.path());
        cluster.run("initdb", &["--username=postgres", "--auth=trust", "--encoding=UTF8", "--no-locale", "--no-sync"]);
        let socket = format!("-c listen_addresses= -c unix_socket_directories={}", cluster.folder.path().display());
        let log = cluster.folder.path().join("log").display().to_string();
        cluster.run("pg_ctl", &["start", "--wait", "--silent", "--log", &log, "--options", &socket]);
        Some(cluster)
    }

    /// URL of a database.
    pub fn url(&self, database: &str) -> String {
        format!("postgres://postgres@localhost/{database}?host={}", self.folder.path().display())
    }

    /// Creates databases whose tables are in this folder. The server must be able to reach it.
    pub async fn create_databases(&self, names: &[&str], folder: &Path) {
        std::fs::create_dir(folder).unwrap();
        self.give(folder);
        self.execute("postgres", &format!("CREATE TABLESPACE own LOCATION '{}'", folder.display())).await;
        for name in names {
            self.execute("postgres", &format!("CREATE DATABASE {name} TABLESPACE own")).await;
            // The first connection to a database writes a file.
            self.execute(name, "SELECT 1").await;
        }
    }

    async fn execute(&self, database: &str, sql: &str) {
        let mut connection = PgConnection::connect(&self.url(database)).await.unwrap();
        connection.execute(AssertSqlSafe(sql.to_owned())).await.unwrap();
    }

    fn give(&self, path: &Path) {
        if is_root() {
            assert!(Command::new("chown").arg(ACCOUNT).arg(path).status().unwrap().success());
        }
    }

    fn tool(&self, name: &str) -> Command {
        let program = self.bin.join(name);
        let mut tool = if is_root() {
            let mut tool = Command::new("runuser");
            tool.args(["-u", ACCOUNT, "--"]).arg(program);
            tool
        } else {
            Command::new(program)
        };
        tool.current_dir(self.folder.path()).arg("--pgdata").arg(self.folder.path().join("data"));
        tool
    }

    fn run(&self, name: &str, arguments: &[&str]) {
        let output = self.tool(name).args(arguments).output().unwrap();
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let _ = self.tool("pg_ctl").args(["stop", "--mode=immediate", "--wait", "--silent"]).output();
    }
}

fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt as _;
    std::fs::metadata("/proc/self").is_ok_and(|of_process| of_process.uid() == 0)
}
