//! The binary under test with a fresh data directory, two workspaces and credentials for each caller.

use crate::template;
use reqwest::{Client, Method, RequestBuilder, Response};
use serde_json::{Value, json};
use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    process::{Child, Command, Stdio},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    thread::JoinHandle,
};
use tempfile::TempDir;

/// Password of all people.
pub const PASSWORD: &str = "correct horse battery";
/// After this time a line that is waited for is missing from the log.
const LOG_WAIT_MAX: std::time::Duration = std::time::Duration::from_secs(20);

/// Callers of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Who {
    Anonymous,
    Member,
    OtherMember,
    Reviewer,
    Operator,
    Admin,
    Worker,
    /// Admin of another workspace.
    Stranger,
}

impl Who {
    pub const ALL: [Self; 8] = [
        Self::Anonymous,
        Self::Member,
        Self::OtherMember,
        Self::Reviewer,
        Self::Operator,
        Self::Admin,
        Self::Worker,
        Self::Stranger,
    ];
}

/// A running server. Dropping it kills the process.
pub struct App {
    pub url: String,
    pub address: String,
    pub http: Client,
    child: Child,
    log: Arc<Mutex<String>>,
    reader: Option<JoinHandle<()>>,
    tokens: Vec<(Who, String)>,
    dir: TempDir,
    arguments: Vec<String>,
    variables: Vec<(String, String)>,
    agents: AtomicU64,
}

/// Starts a server process. Returns the process, its address, and the thread that reads its log.
fn serve(mut command: Command, arguments: &[String], log: &Arc<Mutex<String>>) -> (Child, String, JoinHandle<()>) {
    let mut child = command
        .args(["serve", "--listen", "127.0.0.1:0"])
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
    let url = first.trim().to_owned();
    let (sink, mut stderr) = (log.clone(), child.stderr.take().unwrap());
    if !url.starts_with("http://127.0.0.1:") {
        let _ = child.kill();
        let mut why = String::new();
        let _ = stderr.read_to_string(&mut why);
        panic!("the first line is the address: {first:?}; {why}");
    }
    let reader = std::thread::spawn(move || {
        let mut buffer = [0; 4096];
        while let Ok(n) = stderr.read(&mut buffer) {
            if n == 0 {
                return;
            }
            sink.lock().unwrap().push_str(&String::from_utf8_lossy(&buffer[..n]));
        }
    });
    (child, url, reader)
}

impl App {
    /// Starts a server on SQLite.
    pub fn start() -> Self {
        Self::start_with("", &[], &[])
    }

    /// Starts a server on this PostgreSQL database.
    pub fn start_on(database_url: &str) -> Self {
        Self::start_with("", &[], &[("SHIFTBOOK_DATABASE_URL", database_url)])
    }

    /// Starts a server with this settings file, further arguments and environment variables.
    pub fn start_with(settings: &str, arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        // Data elsewhere has no people yet.
        if variables.iter().any(|(name, _)| ["SHIFTBOOK_DATABASE_URL", "SHIFTBOOK_DATA_DIR"].contains(name)) {
            return Self::start_in(dir, settings, arguments, variables).with_people();
        }
        let tokens = template::copy_to(dir.path());
        let mut app = Self::start_in(dir, settings, arguments, variables);
        app.tokens = tokens;
        app
    }

    /// Adds two workspaces, a token for each caller, and the admin who signs in.
    fn with_people(mut self) -> Self {
        for (who, tenant, role, scope) in [
            (Who::Member, "acme", "member", None),
            (Who::OtherMember, "acme", "member", None),
            (Who::Reviewer, "acme", "reviewer", None),
            (Who::Operator, "acme", "operator", None),
            (Who::Admin, "acme", "admin", None),
            (Who::Worker, "acme", "operator", Some("worker")),
            (Who::Stranger, "other", "admin", None),
        ] {
            let mut add = self.cli();
            add.args(["token", "add", "--tenant", tenant, "--name", &format!("{who:?}"), "--role", role]);
            if let Some(scope) = scope {
                add.args(["--scope", scope]);
            }
            let output = add.output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            self.tokens.push((who, String::from_utf8(output.stdout).unwrap().trim().to_owned()));
        }
        self.user("ada@acme.test", "admin");
        self
    }

    /// Starts and stops a server that has people. Returns the data directory and the tokens.
    pub fn people() -> (TempDir, Vec<(Who, String)>) {
        let mut app = Self::start_empty("", &[], &[]).with_people();
        app.terminate();
        assert_eq!(app.wait(), Some(0));
        (std::mem::replace(&mut app.dir, tempfile::tempdir().unwrap()), std::mem::take(&mut app.tokens))
    }

    /// Like [`App::start_with`], without a workspace and without people: the server is not set up.
    pub fn start_empty(settings: &str, arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        Self::start_in(tempfile::tempdir().unwrap(), settings, arguments, variables)
    }

    fn start_in(dir: TempDir, settings: &str, arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        let file = dir.path().join("shiftbook.toml");
        std::fs::write(&file, settings).unwrap();
        let variables: Vec<_> = variables.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        let arguments = [
            vec!["--config".to_owned(), file.to_str().unwrap().to_owned()],
            arguments.iter().map(|a| (*a).to_owned()).collect(),
        ]
        .concat();
        let log = Arc::new(Mutex::new(String::new()));
        let (child, url, reader) = serve(with(&dir, &variables), &arguments, &log);
        Self {
            address: url.trim_start_matches("http://").to_owned(),
            url,
            http: http(),
            child,
            log,
            reader: Some(reader),
            tokens: Vec::new(),
            dir,
            arguments,
            variables,
            agents: AtomicU64::new(0),
        }
    }

    pub fn user(&self, email: &str, role: &str) {
        let mut add = self
            .cli()
            .args(["user", "add", "--tenant", "acme", "--email", email, "--role", role, "--password-stdin"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        add.stdin.take().unwrap().write_all(PASSWORD.as_bytes()).unwrap();
        assert!(add.wait().unwrap().success());
    }

    /// A command of the binary on this server's data.
    pub fn cli(&self) -> Command {
        with(&self.dir, &self.variables)
    }

    /// The server's data directory.
    pub fn data_dir(&self) -> &std::path::Path {
        self.dir.path()
    }

    /// Kills the process with SIGKILL and waits for its end. Fails if it has ended by itself.
    pub fn kill(&mut self) {
        let ended = self.child.try_wait().unwrap();
        assert!(ended.is_none(), "the server ended by itself: {ended:?}\n{}", self.log());
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        if let Some(reader) = self.reader.take() {
            reader.join().unwrap();
        }
    }

    /// Starts a server on the same data at another address.
    pub fn serve_again(&mut self) {
        let (child, url, reader) = serve(self.cli(), &self.arguments, &self.log);
        self.address = url.trim_start_matches("http://").to_owned();
        (self.child, self.url, self.reader) = (child, url, Some(reader));
    }

    pub fn token(&self, who: Who) -> Option<&str> {
        self.tokens.iter().find(|(w, _)| *w == who).map(|(_, token)| token.as_str())
    }

    /// A request with this caller's token.
    pub fn request(&self, who: Who, method: Method, path: &str) -> RequestBuilder {
        let request = self.http.request(method, format!("{}{path}", self.url));
        match self.token(who) {
            Some(token) => request.bearer_auth(token),
            None => request,
        }
    }

    /// POSTs JSON and expects success.
    pub async fn post(&self, who: Who, path: &str, body: Value) -> Value {
        let response = self.request(who, Method::POST, path).json(&body).send().await.unwrap();
        let status = response.status();
        let text = response.text().await.unwrap();
        assert!(status.is_success(), "POST {path}: {status} {text}");
        serde_json::from_str(&text).unwrap()
    }

    /// Signs the admin in with the form. Returns the cookie.
    pub async fn cookie(&self) -> String {
        let response = self
            .http
            .post(format!("{}/sign-in", self.url))
            .header("origin", &self.url)
            .form(&[("email", "ada@acme.test"), ("password", PASSWORD)])
            .send()
            .await
            .unwrap();
        assert_eq!(response.status(), 303, "{}", response.text().await.unwrap());
        let cookie = response.headers()["set-cookie"].to_str().unwrap();
        cookie.split(';').next().unwrap().to_owned()
    }

    /// Creates a session as `who` and claims it as the worker. Returns its id.
    pub async fn running(&self, who: Who) -> String {
        // A new agent for each session, so that the claim takes no other pending session.
        let agent = format!("scout-{}", self.agents.fetch_add(1, Ordering::Relaxed));
        let made = self.post(who, "/api/sessions", json!({ "sessionType": "agent", "agentSlug": agent })).await;
        let claim = json!({ "agentSlugs": [agent], "leaseSeconds": 3600 });
        let claimed = self.post(Who::Worker, "/api/sessions/claim", claim).await;
        assert_eq!(claimed["sessions"][0]["session"]["id"], made["id"]);
        made["id"].as_str().unwrap().to_owned()
    }

    /// Sends SIGTERM.
    pub fn terminate(&self) {
        terminate(&self.child);
    }

    /// Waits for the end of the process. Returns its exit code.
    pub fn wait(&mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }

    /// Everything the server has written to its log.
    pub fn log(&self) -> String {
        self.log.lock().unwrap().clone()
    }

    /// Waits until the log contains this text after its first `from` bytes. A line can arrive here later than the
    /// answer of the request that it is about.
    pub async fn until_logged(&self, from: usize, text: &str) {
        let waiting = async {
            while !self.log()[from..].contains(text) {
                tokio::task::yield_now().await;
            }
        };
        let logged = tokio::time::timeout(LOG_WAIT_MAX, waiting).await;
        assert!(logged.is_ok(), "{text} is not in the log: {}", self.log());
    }

    /// Resident memory of the server, KiB.
    pub fn resident_kib(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }
}

impl Drop for App {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if let Some(reader) = self.reader.take() {
            let _ = reader.join();
        }
        let log = self.log();
        if !std::thread::panicking() {
            assert!(!log.contains("panicked at"), "the server panicked:\n{log}");
        }
    }
}

fn with(dir: &TempDir, variables: &[(String, String)]) -> Command {
    let mut command = binary(dir);
    command.envs(variables.iter().map(|(name, value)| (name, value)));
    command
}

/// The binary with a umask that removes no permissions: the product itself must make its files private.
pub fn binary(dir: &TempDir) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", "umask 000; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_shiftbook")]);
    command.env("SHIFTBOOK_DATA_DIR", dir.path()).env_remove("SHIFTBOOK_DATABASE_URL").stdin(Stdio::null());
    command
}

/// A client that does not follow redirects.
pub fn http() -> Client {
    // `client` sets the crypto provider of the process; reqwest has none by default.
    client::Client::new("http://127.0.0.1:1", "none").unwrap();
    Client::builder().redirect(reqwest::redirect::Policy::none()).build().unwrap()
}

/// Sends SIGTERM.
pub fn terminate(child: &Child) {
    assert!(Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap().success());
}

/// Returns the status and the problem of a refused request.
pub async fn problem(response: Response) -> (u16, Value) {
    let status = response.status().as_u16();
    let kind = response.headers().get("content-type").and_then(|v| v.to_str().ok()).unwrap_or_default().to_owned();
    let text = response.text().await.unwrap();
    assert_eq!(kind, "application/problem+json", "{status} {text}");
    let problem: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(problem["status"], status);
    for field in ["code", "title", "requestId"] {
        assert!(problem[field].is_string(), "{field} is missing: {text}");
    }
    (status, problem)
}
