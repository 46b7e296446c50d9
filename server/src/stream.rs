//! What the streams of this server share, whatever their format: the heartbeat, the head of the response, the gauge of
//! open streams, and the follower of one session.

use crate::{extract::Caller, metrics::StreamGauge, problem::Problem, state::AppState};
use axum::{
    BoxError,
    body::Body,
    http::{HeaderMap, HeaderName, HeaderValue, header},
    response::Response,
};
use bytes::Bytes;
use domain::id::SessionId;
use futures_util::{Stream, StreamExt};
use ledger::event::{self, Follow, Following};
use std::time::Duration;
use tokio::{
    sync::watch,
    time::{Instant, Interval, MissedTickBehavior, interval_at},
};

/// Interval in which a stream without events sends something, so that no proxy closes it.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// Returns a timer that ticks every [`HEARTBEAT`], first after one whole period.
pub fn heartbeat() -> Interval {
    let mut interval = interval_at(Instant::now() + HEARTBEAT, HEARTBEAT);
    interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
    interval
}

/// Returns a response that streams chunks. An error breaks the connection off, so that the client does not take the
/// response for complete. `open` is dropped when the stream ends, which lowers the gauge.
pub fn response<E: Into<BoxError> + 'static>(
    media_type: &'static str,
    chunks: impl Stream<Item = Result<Bytes, E>> + Send + 'static,
    open: StreamGauge,
) -> Response {
    let chunks = chunks.map(move |chunk| {
        let _counted = &open;
        chunk
    });
    let mut response = Response::new(Body::from_stream(chunks));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // Without this header, nginx buffers chunks.
    headers.insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    response
}

/// What a stream has to send next.
pub enum Wake {
    /// Events, a piece of an answer, or the end of the session.
    Followed(Follow),
    /// The time of a heartbeat.
    Beat,
    /// The stream ends before the session does: the server stops, the caller may not read the session any more, or the
    /// log could not be read. Clients continue after the last event that they received.
    Cut,
}

/// A caller that follows a session.
pub struct Follower {
    events: Following,
    beat: Interval,
    /// Changes when the access of someone changed, here or at another server.
    access: watch::Receiver<u64>,
    state: AppState,
    caller: Caller,
    id: SessionId,
    headers: HeaderMap,
}

impl Follower {
    /// Begins after this sequence. `headers` are those of the request; the credentials in them are checked again while
    /// the stream is open.
    pub async fn of(
        state: AppState,
        caller: Caller,
        headers: HeaderMap,
        id: SessionId,
        after: u64,
    ) -> Result<Self, Problem> {
        let events = event::follow(&state.ledger, caller.scope(), id, after).await?;
        let access = state.ledger.access_changes();
        Ok(Self { events, beat: heartbeat(), access, state, caller, id, headers })
    }

    /// Whether everything was returned that the log had when the following began.
    pub fn has_reached_first_head(&self) -> bool {
        self.events.position() >= self.events.first_head()
    }

    /// Returns what to send next. Access comes before the events: for a client that reads slowly there is always
    /// another one.
    pub async fn next(&mut self) -> Wake {
        loop {
            let is_beat = tokio::select! {
                biased;
                () = self.state.shutdown.begun() => return Wake::Cut,
                // The ledger keeps the sender. If the sender were dropped, `changed` would return at once every time.
                Ok(()) = self.access.changed() => false,
                _ = self.beat.tick() => true,
                followed = self.events.next() => return self.followed(followed),
            };
            if !self.caller.still_valid(&self.state, &self.headers).await {
                return Wake::Cut;
            }
            if is_beat {
                return Wake::Beat;
            }
        }
    }

    fn followed(&self, followed: ledger::Result<Follow>) -> Wake {
        match followed {
            Ok(followed) => Wake::Followed(followed),
            Err(error) => {
                tracing::warn!(%error, session_id = %self.id, "a followed log could not be read");
                Wake::Cut
            }
        }
    }
}
