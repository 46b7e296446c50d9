//! The parts of a request that handlers of forms need besides its body.

use crate::{cookie, form_limit::address, host::Peer, nonce::Nonce, state::AppState};
use app::{Theme, form_page::Frame};
use axum::{
    extract::FromRequestParts,
    http::{HeaderMap, header, request::Parts},
};
use std::convert::Infallible;

/// The parts of a request that every handler of a form needs.
pub struct Visit {
    pub headers: HeaderMap,
    pub nonce: Option<Nonce>,
    pub peer: Option<Peer>,
}

impl<S: Send + Sync> FromRequestParts<S> for Visit {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Self::Rejection> {
        let (nonce, peer) = (parts.extensions.get().cloned(), parts.extensions.get().copied());
        Ok(Self { headers: parts.headers.clone(), nonce, peer })
    }
}

impl Visit {
    /// The paths and settings of a form's page.
    pub fn frame(&self, state: &AppState) -> Frame {
        let href = |name| state.assets.path(name).unwrap_or_default();
        let theme = match cookie::theme(&self.headers) {
            Some(cookie::Theme::Light) => Theme::Light,
            Some(cookie::Theme::Dark) => Theme::Dark,
            None => Theme::System,
        };
        let nonce = self.nonce.as_ref().map(|nonce| nonce.as_str().to_owned()).unwrap_or_default();
        let (css_href, js_href) = (href("form-css"), href("form-js"));
        Frame { css_href, js_href, nonce, theme, refresh_to: None, embedded_in: None }
    }

    /// Counts a request. Returns whether it is allowed.
    pub fn is_allowed(&self, state: &AppState, link: Option<&str>) -> bool {
        let browser = state.cookies.respondent(&self.headers);
        state.form_limits.allows(address(self.peer, &self.headers), browser, link)
    }

    /// Counts a run of a tool by a link. Returns whether the address may begin it.
    pub fn may_begin_run(&self, state: &AppState) -> bool {
        state.form_limits.allows_run(address(self.peer, &self.headers))
    }

    /// Whether a script sent the request, which reads JSON. A browser without scripts reads pages.
    pub fn is_by_script(&self) -> bool {
        self.headers.get(header::ACCEPT).is_some_and(|accept| accept == "application/json")
    }
}
