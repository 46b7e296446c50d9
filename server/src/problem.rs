//! Error answers, and the one place that renders them. Errors of use cases become problems in `wire_map::error`.
//!
//! A [`Problem`] becomes a response without a body; the middleware renders it as the last step, when the
//! request id is known and it is clear whether a program or a person reads the answer.

use axum::{
    body::Body,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde_json::value::RawValue;
use wire::{Code, FieldProblem};

/// Seconds after which the caller should try again if the server knows no better value.
const RETRY_AFTER_SECONDS: u64 = 1;

/// An error response: what the caller receives, and internal text that only the log receives.
#[derive(Debug, Clone)]
pub struct Problem {
    code: Code,
    detail: Option<String>,
    errors: Vec<FieldProblem>,
    retry_after_seconds: Option<u64>,
    internal: Option<String>,
    recorded: Option<String>,
}

impl Problem {
    /// Creates a problem that has only the title of its code.
    pub const fn new(code: Code) -> Self {
        Self { code, detail: None, errors: Vec::new(), retry_after_seconds: None, internal: None, recorded: None }
    }

    /// Creates a problem with a text about this occurrence.
    pub fn detailed(code: Code, detail: impl Into<String>) -> Self {
        Self { detail: Some(detail.into()), ..Self::new(code) }
    }

    /// Creates a problem about one field of the request.
    pub fn field(code: Code, field: impl Into<String>, message: impl Into<String>) -> Self {
        let error = FieldProblem { field: field.into(), message: message.into() };
        Self { detail: Some(format!("{}: {}", error.field, error.message)), errors: vec![error], ..Self::new(code) }
    }

    /// Creates a problem about several fields of the request.
    pub(crate) fn fields(code: Code, detail: Option<String>, errors: Vec<FieldProblem>) -> Self {
        Self { detail, errors, ..Self::new(code) }
    }

    /// Adds the recorded state that conflicts with the request, as JSON.
    pub(crate) fn with_recorded(self, recorded: Option<String>) -> Self {
        Self { recorded, ..self }
    }

    /// Adds the seconds after which the caller may try again.
    pub(crate) fn with_retry_after(self, seconds: u64) -> Self {
        Self { retry_after_seconds: Some(seconds), ..self }
    }

    /// The same problem at the controls of a form. `place` returns the name of a field's control, and a text about the
    /// place inside of it, which begins the message.
    pub(crate) fn with_places(mut self, place: impl Fn(&str) -> (String, String)) -> Self {
        for error in &mut self.errors {
            let (control, inside) = place(&error.field);
            error.message.insert_str(0, &inside);
            error.field = control;
        }
        self
    }

    /// Creates a problem for a path that no route has.
    pub(crate) fn nothing_at(path: &str) -> Self {
        Self::detailed(Code::NotFound, format!("there is nothing at {path}"))
    }

    /// Creates a problem for an internal failure. `internal` is only logged.
    pub fn internal(internal: impl Into<String>) -> Self {
        Self { internal: Some(internal.into()), ..Self::new(Code::Internal) }
    }

    /// Creates a problem for a server that is over capacity or stopping. `internal` is only logged.
    pub fn unavailable(internal: impl Into<String>) -> Self {
        Self {
            retry_after_seconds: Some(RETRY_AFTER_SECONDS),
            internal: Some(internal.into()),
            ..Self::new(Code::Unavailable)
        }
    }

    /// Machine-readable code of the problem.
    pub const fn code(&self) -> Code {
        self.code
    }

    /// Returns the internal text for the log.
    pub(crate) fn internal_text(&self) -> Option<&str> {
        self.internal.as_deref()
    }

    /// What is wrong: a line for each field. Without fields it is the detail, or else the title.
    pub fn lines(&self) -> Vec<String> {
        if self.errors.is_empty() {
            return vec![self.detail.clone().unwrap_or_else(|| self.code.title().to_owned())];
        }
        self.errors.iter().map(|error| format!("{}: {}", error.field, error.message)).collect()
    }

    /// Returns the body of the response.
    pub fn to_wire(&self, request_id: String) -> wire::Problem {
        wire::Problem {
            code: self.code,
            title: self.code.title().to_owned(),
            status: self.code.http_status(),
            detail: self.detail.clone(),
            request_id,
            errors: self.errors.clone(),
            recorded: self.recorded.clone().and_then(|json| RawValue::from_string(json).ok()),
        }
    }
}

/// Marks a response that already shows the problem, such as a page with a form.
#[derive(Debug, Clone)]
pub(crate) struct RenderedProblem(pub(crate) Problem);

impl Problem {
    /// Returns the HTTP status of the problem.
    pub fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.code.http_status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    /// Marks a response that shows this problem itself. Sets the problem's headers and lets the
    /// middleware log it.
    pub fn mark(&self, response: &mut Response) {
        self.set_retry_after(response);
        response.extensions_mut().insert(RenderedProblem(self.clone()));
    }

    fn set_retry_after(&self, response: &mut Response) {
        if let Some(seconds) = self.retry_after_seconds {
            response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = self.status();
        self.set_retry_after(&mut response);
        let headers = response.headers_mut();
        if self.code == Code::Unauthenticated {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"shiftbook\""));
        }
        if matches!(self.code, Code::TooLarge | Code::RequestTimeout) {
            // The rest of the body is not read, so the connection cannot be used for another request.
            headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        response.extensions_mut().insert(self);
        response
    }
}
