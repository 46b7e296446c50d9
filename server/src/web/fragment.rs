//! Requests of scripts for a part of a page.

use app::FRAGMENT_HEADER;
use axum::http::HeaderMap;

/// Returns whether a script of ours asks for a part of a page.
pub fn wants_fragment(headers: &HeaderMap) -> bool {
    headers.contains_key(FRAGMENT_HEADER)
}
