//! Authenticates callers by an API token or a browser's sign-in.

use crate::{problem::Problem, request_span::record_caller, state::AppState};
use axum::{
    extract::FromRequestParts,
    http::{HeaderMap, header, request::Parts},
};
use ledger::{Scope, auth, auth::Identity};
use wire::Code;

/// Longest credential that is looked up, in bytes.
const CREDENTIAL_BYTES_MAX: usize = 512;

/// The authenticated caller of a request. Handlers that take one cannot be called without credentials.
#[derive(Debug, Clone)]
pub struct Caller(pub Identity);

impl Caller {
    /// Returns the scope, which use cases require.
    pub fn scope(&self) -> &Scope {
        &self.0.scope
    }

    /// Returns whether the credentials of a long stream still identify the same caller. If the
    /// database fails, the answer is `true`, so that a short failure does not end every stream.
    pub async fn still_valid(&self, state: &AppState, headers: &HeaderMap) -> bool {
        match identify(state, headers).await {
            Ok(now) => now.is_some_and(|now| now.scope == self.0.scope),
            Err(_) => true,
        }
    }
}

impl FromRequestParts<AppState> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Problem> {
        match identify(state, &parts.headers).await? {
            Some(identity) => Ok(Self(identity)),
            None => Err(unauthenticated()),
        }
    }
}

/// The problem of a request without credentials, or with invalid ones.
pub fn unauthenticated() -> Problem {
    Problem::detailed(Code::Unauthenticated, "sign in, or send `Authorization: Bearer sbk_…`")
}

/// Returns the caller that the headers identify. `None` if they have no credentials, or invalid ones. An
/// Authorization header takes precedence over the cookie, so that a wrong token is never treated as a person.
pub async fn identify(state: &AppState, headers: &HeaderMap) -> Result<Option<Identity>, Problem> {
    let identity = match headers.get(header::AUTHORIZATION) {
        Some(value) => match value.to_str().ok().and_then(bearer) {
            Some(token) => auth::by_token(&state.ledger, token).await?,
            None => None,
        },
        None => match state.cookies.session(headers) {
            Some(secret) => auth::by_cookie(&state.ledger, secret).await?,
            None => None,
        },
    };
    if let Some(identity) = &identity {
        record_caller(&identity.scope);
    }
    Ok(identity)
}

fn bearer(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    let token = token.trim();
    let good = scheme.eq_ignore_ascii_case("bearer") && !token.is_empty() && token.len() <= CREDENTIAL_BYTES_MAX;
    good.then_some(token)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bearer_tokens_are_recognised() {
        assert_eq!(bearer("Bearer sbk_x"), Some("sbk_x"));
        assert_eq!(bearer("bearer  sbk_x "), Some("sbk_x"));
        for bad in ["sbk_x", "Basic abc", "Bearer", "Bearer ", "Bearersbk_x", &format!("Bearer {}", "x".repeat(600))] {
            assert_eq!(bearer(bad), None, "{bad}");
        }
    }
}
