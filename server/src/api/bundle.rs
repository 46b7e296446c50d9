//! Bundles: criteria sets, groups, entity types and actions in one file.

use crate::{
    extract::{BundleBody, Caller, Params},
    problem::Problem,
    state::AppState,
};
use axum::{Json, extract::State};
use ledger::bundle::{self as use_case, Mode};
use serde::Deserialize;
use wire::bundle::Installed;

/// The query of [`install`].
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct InstallQuery {
    /// Report what would be done, and change nothing.
    #[serde(default)]
    #[param(value_type = Option<bool>)]
    dry_run: bool,
}

/// Install a bundle
///
/// Creates the criteria sets, groups, entity types and actions that are missing, and changes those that differ. They
/// are found by their slugs. Others are kept. The bundle is applied as a whole or not at all. Installing it again
/// changes nothing. A bundle has at most 512 KiB and 200 objects.
#[utoipa::path(
    post, path = "/api/bundles", operation_id = "installBundle", tag = "criteria", params(InstallQuery),
    request_body(
        content((wire::schema::BundleFile = "application/yaml"), (wire::schema::Bundle = "application/json")),
        description = "The bundle, as YAML or JSON",
    ),
    responses(
        (status = 200, description = "What it did, or would do", body = Installed),
    ),
)]
pub async fn install(
    State(state): State<AppState>,
    caller: Caller,
    Params(query): Params<InstallQuery>,
    BundleBody(text): BundleBody,
) -> Result<Json<Installed>, Problem> {
    let mode = if query.dry_run { Mode::DryRun } else { Mode::Apply };
    let plan = use_case::install(&state.ledger, caller.scope(), &text, mode).await?;
    Ok(Json(Installed { applied: !query.dry_run, items: plan.items }))
}
