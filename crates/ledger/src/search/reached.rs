//! Until when events are found.

use crate::{Ledger, Result, Timestamp};
use chrono::TimeDelta;
use domain::clock::{from_micros, to_micros};
use std::sync::atomic::{AtomicI64, Ordering};
use store::Conn;

/// Until when this server knows all events to be in the index, microseconds; `i64::MIN` while it does not know.
pub(crate) struct Reached(AtomicI64);

impl Default for Reached {
    fn default() -> Self {
        Self(AtomicI64::new(i64::MIN))
    }
}

impl Reached {
    pub(super) fn set(&self, until: Option<Timestamp>) {
        self.0.store(until.map_or(i64::MIN, to_micros), Ordering::Relaxed);
    }

    fn get(&self) -> Option<Timestamp> {
        Some(self.0.load(Ordering::Relaxed)).filter(|until| *until != i64::MIN).map(from_micros)
    }
}

/// Until when all events are in the index. The server that fills it knows best; others read what it saved.
pub(super) async fn reached_on(conn: &mut Conn<'_>, known: Option<Timestamp>) -> Result<Option<Timestamp>> {
    let saved = store::search::state(conn).await?.indexed_until;
    // An index that was emptied has nothing saved until it is filled again.
    Ok(saved.map(|saved| known.map_or(saved, |known| known.max(saved))))
}

pub(super) fn known(ledger: &Ledger) -> Option<Timestamp> {
    ledger.search_reached().get()
}

/// How far the search is behind the log. `None` on a server that does not fill the index, and until the first pass over
/// all sessions is done.
pub fn lag(ledger: &Ledger) -> Option<TimeDelta> {
    known(ledger).map(|until| (ledger.now() - until).max(TimeDelta::zero()))
}
