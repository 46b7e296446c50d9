//! Reads a session's log from its beginning.

use super::{
    adapter::{Failure, JobContext},
    lease::Lease,
    limit,
    worker_api::WorkerApi,
};
use client::EventRange;
use domain::id::SessionId;
use wire::event::{Event, Events};

/// A session's log, and whether a failed read is repeated.
#[derive(Debug, Clone, Copy)]
pub enum LogSource<'a> {
    /// The log of the leased session. A read that fails for a transient reason is repeated until the lease expires.
    Leased(&'a Lease),
    /// The log of the session with this id, with or without a lease. Every page is requested once.
    Direct(&'a dyn WorkerApi, SessionId),
}

impl<'a> LogSource<'a> {
    /// The log of the job's session.
    pub fn of_job(context: &'a JobContext) -> Self {
        Self::Leased(&context.lease)
    }

    async fn page(self, range: &EventRange) -> client::Result<Events> {
        match self {
            Self::Leased(lease) => {
                lease.retry_while_held(lease.backoff(), |_| lease.api.events(lease.session_id, range)).await
            }
            Self::Direct(api, session_id) => api.events(session_id, range).await,
        }
    }
}

/// Calls `handle` with every event of these kinds, oldest first.
///
/// # Errors
/// `log_unreadable` if a page cannot be read; `log_too_long` if the log has more than [`limit::LOG_EVENTS_MAX`] such
/// events.
pub async fn for_each_event(log: LogSource<'_>, kinds: &[&str], mut handle: impl FnMut(&Event)) -> Result<(), Failure> {
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
        page.events.iter().for_each(&mut handle);
        if !page.has_more {
            return Ok(());
        }
    }
}
