//! Makes sessions for workers and watches their rows.

use super::Field;
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
/// Pause between two looks.
const LOOK_PAUSE: Duration = Duration::from_millis(10);

/// The sessions of a round's workers.
#[derive(Debug, Default)]
pub struct Board(Mutex<Lists>);

#[derive(Debug, Default)]
struct Lists {
    all: Vec<Uuid>,
    open: Vec<Uuid>,
}

impl Board {
    fn lists(&self) -> std::sync::MutexGuard<'_, Lists> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Every session made.
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
pub async fn dispatch(field: Field, process: u32, agent: String, board: Arc<Board>) {
    let mut api = field.api(process);
    let mut number = 0_u32;
    while field.is_loading() && board.all().len() < SESSIONS_MAX {
        if board.open().len() >= OPEN_MAX {
            field.rest(Duration::from_millis(20)).await;
            continue;
        }
        let new = NewSession { agent: agent.clone(), key: format!("{agent}-{number}") };
        // Repeated with the same key until it is acknowledged, so no session exists that nobody checks.
        match api.create(&new).await {
            Ok(session) => {
                board.add(session);
                number += 1;
            }
            Err(_) => field.rest(Duration::from_millis(20)).await,
        }
    }
}

/// Looks at every unfinished session in turn, until the load is over and, with `until_idle`, none is running
/// any more: then every lost lease has been seen to return.
pub async fn watch(field: Field, process: u32, board: Arc<Board>, until_idle: bool) {
    let mut api = field.api(process);
    loop {
        let mut running = false;
        for session in board.open() {
            match api.status(session).await {
                Outcome::Ok(Answer::Row { status, .. }) => {
                    running |= status == "running";
                    if matches!(status.as_str(), "completed" | "failed" | "abandoned" | "expired") {
                        board.close(session);
                    }
                }
                // Unknown, so perhaps running.
                _ => running = true,
            }
            sleep(LOOK_PAUSE).await;
        }
        let must_wait = field.is_loading() || (running && until_idle);
        if field.is_over() || !must_wait {
            return;
        }
        field.rest(LOOK_PAUSE).await;
    }
}
