//! What all event streams share: headers, fixed frames, the goodbye, and being counted.

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

/// How often a silent stream says that it lives.
pub const HEARTBEAT: Duration = Duration::from_secs(15);
/// Spread of the reconnections after a stop, so that they do not come in one instant.
const BYE_RETRY_MS_MIN: u64 = 300;
const BYE_RETRY_MS_SPREAD: u64 = 1_700;

/// How soon a client comes back when a stream breaks.
pub const RETRY: Bytes = Bytes::from_static(b"retry: 2000\n\n");
/// A sign of life that clients' event handlers do not see.
pub const COMMENT: Bytes = Bytes::from_static(b": beat\n\n");

/// A frame of a named event. `name` is one of ours and `data` is JSON made by serde: neither can hold
/// a line break.
pub fn frame(name: &'static str, data: &str) -> Bytes {
    debug_assert!(!data.contains(['\n', '\r']));
    Bytes::from(format!("event: {name}\ndata: {data}\n\n"))
}

/// The last frame before a stop. The client comes back by itself, and finds a successor.
pub fn end_frame(state: &AppState) -> Bytes {
    let mut jitter = [0; 2];
    state.entropy.fill(&mut jitter);
    let retry_ms = BYE_RETRY_MS_MIN + u64::from(u16::from_le_bytes(jitter)) % BYE_RETRY_MS_SPREAD;
    Bytes::from(format!("event: bye\nretry: {retry_ms}\ndata: {{}}\n\n"))
}

/// Ticks for [`HEARTBEAT`], the first one a whole period from now.
pub fn heartbeat() -> Interval {
    let mut interval = interval_at(Instant::now() + HEARTBEAT, HEARTBEAT);
    interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
    interval
}

/// A response that streams frames. `open` is dropped with it.
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
    // nginx would collect frames otherwise.
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
