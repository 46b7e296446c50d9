//! Errors of calls.

use crate::limit;
use std::{error::Error as _, time::Duration};
use wire::{Code, Problem};

/// Why a call failed.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// The server refused the call.
    #[error("{}", describe(problem))]
    Problem {
        /// HTTP status of the answer.
        status: u16,
        /// The refusal, with its code and text.
        problem: Box<Problem>,
        /// Time to wait before the next attempt, if the server names one.
        retry_after: Option<Duration>,
    },
    /// The connection failed or broke. It is unknown whether the call took effect.
    #[error("the server cannot be reached: {0}")]
    Transport(String),
    /// There was no complete answer within this time. It is unknown whether the call took effect.
    #[error("no answer within {} s", .0.as_secs_f32())]
    Timeout(Duration),
    /// The answer is not one of this API: it comes from another server, a proxy, or a newer version.
    #[error("unexpected answer{}: {detail}", status.map_or(String::new(), |s| format!(" (HTTP {s})")))]
    Protocol {
        /// HTTP status, if there was one.
        status: Option<u16>,
        /// What is wrong with the answer.
        detail: String,
        /// Time to wait before the next attempt, if the answer names one.
        retry_after: Option<Duration>,
    },
    /// The address or the token cannot be used.
    #[error("{0}")]
    Setup(String),
}

impl Error {
    /// Code of the refusal; `None` for other errors.
    pub fn code(&self) -> Option<Code> {
        match self {
            Self::Problem { problem, .. } => Some(problem.code),
            _ => None,
        }
    }

    /// HTTP status of the answer; `None` without an answer.
    pub const fn status(&self) -> Option<u16> {
        match self {
            Self::Problem { status, .. } => Some(*status),
            Self::Protocol { status, .. } => *status,
            Self::Transport(_) | Self::Timeout(_) | Self::Setup(_) => None,
        }
    }

    /// Whether the session has a newer attempt than the caller's.
    pub fn is_stale(&self) -> bool {
        self.code() == Some(Code::StaleAttempt)
    }

    /// Whether the same call can succeed later: the network failed, or the server is busy or away.
    ///
    /// The failed call may have taken effect. Repeat only calls that are safe to repeat: reads, calls of workers,
    /// appends whose events have ids, creations with an idempotency key.
    pub const fn is_retryable(&self) -> bool {
        match self {
            Self::Transport(_) | Self::Timeout(_) => true,
            Self::Setup(_) => false,
            Self::Problem { .. } | Self::Protocol { .. } => matches!(self.status(), Some(408 | 429 | 502..=504)),
        }
    }

    /// Time that the server asks to wait before the next attempt.
    pub const fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Problem { retry_after, .. } | Self::Protocol { retry_after, .. } => *retry_after,
            Self::Transport(_) | Self::Timeout(_) | Self::Setup(_) => None,
        }
    }

    /// A failure of reqwest: a broken connection or a timeout.
    pub(crate) fn of_exchange(error: reqwest::Error, allowed: Duration) -> Self {
        if error.is_timeout() && !error.is_connect() {
            return Self::Timeout(allowed);
        }
        let error = error.without_url();
        let mut text = error.to_string();
        let mut source = error.source();
        while let Some(cause) = source {
            text = format!("{text}: {cause}");
            source = cause.source();
        }
        Self::Transport(text)
    }

    /// An answer with an error status: a problem of this API, or an answer of another program.
    pub(crate) fn of_answer(status: u16, retry_after: Option<Duration>, body: &[u8]) -> Self {
        match serde_json::from_slice::<Problem>(body) {
            Ok(problem) => Self::Problem { status, problem: Box::new(problem), retry_after },
            Err(_) => Self::Protocol { status: Some(status), detail: quote(body), retry_after },
        }
    }

    pub(crate) fn protocol(status: Option<u16>, detail: impl Into<String>) -> Self {
        Self::Protocol { status, detail: detail.into(), retry_after: None }
    }
}

/// The beginning of an answer as one line.
fn quote(body: &[u8]) -> String {
    if body.is_empty() {
        return "empty body".to_owned();
    }
    let head = &body[..body.len().min(limit::QUOTE_CHARS_MAX * 4)];
    String::from_utf8_lossy(head)
        .chars()
        .take(limit::QUOTE_CHARS_MAX)
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect()
}

fn describe(problem: &Problem) -> String {
    let mut text = problem.detail.clone().unwrap_or_else(|| problem.title.clone());
    for error in &problem.errors {
        // The detail often repeats the first error.
        let error = format!("{}: {}", error.field, error.message);
        if !text.contains(&error) {
            text = format!("{text}; {error}");
        }
    }
    format!("{text} ({}, request {})", problem.code.as_str(), problem.request_id)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(code: Code) -> Error {
        let body = format!(
            r#"{{"code":"{}","title":"t","status":{},"detail":"d","requestId":"r","errors":[{{"field":"f","message":"m"}}]}}"#,
            code.as_str(),
            code.http_status()
        );
        Error::of_answer(code.http_status(), None, body.as_bytes())
    }

    #[test]
    fn a_refusal_reads_as_one_sentence() {
        assert_eq!(problem(Code::InvalidRequest).to_string(), "d; f: m (invalid_request, request r)");
    }

    #[test]
    fn only_a_server_that_is_busy_or_away_is_worth_another_try() {
        let retryable: Vec<_> = Code::ALL.iter().filter(|c| problem(**c).is_retryable()).map(|c| c.as_str()).collect();
        assert_eq!(retryable, ["request_timeout", "too_many_requests", "unavailable"]);
        assert!(Error::Transport(String::new()).is_retryable());
        assert!(Error::Timeout(Duration::ZERO).is_retryable());
        assert!(!Error::Setup(String::new()).is_retryable());
    }

    #[test]
    fn a_stale_attempt_is_recognised() {
        assert!(problem(Code::StaleAttempt).is_stale());
        assert!(!problem(Code::AlreadyFinal).is_stale());
    }

    #[test]
    fn a_proxys_error_page_is_quoted_and_keeps_its_status() {
        let error = Error::of_answer(502, None, b"<html>\nBad gateway</html>");
        assert!(error.is_retryable());
        assert_eq!(error.to_string(), "unexpected answer (HTTP 502): <html> Bad gateway</html>");
    }

    #[test]
    fn a_code_of_a_newer_server_is_no_reason_to_fail() {
        let body = br#"{"code":"brand_new","title":"t","status":409,"requestId":"r"}"#;
        assert_eq!(Error::of_answer(409, None, body).status(), Some(409));
    }
}
