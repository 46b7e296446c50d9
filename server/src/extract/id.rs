//! The `{id}` of a path.

use crate::problem::Problem;
use axum::{
    extract::{FromRequestParts, RawPathParams},
    http::request::Parts,
};
use std::str::FromStr;
use wire::Code;

/// The id in the path of a request. An id that is not a UUID is refused.
#[derive(Debug, Clone, Copy)]
pub struct Id<T>(pub T);

impl<S, T> FromRequestParts<S> for Id<T>
where
    S: Send + Sync,
    T: FromStr<Err = domain::id::InvalidId>,
{
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let params = RawPathParams::from_request_parts(parts, state).await;
        let params = params.map_err(|_| Problem::field(Code::InvalidId, "id", "the path is not UTF-8"))?;
        let text = params.iter().find_map(|(name, value)| (name == "id").then_some(value)).unwrap_or_default();
        text.parse().map(Self).map_err(|error| Problem::field(Code::InvalidId, "id", error.to_string()))
    }
}
