//! Runs one session of each coding host for real, connected by `shiftbook connect`, against a server and a scripted
//! model, and checks what the log has of it. Also checks the types of the connectors.

mod host;
mod model;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::build::Build;
use crate::prerequisites::coding_hosts;
use crate::process::{pause, run_logged, run_quietly};
use crate::progress::say;
use crate::served::{Admin, Client, Served, text};
use crate::steps::Count;
use crate::workspace::{command, files_below};
use host::{HOSTS, Host};
use model::{ANSWER, Model, PRINTED};

const TENANT: &str = "hosts";
const PROMPT: &str = "When and where is the launch?";
/// Documents in the memory of each agent: path and text.
const MEMORIES: [(&str, &str); 5] = [
    ("topics/launch.md", "# Launch\n\n- The launch is on Friday\n"),
    ("topics/venue.md", "# Venue\n\n- The launch takes place in Oslo\n"),
    ("topics/guests.md", "# Guests\n\n- Forty guests come to the launch\n"),
    ("topics/speech.md", "# Speech\n\n- Mia speaks first at the launch\n"),
    ("topics/tickets.md", "# Tickets\n\n- Tickets of the launch cost nothing\n"),
];
/// What the model rates, in the order in which it reads the memories: two with the tool, one in the answer, two not.
const SCORES: [Option<f64>; 5] = [Some(1.0), Some(0.0), Some(0.5), None, None];
/// Longest session of a host.
const SESSION_MAX: Duration = Duration::from_secs(120);
/// Longest wait for the last hook of a session to be in the log.
const LOG_MAX: Duration = Duration::from_secs(20);
/// A prompt goes on without memories if the server is slow, which it can be on a busy machine. So a session that had
/// none is repeated.
const ATTEMPTS: usize = 3;
/// An address at which no one listens.
const NOWHERE: &str = "http://127.0.0.1:1";

/// The server, the folder of the hosts and a token, which all checks use.
struct Bench {
    build: Build,
    /// The folder with the hosts.
    packages: PathBuf,
    server: Served,
    client: Client,
    token: String,
}

pub fn check(build: Build, tests: &mut Option<Count>) -> Result<()> {
    let packages = coding_hosts()?;
    let data = tempfile::tempdir_in(crate::scratch::folder())?;
    let admin = Admin::new(build, data.path(), TENANT);
    let token = admin.add_token("hosts", "admin", None)?;
    let server = Served::start(build, data.path(), "127.0.0.1:0")?;
    let client = server.client(&token);
    let bench = Bench { build, packages, server, client, token };
    let mut count = Count::default();
    let mut checked = |what: &str, outcome: Result<()>| match outcome {
        Ok(()) => {
            say(&format!("    {what}"));
            count.passed += 1;
        }
        Err(error) => {
            say(&format!("    {what}: {error:#}"));
            count.failed += 1;
        }
    };
    for host in &HOSTS {
        checked(host.slug, bench.check_host(host));
        checked(&format!("{} without a server", host.slug), bench.check_offline(host));
    }
    *tests = Some(count);
    if count.failed > 0 { bail!("{} of {} checks failed", count.failed, count.failed + count.passed) } else { Ok(()) }
}

/// A home for one session. It is outside of this repository, which some hosts would take for their project.
struct Home {
    folder: tempfile::TempDir,
    model: Model,
}

impl Home {
    fn new(bench: &Bench, host: &Host) -> Result<Home> {
        let folder = tempfile::tempdir_in(crate::scratch::folder())?;
        fs::create_dir_all(folder.path().join("project"))?;
        // The connectors find the types that they use there.
        symlink(bench.packages.join("node_modules"), folder.path().join("node_modules"))?;
        fs::write(folder.path().join("package.json"), r#"{ "type": "module" }"#)?;
        let model = Model::start(host.tools)?;
        (host.configure)(folder.path(), &model.url)?;
        let home = Home { folder, model };
        home.connect(bench, host, &["--yes"])?;
        Ok(home)
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    /// A command with this home and little else in its environment, so that no settings of this machine take part.
    fn command(&self, bench: &Bench, program: &Path, url: &str) -> Result<Command> {
        let bin = bench.packages.join("node_modules/.bin");
        let node = bench.packages.join("node_modules/node/bin");
        let system = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths([node, bin].into_iter().chain(std::env::split_paths(&system)))?;
        let mut made = command(program);
        made.env_clear().current_dir(self.path().join("project"));
        made.env("PATH", path).env("HOME", self.path()).env("LANG", "C.UTF-8").env("TERM", "dumb").env("NO_COLOR", "1");
        made.env("SHIFTBOOK_URL", url).env("SHIFTBOOK_TOKEN", &bench.token);
        made.env("SHIFTBOOK_STATE_DIR", self.path().join("state"));
        Ok(made)
    }

    fn connect(&self, bench: &Bench, host: &Host, options: &[&str]) -> Result<()> {
        let mut connect = self.command(bench, &bench.build.shiftbook(), &bench.server.url)?;
        run_quietly(connect.arg("connect").arg(host.slug).args(options), Some(SESSION_MAX))
    }

    /// Runs one session to its end. Returns what the host printed.
    fn session(&self, bench: &Bench, host: &Host, url: &str) -> Result<String> {
        let mut session = self.command(bench, &bench.packages.join("node_modules/.bin").join(host.program), url)?;
        (host.start)(&mut session, &self.model.url);
        let log = self.path().join("output");
        let file = fs::File::options().read(true).write(true).create_new(true).open(&log)?;
        run_logged(session.arg(PROMPT), Some(SESSION_MAX), &file)?;
        Ok(fs::read_to_string(&log)?)
    }
}

impl Bench {
    /// A session with memories and ratings, then a check and the removal of what connected the host.
    fn check_host(&self, host: &Host) -> Result<()> {
        for (path, memory) in MEMORIES {
            let write = json!({ "baseVersion": 0, "text": memory });
            self.client.put(&format!("/api/agents/{}/memory/document?path={path}", host.slug), &write)?;
        }
        for _ in 0..ATTEMPTS {
            let home = Home::new(self, host)?;
            self.check_types(home.path())?;
            let before = self.sessions(host)?.len();
            home.session(self, host, &self.server.url)?;
            if home.model.memories().len() < MEMORIES.len() {
                continue;
            }
            if home.model.steps() != 3 {
                bail!("the model was asked {} times, not 3 times", home.model.steps());
            }
            self.check_log(host, before, &home.model.memories())?;
            home.connect(self, host, &["--check"])?;
            home.connect(self, host, &["--undo", "--yes"])?;
            return Ok(());
        }
        bail!("the agent got no memories in {ATTEMPTS} sessions")
    }

    /// Nothing stops the host if no server answers.
    fn check_offline(&self, host: &Host) -> Result<()> {
        let home = Home::new(self, host)?;
        let printed = home.session(self, host, NOWHERE)?;
        if !printed.contains(ANSWER) {
            bail!("the host printed no answer: {printed}");
        }
        let counted = files_below(&home.path().join("state"))?;
        let missed = counted.iter().find(|file| file.ends_with("missed")).context("no prompt was counted")?;
        if fs::metadata(missed)?.len() == 0 { bail!("no prompt was counted") } else { Ok(()) }
    }

    /// Checks the types of the connectors that lie in a home, if any does.
    fn check_types(&self, home: &Path) -> Result<()> {
        let of_shiftbook = |file: &PathBuf| {
            let is_script = file.extension().is_some_and(|extension| extension == "ts");
            is_script && file.strip_prefix(home).is_ok_and(|path| path.to_string_lossy().contains("shiftbook"))
        };
        let files: Vec<PathBuf> = files_below(home)?.into_iter().filter(of_shiftbook).collect();
        if files.is_empty() {
            return Ok(());
        }
        let mut tsc = command(self.packages.join("node_modules/.bin/tsc"));
        tsc.current_dir(home).args(["--noEmit", "--strict", "--skipLibCheck", "--target", "es2024"]);
        tsc.args(["--lib", "es2024", "--module", "nodenext", "--moduleResolution", "nodenext", "--types", "node"]);
        run_quietly(tsc.arg("--allowImportingTsExtensions").args(files), Some(SESSION_MAX))
    }

    fn sessions(&self, host: &Host) -> Result<Vec<Value>> {
        let listed = self.client.get(&format!("/api/sessions?agentSlug={}", host.slug))?;
        Ok(listed["items"].as_array().cloned().unwrap_or_default())
    }

    /// Waits until the newest session rests, and checks its log and the ratings of its memories.
    fn check_log(&self, host: &Host, before: usize, memories: &[String]) -> Result<()> {
        let started = Instant::now();
        let session = loop {
            let sessions = self.sessions(host)?;
            // The newest session is the first.
            let newest = sessions.first().filter(|_| sessions.len() > before);
            if let Some(session) = newest.filter(|session| session["status"] == host.rests_in) {
                break session.clone();
            }
            if started.elapsed() > LOG_MAX {
                bail!("no new session is {}: {}", host.rests_in, json!(sessions));
            }
            pause(Duration::from_millis(100))?;
        };
        let id = text(&session, "id")?;
        let log = self.client.get(&format!("/api/sessions/{id}/events?limit=1000"))?;
        check_events(log["events"].as_array().map(Vec::as_slice).unwrap_or_default())?;
        let listed = self.client.get(&format!("/api/sessions/{id}/memories"))?;
        let items = listed["items"].as_array().cloned().unwrap_or_default();
        for (memory, score) in memories.iter().zip(SCORES) {
            let item = items.iter().find(|item| item["id"] == memory.as_str());
            let item = item.with_context(|| format!("{memory} is not listed: {listed}"))?;
            if item["agent_relevance_score"].as_f64() != score {
                bail!("{memory} has not the score {score:?}: {item}");
            }
        }
        Ok(())
    }
}

/// Checks that the log has the prompt once, what was injected, the call of the shell with its result, and the answer
/// without its ratings.
fn check_events(events: &[Value]) -> Result<()> {
    let of = |kind: &str| -> Vec<String> {
        let found = events.iter().filter(|event| event["type"] == kind);
        found.map(|event| event["content"].to_string()).collect()
    };
    let says = |kind: &str, words: &str| of(kind).iter().filter(|content| content.contains(words)).count();
    for (what, found, wanted) in [
        ("prompts", says("user.message", PROMPT), 1),
        ("prompts with anything", of("user.message").len(), 1),
        ("injected memories", says("session.context_injected", "Friday"), 1),
        ("calls of the shell", says("agent.tool_call", "shell-$((40 + 2))"), 1),
        ("results of the shell", says("agent.tool_result", PRINTED), 1),
        ("answers", says("agent.message", ANSWER), 1),
        ("ratings in answers", says("agent.message", "memory-feedback"), 0),
    ] {
        if found != wanted {
            bail!("the log has {found} {what}, not {wanted}: {}", json!(events));
        }
    }
    Ok(())
}
