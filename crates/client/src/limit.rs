//! The client's own limits. Those of the API are in `domain::limit`.

use std::time::Duration;

/// Time to open a connection.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Time for a call, from the first byte sent to the last byte received.
pub const CALL_TIMEOUT: Duration = Duration::from_secs(30);
/// Time for a claim beyond the wait that it asks for.
pub const CLAIM_MARGIN: Duration = Duration::from_secs(10);
/// Silence after which a stream counts as cut off: three of the server's heartbeats, one every 15 s.
pub const STREAM_IDLE: Duration = Duration::from_secs(45);
/// Consecutive failed connections after which a stream fails.
pub const STREAM_RECONNECTS_MAX: u32 = 8;
/// Age from which a connection that is cut does not count as failed: proxies end long streams.
pub const STREAM_LASTING: Duration = Duration::from_secs(10);
/// Time after which an idle connection is closed, shorter than in common proxies and servers.
pub const IDLE_CONNECTION: Duration = Duration::from_secs(50);
/// The same for another service, whose limit is not known. Servers on Node.js and Uvicorn, as many models have, close
/// an idle connection after 5 s: a request that is sent on it at that moment fails.
pub const IDLE_CONNECTION_ELSEWHERE: Duration = Duration::from_secs(4);
/// Largest answer, bytes: a page of 1,000 events of the largest size.
pub const RESPONSE_BYTES_MAX: usize = 320 * 1024 * 1024;
/// Largest frame of a stream, bytes: the largest event, escaped, with its envelope.
pub const FRAME_BYTES_MAX: usize = 2 * 1024 * 1024;
/// Longest `Retry-After` that is followed; a longer one is cut to this.
pub const RETRY_AFTER_MAX: Duration = Duration::from_secs(60);
/// First pause of a backoff.
pub const BACKOFF_BASE: Duration = Duration::from_millis(100);
/// Longest pause of a backoff.
pub const BACKOFF_CAP: Duration = Duration::from_secs(10);
/// Characters of an unexpected answer that an error quotes.
pub const QUOTE_CHARS_MAX: usize = 300;
