//! The agents of this server that can be asked for the summary of a conversation.

use domain::id::{SessionId, TenantId};
use ledger::SessionRecord;
use runner::execute::{Adapter, WorkerApi};
use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// An agent that runs in this server for one workspace and can be asked for a summary.
#[derive(Debug, Clone)]
pub struct SummaryAgent {
    /// Runs the agent.
    pub adapter: Arc<dyn Adapter>,
    /// Reads the logs of the workspace.
    pub api: Arc<dyn WorkerApi>,
}

/// The agents of this server by workspace and slug, and one lock for each conversation that is being ended.
#[derive(Default)]
pub struct SummaryAgents {
    agents: Mutex<HashMap<(TenantId, String), SummaryAgent>>,
    locks: Mutex<HashMap<SessionId, Arc<tokio::sync::Mutex<()>>>>,
}

impl fmt::Debug for SummaryAgents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SummaryAgents").finish_non_exhaustive()
    }
}

impl SummaryAgents {
    /// Adds an agent, or replaces the one with the same workspace and slug.
    pub fn register(&self, tenant_id: TenantId, slug: &str, agent: SummaryAgent) {
        locked(&self.agents).insert((tenant_id, slug.to_owned()), agent);
    }

    /// The agent of a session, if it runs in this server.
    pub fn agent_of(&self, session: &SessionRecord) -> Option<SummaryAgent> {
        let slug = session.agent_slug.clone()?;
        locked(&self.agents).get(&(session.tenant_id, slug)).cloned()
    }

    /// The lock of one conversation. Requests that end it at the same time take turns, so its agent is asked once.
    pub fn lock_of(&self, id: SessionId) -> Arc<tokio::sync::Mutex<()>> {
        let mut locks = locked(&self.locks);
        // Removes the locks that no request holds.
        locks.retain(|_, lock| Arc::strong_count(lock) > 1);
        Arc::clone(locks.entry(id).or_default())
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
