//! Runs the memory writers of the settings inside the server.

use crate::{
    agents::{CHECK_INTERVAL, build_environment},
    config::{Error, Settings},
    state::AppState,
};
use domain::Timestamp;
use ledger::{auth, memory_writer::WriterTerms};
use runner::{
    execute::command::ApiAccess,
    memory_writer::{ContinuityScorer, MemoryWriter, WriterModel},
};
use std::{collections::BTreeSet, sync::Arc};
use tokio::{task::JoinSet, time::sleep};

/// A memory writer of the settings, whose workspace may not exist yet.
#[derive(Debug)]
pub struct PreparedWriter {
    agent: String,
    workspace: String,
    terms: WriterTerms,
    writer_model: Arc<WriterModel>,
    scores_continuity: bool,
}

impl PreparedWriter {
    /// Slug of the agent.
    pub fn agent(&self) -> &str {
        &self.agent
    }
}

/// Builds the writer of every agent before the server listens, so that a missing key is reported at once.
///
/// # Errors
/// The first problem, with the agent and the key.
pub fn prepare(settings: &Settings) -> Result<Vec<PreparedWriter>, Error> {
    let Some(memory) = &settings.memory else { return Ok(Vec::new()) };
    let environment = build_environment(settings, ApiAccess { url: String::new(), token: None })?;
    let agents: BTreeSet<&String> = settings.agents.keys().chain(memory.agents.keys()).collect();
    let mut writers = Vec::new();
    for agent in agents {
        let Some(terms) = memory.terms(agent) else { continue };
        let own = memory.agents.get(agent).and_then(|agent| agent.workspace.clone());
        let workspace = own.or_else(|| settings.agents.get(agent).and_then(|agent| agent.workspace.clone()));
        let missing = || Error::Value(format!("memory.agents.{agent}: `workspace` is missing"));
        let workspace = workspace.ok_or_else(missing)?;
        let writer_model = memory.writer_model(agent, &environment);
        let writer_model = writer_model.map_err(|why| Error::Value(format!("memory.agents.{agent}: {why}")))?;
        let scores_continuity = memory.scores_continuity(agent);
        writers.push(PreparedWriter { agent: agent.clone(), workspace, terms, writer_model, scores_continuity });
    }
    Ok(writers)
}

/// Runs the writers until the server stops, and lets them summarise what is open. `started` is when the server started,
/// before it listened (UTC).
pub async fn run(state: AppState, writers: Vec<PreparedWriter>, started: Timestamp) {
    let mut tasks = JoinSet::new();
    for writer in writers {
        tasks.spawn(serve(state.clone(), writer, started));
    }
    while tasks.join_next().await.is_some() {}
}

async fn serve(state: AppState, writer: PreparedWriter, started: Timestamp) {
    let tenant = loop {
        match auth::find_workspace_by_operator(&state.ledger, &writer.workspace).await {
            Ok(Some(tenant)) => break tenant,
            Ok(None) => {}
            Err(error) => tracing::warn!(%error, agent = writer.agent, "cannot look for the workspace of a memory"),
        }
        tokio::select! {
            () = sleep(CHECK_INTERVAL) => {}
            () = state.shutdown.begun() => return,
        }
    };
    let PreparedWriter { agent, terms, writer_model, scores_continuity, .. } = writer;
    tracing::info!(agent, workspace = tenant.slug, "a memory writer is at work");
    let scorer = scores_continuity.then(|| ContinuityScorer {
        tenant_id: tenant.id,
        agent: agent.clone(),
        tokens_per_day: terms.tokens_per_day,
        writer_model: Arc::clone(&writer_model),
    });
    let scoring = async {
        if let Some(scorer) = scorer {
            scorer.work(state.ledger.clone(), state.shutdown.token()).await;
        }
    };
    let writer = MemoryWriter { tenant_id: tenant.id, agent, terms, writer_model };
    tokio::join!(writer.work(state.ledger.clone(), started, state.shutdown.token()), scoring);
}
