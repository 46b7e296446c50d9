//! The demo workspace: sessions of the small agents in `examples/demo/`, created through the public interfaces.

use std::collections::BTreeMap;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::build::Build;
use crate::demo_canvas;
use crate::process::{Managed, pause};
use crate::progress::{say, seconds};
use crate::served::{Admin, Client, Served, text};

/// Slug of the demo workspace.
pub const TENANT: &str = "demo";
const EMAIL: &str = "demo@shiftbook.localhost";
const SETTLE_SECONDS_MAX: u64 = 120;
/// Seconds that the demo's agents wait between steps, so that people can follow.
const PACE_SECONDS: &str = "0.8";
/// Pause between two triggers, shorter than a session.
const BETWEEN_TRIGGERS: Duration = Duration::from_secs(3);

pub struct Agent {
    pub slug: &'static str,
    name: &'static str,
    description: &'static str,
    pub command: &'static [&'static str],
    pub runs: &'static [Run],
}

/// One session: its input as JSON, and the status in which it ends or waits.
pub struct Run {
    pub input: &'static str,
    pub rests_in: &'static str,
}

impl Agent {
    /// Path of the agent's script.
    pub fn script(&self) -> &'static str {
        self.command.iter().find(|word| word.starts_with("examples/")).copied().unwrap_or_default()
    }

    /// An agent that is not part of the demo workspace.
    pub const fn example(slug: &'static str, command: &'static [&'static str], runs: &'static [Run]) -> Agent {
        Agent { slug, name: slug, description: "An example of the documentation.", command, runs }
    }
}

/// The agents of `examples/demo/`, which read this repository.
pub const AGENTS: [Agent; 7] = [
    Agent {
        slug: "scout",
        name: "Count open notes in the code",
        description: "Walks a folder and counts its lines and the TODO and XXX notes in them.",
        command: &["python3", "examples/demo/scout.py"],
        runs: &[Run { input: r#"{"folder":"crates"}"#, rests_in: "completed" }],
    },
    Agent {
        slug: "outliner",
        name: "Outline a document",
        description: "Lists the headings of a Markdown file.",
        command: &["sh", "examples/demo/outliner.sh"],
        runs: &[Run { input: r#"{"file":"README.md"}"#, rests_in: "completed" }],
    },
    Agent {
        slug: "searcher",
        name: "Find a word",
        description: "Searches the repository for a word and shows where it is used.",
        command: &["python3", "examples/demo/searcher.py"],
        runs: &[
            Run { input: r#"{"word":"lease"}"#, rests_in: "completed" },
            Run { input: r#"{"word":"tamper"}"#, rests_in: "completed" },
        ],
    },
    Agent {
        slug: "inspector",
        name: "Check that files are in place",
        description: "Checks a list of files and fails when one is missing. The demo's list has one that is.",
        command: &["sh", "examples/demo/inspector.sh"],
        runs: &[Run { input: r#"{"files":"README.md Cargo.toml docs/release-notes.md"}"#, rests_in: "failed" }],
    },
    Agent {
        slug: "editor",
        name: "Draft a summary for approval",
        description: "Drafts a summary of a document and waits for a person to look at it.",
        command: &["python3", "examples/demo/editor.py"],
        runs: &[Run { input: r#"{"file":"README.md"}"#, rests_in: "waiting_human" }],
    },
    Agent {
        slug: "surveyor",
        name: "Ask readers about a document",
        description: "Asks which part of a document should be clearer. Anyone with the link answers, without an account.",
        command: &["python3", "examples/demo/surveyor.py"],
        runs: &[Run { input: r#"{"file":"README.md"}"#, rests_in: "waiting_human" }],
    },
    Agent {
        slug: crate::demo_canvas::AGENT,
        name: "Write about a document on a canvas",
        description: "Writes a summary and a list of the parts of a document on a canvas, while people write there too.",
        command: &["python3", "examples/demo/coauthor.py"],
        // Its input names a canvas, which `demo_canvas` makes.
        runs: &[],
    },
];

/// The sign-in that the first run prints and stores in `demo-signin.txt`, readable by its owner only.
pub struct SignIn {
    pub email: String,
    pub password: String,
    pub operator_token: String,
    pub worker_token: String,
}

fn sign_in_file(data_dir: &Path) -> PathBuf {
    data_dir.join("demo-signin.txt")
}

impl SignIn {
    pub fn create(build: Build, data_dir: &Path) -> Result<SignIn> {
        say("==> make the demo workspace");
        let admin = Admin::new(build, data_dir, TENANT);
        let password = random_password()?;
        admin.add_user(EMAIL, "admin", &password)?;
        let sign_in = SignIn {
            email: EMAIL.to_owned(),
            password,
            operator_token: admin.add_token("demo", "operator", None)?,
            worker_token: admin.add_token("demo agents", "operator", Some("worker"))?,
        };
        let mut file = std::fs::File::options()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(sign_in_file(data_dir))?;
        writeln!(file, "email: {}", sign_in.email)?;
        writeln!(file, "password: {}", sign_in.password)?;
        writeln!(file, "operator-token: {}", sign_in.operator_token)?;
        writeln!(file, "worker-token: {}", sign_in.worker_token)?;
        Ok(sign_in)
    }

    /// The sign-in of an earlier first run; `None` if this data directory is no demo.
    pub fn read(data_dir: &Path) -> Option<SignIn> {
        let text = std::fs::read_to_string(sign_in_file(data_dir)).ok()?;
        let fields: BTreeMap<&str, &str> = text.lines().filter_map(|line| line.split_once(": ")).collect();
        let field = |name: &str| fields.get(name).map(|value| (*value).to_owned());
        Some(SignIn {
            email: field("email")?,
            password: field("password")?,
            operator_token: field("operator-token")?,
            worker_token: field("worker-token")?,
        })
    }
}

/// 20 letters and digits, without those that look alike: more than 110 bits.
fn random_password() -> Result<String> {
    const LETTERS: &[u8; 56] = b"abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789";
    const LENGTH: usize = 20;
    let mut source = std::fs::File::open("/dev/urandom").context("no source of randomness")?;
    let mut password = String::new();
    while password.len() < LENGTH {
        let mut byte = [0];
        std::io::Read::read_exact(&mut source, &mut byte)?;
        // Bytes beyond the alphabet are drawn again: a remainder would favour the first letters.
        if let Some(letter) = LETTERS.get(usize::from(byte[0] & 63)) {
            password.push(char::from(*letter));
        }
    }
    Ok(password)
}

pub fn start_workers(server: &Served, sign_in: &SignIn, data_dir: &Path) -> Result<Vec<Managed>> {
    let log = data_dir.join("demo-agents.log");
    let mut workers = Vec::new();
    for agent in &AGENTS {
        if let Some(program) = agent.command.first()
            && crate::workspace::find_program(program).is_none()
        {
            say(&format!("    agent {} stays away: {program} is not installed", agent.slug));
            continue;
        }
        let command: Vec<String> = agent.command.iter().map(|word| (*word).to_owned()).collect();
        workers.push(server.worker(&sign_in.worker_token, agent.slug, &command, PACE_SECONDS, &log)?);
    }
    say(&format!("==> {} agents are at work; their own output goes to {}", workers.len(), log.display()));
    Ok(workers)
}

/// Creates the actions, triggers them one after the other and prints the outcomes of their sessions. Returns the
/// address at which people without an account answer the example form.
pub fn play(server: &Served, sign_in: &SignIn) -> Result<String> {
    say("==> open the address above and watch: the demo's sessions start now");
    let client = server.client(&sign_in.operator_token);
    // Actions without an assignee do not appear on Today.
    let user_id = client.user_id(&sign_in.email, &sign_in.password)?;
    let mut sessions = Vec::new();
    for agent in &AGENTS {
        let action = create_action(&client, agent, Some(&user_id))?;
        for run in agent.runs {
            sessions.push(Watched::trigger(&client, agent, &action, run)?);
            let next = Instant::now() + BETWEEN_TRIGGERS;
            while Instant::now() < next {
                look_at(&client, &mut sessions)?;
                pause(Duration::from_millis(250))?;
            }
        }
    }
    settle(&client, &mut sessions)?;
    let form_url = show_forms(&client, &sessions)?;
    if crate::workspace::find_program("python3").is_some() {
        say("==> an agent writes on a canvas now: watch it, and write there too");
        let (worker, url) = (server.client(&sign_in.worker_token), &server.url);
        demo_canvas::play(&client, &worker, Some(&user_id), |page| say(&format!("    {url}{page}")))?;
    }
    say("==> the demo is set: trigger any action in the browser, the agents keep waiting for work");
    Ok(form_url)
}

/// Publishes an example form and returns the address at which people without an account answer it. Prints that address,
/// and those of the questions at which sessions wait.
fn show_forms(client: &Client, sessions: &[Watched]) -> Result<String> {
    let form = client.post(
        "/api/views",
        &json!({
            "title": "How do you like the demo?",
            "introduction": "Three questions, without an account.",
            "fields": [
                { "key": "mood", "label": "How do you like it?", "type": "scale", "minimum": 1, "maximum": 5,
                    "required": true, "lowLabel": "not at all", "highLabel": "very much" },
                { "key": "missing", "label": "What is missing?", "type": "long_text",
                    "showIf": { "field": "mood", "in": [1, 2, 3] } },
                { "key": "name", "label": "Your name?", "type": "short_text" },
            ],
            "publishConfig": { "gate": "none", "responses": "many", "thanks": "Many thanks. It is on the page Forms." },
        }),
    )?;
    let id = text(&form, "id")?;
    client.post(&format!("/api/views/{id}/publish"), &json!({}))?;
    let link = client.post(&format!("/api/views/{id}/links"), &json!({}))?;
    say("==> forms for people without an account: open them in a private window, or send them to someone");
    let url = text(&link, "url")?.to_owned();
    say(&format!("    {}: {url}", text(&form, "title")?));
    for session in sessions.iter().filter(|session| session.rests_in == "waiting_human") {
        for request in waiting_requests(client, &session.id)? {
            let links = format!("/api/views/{}/links", text(&request, "viewId")?);
            let link = client.post(&links, &json!({ "requestId": text(&request, "id")? }))?;
            say(&format!("    {}: {}", text(&request, "message")?, text(&link, "url")?));
        }
    }
    Ok(url)
}

/// The questions of a session that wait for an answer.
fn waiting_requests(client: &Client, session_id: &str) -> Result<Vec<Value>> {
    let listed = client.get(&format!("/api/sessions/{session_id}/feedback-requests"))?;
    let mut requests = listed["items"].as_array().cloned().unwrap_or_default();
    requests.retain(|request| request["state"] == "waiting");
    Ok(requests)
}

pub fn create_action(client: &Client, agent: &Agent, assigned_to: Option<&str>) -> Result<String> {
    let action = client.post(
        "/api/actions",
        &json!({
            "name": agent.name,
            "slug": agent.slug,
            "description": agent.description,
            "agentSlug": agent.slug,
            "assignedTo": assigned_to,
        }),
    )?;
    Ok(text(&action, "id")?.to_owned())
}

/// A session that is waited for.
pub struct Watched {
    id: String,
    name: String,
    rests_in: &'static str,
    status: String,
    since: Instant,
}

impl Watched {
    pub fn trigger(client: &Client, agent: &Agent, action: &str, run: &Run) -> Result<Watched> {
        let input: Value = serde_json::from_str(run.input)?;
        let session = client.post(&format!("/api/actions/{action}/trigger"), &json!({ "input": input }))?;
        let id = text(&session, "id")?.to_owned();
        say(&format!("    triggered {} with {}", agent.name, run.input));
        Ok(Watched {
            id,
            name: agent.name.to_owned(),
            rests_in: run.rests_in,
            status: text(&session, "status")?.to_owned(),
            since: Instant::now(),
        })
    }

    /// Answers the question at which the session waits. It is then expected to complete.
    pub fn answer(&mut self, client: &Client, content: &Value) -> Result<()> {
        let requests = waiting_requests(client, &self.id)?;
        let [request] = requests.as_slice() else { bail!("\"{}\" waits for {} answers", self.name, requests.len()) };
        let path = format!("/api/feedback-requests/{}/answer", text(request, "id")?);
        client.post(&path, &json!({ "content": content }))?;
        (self.rests_in, self.status) = ("completed", "pending".to_owned());
        Ok(())
    }

    fn is_at_rest(&self) -> bool {
        const MOVING: [&str; 3] = ["draft", "pending", "running"];
        !MOVING.contains(&self.status.as_str())
    }
}

fn look_at(client: &Client, sessions: &mut [Watched]) -> Result<()> {
    for session in sessions.iter_mut().filter(|session| !session.is_at_rest()) {
        let now = client.get(&format!("/api/sessions/{}", session.id))?;
        let status = text(&now, "status")?;
        if status != session.status {
            status.clone_into(&mut session.status);
            say(&format!("    {}: {status} after {}", session.name, seconds(session.since.elapsed())));
        }
    }
    Ok(())
}

/// Waits until every session has ended or waits, and fails if its status is not the expected one.
pub fn settle(client: &Client, sessions: &mut [Watched]) -> Result<()> {
    let started = Instant::now();
    while sessions.iter().any(|session| !session.is_at_rest()) {
        if started.elapsed() > Duration::from_secs(SETTLE_SECONDS_MAX) {
            bail!("sessions are still at work after {SETTLE_SECONDS_MAX} s");
        }
        pause(Duration::from_millis(250))?;
        look_at(client, sessions)?;
    }
    for session in sessions.iter() {
        if session.status != session.rests_in {
            bail!("\"{}\" should have ended {}, but is {}", session.name, session.rests_in, session.status);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_demo_agent_exists_and_its_inputs_are_json() {
        for agent in &AGENTS {
            let script = crate::workspace::root().join(agent.script());
            assert!(script.is_file(), "{} is missing", script.display());
            for run in agent.runs {
                serde_json::from_str::<Value>(run.input).unwrap();
            }
        }
    }

    #[test]
    fn every_demo_agent_answers_plain_words() {
        let prompt = "Hello! What about README.md in docs, and the word lease?";
        // Quotes and line breaks are escaped in JSON; the older message must not be answered in place of the newest.
        let quoted = "Look at \"SECURITY.md\"\nin \"docs\", for the word \"lease\".";
        let talk = |older: &str, newest: &str| {
            json!({ "messages": [{ "role": "user", "text": older }, { "role": "user", "text": newest }] }).to_string()
        };
        let inputs = [
            (talk("Hi", prompt), "README.md"),
            (json!(prompt).to_string(), "README.md"),
            (talk("And the word pool? See README.md in crates.", quoted), "SECURITY.md"),
            (json!(quoted).to_string(), "SECURITY.md"),
        ];
        for agent in &AGENTS {
            let (program, arguments) = agent.command.split_first().unwrap();
            if crate::workspace::find_program(program).is_none() {
                continue;
            }
            for (input, file) in &inputs {
                let mut child = std::process::Command::new(program)
                    .args(arguments)
                    .current_dir(crate::workspace::root())
                    .stdin(std::process::Stdio::piped())
                    .stdout(std::process::Stdio::piped())
                    .stderr(std::process::Stdio::piped())
                    .spawn()
                    .unwrap();
                child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
                let output = child.wait_with_output().unwrap();
                let printed = String::from_utf8_lossy(&output.stdout);
                // The editor hands its session over at the end, which takes a server.
                assert!(output.status.success() || agent.slug == "editor", "{}: {output:?}", agent.slug);
                let answers = printed.lines().any(|line| line.contains("agent.message") || !line.starts_with('{'));
                assert!(answers, "{} says nothing to {input}: {printed}", agent.slug);
                let is_about = match agent.slug {
                    "scout" => printed.contains("docs/"),
                    "searcher" => printed.contains("lease") && printed.contains(" is in "),
                    _ => printed.contains(file),
                };
                assert!(is_about, "{}: {printed}", agent.slug);
            }
        }
    }

    #[test]
    fn the_sign_in_survives_its_file() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(sign_in_file(dir.path()), "email: a\npassword: b\noperator-token: c\nworker-token: d\n")
            .unwrap();
        let sign_in = SignIn::read(dir.path()).unwrap();
        assert_eq!((sign_in.password.as_str(), sign_in.worker_token.as_str()), ("b", "d"));
    }

    #[test]
    fn passwords_are_long_and_differ() {
        let (one, other) = (random_password().unwrap(), random_password().unwrap());
        assert_eq!(one.len(), 20);
        assert_ne!(one, other);
    }
}
