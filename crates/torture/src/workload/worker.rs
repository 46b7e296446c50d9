//! Workers: claim, heartbeat, append, complete; some race to complete, some fall silent, and every one that
//! lost its lease tries on with its stale attempt.

use super::{
    Batch, Field, is_transient,
    writer::{Ending, append_until_known},
};
use crate::{
    client::Api,
    history::{Answer, Outcome},
};
use std::time::Duration;
use tokio::{
    task::JoinHandle,
    time::{MissedTickBehavior, interval},
};
use uuid::Uuid;

/// Longest wait of a claim, seconds: long polls make many workers wake for one session.
const CLAIM_WAIT_SECONDS: u32 = 1;
/// Most steps of a piece of work.
const STEPS_MAX: u32 = 6;

/// How a worker behaves.
#[derive(Debug, Clone)]
pub struct Habits {
    /// Whose sessions it claims.
    pub agent: String,
    /// The lease it asks for.
    pub lease_seconds: u32,
    /// Share of sessions it abandons without a word, percent.
    pub silent_percent: u32,
    /// Longest pause between two steps, ms.
    pub pause_ms_max: u64,
}

/// Claims and works until the load is over.
pub async fn work(field: Field, process: u32, habits: Habits) {
    let mut api = field.api(process);
    let mut rng = field.rng(process);
    while field.is_loading() {
        match api.claim(&habits.agent, 1, habits.lease_seconds, CLAIM_WAIT_SECONDS).await {
            Outcome::Ok(Answer::Claimed { sessions }) => {
                for (session, attempt) in sessions {
                    hold(&field, &mut api, &mut rng, &habits, session, attempt).await;
                }
            }
            _ => field.rest(Duration::from_millis(rng.u64(10..60))).await,
        }
    }
}

async fn hold(field: &Field, api: &mut Api, rng: &mut fastrand::Rng, habits: &Habits, session: Uuid, attempt: u32) {
    let silent = rng.u32(0..100) < habits.silent_percent;
    let heart = Heart(tokio::spawn(beat(field.clone(), api.process, session, attempt, habits.lease_seconds)));
    let steps = rng.u32(0..=STEPS_MAX);
    for _ in 0..steps {
        let size = rng.usize(1..5);
        let batch = Batch::sized(rng, session, attempt, size);
        if append_until_known(field, api, rng, session, &batch).await == Ending::Refused {
            return insist(api, rng, session, attempt).await;
        }
        field.rest(Duration::from_millis(rng.u64(0..habits.pause_ms_max.max(1)))).await;
    }
    if silent {
        return;
    }
    drop(heart);
    let refused = match rng.u32(0..10) {
        0 => is_refused(&api.release(session, attempt).await),
        1..=3 => race(field, api, rng, session, attempt).await,
        _ => complete_until_known(field, api, rng, session, attempt).await,
    };
    if refused {
        insist(api, rng, session, attempt).await;
    }
}

/// A lost lease: everything the worker might still try. The checker wants each of these refused.
async fn insist(api: &mut Api, rng: &mut fastrand::Rng, session: Uuid, attempt: u32) {
    let batch = Batch::sized(rng, session, attempt, 1);
    api.append(&batch.op, session, batch.body.clone()).await;
    api.heartbeat(session, attempt).await;
    api.complete(session, attempt, rng.u64(..)).await;
}

async fn complete_until_known(
    field: &Field,
    api: &mut Api,
    rng: &mut fastrand::Rng,
    session: Uuid,
    attempt: u32,
) -> bool {
    let token = rng.u64(..);
    loop {
        let outcome = api.complete(session, attempt, token).await;
        match &outcome {
            Outcome::Ok(_) => return false,
            Outcome::Fail { code } if !is_transient(code) => return true,
            Outcome::Fail { .. } | Outcome::Info { .. } => {}
        }
        if !field.may_retry(rng, "a completion", &outcome).await {
            return false;
        }
    }
}

/// Two workers that both believe to be done, with different results (P-16).
async fn race(field: &Field, api: &mut Api, rng: &mut fastrand::Rng, session: Uuid, attempt: u32) -> bool {
    let mut other = Api::new(api.process, api.connection.another(), api.recorder().clone());
    let mut other_rng = rng.fork();
    let (first, second) = tokio::join!(
        complete_until_known(field, api, rng, session, attempt),
        complete_until_known(field, &mut other, &mut other_rng, session, attempt),
    );
    first && second
}

/// Heartbeats until it is dropped.
struct Heart(JoinHandle<()>);

impl Drop for Heart {
    fn drop(&mut self) {
        self.0.abort();
    }
}

async fn beat(field: Field, process: u32, session: Uuid, attempt: u32, lease_seconds: u32) {
    let mut api = field.api(process);
    let mut ticks = interval(Duration::from_millis(u64::from(lease_seconds) * 1_000 / 5));
    // After SIGCONT one late heartbeat is enough.
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        if is_refused(&api.heartbeat(session, attempt).await) {
            return;
        }
    }
}

fn is_refused(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Fail { code } if !is_transient(code))
}
