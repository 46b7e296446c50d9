//! Suggestions for canvases: what waits for a decision, decisions, and undoing one.

use crate::{
    extract::{Caller, Id, JsonBody, Params},
    problem::Problem,
    state::AppState,
    wire_map,
};
use axum::{Json, extract::State};
use domain::{canvas::SuggestionState, id::SessionId, limit::DECISIONS_BATCH_MAX};
use ledger::canvas as use_case;
use serde::Deserialize;
use wire::{
    Code,
    canvas::PatchAnswer,
    canvas_suggestion::{
        CanvasSuggestions, DecideSuggestion, DecideSuggestions, DecidedSuggestion, DecidedSuggestions,
        UndoSuggestionDecision,
    },
};

/// The query of [`suggestions`].
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SuggestionsQuery {
    /// Those that wait (`open`), or that were `accepted` or `declined`; default `open`. At most 200.
    #[param(value_type = Option<wire::schema::CanvasSuggestionState>)]
    state: Option<SuggestionState>,
}

/// List the suggestions for a canvas
///
/// Those that wait until an editor accepts or declines them, or those of another `state`, oldest first. Callers who may
/// decide get the `digest` of each that waits.
#[utoipa::path(
    get, path = "/api/canvases/{id}/suggestions", operation_id = "listCanvasSuggestions", tag = "sessions",
    params(("id" = uuid::Uuid, Path, description = "The canvas"), SuggestionsQuery),
    responses(
        (status = 200, description = "The suggestions", body = CanvasSuggestions),
    ),
)]
pub async fn suggestions(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<SessionId>,
    Params(query): Params<SuggestionsQuery>,
) -> Result<Json<CanvasSuggestions>, Problem> {
    let of = query.state.unwrap_or(SuggestionState::Open);
    let found = use_case::suggestions(&state.ledger, caller.scope(), id, of).await?;
    Ok(Json(CanvasSuggestions { suggestions: found.into_iter().map(wire_map::canvas_suggestion).collect() }))
}

/// Decide about a suggestion for a canvas
///
/// For its creator and participants with the role `edit`. A suggestion that is accepted is decided as a patch of its
/// author; if it is `rejected`, it stays open. With `digest` it is accepted only if it would change what the editor
/// saw. A repeat returns the recorded result. The decision can be undone for an hour.
#[utoipa::path(
    post, path = "/api/canvases/{id}/suggestions", operation_id = "decideCanvasSuggestion", tag = "sessions",
    request_body = DecideSuggestion,
    params(("id" = uuid::Uuid, Path, description = "The canvas")),
    responses(
        (status = 200, description = "Committed, rejected or declined", body = PatchAnswer),
        (
            status = 403, description = "`forbidden`: the caller may not change this canvas",
            body = wire::Problem, content_type = "application/problem+json",
        ),
        (
            status = 409, description = "`wrong_status`: the suggestion has another decision; `stale_decision`: it would \
                change something else than the editor saw; `already_final`: the canvas has ended",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn decide_suggestion(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<SessionId>,
    JsonBody(body): JsonBody<DecideSuggestion>,
) -> Result<Json<PatchAnswer>, Problem> {
    let decision = wire_map::suggestion_decision(body)?;
    let outcome = use_case::decide_suggestion(&state.ledger, caller.scope(), id, decision).await?;
    Ok(Json(wire_map::patch_answer(outcome)))
}

/// Decide about several suggestions for a canvas
///
/// Each decision has its own result. A decision that is refused does not stop the others.
#[utoipa::path(
    post, path = "/api/canvases/{id}/suggestions/decisions", operation_id = "decideCanvasSuggestions", tag = "sessions",
    request_body = DecideSuggestions,
    params(("id" = uuid::Uuid, Path, description = "The canvas")),
    responses(
        (status = 200, description = "What became of each, in order", body = DecidedSuggestions),
        (
            status = 403, description = "`forbidden`: the caller may not change this canvas",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn decide_suggestions(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<SessionId>,
    JsonBody(body): JsonBody<DecideSuggestions>,
) -> Result<Json<DecidedSuggestions>, Problem> {
    let op_ids: Vec<_> = body.decisions.iter().map(|one| one.op_id.clone()).collect();
    let decisions = decisions(body)?;
    let decided = use_case::decide_suggestions(&state.ledger, caller.scope(), id, decisions).await?;
    let results = op_ids.into_iter().zip(decided).map(|(op_id, decided)| decided_one(&state, op_id, decided));
    Ok(Json(DecidedSuggestions { results: results.collect() }))
}

fn decisions(body: DecideSuggestions) -> Result<Vec<use_case::SuggestionDecision>, Problem> {
    if !(1..=DECISIONS_BATCH_MAX).contains(&body.decisions.len()) {
        let message = format!("1 to {DECISIONS_BATCH_MAX}");
        return Err(Problem::field(Code::InvalidRequest, "decisions", message));
    }
    body.decisions.into_iter().map(wire_map::suggestion_decision).collect()
}

fn decided_one(state: &AppState, op_id: String, decided: ledger::Result<use_case::Outcome>) -> DecidedSuggestion {
    let (answer, problem) = match decided {
        Ok(outcome) => (Some(wire_map::patch_answer(outcome)), None),
        Err(error) => (None, Some(Problem::from(error).to_wire(state.ledger.request_id().to_string()))),
    };
    DecidedSuggestion { op_id, answer, problem }
}

/// Undo a decision about a suggestion for a canvas
///
/// Within an hour, for the creator of the canvas and participants with the role `edit`. A suggestion that was declined
/// waits again: `suggested`. One that was accepted is undone by a patch that writes the earlier values: `committed`, or
/// `rejected` if someone has changed one of its values since. It does not wait again.
#[utoipa::path(
    post, path = "/api/canvases/{id}/suggestions/undo", operation_id = "undoCanvasSuggestion", tag = "sessions",
    request_body = UndoSuggestionDecision,
    params(("id" = uuid::Uuid, Path, description = "The canvas")),
    responses(
        (status = 200, description = "Committed, rejected or waiting again", body = PatchAnswer),
        (
            status = 403, description = "`forbidden`: the caller may not change this canvas",
            body = wire::Problem, content_type = "application/problem+json",
        ),
        (
            status = 409, description = "`wrong_status`: there is no decision of the last hour; `already_final`: the \
                canvas has ended",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn undo(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<SessionId>,
    JsonBody(body): JsonBody<UndoSuggestionDecision>,
) -> Result<Json<PatchAnswer>, Problem> {
    let outcome = use_case::undo_decision(&state.ledger, caller.scope(), id, body.op_id).await?;
    Ok(Json(wire_map::patch_answer(outcome)))
}
