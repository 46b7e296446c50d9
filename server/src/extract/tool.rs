//! The `{slug}` of a tool or an MCP server in a path, and the `{name}` of its secret or of a saved input.

use crate::problem::Problem;
use axum::{
    extract::{FromRequestParts, RawPathParams},
    http::request::Parts,
};
use domain::{
    slug::is_slug,
    tool::{is_secret_name, is_tool_slug},
};
use wire::Code;

/// The slug of a tool. A text that no tool can have as its slug is not found.
#[derive(Debug, Clone)]
pub struct ToolSlug(pub String);

impl<S: Send + Sync> FromRequestParts<S> for ToolSlug {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        named(parts, state, "slug", is_tool_slug, "tool not found").await.map(Self)
    }
}

/// The slug of an MCP server. A text that is no slug is not found.
#[derive(Debug, Clone)]
pub struct McpServerSlug(pub String);

impl<S: Send + Sync> FromRequestParts<S> for McpServerSlug {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        named(parts, state, "slug", is_slug, "MCP server not found").await.map(Self)
    }
}

/// The name of a tool's secret. A text that no secret can have as its name is not found.
#[derive(Debug, Clone)]
pub struct SecretName(pub String);

impl<S: Send + Sync> FromRequestParts<S> for SecretName {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        named(parts, state, "name", is_secret_name, "secret not found").await.map(Self)
    }
}

/// The name in the path under which a secret is set. The use case says what is wrong with it.
#[derive(Debug, Clone)]
pub struct NewSecretName(pub String);

impl<S: Send + Sync> FromRequestParts<S> for NewSecretName {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        named(parts, state, "name", |_| true, "secret not found").await.map(Self)
    }
}

/// The name of a saved input in a path. The use case says what is wrong with it.
#[derive(Debug, Clone)]
pub struct InputName(pub String);

impl<S: Send + Sync> FromRequestParts<S> for InputName {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        named(parts, state, "name", |_| true, "saved input not found").await.map(Self)
    }
}

/// The part of the path with this name, if it is `valid`.
async fn named<S: Send + Sync>(
    parts: &mut Parts,
    state: &S,
    name: &str,
    valid: fn(&str) -> bool,
    missing: &'static str,
) -> Result<String, Problem> {
    let missing = || Problem::detailed(Code::NotFound, missing);
    let params = RawPathParams::from_request_parts(parts, state).await.map_err(|_| missing())?;
    let found = params.iter().find_map(|(known, value)| (known == name).then_some(value)).unwrap_or_default();
    if valid(found) { Ok(found.to_owned()) } else { Err(missing()) }
}
