//! A client whose requests can never succeed: two different events of one external id. It must be refused each time,
//! and its refusals must cost no other client anything.

use super::{Batch, HeldSession, RoundContext};
use std::{sync::Arc, time::Duration};

/// Pause between two requests, so that the history holds mostly other operations.
const PAUSE: Duration = Duration::from_millis(10);

/// Sends contradictions to `sessions` until the load is over.
pub async fn contradict(context: RoundContext, process: u32, sessions: Arc<Vec<HeldSession>>) {
    let mut api = context.api(process);
    let mut rng = context.rng(process);
    while context.is_loading() && !sessions.is_empty() {
        let HeldSession { session, attempt } = sessions[rng.usize(0..sessions.len())];
        let (op, body) = Batch::contradiction(&mut rng, session, attempt);
        api.append(&op, session, body).await;
        context.rest(PAUSE).await;
    }
}
