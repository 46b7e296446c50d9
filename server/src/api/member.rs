//! Members of a workspace.

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
use domain::{id::UserId, member::MemberStatus};
use ledger::member::{self as use_case, Withdrawal};
use wire::{
    Code,
    access::{Member, Members, ResetLink, UpdateMember},
};

/// List the members of the workspace
///
/// Active and deactivated members, sorted by address. Removed members are not listed.
#[utoipa::path(
    get, path = "/api/members", operation_id = "listMembers", tag = "access",
    responses(
        (status = 200, description = "All members", body = Members),
    ),
)]
pub async fn list(State(state): State<AppState>, caller: Caller) -> Result<Json<Members>, Problem> {
    let members = use_case::list_all(&state.ledger, caller.scope()).await?;
    let present = members.into_iter().filter(|member| member.status != MemberStatus::Removed);
    Ok(Json(Members { members: present.map(wire_map::member).collect() }))
}

/// Change a member's role, deactivate or activate them
///
/// For admins. A deactivated member is signed out within a second, their own tokens stop working, and their working
/// session is cancelled. `active` gives them access again.
#[utoipa::path(
    patch, path = "/api/members/{id}", operation_id = "updateMember", tag = "access", request_body = UpdateMember,
    params(("id" = uuid::Uuid, Path, description = "The member's user id")),
    responses(
        (status = 200, description = "As they are now", body = Member),
        (
            status = 409, description = "`last_admin`: the workspace would be without an admin",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn update(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<UserId>,
    JsonBody(body): JsonBody<UpdateMember>,
) -> Result<Json<Member>, Problem> {
    let (ledger, scope) = (&state.ledger, caller.scope());
    if body.status == Some(MemberStatus::Removed) {
        return Err(Problem::field(Code::InvalidRequest, "status", "active or deactivated; DELETE removes a member"));
    }
    if let Some(role) = body.role {
        use_case::set_role(ledger, scope, id, role).await?;
    }
    match body.status {
        Some(MemberStatus::Active) => drop(use_case::activate(ledger, scope, id).await?),
        Some(MemberStatus::Deactivated) => use_case::withdraw(ledger, scope, id, Withdrawal::Deactivate).await?,
        Some(MemberStatus::Removed) | None => {}
    }
    Ok(Json(wire_map::member(use_case::get(ledger, scope, id).await?)))
}

/// Remove a member
///
/// For admins. Within a second the member's sign-ins, own tokens and streams of this workspace end, and their working
/// session is cancelled. The log keeps what they did under their name.
#[utoipa::path(
    delete, path = "/api/members/{id}", operation_id = "removeMember", tag = "access",
    params(("id" = uuid::Uuid, Path, description = "The member's user id")),
    responses(
        (status = 204, description = "Removed"),
        (
            status = 409, description = "`last_admin`: the workspace would be without an admin",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn remove(State(state): State<AppState>, caller: Caller, Id(id): Id<UserId>) -> Result<StatusCode, Problem> {
    use_case::withdraw(&state.ledger, caller.scope(), id, Withdrawal::Remove).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Create a link by which a member chooses a new password
///
/// For admins. It is refused for a person who is also a member of another workspace. The link works once, within 24
/// hours.
#[utoipa::path(
    post, path = "/api/members/{id}/reset-link", operation_id = "makeResetLink", tag = "access",
    params(("id" = uuid::Uuid, Path, description = "The member's user id")),
    responses(
        (status = 201, description = "The link; it is not shown again", body = ResetLink),
    ),
)]
pub async fn reset_link(
    State(state): State<AppState>,
    caller: Caller,
    headers: HeaderMap,
    Id(id): Id<UserId>,
) -> Result<(StatusCode, Json<ResetLink>), Problem> {
    let (link, secret) = use_case::reset_link(&state.ledger, caller.scope(), id).await?;
    let url = access_link_url(&state.origin(&headers), &secret);
    Ok((StatusCode::CREATED, Json(ResetLink { url, expires_at: link.expires_at })))
}
