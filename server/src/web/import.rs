//! /entity-types/{id}/import and /imports/{id}: uploads a file, previews its import, and shows the progress.

use super::{
    form::{Form, Upload},
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
    EntityTypeRecord, Ledger, Scope,
    entity::import::{self, NewImport, Preview},
    entity_type,
    page::import as page,
};
use std::collections::BTreeMap;

/// Most parts of an upload: two for each column, the file, its text, the key and the step.
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
    let of = entity_type::get(&state.ledger, &viewer.scope, id).await?;
    let upload = Upload::of(parts, PARTS_MAX, "save it as \"CSV UTF-8\"").await;
    match take(&state.ledger, &viewer.scope, id, &upload).await {
        Ok(Step::Begun(begun)) => Ok(Redirect::to(&format!("/imports/{begun}")).into_response()),
        Ok(Step::Preview(preview)) => {
            let props = props_of(of, &upload.form, Some(preview));
            Ok(render(StatusCode::OK, move || ui::import_page(&viewer.shell, props)).await)
        }
        Err(problem) => Ok(refused(&state, viewer, of, &upload.form, &problem).await),
    }
}

fn props_of(of: EntityTypeRecord, form: &Form, preview: Option<Preview>) -> ImportProps {
    ImportProps {
        of: wire_map::entity_type(of),
        source: form.text("source"),
        preview: preview.map(wire_map::import_preview),
        form: FormState::default(),
    }
}

/// Shows the page with the reason why a step was refused, and with the preview on which a mapping is corrected.
async fn refused(state: &AppState, viewer: Viewer, of: EntityTypeRecord, form: &Form, problem: &Problem) -> Response {
    let preview = corrected(&state.ledger, &viewer.scope, of.id, form).await;
    let mut refused = form.refused("", problem);
    refused.values.remove("source");
    let props = ImportProps { form: refused, ..props_of(of, form, preview) };
    refuse(problem, move || ui::import_page(&viewer.shell, props)).await
}

/// What a step of an import leads to.
enum Step {
    Begun(ImportId),
    Preview(Preview),
}

/// Begins the import or previews it, as the button says. An upload that cannot be read is refused.
async fn take(ledger: &Ledger, scope: &Scope, id: EntityTypeId, upload: &Upload) -> Result<Step, Problem> {
    let form = upload.read()?;
    // Text areas send line ends as CR and LF; the file has LF only.
    let new = NewImport { source: form.text("source"), mapping: mapping(form) };
    if form.text("step") != "import" {
        return Ok(Step::Preview(import::preview(ledger, scope, id, new).await?));
    }
    Ok(Step::Begun(begin(ledger, scope, id, new, form.optional("key")).await?))
}

/// Begins the import, once if the form is sent twice with its key.
async fn begin(
    ledger: &Ledger,
    scope: &Scope,
    id: EntityTypeId,
    new: NewImport,
    key: Option<String>,
) -> ledger::Result<ImportId> {
    let begun = match key {
        Some(key) => import::begin_once(ledger, scope, id, new, &key).await?,
        None => import::begin(ledger, scope, id, new).await?,
    };
    runner::import::start(ledger, &begun);
    Ok(begun.id)
}

/// The preview on which a mapping that does not fit is corrected. `None` if the form has no mapping: the error is about
/// the file then.
async fn corrected(ledger: &Ledger, scope: &Scope, id: EntityTypeId, form: &Form) -> Option<Preview> {
    mapping(form)?;
    let guessed = NewImport { source: form.text("source"), mapping: None };
    import::preview(ledger, scope, id, guessed).await.ok()
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
    let page = page::read(&state.ledger, &viewer.scope, id).await?;
    let props = ProgressProps { import: wire_map::import(page.import), of: wire_map::entity_type(page.of) };
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
