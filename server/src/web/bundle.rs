//! /bundles: uploads a bundle, previews its installation, and installs it.

use super::{
    form::{Form, upload},
    shell::{PageRejection, Viewer, refuse, render},
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
use ledger::bundle::{self, Mode};
use std::collections::BTreeMap;

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
    let (form, read) = match upload(parts, PARTS_MAX, "save it as UTF-8").await {
        Ok(form) => (form, Ok(())),
        Err(problem) => (Form::of(BTreeMap::new()), Err(problem)),
    };
    let source = form.text("source");
    let applied = form.text("step") == "install";
    let mode = if applied { Mode::Apply } else { Mode::DryRun };
    let outcome = match read {
        Err(problem) => Err(problem),
        Ok(()) if form.text("step") == "change" => Ok(None),
        Ok(()) => bundle::install(&state.ledger, &viewer.scope, &source, mode).await.map(Some).map_err(Problem::from),
    };
    let (problem, plan, form) = match outcome {
        Ok(plan) => (None, plan, FormState::default()),
        Err(problem) => {
            let form = form.refused("", &problem);
            (Some(problem), None, form)
        }
    };
    let props = BundleProps { source, plan, applied, form };
    let page = move || ui::bundle_page(&viewer.shell, props);
    Ok(match problem {
        Some(problem) => refuse(&problem, page).await,
        None => render(StatusCode::OK, page).await,
    })
}
