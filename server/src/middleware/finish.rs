//! The last step of a response: renders problems and logs failures once.

use super::RequestInfo;
use crate::{
    host::is_probe,
    nonce::Nonce,
    problem::{Problem, RenderedProblem},
    state::AppState,
    web,
};
use axum::{
    body::Body,
    extract::Request,
    http::{HeaderValue, header},
    response::{IntoResponse, Response},
};
use wire::Code;

/// The reader of an error response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Audience {
    /// A program. It gets `application/problem+json`.
    Program,
    /// A person in a browser. They get a page.
    Person,
}

/// Whether a path can answer with a page. All paths under `/api` answer programs, except the API documentation, and so
/// do the paths of load balancers.
pub fn may_be_page(path: &str) -> bool {
    !(path == "/api" || path.starts_with("/api/") && path != "/api/docs" || is_probe(path))
}

impl Audience {
    /// Returns the reader, from the path and the `Accept` header.
    pub fn of(request: &Request) -> Self {
        let accept = request.headers().get(header::ACCEPT).map(HeaderValue::as_bytes).unwrap_or_default();
        let html = accept.windows(9).any(|part| part == b"text/html");
        if html && may_be_page(request.uri().path()) { Self::Person } else { Self::Program }
    }
}

/// Renders the problem of a response, if it has one. Every response with a status from 500 on is logged.
pub async fn finish(
    response: &mut Response,
    seen: &RequestInfo,
    state: &AppState,
    nonce: Option<&Nonce>,
) -> Option<Code> {
    if let Some(RenderedProblem(problem)) = response.extensions_mut().remove() {
        log(&problem);
        return Some(problem.code());
    }
    let problem = problem_of(response)?;
    let code = problem.code();
    log(&problem);
    let problem = problem.to_wire(seen.id.to_string());
    let (kind, body) = match seen.reader {
        Audience::Program => ("application/problem+json", serde_json::to_vec(&problem).unwrap_or_default()),
        Audience::Person => {
            ("text/html; charset=utf-8", web::problem_page(state, &seen.headers, nonce, &problem).await.into_bytes())
        }
    };
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response.headers_mut().remove(header::CONTENT_LENGTH);
    *response.body_mut() = Body::from(body);
    Some(code)
}

/// Returns the problem of a response. A failure that a library answered, such as an invalid header, becomes one too;
/// its text is only logged.
fn problem_of(response: &mut Response) -> Option<Problem> {
    let failed = response.status();
    if failed.is_server_error() && response.extensions().get::<Problem>().is_none() {
        *response = Problem::internal(format!("answered {failed} without a problem")).into_response();
    }
    response.extensions_mut().remove()
}

/// Logs internal failures, and refusals with internal text. The span of the request adds its id and route.
fn log(problem: &Problem) {
    match (problem.code(), problem.internal_text()) {
        (Code::Internal, internal) => {
            tracing::error!("request failed: {}", internal.unwrap_or("no reason given"));
        }
        (_, Some(internal)) => tracing::warn!("request refused: {internal}"),
        // A status from 500 on without an internal text is logged with its public text.
        (code, None) if code.http_status() >= 500 => {
            let problem = problem.to_wire(String::new());
            tracing::warn!("request refused: {}", problem.detail.unwrap_or(problem.title));
        }
        (_, None) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reader(path: &str, accept: &str) -> Audience {
        Audience::of(&Request::builder().uri(path).header("accept", accept).body(Body::empty()).unwrap())
    }

    #[test]
    fn a_failure_without_a_problem_gets_one_for_the_log() {
        let mut bare = axum::response::Redirect::to("/\0").into_response();
        assert_eq!(bare.status(), 500);
        let problem = problem_of(&mut bare).unwrap();
        assert_eq!(problem.code(), Code::Internal);
        assert!(problem.internal_text().is_some_and(|text| text.contains("500")));
        assert!(problem_of(&mut axum::http::StatusCode::NOT_MODIFIED.into_response()).is_none());
        let mut known = Problem::unavailable("stopping").into_response();
        assert_eq!(problem_of(&mut known).unwrap().code(), Code::Unavailable);
    }

    #[test]
    fn programs_get_json_and_people_get_pages() {
        let browser = "text/html,application/xhtml+xml,*/*;q=0.8";
        assert_eq!(reader("/sessions/x", browser), Audience::Person);
        assert_eq!(reader("/api/docs", browser), Audience::Person);
        assert_eq!(reader("/api/sessions", browser), Audience::Program);
        assert_eq!(reader("/api", browser), Audience::Program);
        assert_eq!(reader("/apiary", browser), Audience::Person);
        assert_eq!(reader("/healthz", browser), Audience::Program);
        assert_eq!(reader("/sessions", "*/*"), Audience::Program);
    }
}
