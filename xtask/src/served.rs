//! A running `shiftbook serve`, and a client of its API.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::build::Build;
use crate::process::{Managed, capture, capture_with_input, pause};
use crate::site::FIRST;
use crate::workspace::command;

const START_SECONDS_MAX: u64 = 60;
const REQUEST_SECONDS_MAX: u64 = 30;

/// Lines of the server's log that are shown when it has ended.
const LOG_LINES_SHOWN: usize = 20;

pub struct Served {
    pub url: String,
    build: Build,
    process: Managed,
    log: Option<PathBuf>,
}

impl Served {
    /// Starts the server with the settings file of the environment, if there is one, and waits until it prints its
    /// address and answers there.
    pub fn start(build: Build, data_dir: &Path, listen: &str) -> Result<Served> {
        Served::start_with(build, data_dir, listen, None)
    }

    /// Starts the server with this settings file, and waits until it prints its address and answers there.
    pub fn start_with(build: Build, data_dir: &Path, listen: &str, settings: Option<&Path>) -> Result<Served> {
        Served::begin(build, data_dir, listen, settings, None)
    }

    /// The same, with the server's log in this file, which only its owner can read. What was in it is gone.
    pub fn start_logged(
        build: Build,
        data_dir: &Path,
        listen: &str,
        settings: Option<&Path>,
        log: &Path,
    ) -> Result<Served> {
        let started = Served::begin(build, data_dir, listen, settings, Some(log));
        started.with_context(|| format!("the last lines of {}:\n{}", log.display(), last_lines(log)))
    }

    fn begin(
        build: Build,
        data_dir: &Path,
        listen: &str,
        settings: Option<&Path>,
        log: Option<&Path>,
    ) -> Result<Served> {
        let mut serve = command(build.shiftbook());
        serve.args(["serve", "--listen", listen, "--data-dir"]).arg(data_dir).stdout(Stdio::piped());
        if let Some(settings) = settings {
            serve.arg("--config").arg(settings);
        }
        if build == Build::First {
            serve.env("SHIFTBOOK_SITE_DIR", FIRST.folder());
        }
        if let Some(log) = log {
            let file = File::options().write(true).create(true).truncate(true).mode(0o600).open(log);
            serve.stderr(file.with_context(|| format!("cannot write {}", log.display()))?);
        }
        let mut process = Managed::service(&mut serve)?;
        let mut lines = BufReader::new(process.stdout()?).lines();
        let (first, first_line) = channel();
        std::thread::spawn(move || {
            if let Some(Ok(line)) = lines.next() {
                let _ = first.send(line);
            }
            for line in lines.map_while(|line| line.ok()) {
                println!("{line}");
            }
        });
        let started = Instant::now();
        let url = loop {
            if let Ok(line) = first_line.recv_timeout(Duration::from_millis(50)) {
                break address(&line)?;
            }
            if let Some(status) = process.ended()? {
                bail!("the server ended before it listened ({status})");
            }
            if started.elapsed() > Duration::from_secs(START_SECONDS_MAX) {
                bail!("the server did not listen within {START_SECONDS_MAX} s");
            }
            pause(Duration::ZERO)?;
        };
        while ureq::get(format!("{url}/readyz")).call().is_err() {
            if started.elapsed() > Duration::from_secs(START_SECONDS_MAX) {
                bail!("the server was not ready within {START_SECONDS_MAX} s");
            }
            pause(Duration::from_millis(50))?;
        }
        Ok(Served { url, build, process, log: log.map(Path::to_path_buf) })
    }

    pub fn pid(&self) -> u32 {
        self.process.pid()
    }

    /// Waits until the server ends or xtask is interrupted.
    pub fn wait(&mut self) -> Result<()> {
        loop {
            if let Some(status) = self.process.ended()? {
                let log = self.log.as_deref().map(last_lines).unwrap_or_default();
                bail!("the server ended ({status})\n{log}");
            }
            pause(Duration::from_millis(200))?;
        }
    }

    pub fn client(&self, token: &str) -> Client {
        Client { url: self.url.clone(), token: token.to_owned() }
    }

    /// The status of a GET request with these headers and no others.
    pub fn status(&self, path: &str, headers: &[(&'static str, String)]) -> Result<u16> {
        let mut request = ureq::get(format!("{}{path}", self.url));
        for (name, value) in headers {
            request = request.header(*name, value);
        }
        let response = request.config().timeout_global(LIMIT).http_status_as_error(false).build().call();
        Ok(response.with_context(|| format!("no answer from {path}"))?.status().as_u16())
    }

    /// A worker process for one agent: `shiftbook work --agent A -- COMMAND`. It inherits the environment, through
    /// which the demo's agents get `pace`: seconds between two steps.
    pub fn worker(&self, token: &str, agent: &str, words: &[String], pace: &str, log: &Path) -> Result<Managed> {
        let mut work = self.command_for(token, command(self.build.shiftbook()));
        work.env("DEMO_PACE_SECONDS", pace);
        work.args(["work", "--agent", agent, "--"]).args(words);
        let log = File::options().create(true).append(true).open(log)?;
        Managed::service(work.stdout(log.try_clone()?).stderr(log))
    }

    /// A program with the server's address and a token in its environment.
    pub fn command_for(&self, token: &str, mut program: Command) -> Command {
        program.env("SHIFTBOOK_URL", &self.url).env("SHIFTBOOK_TOKEN", token);
        program
    }
}

/// The last lines of a log; empty if it cannot be read.
fn last_lines(log: &Path) -> String {
    let text = std::fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(LOG_LINES_SHOWN)..].join("\n")
}

/// The first line of `serve` names the bound address, alone or at the end of a sentence.
fn address(line: &str) -> Result<String> {
    let word = line.split_whitespace().rfind(|word| word.contains(':'));
    let word = word.with_context(|| format!("the server's first line names no address: {line:?}"))?;
    let word = word.trim_end_matches('/');
    Ok(if word.starts_with("http") { word.to_owned() } else { format!("http://{word}") })
}

/// The administrative commands, on a data directory.
pub struct Admin {
    build: Build,
    data_dir: PathBuf,
    tenant: String,
}

impl Admin {
    pub fn new(build: Build, data_dir: &Path, tenant: &str) -> Admin {
        Admin { build, data_dir: data_dir.to_path_buf(), tenant: tenant.to_owned() }
    }

    /// A command about this workspace.
    pub fn command(&self, words: &[&str]) -> Command {
        let mut admin = command(self.build.shiftbook());
        admin.env("SHIFTBOOK_DATA_DIR", &self.data_dir).args(words).args(["--tenant", &self.tenant]);
        admin
    }

    pub fn add_user(&self, email: &str, role: &str, password: &str) -> Result<()> {
        let mut add = self.command(&["user", "add"]);
        capture_with_input(add.args(["--email", email, "--role", role, "--password-stdin"]), password)?;
        Ok(())
    }

    pub fn add_token(&self, name: &str, role: &str, scope: Option<&str>) -> Result<String> {
        let mut add = self.command(&["token", "add"]);
        add.args(["--name", name, "--role", role]);
        if let Some(scope) = scope {
            add.args(["--scope", scope]);
        }
        let token = capture(&mut add)?;
        if !token.starts_with("sbk_") || token.contains(char::is_whitespace) {
            bail!("`shiftbook token add` must print the token alone on stdout");
        }
        Ok(token)
    }
}

pub struct Client {
    url: String,
    token: String,
}

impl Client {
    pub fn get(&self, path: &str) -> Result<Value> {
        let request = ureq::get(format!("{}{path}", self.url)).header("authorization", self.bearer());
        answer(path, request.config().timeout_global(LIMIT).http_status_as_error(false).build().call())
    }

    pub fn post(&self, path: &str, body: &Value) -> Result<Value> {
        let request = ureq::post(format!("{}{path}", self.url)).header("authorization", self.bearer());
        answer(path, request.config().timeout_global(LIMIT).http_status_as_error(false).build().send_json(body))
    }

    pub fn put(&self, path: &str, body: &Value) -> Result<Value> {
        let request = ureq::put(format!("{}{path}", self.url)).header("authorization", self.bearer());
        answer(path, request.config().timeout_global(LIMIT).http_status_as_error(false).build().send_json(body))
    }

    /// Sends a CSV file.
    pub fn post_csv(&self, path: &str, file: &str) -> Result<Value> {
        let request = ureq::post(format!("{}{path}", self.url)).header("authorization", self.bearer());
        let request = request.header("content-type", "text/csv");
        answer(path, request.config().timeout_global(LIMIT).http_status_as_error(false).build().send(file))
    }

    /// The id of the person who signs in with this password, as in a browser.
    pub fn user_id(&self, email: &str, password: &str) -> Result<String> {
        let me = self.get_as(&self.sign_in(email, password)?, "/api/me")?;
        Ok(text(me.get("user").context("/api/me names no user")?, "id")?.to_owned())
    }

    /// The cookie of the person who signs in with this password.
    pub fn sign_in(&self, email: &str, password: &str) -> Result<String> {
        let sign_in = ureq::post(format!("{}/sign-in", self.url)).header("origin", &self.url);
        let sign_in = sign_in.config().timeout_global(LIMIT).max_redirects(0).http_status_as_error(false).build();
        let signed_in = sign_in.send_form([("email", email), ("password", password)])?;
        let cookie = signed_in.headers().get("set-cookie").and_then(|cookie| cookie.to_str().ok()?.split(';').next());
        Ok(cookie.with_context(|| format!("{email} cannot sign in: {}", signed_in.status()))?.to_owned())
    }

    /// Reads with the cookie of a person.
    pub fn get_as(&self, cookie: &str, path: &str) -> Result<Value> {
        let request = ureq::get(format!("{}{path}", self.url)).header("cookie", cookie);
        answer(path, request.config().timeout_global(LIMIT).http_status_as_error(false).build().call())
    }

    /// Sends what only people may, with the cookie of one.
    pub fn post_as(&self, cookie: &str, path: &str, body: &Value) -> Result<Value> {
        let request = ureq::post(format!("{}{path}", self.url)).header("cookie", cookie);
        let request = request.header("sec-fetch-site", "same-origin");
        answer(path, request.config().timeout_global(LIMIT).http_status_as_error(false).build().send_json(body))
    }

    fn bearer(&self) -> String {
        format!("Bearer {}", self.token)
    }
}

const LIMIT: Option<Duration> = Some(Duration::from_secs(REQUEST_SECONDS_MAX));

fn answer(path: &str, response: Result<ureq::http::Response<ureq::Body>, ureq::Error>) -> Result<Value> {
    let mut response = response.with_context(|| format!("no answer from {path}"))?;
    let text = response.body_mut().read_to_string().with_context(|| format!("no whole answer from {path}"))?;
    if !response.status().is_success() {
        bail!("{path} answered {}: {text}", response.status());
    }
    serde_json::from_str(&text).with_context(|| format!("{path} did not answer JSON: {text}"))
}

/// A field of an answer that must be text.
pub fn text<'a>(answer: &'a Value, field: &str) -> Result<&'a str> {
    answer.get(field).and_then(Value::as_str).with_context(|| format!("the answer has no {field}: {answer}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_log_is_shown() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("log");
        assert_eq!(last_lines(&log), "");
        let lines: Vec<String> = (1..=40).map(|n| format!("line {n}")).collect();
        std::fs::write(&log, lines.join("\n")).unwrap();
        assert_eq!(last_lines(&log), lines[20..].join("\n"));
    }

    #[test]
    fn the_address_is_read_alone_or_from_a_sentence() {
        for line in ["http://127.0.0.1:4210", "127.0.0.1:4210", "listening on http://127.0.0.1:4210/"] {
            assert_eq!(address(line).unwrap(), "http://127.0.0.1:4210");
        }
        assert!(address("starting").is_err());
    }
}
