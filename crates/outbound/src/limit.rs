//! Limits of outbound requests.

use std::time::Duration;

/// Time for a request, from resolving the name to the last byte of the response.
pub const TIME: Duration = Duration::from_secs(10);
/// Time to connect, TLS included.
pub const CONNECT: Duration = Duration::from_secs(5);
/// Longest address, bytes.
pub const URL_BYTES_MAX: usize = 2_048;
/// Largest body in either direction, bytes.
pub const BODY_BYTES_MAX: usize = 1024 * 1024;
/// Most headers in either direction.
pub const HEADERS_MAX: usize = 64;
/// Largest headers in either direction, names and values together, bytes.
pub const HEADER_BYTES_MAX: usize = 16 * 1024;
/// Most addresses of a name; a name with more is refused.
pub const ADDRESSES_MAX: usize = 32;
/// Most hosts in one list of allowed hosts.
pub const HOSTS_MAX: usize = 256;
