//! Bodies that are text files: CSV, and bundles in YAML or JSON.

use super::surrogate::has_lone_surrogate;
use crate::problem::Problem;
use axum::{
    body::Bytes,
    extract::{FromRequest, Request},
    http::header,
};
use wire::Code;

/// A body of `text/csv`, as text. The import checks its size.
#[derive(Debug, Clone)]
pub struct CsvBody(pub String);

impl<S: Send + Sync> FromRequest<S> for CsvBody {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        text(request, state, &["text/csv"], "save it as \"CSV UTF-8\"").await.map(Self)
    }
}

/// A body of `application/yaml` or `application/json`, as text. The installation of the bundle checks its size.
#[derive(Debug, Clone)]
pub struct BundleBody(pub String);

impl<S: Send + Sync> FromRequest<S> for BundleBody {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        text(request, state, &["application/yaml", "application/json"], "save it as UTF-8").await.map(Self)
    }
}

async fn text<S: Send + Sync>(request: Request, state: &S, kinds: &[&str], advice: &str) -> Result<String, Problem> {
    let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim().to_owned();
    if !kinds.iter().any(|wanted| kind.eq_ignore_ascii_case(wanted)) {
        let wanted: Vec<_> = kinds.iter().map(|kind| format!("`content-type: {kind}`")).collect();
        return Err(Problem::detailed(Code::UnsupportedMediaType, format!("send {}", wanted.join(" or "))));
    }
    let is_json = kind.eq_ignore_ascii_case("application/json");
    let body = Bytes::from_request(request, state).await.map_err(|e| Problem::internal(e.to_string()))?;
    if is_json && has_lone_surrogate(&body) {
        return Err(Problem::field(Code::InvalidRequest, "file", "half of a surrogate pair (\\ud800 to \\udfff)"));
    }
    String::from_utf8(body.into())
        .map_err(|_| Problem::field(Code::InvalidRequest, "file", format!("not UTF-8; {advice}")))
}
