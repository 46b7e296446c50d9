//! /entity-types/{id}/import and /imports/{id}: uploads a file, previews its import, and shows the progress.

use super::{
    form::{Form, upload},
    shell::{PageRejection, Viewer, refuse, render},
};
use crate::{extract::Id, problem::Problem, state::AppState, wire_map};
use app::{
    FormState,
    entity::{self as ui, ImportProps, ProgressProps},
};
use axum::{
    Router,
    extract::{Multipart, State, multipart::MultipartRejection},
    http::StatusCode,
    response::{Html, IntoResponse, Redirect, Response},
    routing::get,
};
use domain::{
    id::{EntityTypeId, ImportId},
    limit::IMPORT_COLUMNS_MAX,
};
use ledger::{
    entity::import::{self, NewImport},
    entity_type,
};
use std::collections::BTreeMap;

/// Most parts of an upload: two for each column, the file, its text and the step.
const PARTS_MAX: usize = 2 * IMPORT_COLUMNS_MAX + 8;

pub fn router() -> Router<AppState> {
    Router::new()
        .route("/entity-types/{id}/import", get(choose).post(step))
        .route("/imports/{id}", get(show))
        .route("/imports/{id}/progress", get(progress))
}

async fn choose(
    State(state): State<AppState>,
    viewer: Viewer,
    Id(id): Id<EntityTypeId>,
) -> Result<Response, PageRejection> {
    let of = wire_map::entity_type(entity_type::get(&state.ledger, &viewer.scope, id).await?);
    let props = ImportProps { of, source: String::new(), preview: None, form: FormState::default() };
    Ok(render(StatusCode::OK, move || ui::import_page(&viewer.shell, props)).await)
}

async fn step(
    State(state): State<AppState>,
    viewer: Viewer,
    Id(id): Id<EntityTypeId>,
    parts: Result<Multipart, MultipartRejection>,
) -> Result<Response, PageRejection> {
    let (ledger, scope) = (&state.ledger, &viewer.scope);
    let of = entity_type::get(ledger, scope, id).await?;
    let (form, read) = match upload(parts, PARTS_MAX, "save it as \"CSV UTF-8\"").await {
        Ok(form) => (form, Ok(())),
        Err(problem) => (Form::of(BTreeMap::new()), Err(problem)),
    };
    // Text areas send line ends as CR and LF; the file has LF only.
    let source = form.text("source");
    let new = |mapping| NewImport { source: source.clone(), mapping };
    let mapping = mapping(&form);
    let outcome = match read {
        Err(problem) => Err(problem),
        Ok(()) if form.text("step") == "import" => match import::begin(ledger, scope, id, new(mapping.clone())).await {
            Ok(begun) => {
                runner::import::start(ledger, &begun);
                return Ok(Redirect::to(&format!("/imports/{}", begun.id)).into_response());
            }
            Err(error) => Err(Problem::from(error)),
        },
        Ok(()) => import::preview(ledger, scope, id, new(mapping.clone())).await.map_err(Problem::from),
    };
    let (problem, preview, state_of_form) = match outcome {
        Ok(preview) => (None, Some(preview), FormState::default()),
        Err(problem) => {
            let mut refused = form.refused("", &problem);
            refused.values.remove("source");
            // A mapping that does not fit is corrected on the preview. Other errors are about the file.
            let guessed =
                if mapping.is_some() { import::preview(ledger, scope, id, new(None)).await.ok() } else { None };
            (Some(problem), guessed, refused)
        }
    };
    let preview = preview.map(wire_map::import_preview);
    let props = ImportProps { of: wire_map::entity_type(of), source, preview, form: state_of_form };
    let page = move || ui::import_page(&viewer.shell, props);
    Ok(match problem {
        Some(problem) => refuse(&problem, page).await,
        None => render(StatusCode::OK, page).await,
    })
}

/// The field that each column fills, as in the form. `None` in the first step, when columns are matched by name.
fn mapping(form: &Form) -> Option<BTreeMap<String, Option<String>>> {
    form.has("map.0").then(|| {
        (0..IMPORT_COLUMNS_MAX)
            .filter_map(|at| Some((form.text(&format!("column.{at}")), form.optional(&format!("map.{at}"))?)))
            .map(|(column, field)| (column, Some(field)))
            .collect()
    })
}

async fn show(State(state): State<AppState>, viewer: Viewer, Id(id): Id<ImportId>) -> Result<Response, PageRejection> {
    let found = import::get(&state.ledger, &viewer.scope, id).await?;
    let of = wire_map::entity_type(entity_type::get(&state.ledger, &viewer.scope, found.type_id).await?);
    let props = ProgressProps { import: wire_map::import(found), of };
    Ok(render(StatusCode::OK, move || ui::progress_page(&viewer.shell, props)).await)
}

async fn progress(
    State(state): State<AppState>,
    viewer: Viewer,
    Id(id): Id<ImportId>,
) -> Result<Html<String>, PageRejection> {
    let found = import::get(&state.ledger, &viewer.scope, id).await?;
    Ok(Html(ui::progress_fragment(&wire_map::import(found))))
}
