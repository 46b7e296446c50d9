//! Runs the agents of the settings inside the server.

use crate::{
    ambient::{SystemClock, SystemEntropy, is_program, variable},
    config::{Error, Settings},
    state::AppState,
    worker_api::LocalWorkerApi,
};
use domain::{Entropy, limit::LEASE_SECONDS_DEFAULT};
use ledger::auth;
use runner::{
    execute::{
        Adapter, EventStamp, LogObserver, Phase, Worker, WorkerPool, chat::tokio_pause, command::ApiAccess,
        config::AgentConfig, config::BuildEnvironment,
    },
    thread_end::SummaryAgent,
};
use std::{sync::Arc, time::Duration};
use tokio::{
    sync::watch,
    task::JoinSet,
    time::{sleep, timeout},
};

/// Interval between searches for a workspace that does not exist yet.
pub const CHECK_INTERVAL: Duration = Duration::from_millis(500);
/// Time for agents to end when the server stops. It is part of the time that open connections get.
const STOP: Duration = Duration::from_millis(2_500);

/// An agent of the settings, with its adapter.
#[derive(Debug)]
pub struct Agent {
    slug: String,
    workspace: String,
    concurrency: u32,
    adapter: Arc<dyn Adapter>,
}

/// Returns what adapters need from this machine.
///
/// # Errors
/// If the settings of outbound requests cannot be used.
pub fn build_environment(settings: &Settings, api_access: ApiAccess) -> Result<BuildEnvironment<'static>, Error> {
    let outbound = outbound::Client::new(settings.outbound.clone()).map_err(|error| Error::Value(error.to_string()))?;
    Ok(BuildEnvironment {
        variable: &variable,
        is_program: &|name| is_program(name),
        api_access,
        outbound,
        pause: tokio_pause(),
        secret_variables: settings.secret_variables.clone(),
    })
}

/// Builds every agent of the settings before the server listens, so that a missing program or key is reported at once.
///
/// # Errors
/// The first problem, with the agent and the key.
pub fn prepare(settings: &Settings, url: &str) -> Result<Vec<Agent>, Error> {
    let environment = build_environment(settings, ApiAccess { url: url.to_owned(), token: None })?;
    let build = |(slug, config): (&String, &AgentConfig)| {
        let missing = "`workspace` is missing: the workspace whose sessions it gets".to_owned();
        let workspace = config.workspace.clone().ok_or(missing);
        let built = workspace.and_then(|workspace| Ok((workspace, config.build(&environment)?)));
        let (workspace, adapter) = built.map_err(|why| Error::Value(format!("agents.{slug}: {why}")))?;
        Ok(Agent { slug: slug.clone(), workspace, concurrency: config.concurrency.unwrap_or(1), adapter })
    };
    settings.agents.iter().map(build).collect()
}

/// Runs agents until the server stops, and then releases their sessions.
pub async fn run(state: AppState, agents: Vec<Agent>) {
    let (stop, phase) = watch::channel(Phase::Working);
    let mut pools = JoinSet::new();
    for agent in agents {
        pools.spawn(serve(state.clone(), agent, phase.clone()));
    }
    state.shutdown.begun().await;
    stop.send_replace(Phase::Releasing);
    let all = async { while pools.join_next().await.is_some() {} };
    if timeout(STOP, all).await.is_err() {
        tracing::warn!("agents took too long to stop; their sessions are free when their leases run out");
        stop.send_replace(Phase::Aborting);
    }
}

async fn serve(state: AppState, agent: Agent, phase: watch::Receiver<Phase>) {
    let tenant = loop {
        match auth::find_workspace_by_operator(&state.ledger, &agent.workspace).await {
            Ok(Some(tenant)) => break tenant,
            Ok(None) => {}
            Err(error) => tracing::warn!(%error, agent = agent.slug, "cannot look for the agent's workspace"),
        }
        tokio::select! {
            () = sleep(CHECK_INTERVAL) => {}
            () = state.shutdown.begun() => return,
        }
    };
    let api = Arc::new(LocalWorkerApi::new(state.clone(), &tenant, &agent.slug));
    let summary_agent = SummaryAgent { adapter: Arc::clone(&agent.adapter), api: api.clone() };
    state.thread_endings.register(tenant.id, &agent.slug, summary_agent);
    let worker = Worker {
        api,
        adapter: agent.adapter,
        lease: Duration::from_secs(LEASE_SECONDS_DEFAULT.into()),
        observer: Arc::new(LogObserver),
        stamp: EventStamp::new(Arc::new(SystemClock), Arc::new(SystemEntropy)),
        phase,
    };
    tracing::info!(agent = agent.slug, workspace = tenant.slug, "an agent is at work");
    let mut seed = [0; 8];
    SystemEntropy.fill(&mut seed);
    let pool = WorkerPool::new(worker, vec![agent.slug.clone()], agent.concurrency, u64::from_le_bytes(seed));
    if let Err(error) = pool.work().await {
        tracing::error!(%error, agent = agent.slug, "an agent cannot work");
    }
}
