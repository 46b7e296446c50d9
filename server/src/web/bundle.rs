//! /bundles: uploads a bundle, previews its installation, and installs it.

use super::{
    form::{Form, Upload},
    shell::{PageRejection, Viewer, render, render_or_refuse},
};
use crate::{problem::Problem, state::AppState};
use app::{
    FormState,
    criteria_set::{self as ui, BundleProps},
};
use axum::{
    Router,
    extract::{Multipart, State, multipart::MultipartRejection},
    http::StatusCode,
    response::Response,
    routing::get,
};
use domain::bundle::Plan;
use ledger::{
    Ledger, Scope,
    bundle::{self, Mode},
};

/// Most parts of an upload: the file, its text and the step.
const PARTS_MAX: usize = 8;

pub fn router() -> Router<AppState> {
    Router::new().route("/bundles", get(choose).post(step))
}

async fn choose(viewer: Viewer) -> Result<Response, PageRejection> {
    Ok(render(StatusCode::OK, move || ui::bundle_page(&viewer.shell, BundleProps::default())).await)
}

async fn step(
    State(state): State<AppState>,
    viewer: Viewer,
    parts: Result<Multipart, MultipartRejection>,
) -> Result<Response, PageRejection> {
    let upload = Upload::of(parts, PARTS_MAX, "save it as UTF-8").await;
    let taken = take(&state.ledger, &viewer.scope, &upload).await;
    let (props, problem) = answer(&upload.form, taken);
    Ok(render_or_refuse(problem.as_ref(), move || ui::bundle_page(&viewer.shell, props)).await)
}

/// The page after a step, and why the step was refused.
fn answer(form: &Form, taken: Result<Option<Plan>, Problem>) -> (BundleProps, Option<Problem>) {
    let (plan, typed, problem) = match taken {
        Ok(plan) => (plan, FormState::default(), None),
        Err(problem) => (None, form.refused("", &problem), Some(problem)),
    };
    let applied = form.text("step") == "install";
    (BundleProps { source: form.text("source"), plan, applied, form: typed }, problem)
}

/// Installs the bundle or plans it, as the button says. `None` if its text is changed first. An upload that cannot be
/// read is refused.
async fn take(ledger: &Ledger, scope: &Scope, upload: &Upload) -> Result<Option<Plan>, Problem> {
    let form = upload.read()?;
    let mode = match form.text("step").as_str() {
        "change" => return Ok(None),
        "install" => Mode::Apply,
        _ => Mode::DryRun,
    };
    Ok(Some(bundle::install(ledger, scope, &form.text("source"), mode).await?))
}
