//! Append writers: several on the same sessions, all under one long-lived attempt.

use super::{Batch, Field, is_transient};
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
/// Share of unknown outcomes that are left unknown, percent: nobody repairs what they did.
const GIVE_UP_PERCENT: u32 = 10;

/// A session this run may write to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Holding {
    /// The session.
    pub session: Uuid,
    /// The attempt it was claimed under.
    pub attempt: u32,
}

/// How an append ended for its writer.
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
pub async fn write(field: Field, process: u32, sessions: Arc<Vec<Holding>>, hot: usize) {
    let mut api = field.api(process);
    let mut rng = field.rng(process);
    while field.is_loading() && !sessions.is_empty() {
        let hot = hot.min(sessions.len());
        let range = if hot > 0 && rng.u32(0..100) < HOT_PERCENT { 0..hot } else { 0..sessions.len() };
        let Holding { session, attempt } = sessions[rng.usize(range)];
        let batch = Batch::any(&mut rng, session, attempt);
        match append_until_known(&field, &mut api, &mut rng, session, &batch).await {
            Ending::Acked => {}
            // The checker says whether that was right; hammering on would only fill the history.
            Ending::Refused => field.rest(std::time::Duration::from_millis(50)).await,
            Ending::Unknown => continue,
        }
        if rng.u32(0..100) < REPEAT_PERCENT {
            append_until_known(&field, &mut api, &mut rng, session, &batch).await;
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
    field: &Field,
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
        if !field.may_retry(rng, "an append", &outcome).await {
            return Ending::Unknown;
        }
    }
}
