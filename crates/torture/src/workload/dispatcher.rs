//! Creates sessions for workers and reads their rows.

use super::RoundContext;
use crate::{
    client::NewSession,
    history::{Answer, Outcome},
};
use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::time::sleep;
use uuid::Uuid;

/// Unfinished sessions kept in the queue.
const OPEN_MAX: usize = 16;
/// Sessions of one round.
const SESSIONS_MAX: usize = 2_000;
/// Pause between two reads.
const LOOK_PAUSE: Duration = Duration::from_millis(10);

/// The sessions of a round's workers.
#[derive(Debug, Default)]
pub struct WorkerSessions(Mutex<Lists>);

#[derive(Debug, Default)]
struct Lists {
    all: Vec<Uuid>,
    open: Vec<Uuid>,
}

impl WorkerSessions {
    fn lists(&self) -> std::sync::MutexGuard<'_, Lists> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All sessions.
    pub fn all(&self) -> Vec<Uuid> {
        self.lists().all.clone()
    }

    /// Sessions last seen unfinished.
    pub fn open(&self) -> Vec<Uuid> {
        self.lists().open.clone()
    }

    fn add(&self, session: Uuid) {
        let mut lists = self.lists();
        lists.all.push(session);
        lists.open.push(session);
    }

    fn close(&self, session: Uuid) {
        self.lists().open.retain(|other| *other != session);
    }
}

/// Keeps the queue of `agent` filled.
pub async fn dispatch(context: RoundContext, process: u32, agent: String, worker_sessions: Arc<WorkerSessions>) {
    let mut api = context.api(process);
    let mut number = 0_u32;
    while context.is_loading() && worker_sessions.all().len() < SESSIONS_MAX {
        if worker_sessions.open().len() >= OPEN_MAX {
            context.rest(Duration::from_millis(20)).await;
            continue;
        }
        let new = NewSession { agent: agent.clone(), key: format!("{agent}-{number}") };
        // Repeated with the same key until it is acknowledged, so no session exists that no one checks.
        match api.create(&new).await {
            Ok(session) => {
                worker_sessions.add(session);
                number += 1;
            }
            Err(_) => context.rest(Duration::from_millis(20)).await,
        }
    }
}

/// Looks at every unfinished session in turn, until the load is over and, with `until_idle`, none is running
/// any more: then every lost lease has been seen to return.
pub async fn watch(context: RoundContext, process: u32, worker_sessions: Arc<WorkerSessions>, until_idle: bool) {
    let mut api = context.api(process);
    loop {
        let mut running = false;
        for session in worker_sessions.open() {
            match api.status(session).await {
                Outcome::Ok(Answer::Row { status, .. }) => {
                    running |= status == "running";
                    if matches!(status.as_str(), "completed" | "failed" | "abandoned" | "expired") {
                        worker_sessions.close(session);
                    }
                }
                // Unknown, so perhaps running.
                _ => running = true,
            }
            sleep(LOOK_PAUSE).await;
        }
        let must_wait = context.is_loading() || (running && until_idle);
        if context.is_over() || !must_wait {
            return;
        }
        context.rest(LOOK_PAUSE).await;
    }
}
