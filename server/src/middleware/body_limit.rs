//! How large the body of a request may be, by its path.

use crate::web::posted::{KEPT_BYTES_MAX, is_kept};
use axum::http::{Method, Uri};
use domain::limit::{
    BATCH_BYTES_MAX, BATCH_EVENTS_MAX, FORM_BYTES_MAX, MEMORY_CARD_BYTES_MAX, MEMORY_DOCUMENT_BYTES_MAX,
};

/// Estimated bytes of an event in an append beside its content: field names, ids and punctuation.
const ENVELOPE_BYTES_PER_EVENT: usize = 1024;
/// Largest request body, in bytes. Stricter limits on content are checked by the use cases.
pub const BODY_BYTES_MAX: usize = BATCH_BYTES_MAX + BATCH_EVENTS_MAX * ENVELOPE_BYTES_PER_EVENT;
/// Time for a whole body to arrive, in seconds.
const BODY_SECONDS_MAX: u64 = 10;
/// Largest body of a request with a character card, in bytes: the card, and what a form has around it.
pub const CARD_BODY_BYTES_MAX: usize = MEMORY_CARD_BYTES_MAX + 16 * 1024;
/// Time for the body of such a request to arrive, in seconds.
const CARD_BODY_SECONDS_MAX: u64 = 30;
/// Largest body of a sender who is not authenticated, in bytes: a form.
const ANONYMOUS_BODY_BYTES_MAX: usize = FORM_BYTES_MAX;
/// Largest body of a form that is kept when a sign-in has expired, in bytes. Each byte of its text is sent as three.
const KEPT_BODY_BYTES_MAX: usize = 3 * KEPT_BYTES_MAX + 16 * 1024;

/// The limits on the body of one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BodyLimit {
    /// Largest body, in bytes.
    pub bytes: usize,
    /// Largest body of a sender who is not authenticated, in bytes. As large as `bytes` where everyone may send; 0 for
    /// the API, which refuses them all.
    pub anonymous_bytes: usize,
    /// Time for the body to arrive, in seconds.
    pub seconds: u64,
    /// Whether the request carries a character card. Few of these are read at a time.
    pub is_card: bool,
    /// What the request carries and its limit in bytes, for the message of a body that is too large: the limit of all
    /// bodies says nothing to whoever wrote a text.
    pub carried: Option<(&'static str, usize)>,
}

impl BodyLimit {
    /// Returns the limits of a request.
    pub fn of(method: &Method, uri: &Uri) -> Self {
        let parts: Vec<&str> = uri.path().split('/').skip(1).collect();
        let common = Self {
            bytes: BODY_BYTES_MAX,
            anonymous_bytes: match parts[..] {
                ["api", ..] => 0,
                _ if is_kept(uri.path()) => KEPT_BODY_BYTES_MAX,
                _ => ANONYMOUS_BODY_BYTES_MAX,
            },
            seconds: BODY_SECONDS_MAX,
            is_card: false,
            carried: None,
        };
        let everybody = |bytes| Self { bytes, anonymous_bytes: bytes, ..common };
        let document = Some(("a memory document", MEMORY_DOCUMENT_BYTES_MAX));
        match parts[..] {
            ["api", "agents", _, "card"] if method == Method::PUT => Self::card(common),
            ["agents", _, "card"] if method == Method::POST => Self::card(common),
            ["api", "agents", _, "memory", "document" | "tool"] | ["agents", _, "memory"] => {
                Self { carried: document, ..common }
            }
            // The page of a sign-in that has expired carries the form that is kept.
            ["sign-in"] => everybody(KEPT_BODY_BYTES_MAX),
            ["setup" | "sign-out" | "workspace" | "link"]
            | ["f" | "forms" | "embed" | "questions" | "r" | "tool-links", ..]
            | ["views", _, "answer", ..] => everybody(FORM_BYTES_MAX),
            _ => common,
        }
    }

    const fn card(common: Self) -> Self {
        Self {
            bytes: CARD_BODY_BYTES_MAX,
            seconds: CARD_BODY_SECONDS_MAX,
            is_card: true,
            carried: Some(("a character card", MEMORY_CARD_BYTES_MAX)),
            ..common
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(method: &str, path: &str) -> BodyLimit {
        BodyLimit::of(&method.parse().unwrap(), &path.parse().unwrap())
    }

    #[test]
    fn only_requests_with_a_card_may_be_larger_than_others() {
        for (method, path) in [("PUT", "/api/agents/scout/card"), ("POST", "/agents/scout/card")] {
            let card = limit(method, path);
            assert!(card.is_card && card.bytes == CARD_BODY_BYTES_MAX, "{method} {path}");
            assert!(card.anonymous_bytes <= ANONYMOUS_BODY_BYTES_MAX, "{method} {path}");
        }
        for (method, path) in [
            ("POST", "/api/agents/scout/card"),
            ("PUT", "/agents/scout/card"),
            ("PUT", "/api/agents/scout/card/original"),
            ("PUT", "/api/agents/scout/memory/document"),
            ("POST", "//agents/scout/card"),
        ] {
            let other = limit(method, path);
            assert!(!other.is_card && other.bytes == BODY_BYTES_MAX, "{method} {path}");
        }
    }

    #[test]
    fn a_sender_without_credentials_may_send_a_form_and_no_more() {
        for (path, bytes) in [
            ("/api/actions", 0),
            ("/api/agents/a/memory/tool", 0),
            ("/api", 0),
            ("/apiary", FORM_BYTES_MAX),
            ("/criteria-sets", FORM_BYTES_MAX),
            ("/", FORM_BYTES_MAX),
        ] {
            assert_eq!(limit("POST", path).anonymous_bytes, bytes, "{path}");
        }
        for path in [
            "/setup",
            "/link",
            "/forms/x",
            "/forms/x/draft",
            "/embed/x",
            "/questions/x",
            "/views/x/answer",
            "/tool-links/x",
        ] {
            let open = limit("POST", path);
            assert_eq!((open.bytes, open.anonymous_bytes), (FORM_BYTES_MAX, FORM_BYTES_MAX), "{path}");
        }
        assert_eq!(limit("POST", "/agents/scout/memory").anonymous_bytes, KEPT_BODY_BYTES_MAX);
        assert_eq!(limit("POST", "/sign-in").bytes, KEPT_BODY_BYTES_MAX);
    }
}
