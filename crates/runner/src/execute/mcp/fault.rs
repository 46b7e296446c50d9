//! Why an MCP server gave no result.

use super::super::limit;

/// Why an MCP server gave no result. Texts are whole, as the server sent them. They can have secrets that it repeated:
/// only [`Fault::quoted`] is for people.
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
        /// The body.
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

impl Fault {
    /// The beginning of the reason, on one line. `redact` takes secrets out of the whole text: of one that was cut, or
    /// whose lines were joined, it would not find all.
    pub fn quoted(&self, redact: impl FnOnce(&str) -> String) -> String {
        line(&redact(&self.to_string()))
    }
}

/// The beginning of a text of a server, on one line.
fn line(text: &str) -> String {
    let line = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    line.take(limit::TOOL_QUOTE_CHARS_MAX).collect::<String>().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::tool::{Secret, http::Secrets};

    #[test]
    fn a_reason_has_no_part_of_a_secret_where_it_is_cut_or_its_lines_are_joined() {
        let (key, line) = ("-----BEGIN KEY-----\nhunter2\n-----END KEY-----", "a-token-of-one-line");
        let named = |text: &str| (text.to_owned(), Secret::new(text.to_owned()));
        let secrets = Secrets::new([named(key), named(line)]);
        for before in [0, limit::TOOL_QUOTE_CHARS_MAX - 20] {
            let text = format!("{}{line} {key}", "x".repeat(before));
            let status = Fault::Status { status: 500, text: text.clone() };
            for fault in [Fault::Denied(text), status] {
                let shown = fault.quoted(|text| secrets.redact(text));
                assert!(!shown.contains("a-t") && !shown.contains("hunter2"), "{shown}");
                assert!(!shown.contains('\n') && shown.chars().count() <= limit::TOOL_QUOTE_CHARS_MAX);
            }
        }
    }
}
