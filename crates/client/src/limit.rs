//! The client's own limits, named. Those of the API are in `domain::limit`.

use std::time::Duration;

/// To open a connection.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// For an ordinary call, from first byte sent to last byte received.
pub const CALL_TIMEOUT: Duration = Duration::from_secs(30);
/// What a claim may take beyond the wait it asked for.
pub const CLAIM_MARGIN: Duration = Duration::from_secs(10);
/// Silence after which a stream counts as cut off: three of the server's 15-second heartbeats.
pub const STREAM_IDLE: Duration = Duration::from_secs(45);
/// Failed connections in a row after which a stream gives up.
pub const STREAM_RECONNECTS_MAX: u32 = 8;
/// Idle connections are closed before proxies and servers commonly do.
pub const IDLE_CONNECTION: Duration = Duration::from_secs(50);
/// Largest answer read into memory: a page of 1,000 events at their largest.
pub const RESPONSE_BYTES_MAX: usize = 320 * 1024 * 1024;
/// Largest frame of a stream: an event at its largest, escaped, with room for its envelope.
pub const FRAME_BYTES_MAX: usize = 2 * 1024 * 1024;
/// Longest `Retry-After` that is honoured.
pub const RETRY_AFTER_MAX: Duration = Duration::from_secs(60);
/// First pause of a backoff.
pub const BACKOFF_BASE: Duration = Duration::from_millis(100);
/// Longest pause of a backoff.
pub const BACKOFF_CAP: Duration = Duration::from_secs(10);
/// Characters of an unintelligible answer that an error quotes.
pub const QUOTE_CHARS_MAX: usize = 300;
