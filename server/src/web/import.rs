//! /entity-types/{id}/import and /imports/{id}: uploads a file, previews its import, and shows the progress.

use super::{
    form::{Form, Upload},
    shell::{PageRejection, Viewer, render, render_or_refuse},
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
    Ledger, Scope,
    entity::import::{self, NewImport, Preview},
    entity_type,
    page::import as page,
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
    let Upload { form, read } = Upload::of(parts, PARTS_MAX, "save it as \"CSV UTF-8\"").await;
    let taken = match read {
        Ok(()) => take(ledger, scope, id, &form).await,
        Err(problem) => Err(problem),
    };
    let (problem, preview, typed) = match taken {
        Ok(Step::Begun(begun)) => return Ok(Redirect::to(&format!("/imports/{begun}")).into_response()),
        Ok(Step::Preview(preview)) => (None, Some(preview), FormState::default()),
        Err(problem) => {
            let mut refused = form.refused("", &problem);
            refused.values.remove("source");
            (Some(problem), corrected(ledger, scope, id, &form).await, refused)
        }
    };
    let (of, preview) = (wire_map::entity_type(of), preview.map(wire_map::import_preview));
    let props = ImportProps { of, source: form.text("source"), preview, form: typed };
    Ok(render_or_refuse(problem.as_ref(), move || ui::import_page(&viewer.shell, props)).await)
}

/// What a step of an import leads to.
enum Step {
    Begun(ImportId),
    Preview(Preview),
}

/// Begins the import or previews it, as the button says.
async fn take(ledger: &Ledger, scope: &Scope, id: EntityTypeId, form: &Form) -> Result<Step, Problem> {
    // Text areas send line ends as CR and LF; the file has LF only.
    let new = NewImport { source: form.text("source"), mapping: mapping(form) };
    if form.text("step") != "import" {
        return Ok(Step::Preview(import::preview(ledger, scope, id, new).await?));
    }
    let begun = import::begin(ledger, scope, id, new).await?;
    runner::import::start(ledger, &begun);
    Ok(Step::Begun(begun.id))
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
