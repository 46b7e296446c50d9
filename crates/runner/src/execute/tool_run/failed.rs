//! Why a call of a tool failed.

use domain::tool::run::MAY_HAVE_RUN;

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
