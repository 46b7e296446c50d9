//! Paging readers.

use super::{RoundContext, writer::HeldSession};
use crate::history::{Answer, Outcome};
use std::{sync::Arc, time::Duration};

/// Most pages of one walk; the next walk continues elsewhere.
const WALK_PAGES_MAX: u32 = 20;

/// Walks from somewhere in a log to its head, page by page, again and again.
pub async fn read(context: RoundContext, process: u32, sessions: Arc<Vec<HeldSession>>) {
    let mut api = context.api(process);
    let mut rng = context.rng(process);
    let mut heads = vec![0_u64; sessions.len()];
    while context.is_loading() && !sessions.is_empty() {
        let index = rng.usize(0..sessions.len());
        let head = heads[index];
        // Mostly near the tail, where the races are.
        let mut after = if rng.u32(0..4) == 0 { rng.u64(0..=head) } else { head.saturating_sub(rng.u64(0..40)) };
        let limit = if rng.u32(0..5) == 0 { 1_000 } else { rng.u32(1..100) };
        for _ in 0..WALK_PAGES_MAX {
            let outcome = api.read(sessions[index].session, after, limit).await;
            let Outcome::Ok(Answer::Page { events, head, more }) = outcome else { break };
            heads[index] = heads[index].max(head);
            match events.last() {
                Some(last) if more && context.is_loading() => after = last.0,
                _ => break,
            }
        }
        context.rest(Duration::from_millis(rng.u64(5..40))).await;
    }
}
