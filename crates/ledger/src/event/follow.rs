//! Follows a session's log: first the recorded events, then new ones as they are committed, without gaps or
//! repeats.

use super::{
    delta::Delta,
    progress::Progress,
    read::{Read, read},
};
use crate::{
    Ledger, Result,
    live::{Commit, Feed, FeedItem},
    rendering::Batch,
    session,
    visibility::canvas_role,
};
use domain::{Scope, Timestamp, canvas::Presence, id::SessionId, limit::CANVAS_PRESENCE_MS_MAX, session::Status};
use std::sync::Arc;
use tokio::sync::broadcast::error::RecvError;

/// Largest number of events that one read of the log returns.
const READ_EVENTS: u32 = 500;

/// An item for a follower.
#[derive(Debug, Clone)]
pub enum Follow {
    /// The next events.
    Events(Arc<Batch>),
    /// A piece of an answer that is not in the log yet. Pieces may be lost.
    Delta(Arc<Delta>),
    /// How far the worker is. Reports may be lost.
    Progress(Arc<Progress>),
    /// Where a participant of the canvas is. Only participants get it. Reports may be lost.
    Presence(Arc<Presence>),
    /// The session is final and all of its events were delivered.
    End(Status),
}

/// A follower's position in a log. Dropping it ends the subscription.
pub struct Following {
    ledger: Ledger,
    scope: Scope,
    id: SessionId,
    feed: Feed,
    first_head: u64,
    sent: u64,
    /// Whether the log may hold events that were not delivered.
    behind: bool,
    /// Whether the caller takes part in the canvas, and when that was read last.
    takes_part: Option<(bool, Timestamp)>,
}

/// Follows a session after `after_sequence`. The feed is subscribed before the log is read, so no event is
/// missed. A sequence beyond the end of the log, which a client can have after a backup was restored, is treated
/// as the end.
///
/// # Errors
/// [`crate::Error::NotFound`] if there is no such session or the caller cannot see it.
pub async fn follow(ledger: &Ledger, scope: &Scope, id: SessionId, after_sequence: u64) -> Result<Following> {
    let feed = ledger.hub().feed(scope.tenant_id, id);
    let head = session::get(ledger, scope, id).await?.head_sequence;
    let sent = after_sequence.min(head);
    Ok(Following {
        ledger: ledger.clone(),
        scope: *scope,
        id,
        feed,
        first_head: head,
        sent,
        behind: true,
        takes_part: None,
    })
}

/// Whether the caller takes part in a canvas: as its creator, or with any role.
async fn takes_part(ledger: &Ledger, scope: &Scope, id: SessionId) -> Result<bool> {
    let reader = *scope;
    let read = ledger.snapshot(scope, async move |conn| {
        Ok(match store::session::find(conn, reader.tenant_id, id).await? {
            Some(session) => canvas_role(conn, &reader, &session).await?.is_some(),
            None => false,
        })
    });
    read.await
}

impl Following {
    /// The last sequence of the log when the following began.
    pub const fn first_head(&self) -> u64 {
        self.first_head
    }

    /// The sequence of the last event that was returned, or the one after which the following began.
    pub const fn position(&self) -> u64 {
        self.sent
    }

    /// Returns the next item. Waits if there is nothing new. Cancel-safe: the future can be dropped and `next`
    /// called again.
    ///
    /// # Errors
    /// If the log cannot be read. The next call continues at the same position.
    pub async fn next(&mut self) -> Result<Follow> {
        loop {
            if self.behind {
                let query = Read { after_sequence: Some(self.sent), limit: READ_EVENTS, ..Read::default() };
                let slice = read(&self.ledger, &self.scope, self.id, query).await?;
                let Some(last) = slice.events.last().map(|event| event.sequence) else {
                    self.behind = false;
                    if slice.status.is_final() {
                        return Ok(Follow::End(slice.status));
                    }
                    continue;
                };
                self.sent = last;
                return Ok(Follow::Events(Arc::new(Batch::new(slice.events.into()))));
            }
            match self.feed.recv().await {
                Ok(FeedItem::Delta(delta)) => return Ok(Follow::Delta(delta)),
                Ok(FeedItem::Progress(progress)) => return Ok(Follow::Progress(progress)),
                Ok(FeedItem::Presence(presence)) => {
                    if self.takes_part().await {
                        return Ok(Follow::Presence(presence));
                    }
                }
                Ok(FeedItem::Committed(commit)) => {
                    if let Some(batch) = self.take(commit) {
                        return Ok(Follow::Events(batch));
                    }
                }
                Ok(FeedItem::Missed) | Err(RecvError::Lagged(_) | RecvError::Closed) => self.behind = true,
            }
        }
    }

    /// Whether the caller takes part in the canvas. It is read again after [`CANVAS_PRESENCE_MS_MAX`], so someone who
    /// was removed gets no report afterwards.
    async fn takes_part(&mut self) -> bool {
        let now = self.ledger.now();
        if let Some((takes_part, at)) = self.takes_part
            && (now - at).num_milliseconds() < CANVAS_PRESENCE_MS_MAX
        {
            return takes_part;
        }
        // A report that is not delivered does no harm, so an error is no reason to end the stream.
        let takes_part = takes_part(&self.ledger, &self.scope, self.id).await.unwrap_or(false);
        self.takes_part = Some((takes_part, now));
        takes_part
    }

    /// Returns the events if they continue at the follower's position. Otherwise returns `None`; if events are
    /// missing, the log has to be read.
    fn take(&mut self, commit: Commit) -> Option<Arc<Batch>> {
        // A final status is confirmed by reading the log, which also delivers events that were missed.
        self.behind = commit.is_final;
        if commit.head_sequence <= self.sent {
            return None;
        }
        if commit.batch.events().first().map(|event| event.sequence) != Some(self.sent + 1) {
            self.behind = true;
            return None;
        }
        self.sent = commit.head_sequence;
        Some(commit.batch)
    }
}
