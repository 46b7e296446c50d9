//! What agents remember: search in many documents, the block that a claim carries, the writer without its model, how
//! much of what is looked for is found, and what is learned of ratings.

mod block;
mod learning;
mod model;
mod quality;
mod search;
mod writer;

use super::{Bench, Site};
use crate::{
    process::ServerSpec,
    raw::postgres::Databases,
    seed::{self, memory::Language},
};
use anyhow::{Result, ensure};
use std::{
    path::Path,
    time::{Duration, Instant},
};
use tokio::time::sleep;

/// The goal that all of them belong to.
pub const GOAL: &str = "memory";

/// The agent with many documents, for search.
const MANY: &str = "bench-library";
/// The agent with some documents, for claims.
const SOME: &str = "bench-notebook";
/// Longest wait for vectors.
const VECTORS_MAX: Duration = Duration::from_secs(120);
/// Pause between two looks at how many have them.
const POLL: Duration = Duration::from_millis(200);
/// Documents of the agent with some.
const SOME_DOCUMENTS: usize = 10_000;

pub async fn measure(bench: &mut Bench) -> Result<()> {
    let data_dir = bench.work.join("memory");
    let spec = bench.spec.clone();
    let site = filled(bench, &spec, &data_dir, None).await?;
    search::measure(bench, &site, "SQLite").await?;
    block::measure(bench, &site, "SQLite", Language::question).await?;
    block::measure(bench, &site, "SQLite, messages in sentences", Language::sentences).await?;
    quality::write(&site).await?;
    quality::ask(bench, &site, "").await?;
    learning::measure(bench, &spec, site).await?;
    with_vectors(bench).await?;
    writer::measure(bench).await?;
    let Some(url) = bench.postgres_url.clone() else {
        eprintln!("memory on PostgreSQL needs --postgres-url; skipped");
        return Ok(());
    };
    let mut databases = Databases::new(&url)?;
    let measured = on_postgres(bench, &mut databases).await;
    // Whatever happened, someone else's PostgreSQL is left as it was.
    databases.drop_all().await?;
    measured
}

/// The same questions to a server that compares vectors, and claims there.
async fn with_vectors(bench: &mut Bench) -> Result<()> {
    let Some(model) = bench.embedding_model.clone() else {
        eprintln!("memory with vectors needs --embedding-model; skipped");
        return Ok(());
    };
    let config = bench.work.join("memory-vectors.toml");
    std::fs::write(&config, format!("[embedding]\nmodel_dir = {:?}\n", model.canonicalize()?))?;
    let spec = ServerSpec { config: Some(config), ..bench.spec.clone() };
    let data_dir = bench.work.join("memory-vectors");
    let account = spec.account(&data_dir).await?;
    let folder = data_dir.clone();
    tokio::task::spawn_blocking(move || seed::memory::sqlite(&folder, SOME, SOME_DOCUMENTS)).await??;
    let site = Site::open(&spec, &data_dir, account).await?;
    quality::write(&site).await?;
    vectors_made(&spec, &data_dir).await?;
    quality::ask(bench, &site, ", with vectors").await?;
    block::measure(bench, &site, "SQLite, with vectors", Language::question).await?;
    site.server.stop().await
}

/// Waits until all documents have vectors.
async fn vectors_made(spec: &ServerSpec, data_dir: &Path) -> Result<()> {
    let began = Instant::now();
    loop {
        let status = spec.run(data_dir, &["memory", "status", "--tenant", "bench"], "").await?;
        if status.lines().all(|line| line.ends_with("pending: 0")) {
            return Ok(());
        }
        ensure!(began.elapsed() < VECTORS_MAX, "documents have no vectors: {status}");
        sleep(POLL).await;
    }
}

async fn on_postgres(bench: &mut Bench, databases: &mut Databases) -> Result<()> {
    let url = databases.create("memory").await?;
    let spec = bench.spec.on_postgres(&url);
    let data_dir = bench.work.join("memory-postgres");
    let site = filled(bench, &spec, &data_dir, Some(&url)).await?;
    search::measure(bench, &site, "PostgreSQL").await?;
    block::measure(bench, &site, "PostgreSQL", Language::question).await?;
    block::measure(bench, &site, "PostgreSQL, messages in sentences", Language::sentences).await?;
    site.server.stop().await
}

/// A server whose agents have documents.
async fn filled(bench: &Bench, spec: &ServerSpec, data_dir: &Path, url: Option<&str>) -> Result<Site> {
    let account = spec.account(data_dir).await?;
    let many = bench.plan.memory_documents;
    eprintln!("making {many} memory documents …");
    for (agent, count) in [(MANY, many), (SOME, SOME_DOCUMENTS)] {
        match url {
            Some(url) => seed::memory::postgres(url, agent, count).await?,
            None => {
                let data_dir = data_dir.to_owned();
                tokio::task::spawn_blocking(move || seed::memory::sqlite(&data_dir, agent, count)).await??;
            }
        }
    }
    Site::open(spec, data_dir, account).await
}
