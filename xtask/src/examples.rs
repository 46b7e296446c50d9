//! Runs every example of `examples/` against a server, so that what the documentation shows works.

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::build::Build;
use crate::demo::{self, Agent, Run, Watched};
use crate::demo_canvas;
use crate::demo_tools;
use crate::prerequisites::example_python;
use crate::process::{Managed, capture, pause, run_quietly};
use crate::progress::say;
use crate::scripted_model::ScriptedModel;
use crate::served::{Admin, Client, Served, text};
use crate::steps::Count;
use crate::workspace::{command, root};

/// Examples that are workers themselves: they use SHIFTBOOK_URL and SHIFTBOOK_TOKEN and claim sessions of their agent
/// over HTTP.
const WORKERS: [Agent; 1] = [Agent::example(
    "host-reporter",
    &["sh", "examples/worker.sh", "--once"],
    &[Run { input: "{}", rests_in: "completed" }],
)];

/// Examples that `shiftbook work` runs once per session, in addition to those of the demo.
const COMMANDS: [Agent; 3] = [
    Agent::example(
        "librarian",
        &["python3", "examples/langgraph_worker.py"],
        &[Run { input: r#"{"question":"How does a worker lose its lease?"}"#, rests_in: "completed" }],
    ),
    Agent::example(
        "buyer",
        &["python3", "examples/langgraph_interrupt.py"],
        &[Run { input: r#"{"item":"tables"}"#, rests_in: "waiting_human" }],
    ),
    Agent::example("asker", &["python3", "examples/ask.py"], &[Run { input: "{}", rests_in: "waiting_human" }]),
];

/// What the questions of these agents are answered with, as JSON. The agents then continue.
const ANSWERS: [(&str, &str); 3] = [
    ("asker", r#"{"region":"EU","seats":3}"#),
    ("buyer", r#"{"count":3,"color":"oak","until":"2027-01-31"}"#),
    ("surveyor", r#"{"part":"Run it","ease":4}"#),
];

/// MCP servers of npm and PyPI, each with a tool, its input, and a part of its result.
const MCP_SERVERS: [(&str, &str, &str, &str); 2] =
    [demo_tools::EVERYTHING, ("tables", "area", r#"{"width":1.5,"length":2}"#, "3.0")];

/// Workspace of the examples.
const TENANT: &str = "examples";
/// A person of that workspace, on a server that ends with the examples.
const READER: (&str, &str) = ("reader@examples.localhost", "correct horse battery");
/// Agent of the demo with which the reader talks.
const TALKS: &str = "outliner";
/// Time for a reply, and for the proposals of a conversation.
const TALK_MAX: Duration = Duration::from_secs(60);

pub fn check(build: Build, tests: &mut Option<Count>) -> Result<()> {
    let folder = tempfile::tempdir_in(crate::scratch::folder())?;
    let admin = Admin::new(build, folder.path(), TENANT);
    let operator = admin.add_token("operator", "operator", None)?;
    let worker = admin.add_token("worker", "operator", Some("worker"))?;
    admin.add_user(READER.0, "member", READER.1)?;
    let settings = ScriptedModel::start()?.write_settings(TENANT, folder.path())?;
    allow_mcp_servers(&settings)?;
    let server = Served::start_with(build, folder.path(), "127.0.0.1:0", Some(&settings))?;
    let client = server.client(&operator);
    let log = folder.path().join("workers.log");

    let mut count = Count::default();
    for agent in demo::AGENTS.iter().chain(&COMMANDS).chain(&WORKERS) {
        let start = || {
            if WORKERS.iter().any(|other| other.slug == agent.slug) {
                start_worker(&server, &worker, agent, &log)
            } else {
                server.worker(&worker, agent.slug, &command_line(agent), "0", &log)
            }
        };
        count_one(&mut count, agent.script(), || {
            let mut process = start()?;
            let outcome = run_sessions(&client, agent);
            process.stop();
            outcome
        });
    }
    count_one(&mut count, "examples/demo/tools.json", || tools(&client, &log));
    count_one(&mut count, "an agent writes on a canvas", || write_on_canvas(&server, &worker, &client, &log));
    count_one(&mut count, "a conversation of the demo is remembered", || talk(&server, &worker, &client, &log));
    for example in MCP_SERVERS {
        count_one(&mut count, &format!("the MCP server {}", example.0), || demo_tools::run_mcp_tool(&client, example));
    }
    count_one(&mut count, "examples/load_training_data.py", || load_training_data(&folder.path().join("exports")));
    *tests = Some(count);
    if count.failed > 0 {
        println!("{}", std::fs::read_to_string(&log).unwrap_or_default());
        bail!("{} of {} examples failed", count.failed, count.failed + count.passed);
    }
    Ok(())
}

/// Runs one example and counts whether it passed.
fn count_one(count: &mut Count, name: &str, run: impl FnOnce() -> Result<()>) {
    say(&format!("    {name}"));
    match run() {
        Ok(()) => count.passed += 1,
        Err(error) => {
            say(&format!("    {name}: {error:#}"));
            count.failed += 1;
        }
    }
}

/// Runs the tools of the demo with the service that they call.
fn tools(client: &Client, log: &Path) -> Result<()> {
    let mut service = demo_tools::start_service(&example_python(), log)?;
    let outcome = demo_tools::play(client);
    service.stop();
    outcome
}

/// Lets the agent of the demo's canvas write on one.
fn write_on_canvas(server: &Served, worker_token: &str, client: &Client, log: &Path) -> Result<()> {
    let agent = demo::AGENTS.iter().find(|agent| agent.slug == demo_canvas::AGENT);
    let agent = agent.context("the demo has no such agent")?;
    let mut worker = server.worker(worker_token, agent.slug, &command_line(agent), "0", log)?;
    let outcome = demo_canvas::play(client, &server.client(worker_token), None, |_| {});
    worker.stop();
    outcome.map(drop)
}

/// Talks with an agent of the demo as a person, and waits until its memory writer proposes what to remember of it.
fn talk(server: &Served, worker_token: &str, client: &Client, log: &Path) -> Result<()> {
    let agent = demo::AGENTS.iter().find(|agent| agent.slug == TALKS).context("the demo has no such agent")?;
    let mut worker = server.worker(worker_token, agent.slug, &command_line(agent), "0", log)?;
    let cookie = client.sign_in(READER.0, READER.1)?;
    let message = json!({ "agent": agent.slug, "message": "Please outline README.md. I prefer short outlines." });
    let thread = text(&client.post_as(&cookie, "/api/threads", &message)?, "id")?.to_owned();
    let path = format!("/api/threads/{thread}");
    until("a reply", || Ok(text(&client.get_as(&cookie, &path)?, "status")? == "idle"))?;
    client.post_as(&cookie, &format!("{path}/end"), &json!({ "feedback": "skip" }))?;
    worker.stop();
    let proposed = |folder: &str| {
        let open = client.get("/api/approvals?kind=memory&assignedTo=all")?;
        let items = open["items"].as_array().cloned().unwrap_or_default();
        let title = format!("Memory: {folder}/");
        anyhow::Ok(items.iter().any(|item| item["title"].as_str().is_some_and(|text| text.starts_with(&title))))
    };
    until("a proposal about the person", || proposed("people"))?;
    until("a proposal of a summary", || proposed("sessions"))?;
    let runs = client.get(&format!("/api/agents/{}/memory/runs", agent.slug))?;
    let failed = runs["items"].as_array().and_then(|runs| runs.iter().find(|run| run["state"] != "succeeded")).cloned();
    failed.map_or(Ok(()), |run: Value| bail!("a run of the memory writer failed: {run}"))
}

/// Adds the programs that are MCP servers to a settings file.
fn allow_mcp_servers(settings: &Path) -> Result<()> {
    let everything = demo_tools::everything_command().context("the MCP server of npm is not installed")?;
    let server = root().join("examples/mcp_server.py");
    let tables = [example_python().display().to_string(), server.display().to_string()];
    demo_tools::allow_mcp_server(settings, TENANT, demo_tools::EVERYTHING.0, &everything)?;
    demo_tools::allow_mcp_server(settings, TENANT, "tables", &tables)
}

/// Asks again and again until the answer is yes.
fn until(what: &str, is_so: impl Fn() -> Result<bool>) -> Result<()> {
    let started = Instant::now();
    while !is_so()? {
        if started.elapsed() > TALK_MAX {
            bail!("{what} did not come within {} s", TALK_MAX.as_secs());
        }
        pause(Duration::from_millis(250))?;
    }
    Ok(())
}

/// Loads exports of every kind with a trainer's libraries.
fn load_training_data(folder: &Path) -> Result<()> {
    // Compiled together with the tests: alone it would get other features, and cargo would compile its crates again.
    let made = capture(command(Build::Tests.program("datalake-probe")).arg("samples").arg(folder))?;
    let mut load = command(example_python());
    // The files are local, so no model hub is needed.
    load.env("HF_HUB_OFFLINE", "1").env("HF_HUB_DISABLE_TELEMETRY", "1").env("HF_HOME", folder.join("hub"));
    run_quietly(load.arg("examples/load_training_data.py").args(made.lines()), None)
}

/// The command of an example, with the Python that has the packages of `examples/requirements.txt`.
fn command_line(agent: &Agent) -> Vec<String> {
    let own = |word: &&str| match *word {
        "python3" => example_python().to_string_lossy().into_owned(),
        word => word.to_owned(),
    };
    agent.command.iter().map(own).collect()
}

fn start_worker(server: &Served, token: &str, agent: &Agent, log: &Path) -> Result<Managed> {
    let command_line = command_line(agent);
    let Some((program, arguments)) = command_line.split_first() else { bail!("an example without a command") };
    let log = std::fs::File::options().create(true).append(true).open(log)?;
    let mut worker = server.command_for(token, command(program));
    worker.args(arguments).stdin(Stdio::null());
    Managed::service(worker.stdout(log.try_clone()?).stderr(log))
}

fn run_sessions(client: &Client, agent: &Agent) -> Result<()> {
    let action = demo::create_action(client, agent, None)?;
    let mut sessions = Vec::new();
    for run in agent.runs {
        sessions.push(Watched::trigger(client, agent, &action, run)?);
    }
    demo::settle(client, &mut sessions)?;
    let Some((_, answer)) = ANSWERS.iter().find(|(slug, _)| *slug == agent.slug) else { return Ok(()) };
    let answer = serde_json::from_str(answer)?;
    for session in &mut sessions {
        session.answer(client, &answer)?;
    }
    demo::settle(client, &mut sessions)
}
