//! Runs the tools that are calls of HTTP services and of MCP servers, in the server.

use crate::{
    ambient::{SystemClock, SystemEntropy},
    state::AppState,
    worker_api::LocalWorkerApi,
};
use domain::{
    id::TenantId,
    limit::{CLAIM_MAX, LEASE_SECONDS_DEFAULT},
};
use ledger::{session::Claim, tool_run};
use runner::execute::{EventStamp, LogObserver, Phase, ServerTool, Worker};
use std::{sync::Arc, time::Duration};
use tokio::{
    sync::{Notify, OwnedSemaphorePermit, Semaphore, watch},
    time::timeout,
};
use tokio_util::task::TaskTracker;
use wire::worker::ClaimedSession;

/// Most calls of tools that a server makes at the same time.
const CALLS_AT_ONCE: usize = 64;
/// Longest pause between two looks for queued runs. A run that this server queued is found at once.
const LOOK_AGAIN: Duration = Duration::from_secs(1);
/// Time for calls to end when the server stops. It is part of the time that open connections get.
const STOP: Duration = Duration::from_millis(2_500);
/// The name that what is written for these runs carries.
const NAME: &str = "http-tools";

/// Runs tools until the server stops, unless the settings say that it runs no agents. Calls that are being made then
/// are broken off.
pub async fn run(state: AppState, http: outbound::Client, is_enabled: bool) {
    if !is_enabled {
        return;
    }
    let (stop, phase) = watch::channel(Phase::Working);
    let slots = Arc::new(Semaphore::new(CALLS_AT_ONCE));
    let runs = Runs { state, http, phase, slots, freed: Arc::default(), running: TaskTracker::new() };
    loop {
        // A claim that has begun is not dropped: its sessions would be leased without a worker.
        runs.claim_all().await;
        tokio::select! {
            biased;
            () = runs.state.shutdown.begun() => break,
            () = runs.freed.notified() => {}
            () = tool_run::run_queued(&runs.state.ledger, LOOK_AGAIN) => {}
        }
    }
    stop.send_replace(Phase::Releasing);
    runs.running.close();
    if timeout(STOP, runs.running.wait()).await.is_err() {
        tracing::warn!("tools took too long to stop; their sessions are free when their leases run out");
        stop.send_replace(Phase::Aborting);
    }
}

struct Runs {
    state: AppState,
    http: outbound::Client,
    phase: watch::Receiver<Phase>,
    slots: Arc<Semaphore>,
    /// Notified when a call ends while all slots are taken.
    freed: Arc<Notify>,
    running: TaskTracker,
}

impl Runs {
    /// Claims queued runs until none is left or all slots are taken.
    async fn claim_all(&self) {
        loop {
            let waiting = match tool_run::waiting_runs(&self.state.ledger).await {
                Ok(waiting) => waiting,
                Err(error) => return tracing::warn!(%error, "cannot look for runs of tools"),
            };
            let mut claimed = 0;
            for (tenant_id, agents) in waiting {
                claimed += self.claim(tenant_id, agents).await;
            }
            if claimed == 0 || self.state.shutdown.has_begun() {
                return;
            }
        }
    }

    /// Claims runs of one workspace and begins them. Returns how many.
    async fn claim(&self, tenant_id: TenantId, agents: Vec<String>) -> usize {
        let slots = self.slots.available_permits().min(CLAIM_MAX as usize);
        let Ok(max) = u32::try_from(slots) else { return 0 };
        let Ok(slots) = Arc::clone(&self.slots).try_acquire_many_owned(max) else { return 0 };
        if max == 0 {
            return 0;
        }
        let api = Arc::new(LocalWorkerApi::of_server(self.state.clone(), tenant_id, NAME));
        let claim = Claim { agent_slugs: Some(agents), max, lease_seconds: LEASE_SECONDS_DEFAULT };
        match api.claim_now(claim).await {
            Ok(claimed) => self.begin(tenant_id, api, claimed.sessions, slots),
            Err(error) => {
                tracing::warn!(%error, "cannot claim runs of tools");
                0
            }
        }
    }

    fn begin(
        &self,
        tenant_id: TenantId,
        api: Arc<LocalWorkerApi>,
        sessions: Vec<ClaimedSession>,
        mut slots: OwnedSemaphorePermit,
    ) -> usize {
        let worker = Arc::new(Worker {
            api,
            adapter: Arc::new(ServerTool {
                ledger: self.state.ledger.clone(),
                tenant_id,
                http: self.http.clone(),
                mcp: self.state.mcp.clone(),
            }),
            lease: Duration::from_secs(LEASE_SECONDS_DEFAULT.into()),
            observer: Arc::new(LogObserver),
            stamp: EventStamp::new(Arc::new(SystemClock), Arc::new(SystemEntropy)),
            phase: self.phase.clone(),
        });
        let count = sessions.len();
        for session in sessions {
            let (worker, slot) = (Arc::clone(&worker), slots.split(1));
            let (all, freed) = (Arc::clone(&self.slots), Arc::clone(&self.freed));
            self.running.spawn(async move {
                worker.run(session).await;
                let is_full = all.available_permits() == 0;
                drop(slot);
                if is_full {
                    freed.notify_one();
                }
            });
        }
        count
    }
}
