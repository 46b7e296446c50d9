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
    /// What the reader of the reason can do.
    pub const fn advice(&self) -> &'static str {
        match self {
            Self::Refused(_) => {
                "Check the address or the program. The operator of this server allows private addresses and programs in \
                 the settings."
            }
            Self::Unreachable(_) => "Check the address, and that the MCP server runs.",
            Self::TooLarge(_) => "Whoever runs the MCP server can make its answers smaller.",
            Self::Status { status: 300..=399, .. } => {
                "Redirects are not followed: enter the address to which this one leads."
            }
            Self::Status { status: 401 | 403, .. } => "Check the secret headers.",
            Self::Status { status: 404 | 405, .. } | Self::Invalid(_) => {
                "Check that the address is that of an MCP server with streamable HTTP, such as https://example.org/mcp."
            }
            Self::Status { status: 429 | 500.., .. } | Self::Broken(_) | Self::Time => {
                "Try again later. If it fails again, look at the log of the MCP server."
            }
            Self::Status { .. } => "Check the address and the headers.",
            Self::Denied(_) => "Look at the log of the MCP server.",
        }
    }

    /// What happened, for people who have no use for the words of a network library.
    const fn cause(&self) -> Option<&'static str> {
        match self {
            Self::Unreachable(_) => Some("it cannot be reached"),
            Self::Broken(_) => Some("the connection broke before the whole answer had arrived"),
            _ => None,
        }
    }

    /// The cause, the beginning of the reason on one line, and what the reader can do. `redact` is that of
    /// [`Self::quoted`].
    pub fn explained(&self, redact: impl FnOnce(&str) -> String) -> String {
        let (quoted, advice) = (self.quoted(redact), self.advice());
        let quoted = quoted.trim_end_matches('.');
        match self.cause() {
            Some(cause) => format!("{cause} ({quoted}). {advice}"),
            None => format!("{quoted}. {advice}"),
        }
    }

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
    fn an_explanation_has_the_cause_and_what_to_do() {
        let of = |fault: Fault| fault.explained(str::to_owned);
        let refused = Fault::Unreachable("no answer: tcp connect error".to_owned());
        assert_eq!(
            of(refused),
            "it cannot be reached (no answer: tcp connect error). Check the address, and that the MCP server runs."
        );
        for (status, advice) in [
            (302, "Redirects are not followed"),
            (401, "Check the secret headers."),
            (404, "such as https://example.org/mcp."),
            (429, "Try again later."),
            (503, "Try again later."),
            (418, "Check the address and the headers."),
        ] {
            let found = of(Fault::Status { status, text: "no.".to_owned() });
            assert!(
                found.starts_with(&format!("the server answered {status} no. ")) && found.contains(advice),
                "{found}"
            );
        }
    }

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
