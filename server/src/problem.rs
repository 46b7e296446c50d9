//! Errors on their way out: one table from use-case errors to codes, one place that renders them.
//!
//! A [`Problem`] becomes a response without a body; the shield renders it as the last step, when the
//! request id is known and it is clear whether a program or a person reads the answer.

use crate::wire_map;
use axum::{
    body::Body,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use domain::{event::WriteRefusal, session::Refusal};
use serde_json::value::RawValue;
use wire::{Code, FieldProblem};

/// How soon to try again when the server cannot say better, seconds.
const RETRY_AFTER_SECONDS: u64 = 1;

/// What an error answer says, and what only the log may hear.
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
    /// A problem that its title says whole.
    pub const fn new(code: Code) -> Self {
        Self { code, detail: None, errors: Vec::new(), retry_after_seconds: None, internal: None, recorded: None }
    }

    /// With a text about this occurrence.
    pub fn detailed(code: Code, detail: impl Into<String>) -> Self {
        Self { detail: Some(detail.into()), ..Self::new(code) }
    }

    /// One wrong field of the request.
    pub fn field(code: Code, field: impl Into<String>, message: impl Into<String>) -> Self {
        let error = FieldProblem { field: field.into(), message: message.into() };
        Self { detail: Some(format!("{}: {}", error.field, error.message)), errors: vec![error], ..Self::new(code) }
    }

    /// Something broke here; `internal` goes to the log alone.
    pub fn internal(internal: impl Into<String>) -> Self {
        Self { internal: Some(internal.into()), ..Self::new(Code::Internal) }
    }

    /// Over capacity or stopping; `internal` goes to the log alone.
    pub fn unavailable(internal: impl Into<String>) -> Self {
        Self {
            retry_after_seconds: Some(RETRY_AFTER_SECONDS),
            internal: Some(internal.into()),
            ..Self::new(Code::Unavailable)
        }
    }

    /// The machine-readable code.
    pub const fn code(&self) -> Code {
        self.code
    }

    /// What the log hears beyond the code.
    pub(crate) fn internal_text(&self) -> Option<&str> {
        self.internal.as_deref()
    }

    /// The answer's body.
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

/// A problem that the response shows already, as a page with a form does.
#[derive(Debug, Clone)]
pub(crate) struct Shown(pub(crate) Problem);

impl Problem {
    /// The status that it travels with.
    pub fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.code.http_status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    /// Marks a response that shows this problem itself: it gets the problem's headers, and the log hears of it.
    pub fn mark(&self, response: &mut Response) {
        self.set_retry_after(response);
        response.extensions_mut().insert(Shown(self.clone()));
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
            // What is left of the body is not read; the connection cannot carry another request.
            headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        response.extensions_mut().insert(self);
        response
    }
}

impl From<ledger::Error> for Problem {
    fn from(error: ledger::Error) -> Self {
        use ledger::Error as E;
        let text = error.to_string();
        match error {
            E::NotFound(_) => Self::detailed(Code::NotFound, text),
            E::Forbidden(_) => Self::detailed(Code::Forbidden, text),
            E::Invalid(fields) => {
                let errors: Vec<_> =
                    fields.into_iter().map(|e| FieldProblem { field: e.field, message: e.message }).collect();
                let detail = errors.first().map(|e| format!("{}: {}", e.field, e.message));
                Self { detail, errors, ..Self::new(Code::InvalidRequest) }
            }
            E::OutputInvalid { errors, .. } => {
                let errors = errors.into_iter().map(|e| FieldProblem { field: e.field, message: e.message }).collect();
                Self { detail: Some(text), errors, ..Self::new(Code::OutputInvalid) }
            }
            E::InvalidCursor => Self::field(Code::InvalidCursor, "cursor", text),
            E::Refused(refusal) => Self::detailed(refusal_code(refusal), text),
            E::WriteRefused { index, refusal } => {
                let code = match refusal {
                    WriteRefusal::KindNotAllowed | WriteRefusal::NotOwner => Code::Forbidden,
                    WriteRefusal::WrongStatus(_) => Code::WrongStatus,
                };
                Self::field(code, format!("events[{index}].type"), text)
            }
            E::IdConflict { .. } => Self::detailed(Code::IdConflict, text),
            E::StaleVersion { .. } => Self::detailed(Code::StaleVersion, text),
            E::AlreadyDecided(decision) => {
                let recorded = serde_json::to_string(&wire_map::decision(*decision)).ok();
                Self { recorded, ..Self::detailed(Code::AlreadyDecided, text) }
            }
            E::StaleDecision { .. } => Self::detailed(Code::StaleDecision, text),
            E::GateClosed { .. } => Self::detailed(Code::GateClosed, text),
            E::HardBlock(error) => Self {
                detail: Some(text),
                errors: vec![FieldProblem { field: error.field, message: error.message }],
                ..Self::new(Code::HardBlock)
            },
            E::NameTaken(_) => Self::detailed(Code::NameTaken, text),
            E::LimitReached(_) => Self::detailed(Code::LimitReached, text),
            E::TooLarge(_) => Self::detailed(Code::TooLarge, text),
            E::BadCredentials => Self::new(Code::BadCredentials),
            E::TooManyAttempts { retry_after_seconds } | E::Busy { retry_after_seconds } => {
                Self { retry_after_seconds: Some(retry_after_seconds), ..Self::detailed(Code::TooManyRequests, text) }
            }
            E::LastAdmin => Self::detailed(Code::LastAdmin, text),
            E::SetupDone => Self::new(Code::SetupDone),
            E::Unavailable(internal) => Self::unavailable(internal),
            E::Internal(internal) | E::Unusable(internal) => Self::internal(internal),
        }
    }
}

const fn refusal_code(refusal: Refusal) -> Code {
    match refusal {
        Refusal::AlreadyFinal { .. } => Code::AlreadyFinal,
        Refusal::StaleAttempt { .. } => Code::StaleAttempt,
        Refusal::WrongStatus { .. } => Code::WrongStatus,
        Refusal::WrongActor => Code::Forbidden,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::session::Status;

    #[test]
    fn what_is_internal_never_reaches_the_answer() {
        for error in [ledger::Error::Internal("secret".into()), ledger::Error::Unavailable("secret".into())] {
            let problem = Problem::from(error);
            let body = serde_json::to_string(&problem.to_wire("id".into())).unwrap();
            assert!(!body.contains("secret"), "{body}");
            assert_eq!(problem.internal_text(), Some("secret"));
        }
    }

    #[test]
    fn a_stale_attempt_names_the_current_one() {
        let problem = Problem::from(ledger::Error::Refused(Refusal::StaleAttempt { given: 1, current: 2 }));
        assert_eq!(problem.code(), Code::StaleAttempt);
        assert!(problem.to_wire(String::new()).detail.unwrap().contains("attempt 2"));
    }

    #[test]
    fn a_refused_event_is_named_by_its_place_in_the_request() {
        let refusal = WriteRefusal::WrongStatus(Status::Completed);
        let problem = Problem::from(ledger::Error::WriteRefused { index: 3, refusal });
        assert_eq!(problem.to_wire(String::new()).errors[0].field, "events[3].type");
    }
}
