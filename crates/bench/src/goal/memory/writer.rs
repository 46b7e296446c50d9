//! What the memory writer takes without its model: a model that answers at once, and the time from the beginning of
//! each run to its recorded outcome.

use super::{GOAL, model};
use crate::{
    goal::{Bench, Site},
    http::{Connection, Request, credentials},
    ids::Ids,
    load::claimed_session_of,
    report::Finding,
};
use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;
use std::time::{Duration, Instant};
use tokio::time::sleep;

/// Turns of the conversations that are summarised.
const TURNS: [usize; 2] = [50, 5_000];
/// Turns that are sent in one request.
const BATCH: usize = 100;
/// Longest wait for the runs of one conversation.
const RUNS_MAX: Duration = Duration::from_secs(180);
/// Pause between two looks at the runs.
const POLL: Duration = Duration::from_millis(200);

#[derive(Deserialize)]
struct Runs {
    items: Vec<Run>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Run {
    state: String,
    turns: usize,
    error: Option<String>,
    started_at: chrono::DateTime<chrono::Utc>,
    ended_at: chrono::DateTime<chrono::Utc>,
}

pub async fn measure(bench: &mut Bench) -> Result<()> {
    let address = model::start().await?;
    let data_dir = bench.work.join("memory-writer");
    let config = bench.work.join("memory-writer.toml");
    let agents: String =
        TURNS.iter().map(|turns| format!("[memory.agents.{}]\nworkspace = \"bench\"\n", agent(*turns))).collect();
    let settings = format!("[memory]\nwire = \"openai\"\nbase_url = \"http://{address}/v1\"\nmodel = \"m\"\n{agents}");
    std::fs::write(&config, settings)?;
    let mut spec = bench.spec.clone();
    let account = spec.account(&data_dir).await?;
    spec.config = Some(config);
    let site = Site::open(&spec, &data_dir, account).await?;
    for turns in TURNS {
        let runs = summarised(&site, turns).await?;
        let failed = runs.iter().find(|run| run.state != "succeeded");
        let why = failed.map(|run| run.error.clone().unwrap_or_default());
        let millis: f64 = runs.iter().map(|run| (run.ended_at - run.started_at).as_seconds_f64() * 1e3).sum();
        let what = format!("the writer without its model, {turns} turns");
        let facts = format!("{} runs of at most 200 turns, each with a model that answers at once", runs.len());
        let finding = Finding::new(GOAL, what, "ms", millis).facts(facts);
        bench.found(finding.broken_if(why.is_some(), why.unwrap_or_default()));
    }
    site.server.stop().await
}

fn agent(turns: usize) -> String {
    format!("bench-writer-{turns}")
}

/// The runs over a conversation of this many turns.
async fn summarised(site: &Site, turns: usize) -> Result<Vec<Run>> {
    let (target, token, agent) = (site.server.address(), &site.account.token, agent(turns));
    let headers = credentials(token);
    let mut connection = Connection::open(target).await?;
    // The writer reads sessions that began after its first start.
    let runs = Request::get(target, &format!("/api/agents/{agent}/memory/runs"), &headers);
    let flush = Request::post(target, &format!("/api/agents/{agent}/memory/flush"), &headers, "{}");
    let began = Instant::now();
    loop {
        let answer: serde_json::Value = serde_json::from_slice(connection.call(&flush).await?.body)?;
        if answer["hasWriter"] == true {
            break;
        }
        ensure!(began.elapsed() < RUNS_MAX, "no writer of {agent}");
        sleep(POLL).await;
    }
    let held = claimed_session_of(target, token, &agent).await?;
    let mut ids = Ids::new();
    for from in (0..turns).step_by(BATCH) {
        let events = (from..turns.min(from + BATCH)).map(|number| {
            let text = format!("Supplier {number} delivers within four days at 12.40 per piece, from 500 pieces on.");
            serde_json::json!({ "id": ids.next(), "type": "agent.message", "content": [{ "type": "text", "text": text }] })
        });
        let body = serde_json::json!({ "attempt": held.attempt, "events": events.collect::<Vec<_>>() }).to_string();
        let path = format!("/api/sessions/{}/events", held.id);
        connection.call(&Request::post(target, &path, &headers, &body)).await?;
    }
    let began = Instant::now();
    loop {
        connection.call(&flush).await?;
        let answer = connection.call(&runs).await?;
        let found: Runs = serde_json::from_slice(answer.body).context("the runs")?;
        let covered: usize = found.items.iter().filter(|run| run.state == "succeeded").map(|run| run.turns).sum();
        if covered >= turns || found.items.iter().any(|run| run.state != "succeeded") {
            return Ok(found.items);
        }
        ensure!(began.elapsed() < RUNS_MAX, "{covered} of {turns} turns were summarised");
        sleep(POLL).await;
    }
}
