//! Shared parts of all event streams: headers, fixed frames, the last frame, and the gauge of open
//! streams.

use crate::{metrics::StreamGauge, state::AppState};
use axum::{
    body::Body,
    http::{HeaderName, HeaderValue, header},
    response::Response,
};
use bytes::Bytes;
use futures_util::Stream;
use std::{convert::Infallible, time::Duration};
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};

/// Interval of comments on a stream without events.
pub const HEARTBEAT: Duration = Duration::from_secs(15);
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

/// Returns a timer that ticks every [`HEARTBEAT`], first after one whole period.
pub fn heartbeat() -> Interval {
    let mut interval = interval_at(Instant::now() + HEARTBEAT, HEARTBEAT);
    interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
    interval
}

/// Returns a response that streams frames. `open` is dropped when the stream ends, which lowers the
/// gauge.
pub fn response(frames: impl Stream<Item = Bytes> + Send + 'static, open: StreamGauge) -> Response {
    use futures_util::StreamExt;
    let frames = frames.map(move |frame| {
        let _counted = &open;
        Ok::<_, Infallible>(frame)
    });
    let mut response = Response::new(Body::from_stream(frames));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // Without this header, nginx buffers frames.
    headers.insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_named_frame_has_the_three_lines_of_the_format() {
        assert_eq!(&frame("end", r#"{"status":"completed"}"#)[..], b"event: end\ndata: {\"status\":\"completed\"}\n\n");
    }
}
