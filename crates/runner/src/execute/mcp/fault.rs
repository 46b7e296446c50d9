//! Why an MCP server gave no result.

use super::super::limit;

/// Why an MCP server gave no result. A text can have secrets that the server repeated, until they are taken out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The address or the program is not allowed, or a header cannot be sent.
    #[error("{0}")]
    Refused(String),
    /// There is no connection, or the session could not begin: nothing was asked.
    #[error("{0}")]
    Unreachable(String),
    /// The answer is larger than allowed.
    #[error("{0}")]
    TooLarge(String),
    /// The server answered with another status than 2xx.
    #[error("the server answered {status} {text}")]
    Status {
        /// HTTP status code.
        status: u16,
        /// The beginning of the body.
        text: String,
    },
    /// The server refused the request with an error of the protocol.
    #[error("the server refused the request: {0}")]
    Denied(String),
    /// The answer is none of the protocol.
    #[error("{0}")]
    Invalid(String),
    /// The connection broke.
    #[error("{0}")]
    Broken(String),
    /// There was no complete answer in time.
    #[error("no complete answer in time")]
    Time,
}

impl From<outbound::Error> for Fault {
    fn from(error: outbound::Error) -> Self {
        use outbound::Error;
        let text = error.to_string();
        match error {
            Error::Address(_) | Error::NotAllowed(_) | Error::Inside { .. } | Error::Request(_) => Self::Refused(text),
            Error::Lookup { .. } | Error::Unreachable(_) => Self::Unreachable(text),
            Error::Timeout => Self::Time,
            Error::TooLarge(_) => Self::TooLarge(text),
            Error::Exchange(_) => Self::Broken(text),
        }
    }
}

/// The beginning of a text of a server, on one line.
pub(super) fn quoted(text: &str) -> String {
    let line = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    line.take(limit::TOOL_QUOTE_CHARS_MAX).collect::<String>().trim().to_owned()
}
