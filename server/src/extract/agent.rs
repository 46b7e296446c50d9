//! The `{slug}` of an agent in a path.

use crate::problem::Problem;
use axum::{
    extract::{FromRequestParts, RawPathParams},
    http::request::Parts,
};
use domain::slug::is_slug;
use wire::Code;

/// The slug of an agent. Agents are not rows: any slug names one. A text that is no slug is not found.
#[derive(Debug, Clone)]
pub struct AgentSlug(pub String);

impl<S: Send + Sync> FromRequestParts<S> for AgentSlug {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let missing = || Problem::detailed(Code::NotFound, "agent not found");
        let params = RawPathParams::from_request_parts(parts, state).await.map_err(|_| missing())?;
        let slug = params.iter().find_map(|(name, value)| (name == "slug").then_some(value)).unwrap_or_default();
        if is_slug(slug) { Ok(Self(slug.to_owned())) } else { Err(missing()) }
    }
}
