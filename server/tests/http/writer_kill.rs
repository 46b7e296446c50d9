//! The server is killed at a random time while its memory writer works, repeatedly. Every turn is read by exactly one
//! run that succeeds, and what the run writes or proposes is there once.

use crate::app::{App, Who};
use reqwest::Method;
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};
use testkit::{
    Engine,
    model::{ScriptedModel, ScriptedReply},
};

/// Default number of kills per engine. `SHIFTBOOK_WRITER_KILL_ROUNDS` sets another one; the long tier has 1,000.
const ROUNDS: usize = 12;
/// Agents whose writers work when the server is killed. Every second one has the policy `review`.
const AGENTS: usize = 4;
/// Longest time between a request to the model and the kill. A run is written 5 to 20 ms after its request.
const MICROS: u64 = 12_000;
/// Answers of the model for each round. A run that a kill hit asks again.
const ANSWERS: usize = 20;
/// Looks for the end of the runs of a round, and the time between two.
const LOOKS: usize = 3_000;
const CHECK_INTERVAL: Duration = Duration::from_millis(50);

fn agents() -> Vec<String> {
    (0..AGENTS).map(|number| format!("scout-{number}")).collect()
}

/// Whether the changes of an agent wait for a review.
fn is_reviewed(agent: &str) -> bool {
    agents().iter().position(|known| known == agent).is_some_and(|at| at % 2 == 1)
}

fn rounds() -> usize {
    std::env::var("SHIFTBOOK_WRITER_KILL_ROUNDS").map_or(ROUNDS, |text| text.parse().unwrap())
}

async fn get(app: &App, path: &str) -> Value {
    let response = app.request(Who::Admin, Method::GET, path).send().await.unwrap();
    assert!(response.status().is_success(), "GET {path}: {}", response.status());
    response.json().await.unwrap()
}

/// A word of every message and of every line. A line without a word of its turn waits for a review.
const SAID: &str = "garden";

fn letters() -> String {
    std::iter::repeat_with(fastrand::lowercase).take(24).collect()
}

/// An answer of the model that makes a document from the person's turn. No two say the same.
fn answer(number: usize) -> ScriptedReply {
    let op = json!({
        "op": "create", "path": format!("topics/note-{number}.md"), "heading": [], "base_sha256": null,
        "body": format!("# {}\n\n- {SAID} {}\n", letters(), letters()), "evidence": [{ "session": "s1", "sequence": 2 }], "reason": "",
    });
    let answer = json!({ "schema": 1, "nothing": false, "summary": null, "ops": [op] });
    ScriptedReply::Text(answer.to_string().leak())
}

fn settings(model: &ScriptedModel) -> String {
    let url = &model.base_url;
    let memory = format!(
        "[memory]\nwire = \"openai\"\nbase_url = \"{url}\"\nmodel = \"small\"\nruns_per_day = 100000\n\
         tokens_per_day = 1000000000\n"
    );
    agents().iter().fold(memory, |all, agent| {
        let policy = if is_reviewed(agent) { "review" } else { "auto" };
        format!("{all}[memory.agents.{agent}]\nworkspace = \"acme\"\npolicy = \"{policy}\"\n")
    })
}

/// A conversation with this message and a reply, which has ended. Returns its id.
pub async fn talked_of(app: &App, agent: &str, message: &str) -> String {
    let thread = app.post(Who::Member, "/api/threads", json!({ "agent": agent, "message": message })).await;
    let id = thread["id"].as_str().unwrap().to_owned();
    let claim = json!({ "agentSlugs": [agent], "leaseSeconds": 3600 });
    let claimed = app.post(Who::Worker, "/api/sessions/claim", claim).await;
    assert_eq!(claimed["sessions"][0]["session"]["id"], id.as_str());
    let reply = json!({ "attempt": 1, "events": [{ "type": "agent.message", "content": "Noted." }] });
    app.post(Who::Worker, &format!("/api/sessions/{id}/events"), reply).await;
    app.post(Who::Worker, &format!("/api/sessions/{id}/yield"), json!({ "attempt": 1, "status": "idle" })).await;
    app.post(Who::Member, &format!("/api/threads/{id}/end"), json!({ "feedback": "skip" })).await;
    id
}

/// The successful runs of an agent that cover this session.
async fn runs_of(app: &App, agent: &str, session: &str) -> Vec<Value> {
    let runs = get(app, &format!("/api/agents/{agent}/memory/runs")).await["items"].take();
    let covers = |run: &Value| run["window"].as_array().unwrap().iter().any(|range| range["session"] == session);
    let Value::Array(runs) = runs else { panic!("{runs}") };
    runs.into_iter().filter(|run| run["state"] == "succeeded" && covers(run)).collect()
}

/// Waits until the writer of each agent has read its conversation.
async fn all_read(app: &App, talks: &[(String, String)]) {
    for (agent, session) in talks {
        let mut looks = 0;
        while runs_of(app, agent, session).await.is_empty() {
            looks += 1;
            assert!(looks < LOOKS, "{agent} never read {session}: {}", app.log());
            tokio::time::sleep(CHECK_INTERVAL).await;
        }
    }
}

/// Kills the server in the middle of runs: after a random number of the agents has asked its model, which had
/// received `before` requests.
async fn fault(app: &mut App, model: &ScriptedModel, before: usize, agents: usize) {
    let wanted = before + fastrand::usize(1..=agents);
    // One kill of four is at any time.
    let at_any_time = fastrand::u8(0..4) == 0;
    let most = Duration::from_micros(fastrand::u64(0..2_000_000));
    let began = std::time::Instant::now();
    while model.received() < wanted && !(at_any_time && began.elapsed() > most) {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    tokio::time::sleep(Duration::from_micros(fastrand::u64(0..MICROS))).await;
    app.kill();
}

async fn killed_at_any_instant(mut app: App, model: &ScriptedModel, postgres: Option<&Engine>) {
    let agents = agents();
    let mut known: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut hits = 0;
    for round in 0..rounds() {
        model.then((0..ANSWERS * agents.len()).map(|at| answer(round * ANSWERS * agents.len() + at)));
        let asked = model.received();
        let mut talks = Vec::new();
        for agent in &agents {
            let id = talked_of(&app, agent, &format!("{SAID} {}", letters())).await;
            known.entry(agent.clone()).or_default().insert(id.clone());
            talks.push((agent.clone(), id));
        }
        fault(&mut app, model, asked, agents.len()).await;
        // In the first round they run out by themselves. That takes half a minute.
        if let Some(engine) = postgres.filter(|_| round > 0) {
            engine.raw().await.end_writer_leases().await;
        }
        app.serve_again();
        all_read(&app, &talks).await;
        // A run that nothing interrupts asks once.
        hits += model.received() - asked - agents.len();
        for (agent, session) in &talks {
            let runs = runs_of(&app, agent, session).await;
            assert_eq!(runs.len(), 1, "round {round}: {runs:?}");
            let run = &runs[0];
            let (written, proposals) = if is_reviewed(agent) { (0, 1) } else { (1, 0) };
            let found = json!([run["turns"], run["written"], run["proposals"]]);
            assert_eq!(found, json!([2, written, proposals]), "round {round}: {runs:?}");
        }
    }
    println!("runs that {} kills ended between their request and their transaction: {hits}", rounds());
    // In a few rounds all kills can miss by chance.
    assert!(rounds() < 100 || hits * 10 >= rounds(), "{} kills hit {hits} runs", rounds());
    let mut proposed = proposed(&app).await;
    for (agent, sessions) in &known {
        let found =
            if is_reviewed(agent) { proposed.remove(agent).unwrap_or_default() } else { origins(&app, agent).await };
        assert_eq!(found, sessions.iter().cloned().collect::<Vec<_>>(), "{agent}");
    }
    assert!(proposed.is_empty(), "{proposed:?}");
    app.kill();
    let verified = app.cli().arg("verify").output().unwrap();
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stderr));
    app.serve_again();
}

/// The session that each document of an agent comes from, in order. A document that was written twice is there twice.
async fn origins(app: &App, agent: &str) -> Vec<String> {
    let mut origins = Vec::new();
    let listed = get(app, &format!("/api/agents/{agent}/memory?folder=topics&limit=1000")).await;
    for document in listed["items"].as_array().unwrap() {
        assert_eq!(document["version"], 1, "{document}");
        let path = document["path"].as_str().unwrap();
        let blame = get(app, &format!("/api/agents/{agent}/memory/blame?path={path}")).await;
        let lines = blame["lines"].as_array().unwrap().iter();
        let sessions: BTreeSet<String> = lines
            .flat_map(|line| line["evidence"].as_array().unwrap())
            .map(|one| one["session"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(sessions.len(), 1, "{blame}");
        origins.extend(sessions);
    }
    origins.sort();
    origins
}

/// The session that each proposal comes from, in order, by agent. One that was opened twice is there twice.
async fn proposed(app: &App) -> BTreeMap<String, Vec<String>> {
    let mut proposed: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut cursor = String::new();
    loop {
        let page = get(app, &format!("/api/approvals?kind=memory&assignedTo=all&limit=1000{cursor}")).await;
        for item in page["items"].as_array().unwrap() {
            let (agent, origin) = (&item["agentSlug"], &item["task"]["turns"][0]["session"]);
            proposed.entry(agent.as_str().unwrap().to_owned()).or_default().push(origin.as_str().unwrap().to_owned());
        }
        let Some(next) = page["nextCursor"].as_str() else { break };
        cursor = format!("&cursor={next}");
    }
    proposed.values_mut().for_each(|origins| origins.sort());
    proposed
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_turn_is_remembered_once_however_the_server_is_killed_on_sqlite() {
    let model = ScriptedModel::start([]).await;
    let app = App::start_with(&settings(&model), &[], &[]);
    killed_at_any_instant(app, &model, None).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_turn_is_remembered_once_however_the_server_is_killed_on_postgresql() {
    let engine = Engine::postgres().await;
    let Engine::Postgres { url, .. } = &engine else { unreachable!("asked for PostgreSQL") };
    let model = ScriptedModel::start([]).await;
    let app = App::start_with(&settings(&model), &[], &[("SHIFTBOOK_DATABASE_URL", url)]);
    killed_at_any_instant(app, &model, Some(&engine)).await;
    engine.discard().await;
}
