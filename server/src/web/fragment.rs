//! Requests of scripts for a part of a page.

use axum::http::HeaderMap;

/// Header with which `app/src/browser/fetch.rs` asks for a part of a page.
const FRAGMENT_HEADER: &str = "x-fragment";

/// Returns whether a script of ours asks for a part of a page.
pub fn wants_fragment(headers: &HeaderMap) -> bool {
    headers.contains_key(FRAGMENT_HEADER)
}
