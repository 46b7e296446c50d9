//! Canvases: documents that people and agents edit together.

use crate::{
    extract::{Caller, Id, JsonBody, JsonBodyOrDefault, PageQuery, Params, Sequence, checked_limit},
    problem::Problem,
    state::AppState,
    wire_map,
};
use axum::{Json, extract::State, http::StatusCode};
use domain::{id::SessionId, limit::CANVAS_WAIT_SECONDS_MAX};
use ledger::canvas as use_case;
use serde::Deserialize;
use std::time::Duration;
use wire::{
    Code, Page,
    canvas::{
        Canvas, CanvasParticipants, CanvasPatches, CanvasPresences, CanvasState, CanvasSummary, CanvasTemplates,
        CompleteCanvas, CreateCanvas, MarkPresence, PatchAnswer, PutParticipant, PutTemplate, SendPatch,
    },
};

/// The query of [`state`].
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StateQuery {
    /// Version of the document; default: the newest.
    #[param(value_type = Option<wire::schema::Sequence>)]
    version: Option<Sequence>,
}

/// The query of [`patches`].
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PatchesQuery {
    /// Only patches after this version; default: all.
    #[param(value_type = Option<wire::schema::Sequence>)]
    after: Option<Sequence>,
    /// 1 to 500; default 500.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 500)]
    limit: Option<u32>,
    /// Seconds to wait for a patch if there is none yet, 0 to 60; default 0.
    #[param(minimum = 0, maximum = 60)]
    wait_seconds: Option<u32>,
}

/// Reads `waitSeconds`.
fn wait(seconds: Option<u32>) -> Result<Duration, Problem> {
    let seconds = seconds.unwrap_or_default();
    if seconds <= CANVAS_WAIT_SECONDS_MAX {
        return Ok(Duration::from_secs(seconds.into()));
    }
    Err(Problem::field(Code::InvalidRequest, "waitSeconds", format!("0 to {CANVAS_WAIT_SECONDS_MAX} s")))
}

/// Create a canvas
///
/// A document that people and agents edit together, and a session of its own of the type `mixed`. It begins empty, with
/// `document`, with the newest document of another canvas, with the fields of an entity as blocks, or with the result
/// of a session. Its creator edits it and adds participants.
#[utoipa::path(
    post, path = "/api/canvases", operation_id = "createCanvas", tag = "sessions",
    request_body = CreateCanvas,
    responses(
        (status = 201, description = "Created, or the one that this idempotency key created before", body = Canvas),
        (
            status = 404, description = "`not_found`: there is no such canvas, entity or session to begin with",
            body = wire::Problem, content_type = "application/problem+json",
        ),
        (
            status = 409, description = "`id_conflict`: the idempotency key was used for a different request",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn create(
    State(state): State<AppState>,
    caller: Caller,
    JsonBody(body): JsonBody<CreateCanvas>,
) -> Result<(StatusCode, Json<Canvas>), Problem> {
    let id = use_case::create(&state.ledger, caller.scope(), wire_map::new_canvas(body)).await?;
    Ok((StatusCode::CREATED, read(&state, &caller, id).await?))
}

/// List canvases
///
/// The newest comes first.
#[utoipa::path(
    get, path = "/api/canvases", operation_id = "listCanvases", tag = "sessions",
    params(PageQuery),
    responses(
        (status = 200, description = "A page", body = Page<CanvasSummary>),
    ),
)]
pub async fn list(
    State(state): State<AppState>,
    caller: Caller,
    Params(query): Params<PageQuery>,
) -> Result<Json<Page<CanvasSummary>>, Problem> {
    let listed = use_case::list(&state.ledger, caller.scope(), query.into()).await?;
    Ok(Json(wire_map::page(listed, wire_map::canvas_summary)))
}

/// List the templates of canvases
///
/// Canvases that an admin marked, by title, at most 50. A new canvas begins with the document of one by `fromCanvas`.
#[utoipa::path(
    get, path = "/api/canvases/templates", operation_id = "listCanvasTemplates", tag = "sessions",
    responses(
        (status = 200, description = "The templates", body = CanvasTemplates),
    ),
)]
pub async fn templates(State(state): State<AppState>, caller: Caller) -> Result<Json<CanvasTemplates>, Problem> {
    let found = use_case::templates(&state.ledger, caller.scope()).await?;
    Ok(Json(CanvasTemplates { templates: found.into_iter().map(wire_map::canvas_summary).collect() }))
}

/// Make a canvas a template, or no template
///
/// For admins. A canvas that has ended can be a template too. A repeat changes nothing.
#[utoipa::path(
    put, path = "/api/canvases/{id}/template", operation_id = "putCanvasTemplate", tag = "sessions",
    request_body = PutTemplate,
    params(("id" = uuid::Uuid, Path, description = "The canvas")),
    responses(
        (status = 200, description = "The canvas", body = Canvas),
        (
            status = 403, description = "`forbidden`: the caller is no admin",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn put_template(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<SessionId>,
    JsonBody(body): JsonBody<PutTemplate>,
) -> Result<Json<Canvas>, Problem> {
    use_case::set_template(&state.ledger, caller.scope(), id, body.is_template).await?;
    read(&state, &caller, id).await
}

/// Read a canvas
///
/// With its newest document. Everyone in the workspace can read it.
#[utoipa::path(
    get, path = "/api/canvases/{id}", operation_id = "getCanvas", tag = "sessions",
    params(("id" = uuid::Uuid, Path, description = "The canvas")),
    responses(
        (status = 200, description = "The canvas", body = Canvas),
    ),
)]
pub async fn get(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<SessionId>,
) -> Result<Json<Canvas>, Problem> {
    read(&state, &caller, id).await
}

/// Read a version of a canvas
///
/// A number between two versions reads the earlier one.
#[utoipa::path(
    get, path = "/api/canvases/{id}/state", operation_id = "getCanvasState", tag = "sessions",
    params(("id" = uuid::Uuid, Path, description = "The canvas"), StateQuery),
    responses(
        (status = 200, description = "The document", body = CanvasState),
    ),
)]
pub async fn state(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<SessionId>,
    Params(query): Params<StateQuery>,
) -> Result<Json<CanvasState>, Problem> {
    let version = query.version.map(|version| version.0);
    let at = use_case::state(&state.ledger, caller.scope(), id, version).await?;
    Ok(Json(wire_map::canvas_state(at)))
}

/// Change a canvas
///
/// For its creator and participants with the role `edit` or `suggest`. A patch is compared with those that were
/// accepted after its `base`. The answer is 200 in both cases: `committed` is the patch as it was applied, `rejected`
/// says why it was not and what stays. A patch of a participant with the role `suggest` waits until an editor accepts
/// it: `suggested`. The same patch under the same `opId` is applied once. At most 20 patches in a second of a person,
/// and 5 of a token.
#[utoipa::path(
    post, path = "/api/canvases/{id}/patches", operation_id = "patchCanvas", tag = "sessions",
    request_body = SendPatch,
    params(("id" = uuid::Uuid, Path, description = "The canvas")),
    responses(
        (status = 200, description = "Committed or rejected", body = PatchAnswer),
        (
            status = 403, description = "`forbidden`: the caller may not change this canvas",
            body = wire::Problem, content_type = "application/problem+json",
        ),
        (
            status = 409, description = "`id_conflict`: the id was used for another patch; `already_final`: the canvas \
                has ended",
            body = wire::Problem, content_type = "application/problem+json",
        ),
        (
            status = 429, description = "`too_many_requests`: too many patches in a second, or in a minute that changed \
                nothing",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn patch(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<SessionId>,
    JsonBody(body): JsonBody<SendPatch>,
) -> Result<Json<PatchAnswer>, Problem> {
    let outcome = use_case::patch(&state.ledger, caller.scope(), id, wire_map::sent_patch(body)).await?;
    Ok(Json(wire_map::patch_answer(outcome)))
}

/// List patches of a canvas
///
/// Oldest first. The event stream of the session sends new ones as events of the type `state.patch`. With `waitSeconds`
/// a request for patches that are not there yet waits for one, or for the end of the canvas.
#[utoipa::path(
    get, path = "/api/canvases/{id}/patches", operation_id = "listCanvasPatches", tag = "sessions",
    params(("id" = uuid::Uuid, Path, description = "The canvas"), PatchesQuery),
    responses(
        (status = 200, description = "The patches", body = CanvasPatches),
    ),
)]
pub async fn patches(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<SessionId>,
    Params(query): Params<PatchesQuery>,
) -> Result<Json<CanvasPatches>, Problem> {
    let after = query.after.map_or(0, |after| after.0);
    let (part, wait) = ((after, checked_limit(query.limit)?), wait(query.wait_seconds)?);
    let stop = state.shutdown.begun();
    let found = use_case::wait_for_patches(&state.ledger, caller.scope(), id, part, wait, stop).await?;
    Ok(Json(wire_map::canvas_patches(found)))
}

/// List the participants of a canvas
///
/// The creator edits it too, and is among them only if added.
#[utoipa::path(
    get, path = "/api/canvases/{id}/participants", operation_id = "listCanvasParticipants", tag = "sessions",
    params(("id" = uuid::Uuid, Path, description = "The canvas")),
    responses(
        (status = 200, description = "The participants", body = CanvasParticipants),
    ),
)]
pub async fn participants(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<SessionId>,
) -> Result<Json<CanvasParticipants>, Problem> {
    read_participants(&state, &caller, id).await
}

/// Add, change or remove a participant of a canvas
///
/// Without `role` the participant is removed. For the creator, and for operators and admins.
#[utoipa::path(
    put, path = "/api/canvases/{id}/participants", operation_id = "putCanvasParticipant", tag = "sessions",
    request_body = PutParticipant,
    params(("id" = uuid::Uuid, Path, description = "The canvas")),
    responses(
        (status = 200, description = "The participants afterwards", body = CanvasParticipants),
        (
            status = 403, description = "`forbidden`: the caller may not change who takes part",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn put_participant(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<SessionId>,
    JsonBody(body): JsonBody<PutParticipant>,
) -> Result<Json<CanvasParticipants>, Problem> {
    let (ledger, scope, who) = (&state.ledger, caller.scope(), &body.participant);
    match body.role {
        Some(role) => use_case::put_participant(ledger, scope, id, who, role).await?,
        None => use_case::remove_participant(ledger, scope, id, who).await?,
    }
    read_participants(&state, &caller, id).await
}

/// Say where you are on a canvas
///
/// Sends the block and the selection of the caller to the other participants who follow the session, on all servers, as
/// a `presence` event of the stream. It is not stored, and counts for 30 s: repeat it before. Of several within 100 ms
/// only the first is sent; a canvas has at most 60 in a second, and shows at most 50 participants.
#[utoipa::path(
    post, path = "/api/canvases/{id}/presence", operation_id = "markCanvasPresence", tag = "sessions",
    request_body = Option<MarkPresence>,
    params(("id" = uuid::Uuid, Path, description = "The canvas")),
    responses(
        (status = 200, description = "Who is on the canvas", body = CanvasPresences),
        (
            status = 403, description = "`forbidden`: the caller takes no part in this canvas",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn mark_presence(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<SessionId>,
    JsonBodyOrDefault(body): JsonBodyOrDefault<MarkPresence>,
) -> Result<Json<CanvasPresences>, Problem> {
    let present = use_case::mark_presence(&state.ledger, caller.scope(), id, wire_map::place(body)).await?;
    Ok(Json(wire_map::presences(present)))
}

/// Complete a canvas
///
/// Its newest version is its final one, which the result of the session names. For its creator and participants with
/// the role `edit`. A canvas that has ended stays as it is. With `actionId`, the fields that were changed are written
/// to the entity with which the canvas began: they are the output of that task, in a session of its own (`writeBackId`)
/// whose parent is the canvas. Its safety rules judge them, and where it requires approval, they wait in the inbox. A
/// repeat changes nothing. What was denied can be written again.
#[utoipa::path(
    post, path = "/api/canvases/{id}/complete", operation_id = "completeCanvas", tag = "sessions",
    request_body = Option<CompleteCanvas>,
    params(("id" = uuid::Uuid, Path, description = "The canvas")),
    responses(
        (status = 200, description = "The canvas", body = Canvas),
        (
            status = 403, description = "`forbidden`: the caller may not change this canvas",
            body = wire::Problem, content_type = "application/problem+json",
        ),
        (
            status = 422, description = "`hard_block`: a safety rule blocks the fields",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn complete(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<SessionId>,
    JsonBodyOrDefault(body): JsonBodyOrDefault<CompleteCanvas>,
) -> Result<Json<Canvas>, Problem> {
    use_case::complete(&state.ledger, caller.scope(), id, body.action_id).await?;
    read(&state, &caller, id).await
}

async fn read(state: &AppState, caller: &Caller, id: SessionId) -> Result<Json<Canvas>, Problem> {
    let canvas = use_case::get(&state.ledger, caller.scope(), id).await?;
    Ok(Json(wire_map::canvas(canvas)))
}

async fn read_participants(
    state: &AppState,
    caller: &Caller,
    id: SessionId,
) -> Result<Json<CanvasParticipants>, Problem> {
    let found = use_case::participants(&state.ledger, caller.scope(), id).await?;
    Ok(Json(CanvasParticipants { participants: found.into_iter().map(wire_map::canvas_participant).collect() }))
}
