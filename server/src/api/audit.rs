//! The audit list of the workspace.

use crate::{
    extract::{Caller, Limit, Params},
    problem::Problem,
    state::AppState,
    wire_map,
};
use axum::{Json, extract::State};
use domain::{Timestamp, audit::Kind};
use ledger::{ListPage, audit as use_case};
use serde::Deserialize;
use wire::{Page, audit::AuditEntry};

/// The query of [`list`].
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ListQuery {
    /// Acts of this kind.
    #[param(value_type = Option<wire::schema::AuditKind>)]
    kind: Option<Kind>,
    /// Acts of this caller: `user:…`, `token:…` or `system`, the operator of the server.
    #[param(value_type = Option<wire::schema::AuditActor>)]
    actor: Option<String>,
    /// Acts after this time.
    #[param(value_type = Option<String>, format = DateTime)]
    after: Option<Timestamp>,
    /// Acts before this time.
    #[param(value_type = Option<String>, format = DateTime)]
    before: Option<Timestamp>,
    /// 1 to 1,000; default 100.
    #[serde(default)]
    #[param(value_type = Option<u32>, minimum = 1, maximum = 1000)]
    limit: Limit,
    /// `nextCursor` of the page before.
    #[param(value_type = Option<wire::schema::Cursor>)]
    cursor: Option<String>,
}

/// Read the audit list
///
/// For admins: who signed in and out, who invited, changed, removed, created, revoked, exported and erased what. Newest
/// first. Entries are never changed or removed; each has a digest over itself and the entry before it.
#[utoipa::path(
    get, path = "/api/audit", operation_id = "listAuditEntries", tag = "access",
    params(ListQuery),
    responses(
        (status = 200, description = "A page", body = Page<AuditEntry>),
        (
            status = 403, description = "`forbidden`: the caller is no admin",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn list(
    State(state): State<AppState>,
    caller: Caller,
    Params(query): Params<ListQuery>,
) -> Result<Json<Page<AuditEntry>>, Problem> {
    let ListQuery { kind, actor, after, before, limit, cursor } = query;
    let page = ListPage { limit: limit.0, cursor };
    let wanted = use_case::ListEntries { kind, actor, after, before, page };
    let listed = use_case::list(&state.ledger, caller.scope(), wanted).await?;
    Ok(Json(wire_map::page(listed, wire_map::audit_entry)))
}
