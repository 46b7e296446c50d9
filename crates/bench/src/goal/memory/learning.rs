//! What agents learn of memories: ratings that arrive, the training of a model, its scores, and claims while it orders
//! memories.

use super::{GOAL, SOME, block};
use crate::{
    goal::{Bench, Series, Site, figures::Figures},
    http::{Answer, Connection, Request, credentials},
    load::{self, Held, Script, claim_and_wait, claimed},
    process::ServerSpec,
    report::{Bound, Finding},
    seed::memory::Language,
};
use anyhow::{Context as _, Result, ensure};
use rusqlite::OptionalExtension as _;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::{
    fs::File,
    io::{BufWriter, Write as _},
    path::Path,
    process::Command,
    time::Instant,
};

/// Connections that send ratings, each for a session of its own.
const RATERS: usize = 16;
/// Sessions whose labels a model is trained on, and their labelled memories: a million together.
const SESSIONS: u64 = 125_000;
const MEMORIES: u64 = 8;
/// Candidates that a model scores at once, and how often it does. A claim has at most 50.
const SCORED: u64 = 200;
const SCORINGS: u64 = 1_000;
/// Claims before one gives up to get memories: a question can have no word of a document.
const TRIES: usize = 50;
/// What the command says when the model is used.
const ADOPTED: &str = "the model orders memories from now on";
const MODEL_SQLITE: &str = "SELECT model FROM memory_rankers WHERE in_use = 1";

#[derive(Deserialize)]
struct Memories {
    items: Vec<Memory>,
}

#[derive(Deserialize)]
struct Memory {
    id: String,
    injected: bool,
}

/// Measures on a running server, and ends it. The last measurement has a server that read the new model.
pub async fn measure(bench: &mut Bench, spec: &ServerSpec, site: Site) -> Result<()> {
    ratings(bench, &site).await?;
    let Site { server, data_dir, account, .. } = site;
    server.stop().await?;
    training(bench, spec, &data_dir).await?;
    scores(bench, &data_dir)?;
    let site = Site::open(spec, &data_dir, account).await?;
    block::measure(bench, &site, "SQLite, a model in use", Language::question).await?;
    site.server.stop().await
}

/// Rates all memories of a session, again and again.
struct RateScript {
    request: Request,
    memories: u64,
}

impl Script for RateScript {
    fn request(&mut self) -> Option<&[u8]> {
        Some(self.request.bytes())
    }

    fn settle(&mut self, answer: &Answer<'_>) -> Result<u64> {
        ensure!(answer.status == 200, "{} instead of 200", answer.status);
        Ok(self.memories)
    }
}

async fn ratings(bench: &mut Bench, site: &Site) -> Result<()> {
    let mut language = Language::new(17);
    let mut sessions = Vec::new();
    for _ in 0..RATERS {
        sessions.push(with_memories(site, &mut language).await?);
    }
    let (target, token) = (site.server.address(), &site.account.token);
    let mut series = Series::default();
    for _ in 0..bench.plan.rounds {
        let scripts = sessions.iter().map(|(held, memories)| {
            let scores: Map<String, Value> = memories.iter().map(|id| (id.clone(), json!(0.5))).collect();
            let body = json!({ "attempt": held.attempt, "memory_feedback": scores }).to_string();
            let path = format!("/api/sessions/{}/memory-feedback", held.id);
            let request = Request::post(target, &path, &credentials(token), &body);
            RateScript { request, memories: memories.len() as u64 }
        });
        series.push(load::run(target, scripts.collect(), bench.plan.window, site.server.pid()).await?.0);
    }
    let finding = series.finding(GOAL, format!("ratings of memories, {RATERS} connections"), "rating");
    bench.found(finding.goals(Bound::AtLeast(10_000.0), Bound::AtLeast(20_000.0)));
    Ok(())
}

/// Claims a session that is given memories. Returns it with their ids.
async fn with_memories(site: &Site, language: &mut Language) -> Result<(Held, Vec<String>)> {
    let (target, headers) = (site.server.address(), credentials(&site.account.token));
    let mut connection = Connection::open(target).await?;
    for _ in 0..TRIES {
        let body = json!({ "sessionType": "agent", "agentSlug": SOME, "title": language.question() }).to_string();
        connection.call(&Request::post(target, "/api/sessions", &headers, &body)).await?;
        let claim = Request::post(target, "/api/sessions/claim", &headers, &claim_and_wait(SOME));
        let held = claimed(connection.call(&claim).await?.body)?.pop().context("no session was claimed")?;
        let path = format!("/api/sessions/{}/memories?limit=50", held.id);
        let answer = connection.call(&Request::get(target, &path, &headers)).await?;
        let memories: Memories = serde_json::from_slice(answer.body)?;
        let ids: Vec<String> = memories.items.into_iter().filter(|one| one.injected).map(|one| one.id).collect();
        if !ids.is_empty() {
            return Ok((held, ids));
        }
    }
    anyhow::bail!("no session of {SOME} was given memories")
}

/// Trains a model on labels, as `export labels` writes them, in which short memories are useful.
async fn training(bench: &mut Bench, spec: &ServerSpec, data_dir: &Path) -> Result<()> {
    let labels = bench.work.join("labels.jsonl");
    let file = labels.clone();
    tokio::task::spawn_blocking(move || write_labels(&file)).await??;
    let path = labels.to_str().context("the folder has no name in UTF-8")?;
    let began = Instant::now();
    let printed = spec.run(data_dir, &["memory", "train", "--tenant", "bench", "--labels", path], "").await?;
    let seconds = began.elapsed().as_secs_f64();
    std::fs::remove_file(&labels)?;
    let rows = SESSIONS * MEMORIES;
    let finding = Finding::new(GOAL, format!("training a model on {rows} labelled memories"), "s", seconds);
    let finding =
        finding.goals(Bound::AtMost(300.0), Bound::AtMost(60.0)).facts(printed.lines().collect::<Vec<_>>().join("; "));
    bench.found(finding.broken_if(!printed.contains(ADOPTED), "the model was not used"));
    Ok(())
}

/// How long the model that is in use takes for the candidates of a prompt.
fn scores(bench: &mut Bench, data_dir: &Path) -> Result<()> {
    let finding = |value: f64| Finding::new(GOAL, format!("scoring {SCORED} memories with this model"), "ms", value);
    let connection = rusqlite::Connection::open(data_dir.join("shiftbook.sqlite3"))?;
    let model: Option<Vec<u8>> = connection.query_row(MODEL_SQLITE, [], |row| row.get(0)).optional()?;
    let (Some(probe), Some(model)) = (bench.ranker_probe.clone(), model) else {
        bench.found(finding(0.0).broken_if(true, "needs --ranker-probe and a model in use"));
        return Ok(());
    };
    let file = bench.work.join("ranker-model");
    std::fs::write(&file, model)?;
    let size = [SCORED, SCORINGS].map(|number| number.to_string());
    let figures = Figures::of(Command::new(probe).arg(&file).args(size))?;
    let facts = format!(
        "{} trees with {} nodes, median of {SCORINGS} times, with the features and the share of the formula",
        figures.get("trees")?,
        figures.get("nodes")?
    );
    let finding = finding(figures.get("microseconds")? / 1e3);
    bench.found(finding.goals(Bound::AtMost(1.0), Bound::AtMost(0.5)).facts(facts));
    Ok(())
}

fn write_labels(path: &Path) -> Result<()> {
    let mut random = fastrand::Rng::with_seed(19);
    let mut file = BufWriter::new(File::create(path)?);
    for session in 0..SESSIONS {
        for at in 0..MEMORIES {
            let is_short = random.bool();
            let value = if is_short == (random.u8(..10) > 0) { 0.8 } else { -0.6 };
            let row = json!({
                "id": format!("00000000-0000-7000-8000-{session:06x}{at:06x}"),
                "tenant": "00000000-0000-7000-8000-000000000000", "session_hmac": format!("{session:064x}"), "turn": 3,
                "memory_version": 1, "query_group": format!("00000000-0000-7000-9000-{session:012x}"),
                "bm25": random.f64() * 9.0, "recency_d": random.f64() * 90.0, "importance": 0.5,
                "uses_30d": random.u32(..5), "same_person": false, "same_channel": random.bool(), "kind": "topics",
                "tokens": if is_short { random.u32(5..40) } else { random.u32(60..160) }, "rank": at + 1,
                "slot": at + 1, "injected": true, "propensity": 1.0, "holdout": false, "agent_mean": value,
                "agent_n": 1, "use_hits": u32::from(is_short), "continuity": null, "label": value, "weight": 0.5,
                "ranker_version": "formula-1",
            });
            writeln!(file, "{row}")?;
        }
    }
    Ok(file.flush()?)
}
