//! CSV bodies.

use crate::problem::Problem;
use axum::{
    body::Bytes,
    extract::{FromRequest, Request},
    http::header,
};
use wire::Code;

/// A body of `text/csv`, as text. Its size is a rule of imports, checked where they are made.
#[derive(Debug, Clone)]
pub struct CsvBody(pub String);

impl<S: Send + Sync> FromRequest<S> for CsvBody {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let kind = kind.split(';').next().unwrap_or_default().trim();
        if !kind.eq_ignore_ascii_case("text/csv") {
            return Err(Problem::detailed(Code::UnsupportedMediaType, "send `content-type: text/csv`"));
        }
        let body = Bytes::from_request(request, state).await.map_err(|e| Problem::internal(e.to_string()))?;
        match String::from_utf8(body.into()) {
            Ok(text) => Ok(Self(text)),
            Err(_) => Err(Problem::field(Code::InvalidRequest, "file", "not UTF-8; save it as \"CSV UTF-8\"")),
        }
    }
}
