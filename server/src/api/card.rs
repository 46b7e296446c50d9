//! Character cards of agents.

use crate::{
    extract::{AgentSlug, Caller, CardBody, Params},
    problem::Problem,
    state::AppState,
    wire_map,
};
use axum::{
    Json,
    extract::State,
    http::header,
    response::{IntoResponse, Response},
};
use domain::memory::CardFormat;
use ledger::memory as use_case;
use serde::Deserialize;
use wire::{
    Code,
    memory::{CharacterCard, UploadedCard},
};

/// The query of [`upload`].
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UploadQuery {
    /// Write over documents that were changed since the last card.
    #[serde(default)]
    #[param(value_type = Option<bool>)]
    overwrite: bool,
}

/// Give an agent a character card
///
/// A card of version 2 or 3, as PNG or JSON, of at most 8 MiB. Its bytes are kept as they are; its fields become
/// documents below `self/`. The same card again changes nothing.
#[utoipa::path(
    put, path = "/api/agents/{slug}/card", operation_id = "putCard", tag = "memory",
    request_body(
        content((wire::schema::CardImage = "image/png"), (wire::schema::CardJson = "application/json")),
        description = "The card, as PNG or JSON",
    ),
    params(("slug" = wire::schema::Slug, Path, description = "The agent"), UploadQuery),
    responses(
        (status = 200, description = "The card in use", body = UploadedCard),
        (
            status = 409, description = "`stale_version`: `errors` has the documents that were changed since the last card",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn upload(
    State(state): State<AppState>,
    caller: Caller,
    AgentSlug(agent): AgentSlug,
    Params(query): Params<UploadQuery>,
    CardBody { is_png, bytes }: CardBody,
) -> Result<Json<UploadedCard>, Problem> {
    let format = if is_png { CardFormat::Png } else { CardFormat::Json };
    let (ledger, scope, bytes) = (&state.ledger, caller.scope(), bytes.into());
    let uploaded = if query.overwrite {
        use_case::overwrite_card(ledger, scope, &agent, format, bytes).await?
    } else {
        use_case::upload_card(ledger, scope, &agent, format, bytes).await?
    };
    Ok(Json(wire_map::uploaded_card(uploaded)))
}

/// Read what card an agent has
#[utoipa::path(
    get, path = "/api/agents/{slug}/card", operation_id = "getCard", tag = "memory",
    params(("slug" = wire::schema::Slug, Path, description = "The agent")),
    responses(
        (status = 200, description = "The card in use", body = CharacterCard),
    ),
)]
pub async fn get(
    State(state): State<AppState>,
    caller: Caller,
    AgentSlug(agent): AgentSlug,
) -> Result<Json<CharacterCard>, Problem> {
    let card = use_case::card(&state.ledger, caller.scope(), &agent).await?;
    let card = card.ok_or_else(|| Problem::detailed(Code::NotFound, "character card not found"))?;
    Ok(Json(wire_map::character_card(card)))
}

/// Download the card of an agent
///
/// The bytes as they were uploaded.
#[utoipa::path(
    get, path = "/api/agents/{slug}/card/original", operation_id = "downloadCard", tag = "memory",
    params(("slug" = wire::schema::Slug, Path, description = "The agent")),
    responses(
        (status = 200, description = "The file", content(
            (wire::schema::CardImage = "image/png"),
            (wire::schema::CardJson = "application/json"),
        )),
    ),
)]
pub async fn original(
    State(state): State<AppState>,
    caller: Caller,
    AgentSlug(agent): AgentSlug,
) -> Result<Response, Problem> {
    let (card, bytes) = use_case::original_card(&state.ledger, caller.scope(), &agent).await?;
    // The media type is one of two that the server chose itself. The file is for saving, never for showing here.
    let headers = [
        (header::CONTENT_TYPE, card.format.as_str().to_owned()),
        (header::CONTENT_DISPOSITION, format!("attachment; filename=\"{agent}-card\"")),
    ];
    Ok((headers, bytes).into_response())
}
