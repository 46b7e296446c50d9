//! Reading a session's log from its beginning.

use super::{
    adapter::{Failure, Hand},
    desk::Desk,
    lease::Lease,
    limit,
};
use client::EventRange;
use wire::event::{Event, Events};

/// Whose log is read, and how patiently.
#[derive(Debug, Clone, Copy)]
pub enum Log<'a> {
    /// Of the session that a lease is held on: as long as that lasts.
    Held(&'a Lease),
    /// Of any session: once.
    Of(&'a dyn Desk, &'a str),
}

impl<'a> Log<'a> {
    /// The log of the session at hand.
    pub fn at(hand: &'a Hand) -> Self {
        Self::Held(&hand.lease)
    }

    async fn page(self, range: &EventRange) -> client::Result<Events> {
        match self {
            Self::Held(lease) => lease.insist(lease.backoff(), |_| lease.desk.events(&lease.session_id, range)).await,
            Self::Of(desk, session_id) => desk.events(session_id, range).await,
        }
    }
}

/// Calls `hear` with every event of these kinds, oldest first.
///
/// # Errors
/// When the log cannot be read, or holds more of them than anybody goes on from.
pub async fn each(log: Log<'_>, kinds: &[&str], mut hear: impl FnMut(&Event)) -> Result<(), Failure> {
    let mut range = EventRange {
        after_sequence: Some(0),
        event_types: kinds.iter().map(|kind| (*kind).to_owned()).collect(),
        limit: Some(limit::LOG_PAGE),
        ..EventRange::default()
    };
    let mut count = 0;
    loop {
        let page = log
            .page(&range)
            .await
            .map_err(|error| Failure::new("log_unreadable", format!("the session's log cannot be read: {error}")))?;
        count += page.events.len();
        if count > limit::LOG_EVENTS_MAX {
            let message = format!("the session has more than {} events to go on from", limit::LOG_EVENTS_MAX);
            return Err(Failure::new("log_too_long", message));
        }
        range.after_sequence = page.events.last().map(|event| event.sequence);
        page.events.iter().for_each(&mut hear);
        if !page.has_more {
            return Ok(());
        }
    }
}
