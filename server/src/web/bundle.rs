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
    let Upload { form, read } = Upload::of(parts, PARTS_MAX, "save it as UTF-8").await;
    let taken = match read {
        Ok(()) => take(&state.ledger, &viewer.scope, &form).await,
        Err(problem) => Err(problem),
    };
    let (problem, plan, typed) = match taken {
        Ok(plan) => (None, plan, FormState::default()),
        Err(problem) => {
            let refused = form.refused("", &problem);
            (Some(problem), None, refused)
        }
    };
    let applied = form.text("step") == "install";
    let props = BundleProps { source: form.text("source"), plan, applied, form: typed };
    Ok(render_or_refuse(problem.as_ref(), move || ui::bundle_page(&viewer.shell, props)).await)
}

/// Installs the bundle or plans it, as the button says. `None` if its text is changed first.
async fn take(ledger: &Ledger, scope: &Scope, form: &Form) -> Result<Option<Plan>, Problem> {
    let mode = match form.text("step").as_str() {
        "change" => return Ok(None),
        "install" => Mode::Apply,
        _ => Mode::DryRun,
    };
    Ok(Some(bundle::install(ledger, scope, &form.text("source"), mode).await?))
}
