//! Shared parts of all streams of server-sent events: fixed frames, the last frame, and the response.

use crate::{metrics::StreamGauge, state::AppState, stream};
use axum::response::Response;
use bytes::Bytes;
use futures_util::{Stream, StreamExt};
use std::convert::Infallible;

/// Bounds of the random reconnection delay after a stop. The spread prevents that all clients
/// reconnect at once.
const BYE_RETRY_MS_MIN: u64 = 300;
const BYE_RETRY_MS_SPREAD: u64 = 1_700;

/// Frame that sets the delay before a client reconnects when a stream breaks: 2 seconds.
pub const RETRY: Bytes = Bytes::from_static(b"retry: 2000\n\n");
/// Comment that shows that the connection is alive. Event handlers of clients do not receive it.
pub const COMMENT: Bytes = Bytes::from_static(b": beat\n\n");

/// Returns a frame of a named event. `name` is a constant of this server and `data` is JSON from
/// serde, so neither contains a line break.
pub fn frame(name: &'static str, data: &str) -> Bytes {
    debug_assert!(!data.contains(['\n', '\r']));
    Bytes::from(format!("event: {name}\ndata: {data}\n\n"))
}

/// Returns the last frame before the server stops. The client reconnects by itself and then reaches
/// the next process.
pub fn end_frame(state: &AppState) -> Bytes {
    let mut jitter = [0; 2];
    state.entropy.fill(&mut jitter);
    let retry_ms = BYE_RETRY_MS_MIN + u64::from(u16::from_le_bytes(jitter)) % BYE_RETRY_MS_SPREAD;
    Bytes::from(format!("event: bye\nretry: {retry_ms}\ndata: {{}}\n\n"))
}

/// Returns a response that streams frames. `open` is dropped when the stream ends, which lowers the
/// gauge.
pub fn response(frames: impl Stream<Item = Bytes> + Send + 'static, open: StreamGauge) -> Response {
    stream::response("text/event-stream", frames.map(Ok::<_, Infallible>), open)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_named_frame_has_the_three_lines_of_the_format() {
        assert_eq!(&frame("end", r#"{"status":"completed"}"#)[..], b"event: end\ndata: {\"status\":\"completed\"}\n\n");
    }
}
