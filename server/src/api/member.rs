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
use ledger::member::{self as use_case, MemberChange, Withdrawal};
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
    let updated = use_case::update(&state.ledger, caller.scope(), id, change(&body)?).await?;
    Ok(Json(wire_map::member(updated)))
}

/// The change that a request asks for. Another request removes a member.
fn change(body: &UpdateMember) -> Result<MemberChange, Problem> {
    let is_active = match body.status {
        None => None,
        Some(MemberStatus::Active) => Some(true),
        Some(MemberStatus::Deactivated) => Some(false),
        Some(MemberStatus::Removed) => {
            let wanted = "active or deactivated; DELETE removes a member";
            return Err(Problem::field(Code::InvalidRequest, "status", wanted));
        }
    };
    Ok(MemberChange { role: body.role, is_active })
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

#[cfg(test)]
mod tests {
    use super::*;
    use domain::role::Role;

    #[test]
    fn a_status_is_access_and_does_not_remove_a_member() {
        let asked = |role, status| change(&UpdateMember { role, status });
        let ended = asked(None, Some(MemberStatus::Deactivated)).unwrap();
        assert_eq!(ended, MemberChange { role: None, is_active: Some(false) });
        let back = asked(Some(Role::Reviewer), Some(MemberStatus::Active)).unwrap();
        assert_eq!(back, MemberChange { role: Some(Role::Reviewer), is_active: Some(true) });
        assert_eq!(asked(None, None).unwrap(), MemberChange::default());
        assert_eq!(asked(Some(Role::Admin), Some(MemberStatus::Removed)).unwrap_err().code(), Code::InvalidRequest);
    }
}
