//! Secrets that a form has just made, on their way to the page that shows them once.
//!
//! A redirect leads to that page, and a cookie of a minute carries the secret there: nothing is stored here, and
//! loading the page again neither shows the secret nor makes another. The address names the cookie by the id of the
//! request that made the secret, so that each of two tabs that make one at the same time shows its own.

use super::shell::Viewer;
use crate::{cookie::NewSecret, state::AppState};
use axum::{
    extract::FromRequestParts,
    http::{HeaderMap, header::SET_COOKIE, request::Parts},
    response::{IntoResponse, Redirect, Response},
};
use domain::id::RequestId;
use std::convert::Infallible;

/// Name of the id in the address.
const MADE: &str = "made";

/// The request that the address names, and the cookies in which its secret is.
pub struct Made {
    by: Option<RequestId>,
    headers: HeaderMap,
}

impl FromRequestParts<AppState> for Made {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &AppState) -> Result<Self, Infallible> {
        let query = parts.uri.query().unwrap_or_default();
        let named = form_urlencoded::parse(query.as_bytes()).find(|(key, _)| key == MADE);
        let by = named.and_then(|(_, id)| id.parse().ok());
        Ok(Self { by, headers: parts.headers.clone() })
    }
}

impl Made {
    /// The secret of this kind that the request made for the viewer, unless it was shown before.
    pub fn secret(&self, kind: NewSecret, viewer: &Viewer) -> Option<&str> {
        kind.of(&self.headers, self.by?, viewer.scope.user_id()?)
    }

    /// Has the browser forget a secret that the page at `path` shows with this response.
    pub fn forget(&self, state: &AppState, kind: NewSecret, path: &str, response: &mut Response) {
        // A page that could not be rendered has not shown it: loading it again does.
        if !response.status().is_success() {
            return;
        }
        if let Some(cookie) = self.by.and_then(|by| state.cookies.forget(kind, by, path)) {
            response.headers_mut().append(SET_COOKIE, cookie);
        }
    }
}

/// Redirects to the page that shows a new secret. `fragment` names the place on the page, with its `#`; it may be
/// empty. `None` for a program, which has no cookies: its answer is the page itself.
pub fn carried(
    state: &AppState,
    viewer: &Viewer,
    (kind, secret): (NewSecret, &str),
    (path, fragment): (&str, &str),
) -> Option<Response> {
    let made = state.ledger.request_id();
    let user = viewer.scope.user_id()?;
    let cookie = state.cookies.carry(kind, made, path, user, secret)?;
    let mut response = Redirect::to(&format!("{path}?{MADE}={made}{fragment}")).into_response();
    response.headers_mut().append(SET_COOKIE, cookie);
    Some(response)
}
