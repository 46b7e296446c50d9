//! The caller's identity.

use crate::{extract::Caller, wire_map};
use axum::Json;

/// Read the caller's identity
///
/// The workspace, the role, and the person or token that the credentials belong to.
#[utoipa::path(
    get, path = "/api/me", operation_id = "me", tag = "identity",
    responses(
        (status = 200, description = "The caller", body = wire::me::Me),
    ),
)]
pub async fn me(caller: Caller) -> Json<wire::me::Me> {
    Json(wire_map::me(caller.0))
}
