//! The live stream of a browser. It names the sessions that changed, without their content.

use crate::{extract::Caller, metrics::StreamGauge, problem::Problem, sse, state::AppState, stream::heartbeat};
use axum::{extract::State, http::HeaderMap, response::Response};
use bytes::{Bytes, BytesMut};
use domain::id::SessionId;
use futures_util::{StreamExt, stream};
use ledger::live::{self as use_case, LiveSignal, Signals};
use std::{collections::BTreeMap, time::Duration};
use tokio::{
    sync::watch,
    time::{Instant, Interval, sleep_until},
};
use wire::live::SessionMoved;

/// Interval within which a session is named at most once, no matter how fast its log grows.
const COALESCE: Duration = Duration::from_millis(100);
/// Most changed sessions that wait to be sent. With more, the stream sends `resync` instead of their names.
const MOVED_MAX: usize = 1_000;

/// Follow changes of the workspace
///
/// Server-sent events without content: `session` (the log or the status of this session changed), `counts` (the work
/// queue may have changed), `resync` (signals were lost: read again what is shown), `mark` (the position of the stream;
/// each page has the mark at which it was rendered), `beat` every 15 s, and `bye` from a server that stops.
#[utoipa::path(
    get, path = "/api/live", operation_id = "live", tag = "today",
    responses(
        (status = 200, description = "The stream", body = wire::schema::StreamEvent, content_type = "text/event-stream"),
    ),
)]
pub async fn live(State(state): State<AppState>, caller: Caller, headers: HeaderMap) -> Result<Response, Problem> {
    let open = state.metrics.stream();
    Ok(Feed::of(state, caller, headers).response(open))
}

/// Changes that have not been sent yet.
#[derive(Debug, Default)]
struct Pending {
    moved: BTreeMap<SessionId, SessionMoved>,
    counts: bool,
    resync: bool,
}

impl Pending {
    fn is_empty(&self) -> bool {
        self.moved.is_empty() && !self.counts && !self.resync
    }

    fn add(&mut self, signal: LiveSignal) {
        match signal {
            LiveSignal::CountsChanged => self.counts = true,
            LiveSignal::Resync => self.lost(),
            LiveSignal::SessionMoved { session_id, head_sequence, status } => {
                let moved = SessionMoved { session_id, head_sequence, status };
                self.moved.insert(session_id, moved);
                if self.moved.len() > MOVED_MAX {
                    self.lost();
                }
            }
        }
    }

    /// Requests a complete refresh, because signals were lost. Naming single sessions is then
    /// unnecessary.
    fn lost(&mut self) {
        *self = Self { moved: BTreeMap::new(), counts: true, resync: true };
    }

    /// Removes sessions. If it is not known which, the page reads again what it may see.
    fn leave_out(&mut self, hidden: ledger::Result<Vec<SessionId>>) {
        match hidden {
            Ok(hidden) => self.moved.retain(|id, _| !hidden.contains(id)),
            Err(error) => {
                tracing::warn!(%error, "a page is told to read again, because no one knows what it may hear of");
                self.lost();
            }
        }
    }

    /// Returns the frames to send now. The mark comes first, so that a page that is read between two frames never gets
    /// a mark older than the stream's.
    fn take(&mut self, mark: &str) -> Bytes {
        let mut frames = BytesMut::from(&mark_frame(mark)[..]);
        let pending = std::mem::take(self);
        if pending.resync {
            frames.extend_from_slice(&sse::frame("resync", "{}"));
        }
        for moved in pending.moved.values() {
            let json = serde_json::to_string(moved).unwrap_or_default();
            frames.extend_from_slice(&sse::frame("session", &json));
        }
        if pending.counts {
            frames.extend_from_slice(&sse::frame("counts", "{}"));
        }
        frames.freeze()
    }
}

fn mark_frame(mark: &str) -> Bytes {
    sse::frame("mark", &format!("\"{mark}\""))
}

/// The stream of one connected browser.
struct Feed {
    signals: Signals,
    pending: Pending,
    /// When the next frames may be sent; in the past while the stream is quiet.
    flush_at: Instant,
    beat: Interval,
    /// Changes when the access of someone changed, here or at another server.
    access: watch::Receiver<u64>,
    state: AppState,
    caller: Caller,
    headers: HeaderMap,
}

/// Why a stream stopped waiting.
enum Wake {
    /// The server stops.
    Stop,
    /// The pending changes may be sent.
    Due,
    Changed(LiveSignal),
    /// The access of someone changed, which may be the caller's.
    AccessChanged,
    Beat,
}

enum Next {
    Frame(Bytes),
    Last(Bytes),
}

impl Feed {
    /// Subscribes the caller.
    fn of(state: AppState, caller: Caller, headers: HeaderMap) -> Self {
        Self {
            signals: use_case::subscribe(&state.ledger, caller.scope()),
            pending: Pending::default(),
            flush_at: Instant::now(),
            beat: heartbeat(),
            access: state.ledger.access_changes(),
            state,
            caller,
            headers,
        }
    }

    fn response(self, open: StreamGauge) -> Response {
        // The subscription is older than this mark, so every change that the mark does not count is sent later.
        let opening = [sse::RETRY, mark_frame(&self.state.live_mark(self.caller.scope()))];
        let opening = stream::iter(opening);
        let frames = stream::unfold(Some(self), |feed| async {
            let mut feed = feed?;
            Some(match feed.next().await {
                Next::Frame(frame) => (frame, Some(feed)),
                Next::Last(frame) => (frame, None),
            })
        });
        sse::response(opening.chain(frames), open)
    }

    /// Returns the last frame if the caller may not read any more.
    async fn end(&self) -> Option<Next> {
        let may_read = self.caller.still_valid(&self.state, &self.headers).await;
        (!may_read).then(|| Next::Last(sse::end_frame(&self.state)))
    }

    async fn next(&mut self) -> Next {
        loop {
            let wake = self.wake().await;
            if let Some(next) = self.answer(wake).await {
                return next;
            }
        }
    }

    /// Waits until there may be something to send.
    async fn wake(&mut self) -> Wake {
        tokio::select! {
            biased;
            () = self.state.shutdown.begun() => Wake::Stop,
            // Before the changes: for a client that reads slowly there is always another one.
            Ok(()) = self.access.changed() => Wake::AccessChanged,
            _ = self.beat.tick() => Wake::Beat,
            () = sleep_until(self.flush_at), if !self.pending.is_empty() => Wake::Due,
            signal = self.signals.recv() => signal.map_or(Wake::Stop, Wake::Changed),
        }
    }

    /// Returns what to send now. `None` if the stream only waits again.
    async fn answer(&mut self, wake: Wake) -> Option<Next> {
        match wake {
            Wake::Stop => Some(Next::Last(sse::end_frame(&self.state))),
            Wake::Due => self.flush().await,
            Wake::Changed(signal) => {
                self.pending.add(signal);
                None
            }
            Wake::AccessChanged => self.end().await,
            Wake::Beat => Some(self.end().await.unwrap_or_else(|| Next::Frame(sse::frame("beat", "{}")))),
        }
    }

    /// Returns the frames of the pending changes. `None` if all of them are private.
    async fn flush(&mut self) -> Option<Next> {
        self.flush_at = Instant::now() + COALESCE;
        self.leave_out_private().await;
        if self.pending.is_empty() {
            return None;
        }
        let mark = self.state.live_mark(self.caller.scope());
        Some(Next::Frame(self.pending.take(&mark)))
    }

    /// Removes incognito sessions of other people from the pending changes.
    async fn leave_out_private(&mut self) {
        let moved: Vec<SessionId> = self.pending.moved.keys().copied().collect();
        if moved.is_empty() {
            return;
        }
        let hidden = use_case::hidden(&self.state.ledger, self.caller.scope(), &moved).await;
        self.pending.leave_out(hidden);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::session::Status;
    use uuid::Uuid;

    fn session_moved(id: u128, head_sequence: u64) -> LiveSignal {
        LiveSignal::SessionMoved { session_id: SessionId(Uuid::from_u128(id)), head_sequence, status: Status::Running }
    }

    #[test]
    fn a_session_that_moved_often_is_named_once_with_its_newest_head() {
        let mut pending = Pending::default();
        for head in 1..=50 {
            pending.add(session_moved(1, head));
        }
        pending.add(LiveSignal::CountsChanged);
        pending.add(LiveSignal::CountsChanged);
        let frames = String::from_utf8(pending.take("a-1").to_vec()).unwrap();
        let expected = "event: mark\ndata: \"a-1\"\n\n\
                        event: session\ndata: {\"sessionId\":\"00000000-0000-0000-0000-000000000001\",\"headSequence\":50,\"status\":\"running\"}\n\n\
                        event: counts\ndata: {}\n\n";
        assert_eq!(frames, expected);
        assert!(pending.is_empty());
    }

    #[test]
    fn private_sessions_are_left_out_and_unknown_ones_are_a_resync() {
        let mut pending = Pending::default();
        pending.add(session_moved(1, 1));
        pending.add(session_moved(2, 1));
        pending.leave_out(Ok(vec![SessionId(Uuid::from_u128(1))]));
        assert_eq!(pending.moved.keys().collect::<Vec<_>>(), [&SessionId(Uuid::from_u128(2))]);
        pending.leave_out(Err(ledger::Error::NotFound("session")));
        assert!(pending.moved.is_empty() && pending.resync);
    }

    #[test]
    fn too_many_moves_become_one_resync() {
        let mut pending = Pending::default();
        for id in 0..=MOVED_MAX as u128 {
            pending.add(session_moved(id, 1));
        }
        let frames = pending.take("a-1");
        let expected = b"event: mark\ndata: \"a-1\"\n\nevent: resync\ndata: {}\n\nevent: counts\ndata: {}\n\n";
        assert_eq!(&frames[..], expected);
    }
}
