//! The agents that the settings describe, at work inside the server.

use crate::{
    ambient::{SystemClock, SystemEntropy, is_program, variable},
    closing::Speaker,
    config::{Error, Settings},
    desk::LocalDesk,
    state::AppState,
};
use domain::{Entropy, limit::LEASE_SECONDS_DEFAULT};
use ledger::auth;
use runner::execute::{
    Adapter, Crew, Logged, Phase, Stamp, Worker, chat::real_pause, command::Api, config::AgentConfig,
    config::Surroundings,
};
use std::{sync::Arc, time::Duration};
use tokio::{
    sync::watch,
    task::JoinSet,
    time::{sleep, timeout},
};

/// How often a workspace is looked for that does not exist yet.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// How long agents may take to end when the server stops. Within the time that its connections have.
const STOP: Duration = Duration::from_millis(2_500);

/// An agent that is ready to work.
#[derive(Debug)]
pub struct Agent {
    slug: String,
    workspace: String,
    concurrency: u32,
    adapter: Arc<dyn Adapter>,
}

/// The surroundings of agents on this machine.
///
/// # Errors
/// When there is no way out.
pub fn surroundings(settings: &Settings, api: Api) -> Result<Surroundings<'static>, Error> {
    let outbound = outbound::Client::new(settings.outbound.clone()).map_err(|error| Error::Value(error.to_string()))?;
    Ok(Surroundings { variable: &variable, is_program: &|name| is_program(name), api, outbound, pause: real_pause() })
}

/// Builds every agent of the settings, before anything is served: what is missing is said now.
///
/// # Errors
/// What is wrong or missing, by agent and key.
pub fn prepare(settings: &Settings, url: &str) -> Result<Vec<Agent>, Error> {
    let around = surroundings(settings, Api { url: url.to_owned(), token: None })?;
    let build = |(slug, config): (&String, &AgentConfig)| {
        let missing = "`workspace` is missing: the workspace whose sessions it gets".to_owned();
        let workspace = config.workspace.clone().ok_or(missing);
        let built = workspace.and_then(|workspace| Ok((workspace, config.build(&around)?)));
        let (workspace, adapter) = built.map_err(|why| Error::Value(format!("agents.{slug}: {why}")))?;
        Ok(Agent { slug: slug.clone(), workspace, concurrency: config.concurrency.unwrap_or(1), adapter })
    };
    settings.agents.iter().map(build).collect()
}

/// Runs agents until the server stops; then gives their sessions back.
pub async fn run(state: AppState, agents: Vec<Agent>) {
    let (stop, phase) = watch::channel(Phase::Working);
    let mut crews = JoinSet::new();
    for agent in agents {
        crews.spawn(serve(state.clone(), agent, phase.clone()));
    }
    state.shutdown.begun().await;
    stop.send_replace(Phase::Releasing);
    let all = async { while crews.join_next().await.is_some() {} };
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
            () = sleep(LOOK_EVERY) => {}
            () = state.shutdown.begun() => return,
        }
    };
    let desk = Arc::new(LocalDesk::new(state.clone(), &tenant, &agent.slug));
    let speaker = Speaker { adapter: Arc::clone(&agent.adapter), desk: desk.clone() };
    state.closings.register(tenant.id, &agent.slug, speaker);
    let worker = Worker {
        desk,
        adapter: agent.adapter,
        lease: Duration::from_secs(LEASE_SECONDS_DEFAULT.into()),
        report: Arc::new(Logged),
        stamp: Stamp::new(Arc::new(SystemClock), Arc::new(SystemEntropy)),
        phase,
    };
    tracing::info!(agent = agent.slug, workspace = tenant.slug, "an agent is at work");
    let mut seed = [0; 8];
    SystemEntropy.fill(&mut seed);
    let crew = Crew::new(worker, vec![agent.slug.clone()], agent.concurrency, u64::from_le_bytes(seed));
    if let Err(error) = crew.work().await {
        tracing::error!(%error, agent = agent.slug, "an agent cannot work");
    }
}
