//! Invitations to a workspace.

use crate::{
    extract::{Caller, Id, JsonBody},
    problem::Problem,
    state::{AppState, access_link_url},
    wire_map,
};
use axum::{
    Json,
    extract::State,
    http::{HeaderMap, StatusCode},
};
use domain::id::LinkId;
use ledger::member as use_case;
use wire::access::{CreateInvitation, CreatedInvitation, Invitations};

/// Invite a person
///
/// For admins. The link works for this address only, once, within 7 days, and is not shown again. An earlier invitation
/// of the same address stops working.
#[utoipa::path(
    post, path = "/api/invitations", operation_id = "createInvitation", tag = "access",
    request_body = CreateInvitation,
    responses(
        (status = 201, description = "Made", body = CreatedInvitation),
    ),
)]
pub async fn create(
    State(state): State<AppState>,
    caller: Caller,
    headers: HeaderMap,
    JsonBody(body): JsonBody<CreateInvitation>,
) -> Result<(StatusCode, Json<CreatedInvitation>), Problem> {
    let (link, secret) = use_case::invite(&state.ledger, caller.scope(), &body.email, body.role).await?;
    let url = access_link_url(&state.origin(&headers), &secret);
    let invitation = wire_map::invitation(link).ok_or_else(|| Problem::internal("an invitation is none"))?;
    Ok((StatusCode::CREATED, Json(CreatedInvitation { invitation, url })))
}

/// List invitations that have not been accepted
#[utoipa::path(
    get, path = "/api/invitations", operation_id = "listInvitations", tag = "access",
    responses(
        (status = 200, description = "All that work, newest first", body = Invitations),
    ),
)]
pub async fn list(State(state): State<AppState>, caller: Caller) -> Result<Json<Invitations>, Problem> {
    let links = use_case::list_invitations(&state.ledger, caller.scope()).await?;
    Ok(Json(Invitations { invitations: links.into_iter().filter_map(wire_map::invitation).collect() }))
}

/// Withdraw an invitation
#[utoipa::path(
    delete, path = "/api/invitations/{id}", operation_id = "withdrawInvitation", tag = "access",
    params(("id" = uuid::Uuid, Path, description = "The invitation")),
    responses(
        (status = 204, description = "Its link does not work any more"),
    ),
)]
pub async fn withdraw(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<LinkId>,
) -> Result<StatusCode, Problem> {
    use_case::withdraw_invitation(&state.ledger, caller.scope(), id).await?;
    Ok(StatusCode::NO_CONTENT)
}
