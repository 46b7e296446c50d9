//! Why a server function refused the request.

use http::StatusCode;
use leptos::server_fn::{
    codec::JsonEncoding,
    error::{FromServerFnError, ServerFnErrorErr},
};
use serde::{Deserialize, Serialize};

/// Status of a refusal that no server has sent.
const NO_STATUS: u16 = 0;

/// One argument that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldRefusal {
    /// Name of the argument, or its path.
    pub field: String,
    /// What is wrong and what would be right.
    pub message: String,
}

/// Why a server function was refused. It has the members of the API's problem documents (`docs/errors.md`), so the
/// browser reads a problem that the server rendered as this type.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Refusal {
    /// The problem code. Empty if the server could not be reached.
    pub code: String,
    /// The HTTP status. 0 if the server could not be reached or did not answer as this product does.
    pub status: u16,
    /// What is wrong, the same for every occurrence of the code.
    pub title: String,
    /// What is wrong this time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The arguments that are wrong.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<FieldRefusal>,
}

impl Refusal {
    /// A failure that is not the caller's.
    pub fn internal(detail: &str) -> Self {
        Self {
            code: "internal".to_owned(),
            status: 500,
            title: "Something went wrong on our side".to_owned(),
            detail: Some(detail.to_owned()),
            errors: Vec::new(),
        }
    }

    /// The text for the person.
    pub fn message(&self) -> String {
        self.detail.as_ref().unwrap_or(&self.title).clone()
    }

    pub(super) fn unreachable() -> Self {
        Self { status: NO_STATUS, title: "The server cannot be reached.".to_owned(), ..Self::default() }
    }

    /// An answer that is not one of this product, for example of a proxy.
    pub(super) fn unreadable() -> Self {
        Self { title: "The answer cannot be read. Reload the page.".to_owned(), ..Self::default() }
    }

    fn arguments(detail: String) -> Self {
        Self {
            code: "invalid_request".to_owned(),
            status: 422,
            title: "The request is not valid".to_owned(),
            detail: Some(detail),
            errors: Vec::new(),
        }
    }
}

impl FromServerFnError for Refusal {
    type Encoder = JsonEncoding;

    fn from_server_fn_error(error: ServerFnErrorErr) -> Self {
        match error {
            ServerFnErrorErr::Request(_) => Self::unreachable(),
            ServerFnErrorErr::Args(detail) | ServerFnErrorErr::MissingArg(detail) => Self::arguments(detail),
            // On the server the body of the request, in the browser the answer.
            ServerFnErrorErr::Deserialization(detail) if cfg!(feature = "ssr") => Self::arguments(detail),
            ServerFnErrorErr::Deserialization(_) => Self::unreadable(),
            _ => Self::internal("the server function could not be called"),
        }
    }

    fn status_code(&self) -> StatusCode {
        StatusCode::from_u16(self.status).unwrap_or_default()
    }
}
