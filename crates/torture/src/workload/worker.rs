//! Workers: claim, heartbeat, append, complete. Some race to complete, some abandon sessions, and each one that lost
//! its lease continues with its stale attempt.

use super::{
    Batch, RoundContext, is_transient,
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

/// What a worker claims, and how often it fails.
#[derive(Debug, Clone)]
pub struct WorkerBehavior {
    /// Slug of the agent whose sessions it claims.
    pub agent: String,
    /// Lease of its claims, seconds.
    pub lease_seconds: u32,
    /// Share of sessions that it abandons, percent.
    pub silent_percent: u32,
    /// Longest pause between two steps, ms.
    pub pause_ms_max: u64,
}

/// Claims and works until the load is over.
pub async fn work(context: RoundContext, process: u32, behavior: WorkerBehavior) {
    let mut api = context.api(process);
    let mut rng = context.rng(process);
    while context.is_loading() {
        match api.claim(&behavior.agent, 1, behavior.lease_seconds, CLAIM_WAIT_SECONDS).await {
            Outcome::Ok(Answer::Claimed { sessions }) => {
                for (session, attempt) in sessions {
                    hold(&context, &mut api, &mut rng, &behavior, session, attempt).await;
                }
            }
            _ => context.rest(Duration::from_millis(rng.u64(10..60))).await,
        }
    }
}

async fn hold(
    context: &RoundContext,
    api: &mut Api,
    rng: &mut fastrand::Rng,
    behavior: &WorkerBehavior,
    session: Uuid,
    attempt: u32,
) {
    let silent = rng.u32(0..100) < behavior.silent_percent;
    let heart = Heart(tokio::spawn(beat(context.clone(), api.process, session, attempt, behavior.lease_seconds)));
    let steps = rng.u32(0..=STEPS_MAX);
    for _ in 0..steps {
        let size = rng.usize(1..5);
        let batch = Batch::sized(rng, session, attempt, size);
        if append_until_known(context, api, rng, session, &batch).await == Ending::Refused {
            return insist(api, rng, session, attempt).await;
        }
        context.rest(Duration::from_millis(rng.u64(0..behavior.pause_ms_max.max(1)))).await;
    }
    if silent {
        return;
    }
    drop(heart);
    let refused = match rng.u32(0..10) {
        0 => is_refused(&api.release(session, attempt).await),
        1..=3 => race(context, api, rng, session, attempt).await,
        _ => complete_until_known(context, api, rng, session, attempt).await,
    };
    if refused {
        insist(api, rng, session, attempt).await;
    }
}

/// After a lost lease: sends every call with the stale attempt. The checker requires that each is refused.
async fn insist(api: &mut Api, rng: &mut fastrand::Rng, session: Uuid, attempt: u32) {
    let batch = Batch::sized(rng, session, attempt, 1);
    api.append(&batch.op, session, batch.body.clone()).await;
    api.heartbeat(session, attempt).await;
    api.complete(session, attempt, rng.u64(..)).await;
}

async fn complete_until_known(
    context: &RoundContext,
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
        if !context.may_retry(rng, "a completion", &outcome).await {
            return false;
        }
    }
}

/// Two workers complete the same session with different results (P-16 of docs/reliability.md).
async fn race(context: &RoundContext, api: &mut Api, rng: &mut fastrand::Rng, session: Uuid, attempt: u32) -> bool {
    let mut other = Api::new(api.process, api.connection.another(), api.recorder().clone());
    let mut other_rng = rng.fork();
    let (first, second) = tokio::join!(
        complete_until_known(context, api, rng, session, attempt),
        complete_until_known(context, &mut other, &mut other_rng, session, attempt),
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

async fn beat(context: RoundContext, process: u32, session: Uuid, attempt: u32, lease_seconds: u32) {
    let mut api = context.api(process);
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
