//! The id of a request: the caller's own, or a new one.

use axum::http::HeaderMap;
use domain::limit::REQUEST_ID_CHARS_MAX;
use ledger::Ledger;
use std::{fmt, sync::Arc};

/// Header of the id, in requests and answers.
pub const REQUEST_ID_HEADER: &str = "x-request-id";

/// Id of a request, shown in problems, logs, spans and `x-request-id`. 1 to [`REQUEST_ID_CHARS_MAX`] characters of
/// `A-Z`, `a-z`, `0-9`, `.`, `_` and `-`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestId(Arc<str>);

impl RequestId {
    /// The id that the caller sent, or a new one if there is none, or several, or one with other characters.
    pub(super) fn of(headers: &HeaderMap, ledger: &Ledger) -> Self {
        let mut sent = headers.get_all(REQUEST_ID_HEADER).iter();
        let only = sent.next().filter(|_| sent.next().is_none());
        let accepted = only.and_then(|id| id.to_str().ok()).and_then(Self::parse);
        accepted.unwrap_or_else(|| Self(ledger.request_id().to_string().into()))
    }

    fn parse(text: &str) -> Option<Self> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
        let is_id = (1..=REQUEST_ID_CHARS_MAX).contains(&text.len()) && text.bytes().all(is_plain);
        is_id.then(|| Self(text.into()))
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_1_to_64_plain_characters() {
        let longest = "a".repeat(REQUEST_ID_CHARS_MAX);
        for good in ["a", "req-7.B_x", &longest] {
            assert_eq!(RequestId::parse(good).as_ref().map(RequestId::as_str), Some(good));
        }
        let longer = "a".repeat(REQUEST_ID_CHARS_MAX + 1);
        for bad in ["", " ", "a b", "a\tb", "a=\"b\"", "ä", "a/b", &longer] {
            assert_eq!(RequestId::parse(bad), None, "{bad}");
        }
    }
}
