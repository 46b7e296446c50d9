//! Security headers of every response.

use super::{RequestInfo, request_id::REQUEST_ID_HEADER};
use crate::nonce::Nonce;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};

/// Content security policy for responses that are not pages: they load nothing and cannot be framed.
const NO_PAGE: HeaderValue =
    HeaderValue::from_static("default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
/// One year, the minimum of browsers' preload lists.
const HSTS: HeaderValue = HeaderValue::from_static("max-age=31536000");

/// Sets the security headers that a handler has not set itself.
pub fn apply(headers: &mut HeaderMap, seen: &RequestInfo, nonce: Option<&Nonce>, https: bool) {
    let mut set = |name: HeaderName, value: HeaderValue| {
        headers.entry(name).or_insert(value);
    };
    if let Ok(id) = HeaderValue::from_str(seen.id.as_str()) {
        set(HeaderName::from_static(REQUEST_ID_HEADER), id);
    }
    let policy = nonce.and_then(|nonce| HeaderValue::from_str(&page_policy(nonce)).ok()).unwrap_or(NO_PAGE);
    set(header::CONTENT_SECURITY_POLICY, policy);
    set(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    set(HeaderName::from_static("cross-origin-opener-policy"), HeaderValue::from_static("same-origin"));
    set(HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("same-origin"));
    set(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if https {
        set(header::STRICT_TRANSPORT_SECURITY, HSTS);
    }
    // With `no-referrer`, a page posts its forms with `Origin: null`. Over plain HTTP, without
    // Sec-Fetch-Site, the server would refuse them. `same-origin` reveals as little to other sites.
    let html = headers.get(header::CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"text/html"));
    let referrer = HeaderValue::from_static(if html { "same-origin" } else { "no-referrer" });
    headers.entry(header::REFERRER_POLICY).or_insert(referrer);
}

fn page_policy(nonce: &Nonce) -> String {
    format!(
        "default-src 'none'; script-src 'nonce-{}' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data:; \
         connect-src 'self'; font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; \
         object-src 'none'; manifest-src 'self'",
        nonce.as_str()
    )
}
