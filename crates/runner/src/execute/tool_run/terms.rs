//! What holds for every call of a run, and why a call failed.

use domain::tool::{
    http::Secrets,
    run::{MAY_HAVE_RUN, TIME_LIMIT},
};
use std::time::Duration;

/// What holds for every call of a run, and what must not be in texts about it.
pub(super) struct Terms {
    /// Secrets that the call sends.
    pub secrets: Secrets,
    /// Texts and numbers among the private values.
    pub private: Secrets,
    /// Longest time of one call.
    pub time_limit: Duration,
    /// Whether a call with an unknown outcome may be repeated.
    pub is_repeatable: bool,
}

impl Terms {
    /// A text without secrets and private values.
    pub fn redact(&self, text: &str) -> String {
        self.private.redact(&self.secrets.redact(text))
    }

    /// The end of the message about a call that was sent and has no answer.
    pub const fn perhaps(&self) -> &'static str {
        if self.is_repeatable { "" } else { " The tool may have run; it was not repeated." }
    }

    /// The failure of a call that took too long.
    pub fn time_is_over(&self) -> Failed {
        let seconds = self.time_limit.as_secs();
        let text = format!("no complete answer within {seconds} s.{}", self.perhaps());
        Failed { is_retryable: true, ..Failed::final_one(TIME_LIMIT, text) }
    }
}

/// A call that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Failed {
    /// Stable name.
    pub code: String,
    /// What happened, for people, without secrets.
    pub text: String,
    /// HTTP status code of the answer, if there was one.
    pub status: Option<u16>,
    /// Whether another call could succeed.
    pub is_retryable: bool,
}

impl Failed {
    /// A failure that another call would meet too.
    pub fn final_one(code: &str, text: impl Into<String>) -> Self {
        Self { code: code.to_owned(), text: text.into(), status: None, is_retryable: false }
    }

    /// A call whose outcome is unknown.
    pub fn unknown(what: &str) -> Self {
        Self::final_one(MAY_HAVE_RUN, format!("{what}. The tool may have run; it was not repeated."))
    }
}
