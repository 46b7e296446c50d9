//! What agents remember: search in many documents, the block that a claim carries, the writer without its model, and
//! how much of what is looked for is found.

mod block;
mod model;
mod quality;
mod search;
mod writer;

use super::{Bench, Site};
use crate::{process::ServerSpec, raw::postgres::Databases, seed};
use anyhow::Result;
use std::path::Path;

/// The goal that all of them belong to.
pub const GOAL: &str = "memory";

/// The agent with many documents, for search.
const MANY: &str = "bench-library";
/// The agent with some documents, for claims.
const SOME: &str = "bench-notebook";
/// Documents of the agent with some.
const SOME_DOCUMENTS: usize = 10_000;

pub async fn measure(bench: &mut Bench) -> Result<()> {
    let data_dir = bench.work.join("memory");
    let spec = bench.spec.clone();
    let site = filled(bench, &spec, &data_dir, None).await?;
    search::measure(bench, &site, "SQLite").await?;
    block::measure(bench, &site, "SQLite").await?;
    quality::measure(bench, &site).await?;
    site.server.stop().await?;
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

async fn on_postgres(bench: &mut Bench, databases: &mut Databases) -> Result<()> {
    let url = databases.create("memory").await?;
    let spec = bench.spec.on_postgres(&url);
    let data_dir = bench.work.join("memory-postgres");
    let site = filled(bench, &spec, &data_dir, Some(&url)).await?;
    search::measure(bench, &site, "PostgreSQL").await?;
    block::measure(bench, &site, "PostgreSQL").await?;
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
