//! Imports: entities from a CSV file.

use crate::{
    extract::{Caller, CsvBody, Id, Params},
    problem::Problem,
    state::AppState,
    wire_map,
};
use axum::{
    Json,
    extract::State,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use domain::{
    id::{EntityTypeId, ImportId},
    limit::IMPORT_MAPPING_BYTES_MAX,
};
use ledger::entity::import as use_case;
use serde::Deserialize;
use std::collections::BTreeMap;
use wire::{
    Code,
    entity::{Import, ImportPreview},
};

/// The query of [`begin`].
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BeginQuery {
    /// Check every row and create no entity.
    #[serde(default)]
    #[param(value_type = Option<bool>)]
    dry_run: bool,
    /// JSON object from columns to field slugs, `title` or null, e.g. `{"Account":"title"}`. If absent, columns are
    /// matched with fields by their names.
    #[param(value_type = Option<wire::schema::ImportMapping>)]
    mapping: Option<String>,
}

/// Import entities from a CSV file
///
/// The first row names the columns. Cells are separated by commas, semicolons or tabs. A file has at most 1 MiB and
/// 20,000 rows. Entities are created in the background, each once, even if the server restarts. Rows with errors are
/// left out and reported.
#[utoipa::path(
    post, path = "/api/entity-types/{id}/imports", operation_id = "importEntities", tag = "entities",
    request_body(content = wire::schema::CsvFile, content_type = "text/csv", description = "The file, UTF-8"),
    params(("id" = uuid::Uuid, Path, description = "The entity type"), BeginQuery),
    responses(
        (status = 200, description = "With `dryRun=true`: what it would do", body = ImportPreview),
        (status = 201, description = "Begun; read its progress at `/api/imports/{id}`", body = Import),
    ),
)]
pub async fn begin(
    State(state): State<AppState>,
    caller: Caller,
    Id(type_id): Id<EntityTypeId>,
    Params(query): Params<BeginQuery>,
    CsvBody(source): CsvBody,
) -> Result<Response, Problem> {
    let new = use_case::NewImport { source, mapping: mapping(query.mapping.as_deref())? };
    if query.dry_run {
        let preview = use_case::preview(&state.ledger, caller.scope(), type_id, new).await?;
        return Ok(Json(wire_map::import_preview(preview)).into_response());
    }
    let import = use_case::begin(&state.ledger, caller.scope(), type_id, new).await?;
    runner::import::start(&state.ledger, &import);
    Ok((StatusCode::CREATED, Json(wire_map::import(import))).into_response())
}

fn mapping(text: Option<&str>) -> Result<Option<BTreeMap<String, Option<String>>>, Problem> {
    if text.is_some_and(|text| text.len() > IMPORT_MAPPING_BYTES_MAX) {
        return Err(Problem::field(
            Code::InvalidRequest,
            "mapping",
            format!("at most {IMPORT_MAPPING_BYTES_MAX} bytes"),
        ));
    }
    let wrong = |error: serde_json::Error| Problem::field(Code::InvalidRequest, "mapping", error.to_string());
    text.map(|text| serde_json::from_str(text).map_err(wrong)).transpose()
}

/// Read the progress of an import
#[utoipa::path(
    get, path = "/api/imports/{id}", operation_id = "getImport", tag = "entities",
    params(("id" = uuid::Uuid, Path, description = "The import")),
    responses(
        (status = 200, description = "Progress, and what was wrong with rows that were left out", body = Import),
    ),
)]
pub async fn get(State(state): State<AppState>, caller: Caller, Id(id): Id<ImportId>) -> Result<Json<Import>, Problem> {
    Ok(Json(wire_map::import(use_case::get(&state.ledger, caller.scope(), id).await?)))
}
