//! The last step of a response: problems get their body, and what broke is logged, once.

use super::{Nonce, Seen};
use crate::{problem::Problem, state::AppState, web};
use axum::{
    body::Body,
    extract::Request,
    http::{HeaderValue, header},
    response::Response,
};
use wire::Code;

/// Who reads an error answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reader {
    /// A program: problem+json.
    Program,
    /// A person in a browser: a page.
    Person,
}

/// Whether a path can answer with a page. Everything under /api answers programs, except its manual.
pub fn may_be_page(path: &str) -> bool {
    !(path == "/api" || path.starts_with("/api/") && path != "/api/docs")
}

impl Reader {
    /// A browser says that it wants a page.
    pub fn of(request: &Request) -> Self {
        let accept = request.headers().get(header::ACCEPT).map(HeaderValue::as_bytes).unwrap_or_default();
        let html = accept.windows(9).any(|part| part == b"text/html");
        if html && may_be_page(request.uri().path()) { Self::Person } else { Self::Program }
    }
}

/// Renders the problem that a response carries, where it carries one.
pub fn finish(response: &mut Response, seen: &Seen, state: &AppState, nonce: Option<&Nonce>) -> Option<Code> {
    let problem = response.extensions_mut().remove::<Problem>()?;
    let code = problem.code();
    match (code, problem.internal_text()) {
        (Code::Internal, Some(internal)) => {
            tracing::error!(request_id = %seen.id.0, route = &*seen.route, "request failed: {internal}");
        }
        (_, Some(internal)) => {
            tracing::warn!(request_id = %seen.id.0, route = &*seen.route, "request refused: {internal}");
        }
        (_, None) => {}
    }
    let problem = problem.to_wire(seen.id.0.to_string());
    let (kind, body) = match seen.reader {
        Reader::Program => ("application/problem+json", serde_json::to_vec(&problem).unwrap_or_default()),
        Reader::Person => {
            ("text/html; charset=utf-8", web::problem_page(state, &seen.headers, nonce, &problem).into_bytes())
        }
    };
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response.headers_mut().remove(header::CONTENT_LENGTH);
    *response.body_mut() = Body::from(body);
    Some(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reader(path: &str, accept: &str) -> Reader {
        Reader::of(&Request::builder().uri(path).header("accept", accept).body(Body::empty()).unwrap())
    }

    #[test]
    fn programs_get_json_and_people_get_pages() {
        let browser = "text/html,application/xhtml+xml,*/*;q=0.8";
        assert_eq!(reader("/sessions/x", browser), Reader::Person);
        assert_eq!(reader("/api/docs", browser), Reader::Person);
        assert_eq!(reader("/api/sessions", browser), Reader::Program);
        assert_eq!(reader("/api", browser), Reader::Program);
        assert_eq!(reader("/apiary", browser), Reader::Person);
        assert_eq!(reader("/sessions", "*/*"), Reader::Program);
    }
}
