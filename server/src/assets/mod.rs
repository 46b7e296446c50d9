//! Files of the site. Their names contain a hash of their content, and each has compressed forms.

mod site;

use crate::{problem::Problem, transcript_cache::accepts};
use axum::{
    Router,
    body::Body,
    extract::Path,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use site::SiteFile;
use std::collections::BTreeMap;
use wire::Code;

/// For files whose name changes with their content.
const IMMUTABLE: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");

/// The icon's path has no hash, so browsers request it again after a day.
const ICON_CACHE: HeaderValue = HeaderValue::from_static("public, max-age=86400");

/// The file of each logical name (`css`, `js`, `wasm`, paths of static files).
#[derive(Debug, Clone, Default)]
pub struct Assets(BTreeMap<String, String>);

impl Assets {
    /// Reads the site's manifest. A server without a site still serves the API and plain pages.
    pub fn load() -> Self {
        let Some(manifest) = site::get(site::MANIFEST) else {
            tracing::warn!("there are no styles or scripts; `cargo xtask build` makes a binary that has them");
            return Self::default();
        };
        match serde_json::from_slice(&manifest.data) {
            Ok(names) => Self(names),
            Err(error) => {
                tracing::error!(%error, "the manifest of the site cannot be read");
                Self::default()
            }
        }
    }

    /// The URL path of the file with this logical name, e.g. `css`.
    pub fn path(&self, name: &str) -> Option<String> {
        self.0.get(name).map(|file| format!("/pkg/{file}"))
    }
}

/// `GET /pkg/{file}` and `GET /favicon.svg`
pub fn router<S: Clone + Send + Sync + 'static>() -> Router<S> {
    Router::new().route("/pkg/{file}", get(file)).route("/favicon.svg", get(icon))
}

async fn icon() -> impl IntoResponse {
    let svg = HeaderValue::from_static("image/svg+xml");
    ([(header::CONTENT_TYPE, svg), (header::CACHE_CONTROL, ICON_CACHE)], app::FAVICON_SVG)
}

async fn file(Path(name): Path<String>, headers: HeaderMap) -> Result<Response, Problem> {
    let stored = [("br", ".br"), ("gzip", ".gz")]
        .into_iter()
        .filter(|(coding, _)| accepts(&headers, coding))
        .find_map(|(coding, ending)| Some((Some(coding), read(&name, ending)?)));
    let (coding, file) = match stored {
        Some(stored) => stored,
        None => (None, read_plain(&name).ok_or(Problem::new(Code::NotFound))?),
    };
    let tag = format!("\"{}\"", hex(&file.sha256));
    let known = headers.get(header::IF_NONE_MATCH).is_some_and(|known| known.as_bytes() == tag.as_bytes());
    let mut response =
        if known { StatusCode::NOT_MODIFIED.into_response() } else { Body::from(file.data).into_response() };
    let out = response.headers_mut();
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        out.insert(header::ETAG, tag);
    }
    out.insert(header::CACHE_CONTROL, IMMUTABLE);
    out.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    out.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type(&name)));
    if let Some(coding) = coding {
        out.insert(header::CONTENT_ENCODING, HeaderValue::from_static(coding));
    }
    Ok(response)
}

/// Reads a file of the site with this ending.
fn read(name: &str, ending: &str) -> Option<SiteFile> {
    is_served(name).then(|| site::get(&format!("pkg/{name}{ending}")))?
}

/// Reads a file of the site as it is without compression.
fn read_plain(name: &str) -> Option<SiteFile> {
    is_served(name).then(|| site::unpacked(&format!("pkg/{name}")))?
}

/// Whether the name may be that of a file. Compressed forms have no path of their own: `x.js.br` is only served as
/// `x.js`.
fn is_served(name: &str) -> bool {
    !(name.ends_with(".br") || name.ends_with(".gz") || name.contains(['/', '\\']) || name.starts_with('.'))
}

fn hex(bytes: &[u8; 32]) -> String {
    domain::chain::Digest(*bytes).to_string()
}

fn content_type(name: &str) -> &'static str {
    match name.rsplit_once('.').map(|(_, ending)| ending) {
        Some("css") => "text/css; charset=utf-8",
        Some("js" | "mjs") => "text/javascript; charset=utf-8",
        Some("wasm") => "application/wasm",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("ico") => "image/x-icon",
        Some("webp") => "image/webp",
        Some("woff2") => "font/woff2",
        Some("json") => "application/json",
        Some("webmanifest") => "application/manifest+json",
        Some("txt") => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wasm_and_scripts_have_the_types_that_browsers_insist_on() {
        assert_eq!(content_type("shiftbook_bg.1a2b3c4d.wasm"), "application/wasm");
        assert_eq!(content_type("shiftbook.1a2b3c4d.js"), "text/javascript; charset=utf-8");
        assert_eq!(content_type("LICENSE"), "application/octet-stream");
    }

    #[test]
    fn names_cannot_leave_the_folder_or_reach_a_compressed_form() {
        for name in ["../manifest.json", "..\\x", ".hidden", "app.css.br", "app.css.gz"] {
            assert!(!is_served(name), "{name}");
        }
    }
}
