//! Ends conversations. If the conversation's agent is a model that this server runs, the model is asked for a summary
//! first.
//!
//! The conversation ends with or without that summary: the wait is bounded, a server that is stopping does not wait,
//! and the work runs in a task of its own that continues if the client disconnects.

use crate::execute::{Adapter, WorkerApi};
use domain::{
    Scope,
    count::counted,
    id::{SessionId, TenantId},
    limit::CLOSING_MS_MAX,
    session::{Session, Status},
};
use ledger::{
    Error, Ledger, Result,
    thread::{self, Closing, Ended, Ending},
};
use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// An agent that runs in this server for one workspace and can be asked for a summary.
#[derive(Debug, Clone)]
pub struct SummaryAgent {
    /// Runs the agent.
    pub adapter: Arc<dyn Adapter>,
    /// Reads the logs of the workspace.
    pub api: Arc<dyn WorkerApi>,
}

/// Ends the conversations of one server. A clone is cheap.
#[derive(Clone)]
pub struct ThreadEndings(Arc<Inner>);

struct Inner {
    ledger: Ledger,
    stop: CancellationToken,
    /// The agents of this server by workspace and slug.
    agents: Mutex<HashMap<(TenantId, String), SummaryAgent>>,
    /// One lock for each conversation that is being ended.
    locks: Mutex<HashMap<SessionId, Arc<tokio::sync::Mutex<()>>>>,
}

impl fmt::Debug for ThreadEndings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadEndings").finish_non_exhaustive()
    }
}

impl ThreadEndings {
    /// Knows no agents yet. After `stop` no agent is waited for.
    pub fn new(ledger: Ledger, stop: CancellationToken) -> Self {
        Self(Arc::new(Inner { ledger, stop, agents: Mutex::default(), locks: Mutex::default() }))
    }

    /// Adds an agent, or replaces the one with the same workspace and slug.
    pub fn register(&self, tenant_id: TenantId, slug: &str, agent: SummaryAgent) {
        locked(&self.0.agents).insert((tenant_id, slug.to_owned()), agent);
    }

    /// Ends a conversation as [`thread::end`] does. The summary has the text of the agent where the agent can be asked.
    ///
    /// # Errors
    /// See [`thread::end`].
    pub async fn end(&self, scope: &Scope, id: SessionId, ending: Ending) -> Result<Ended> {
        let (endings, scope) = (self.clone(), *scope);
        let ended = tokio::spawn(async move {
            let lock = endings.lock_of(id);
            let _guard = lock.lock().await;
            let closing = if ending.summary { endings.summarize(&scope, id).await } else { None };
            thread::end_with(&endings.0.ledger, &scope, id, ending, closing).await
        });
        ended.await.unwrap_or_else(|error| Err(Error::Internal(format!("an ending broke off: {error}"))))
    }

    /// Asks the agent for a summary, for at most [`CLOSING_MS_MAX`]. `None` if the caller may not end the conversation,
    /// the conversation is empty or not idle, or no such agent runs here.
    async fn summarize(&self, scope: &Scope, id: SessionId) -> Option<Closing> {
        let (session, turns) = thread::get(&self.0.ledger, scope, id).await.ok()?;
        let is_idle = session.status() == Status::Idle && turns > 0 && thread::is_own(scope, &session);
        let agent = self.agent_of(&session).filter(|_| is_idle)?;
        let asked = agent.adapter.summarize(&*agent.api, session.id)?;
        let missing = |why: String| Closing { head_sequence: session.head_sequence, words: Err(why), usage: None };
        let summary = tokio::select! {
            summary = timeout(Duration::from_millis(CLOSING_MS_MAX), asked) => summary,
            () = self.0.stop.cancelled() => return Some(missing("the server is stopping".into())),
        };
        let Ok(summary) = summary else {
            let seconds = CLOSING_MS_MAX / 1_000;
            return Some(missing(format!("the agent took longer than {}", counted(seconds, "second"))));
        };
        if let Err(failure) = &summary.text {
            tracing::info!(session = %id, code = failure.code, "a conversation ends without a summary of its agent");
        }
        Some(Closing {
            head_sequence: session.head_sequence,
            words: summary.text.map_err(|failure| failure.message),
            usage: summary.usage.map(|usage| usage.get().to_owned()),
        })
    }

    /// The agent of a session, if it runs in this server.
    fn agent_of(&self, session: &Session) -> Option<SummaryAgent> {
        let slug = session.agent_slug.clone()?;
        locked(&self.0.agents).get(&(session.tenant_id, slug)).cloned()
    }

    /// The lock of one conversation. Requests that end it at the same time take turns, so its agent is asked once.
    fn lock_of(&self, id: SessionId) -> Arc<tokio::sync::Mutex<()>> {
        let mut locks = locked(&self.0.locks);
        // Removes the locks that no request holds.
        locks.retain(|_, lock| Arc::strong_count(lock) > 1);
        Arc::clone(locks.entry(id).or_default())
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
