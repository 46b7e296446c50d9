//! Following a session's log: what is there, then what is committed, without a gap or a repeat.

use super::{
    delta::Delta,
    read::{Read, read},
};
use crate::{
    Ledger, Result,
    live::{Feed, FeedItem, Frames},
    session,
};
use bytes::Bytes;
use domain::{Scope, id::SessionId, session::Status};
use std::sync::Arc;
use tokio::sync::broadcast::error::RecvError;

/// Events read from the log at once.
const READ_EVENTS: u32 = 500;

/// What a follower is told.
#[derive(Debug, Clone)]
pub enum Follow {
    /// Rendered events, in order.
    Frames(Bytes),
    /// A piece of an answer that is not in the log yet. Pieces may be missing.
    Delta(Arc<Delta>),
    /// The session is final and everything has been told.
    End(Status),
}

/// A follower's place in the log. Dropping it ends the subscription.
pub struct Following {
    ledger: Ledger,
    scope: Scope,
    id: SessionId,
    feed: Feed,
    told: u64,
    /// Whether the log may hold events that were not told.
    behind: bool,
}

/// Follows a session after `after_sequence`. The feed is joined before the log is read, so nothing falls between.
/// A place beyond the log's end (from before a restored backup) means its end.
pub async fn follow(ledger: &Ledger, scope: &Scope, id: SessionId, after_sequence: u64) -> Result<Following> {
    let feed = ledger.hub().feed(scope.tenant_id, id);
    let head = session::get(ledger, scope, id).await?.head_sequence;
    Ok(Following { ledger: ledger.clone(), scope: *scope, id, feed, told: after_sequence.min(head), behind: true })
}

impl Following {
    /// The next thing to tell. Waits while there is nothing new. Safe to drop and call again.
    ///
    /// # Errors
    /// When the log cannot be read; calling again continues where it stopped.
    pub async fn next(&mut self) -> Result<Follow> {
        loop {
            if self.behind {
                let query = Read { after_sequence: Some(self.told), limit: READ_EVENTS, ..Read::default() };
                let slice = read(&self.ledger, &self.scope, self.id, query).await?;
                let Some(last) = slice.events.last().map(|event| event.sequence) else {
                    self.behind = false;
                    if slice.status.is_final() {
                        return Ok(Follow::End(slice.status));
                    }
                    continue;
                };
                self.told = last;
                return Ok(Follow::Frames(self.ledger.hub().render(&slice.events)));
            }
            match self.feed.recv().await {
                Ok(FeedItem::Delta(delta)) => return Ok(Follow::Delta(delta)),
                Ok(FeedItem::Frames(frames)) => {
                    if let Some(bytes) = self.take(&frames) {
                        return Ok(Follow::Frames(bytes));
                    }
                }
                Err(RecvError::Lagged(_) | RecvError::Closed) => self.behind = true,
            }
        }
    }

    /// The frames, if they continue what was told; otherwise the log has to be read.
    fn take(&mut self, frames: &Frames) -> Option<Bytes> {
        // A final status is confirmed from the log, which also finds anything that came in between.
        self.behind = frames.is_final;
        if frames.last <= self.told {
            return None;
        }
        if frames.first != self.told + 1 || frames.bytes.is_empty() {
            self.behind = true;
            return None;
        }
        self.told = frames.last;
        Some(frames.bytes.clone())
    }
}
