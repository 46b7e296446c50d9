//! Hooks of coding agents such as Claude Code: each call is recorded in the log of a session.

use crate::{
    extract::{Caller, HookBody, Params},
    problem::Problem,
    state::AppState,
    wire_map,
};
use axum::{
    Json,
    extract::{FromRequestParts, RawPathParams, State},
    http::request::Parts,
};
use domain::{Timestamp, hook::Source};
use ledger::hook as use_case;
use serde::Deserialize;
use uuid::Uuid;
use wire::{Code, hook::HookAnswer};

/// The values of `{source}`, for people.
const NAMES: &str = "hooks come from `claude-code`, `codex`, `gemini`, `opencode`, `pi` or `openclaw`";

/// The `{source}` of the path: which coding agent calls.
#[derive(Debug, Clone, Copy)]
pub struct SourceName(Source);

impl<S: Send + Sync> FromRequestParts<S> for SourceName {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let params = RawPathParams::from_request_parts(parts, state).await.ok();
        let name = params.as_ref().and_then(|params| params.iter().find(|(name, _)| *name == "source"));
        let known = name.and_then(|(_, value)| Source::parse(value));
        known.map(Self).ok_or_else(|| Problem::detailed(Code::NotFound, NAMES))
    }
}

/// The query of [`record`].
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct RecordQuery {
    /// UUID that the sender creates for each call. A call that is sent again with the same id is recorded once.
    id: Option<Uuid>,
    /// Time at which the agent called the hook; default now.
    #[param(value_type = Option<String>, format = DateTime)]
    at: Option<Timestamp>,
}

/// Record a coding agent's hook
///
/// The body is the hook's JSON as the agent sends it; unknown fields are kept. Each session of the agent is one session
/// of the log, with the status of the agent: `running`, `waiting_human` while it asks its person, `idle` between turns,
/// `completed` at its end. The agent reads the answer: `{}`, or context for its next turn after `SessionStart`,
/// `UserPromptSubmit` and `BeforeAgent`.
#[utoipa::path(
    post, path = "/api/hooks/{source}", operation_id = "recordHook", tag = "hooks", request_body = wire::schema::Hook,
    params(("source" = wire::schema::HookSource, Path, description = "Which coding agent calls"), RecordQuery),
    responses(
        (status = 200, description = "What the agent gets", body = HookAnswer),
        (
            status = 409, description = "`id_conflict`: another session was made with this agent's key",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn record(
    State(state): State<AppState>,
    caller: Caller,
    SourceName(source): SourceName,
    Params(query): Params<RecordQuery>,
    HookBody(body): HookBody,
) -> Result<Json<HookAnswer>, Problem> {
    let hook = use_case::Hook { source, body: body.get().to_owned(), id: query.id, at: query.at };
    let answer = use_case::record(&state.ledger, caller.scope(), hook).await?;
    Ok(Json(wire_map::hook_answer(answer)))
}
