//! Append writers: several on the same sessions, all under one long-lived attempt.

use super::{Batch, RoundContext, is_transient};
use crate::{
    client::Api,
    history::{Op, Outcome},
};
use std::sync::Arc;
use uuid::Uuid;

/// Share of appends that go to the hot sessions, percent.
const HOT_PERCENT: u32 = 60;
/// Share of acknowledged appends that are sent once more, percent.
const REPEAT_PERCENT: u32 = 2;
/// Share of acknowledged appends whose id is sent again with another body, percent.
const CONFLICT_PERCENT: u32 = 1;
/// Share of unknown outcomes that are not repeated, percent.
const GIVE_UP_PERCENT: u32 = 10;

/// A session that the run holds and writes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeldSession {
    /// Id of the session.
    pub session: Uuid,
    /// The attempt it was claimed under.
    pub attempt: u32,
}

/// Outcome of an append for its writer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// Acknowledged.
    Acked,
    /// Refused for good.
    Refused,
    /// Given up.
    Unknown,
}

/// Appends to `sessions`, the first `hot` of them more often, until the load is over.
pub async fn write(context: RoundContext, process: u32, sessions: Arc<Vec<HeldSession>>, hot: usize) {
    let mut api = context.api(process);
    let mut rng = context.rng(process);
    while context.is_loading() && !sessions.is_empty() {
        let hot = hot.min(sessions.len());
        let range = if hot > 0 && rng.u32(0..100) < HOT_PERCENT { 0..hot } else { 0..sessions.len() };
        let HeldSession { session, attempt } = sessions[rng.usize(range)];
        let batch = Batch::any(&mut rng, session, attempt);
        match append_until_known(&context, &mut api, &mut rng, session, &batch).await {
            Ending::Acked => {}
            // The checker decides whether the refusal was right; repeating would only fill the history.
            Ending::Refused => context.rest(std::time::Duration::from_millis(50)).await,
            Ending::Unknown => continue,
        }
        if rng.u32(0..100) < REPEAT_PERCENT {
            append_until_known(&context, &mut api, &mut rng, session, &batch).await;
        }
        if rng.u32(0..100) < CONFLICT_PERCENT
            && let Some((event, body)) = batch.conflicting(&mut rng, session, attempt)
        {
            api.append(&Op::Conflict { session, attempt, event }, session, body).await;
        }
    }
}

/// Sends the same append until it is acknowledged or refused; now and then gives up on an unknown outcome.
pub(super) async fn append_until_known(
    context: &RoundContext,
    api: &mut Api,
    rng: &mut fastrand::Rng,
    session: Uuid,
    batch: &Batch,
) -> Ending {
    loop {
        let outcome = api.append(&batch.op, session, batch.body.clone()).await;
        match &outcome {
            Outcome::Ok(_) => return Ending::Acked,
            Outcome::Fail { code } if !is_transient(code) => return Ending::Refused,
            Outcome::Info { .. } if rng.u32(0..100) < GIVE_UP_PERCENT => return Ending::Unknown,
            Outcome::Fail { .. } | Outcome::Info { .. } => {}
        }
        if !context.may_retry(rng, "an append", &outcome).await {
            return Ending::Unknown;
        }
    }
}
