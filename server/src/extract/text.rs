//! Bodies that are files: CSV, bundles in YAML or JSON, and character cards.

use crate::problem::Problem;
use axum::{
    body::Bytes,
    extract::{FromRequest, Request},
    http::header,
};
use domain::decoding::has_lone_surrogate;
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

/// A body of `image/png` or `application/json`, as bytes, and whether it is an image.
#[derive(Debug, Clone)]
pub struct CardBody {
    /// Whether the content type is `image/png`.
    pub is_png: bool,
    /// The bytes as they were sent.
    pub bytes: Bytes,
}

impl<S: Send + Sync> FromRequest<S> for CardBody {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let kind = kind_of(&request, &["image/png", "application/json"])?;
        let bytes = Bytes::from_request(request, state).await.map_err(|e| Problem::internal(e.to_string()))?;
        Ok(Self { is_png: kind.eq_ignore_ascii_case("image/png"), bytes })
    }
}

/// The content type of the request, if it is one of these.
fn kind_of(request: &Request, kinds: &[&str]) -> Result<String, Problem> {
    let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim().to_owned();
    if kinds.iter().any(|wanted| kind.eq_ignore_ascii_case(wanted)) {
        return Ok(kind);
    }
    let wanted: Vec<_> = kinds.iter().map(|kind| format!("`content-type: {kind}`")).collect();
    Err(Problem::detailed(Code::UnsupportedMediaType, format!("send {}", wanted.join(" or "))))
}

async fn text<S: Send + Sync>(request: Request, state: &S, kinds: &[&str], advice: &str) -> Result<String, Problem> {
    let kind = kind_of(&request, kinds)?;
    let is_json = kind.eq_ignore_ascii_case("application/json");
    let body = Bytes::from_request(request, state).await.map_err(|e| Problem::internal(e.to_string()))?;
    if is_json && has_lone_surrogate(&body) {
        return Err(Problem::field(Code::InvalidRequest, "file", "half of a surrogate pair (\\ud800 to \\udfff)"));
    }
    String::from_utf8(body.into())
        .map_err(|_| Problem::field(Code::InvalidRequest, "file", format!("not UTF-8; {advice}")))
}
