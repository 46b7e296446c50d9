//! How many patches of a participant of a canvas changed nothing: rejected ones and suggestions. What is committed is
//! counted in the log; these are counted in this process, because nothing is recorded of a rejected patch.

use crate::{Error, Result};
use chrono::TimeDelta;
use domain::{
    Caller, Timestamp,
    id::{SessionId, TenantId},
    limit::CANVAS_UNCOMMITTED_PER_MINUTE,
};
use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

/// Most participants that are remembered. When there are more, those whose minute is over are left out, then all.
const PARTICIPANTS_MAX: usize = 10_000;
const MINUTE: TimeDelta = TimeDelta::minutes(1);

/// Workspace and canvas, and who sends patches.
type Key = (TenantId, SessionId, Caller);

/// Counts of the last minute by participant.
#[derive(Debug, Default)]
pub(crate) struct Uncommitted(Mutex<HashMap<Key, (Timestamp, u32)>>);

impl Uncommitted {
    /// Refuses a participant who had too many in a minute.
    ///
    /// # Errors
    /// [`Error::TooManyAttempts`] with the rest of that minute.
    pub(super) fn require_few(&self, key: Key, now: Timestamp) -> Result<()> {
        let counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match counts.get(&key) {
            Some((since, count)) if *count >= CANVAS_UNCOMMITTED_PER_MINUTE && now - *since < MINUTE => {
                let left = (MINUTE - (now - *since)).num_seconds().clamp(1, MINUTE.num_seconds());
                Err(Error::TooManyAttempts { retry_after_seconds: left.unsigned_abs() })
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Adds a patch that changed nothing, and begins a new minute if the last one is over.
    pub(super) fn count(&self, key: Key, now: Timestamp) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if counts.len() >= PARTICIPANTS_MAX && !counts.contains_key(&key) {
            counts.retain(|_, (since, _)| now - *since < MINUTE);
            if counts.len() >= PARTICIPANTS_MAX {
                counts.clear();
            }
        }
        let (since, count) = counts.entry(key).or_insert((now, 0));
        if now - *since >= MINUTE {
            (*since, *count) = (now, 0);
        }
        *count = count.saturating_add(1);
    }
}
