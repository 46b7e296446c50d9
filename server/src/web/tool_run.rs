//! /tools/{slug}/run: runs a tool from the form of its page.

use super::{
    form::{Form, unreadable},
    shell::{PageRejection, Viewer},
    tool::{Forms, answer, known},
};
use crate::{problem::Problem, state::AppState};
use app::{
    FormState,
    tool::{input_field, typed_input},
};
use axum::{
    Router,
    extract::{Path, State},
    response::{IntoResponse, Redirect, Response},
    routing::post,
};
use domain::session::Session;
use ledger::{
    Ledger, Scope,
    page::tool as page,
    tool_run::{RunTool, run},
};

pub fn router() -> Router<AppState> {
    Router::new().route("/tools/{slug}/run", post(begin).get(back))
}

/// Where the address of the form leads, after a reload or a sign-in: to the page of the tool, which has the form.
async fn back(
    State(state): State<AppState>,
    viewer: Viewer,
    Path(slug): Path<String>,
) -> Result<Redirect, PageRejection> {
    let page = page::read(&state.ledger, &viewer.scope, known(slug)?, page::Query::default()).await?;
    Ok(Redirect::to(&format!("/tools/{}", page.tool.slug)))
}

async fn begin(
    State(state): State<AppState>,
    viewer: Viewer,
    Path(slug): Path<String>,
    form: Form,
) -> Result<Response, PageRejection> {
    let page = page::read(&state.ledger, &viewer.scope, known(slug)?, page::Query::default()).await?;
    match start(&state.ledger, &viewer.scope, &page, &form).await {
        Ok(session) => Ok(Redirect::to(&format!("/sessions/{}", session.id)).into_response()),
        Err(problem) => {
            let forms = Forms { run: refused(&form, &problem), ..Forms::default() };
            Ok(answer(viewer, page, forms, Some(problem)).await)
        }
    }
}

/// Runs the tool with the typed input, once if the form is sent twice.
async fn start(ledger: &Ledger, scope: &Scope, page: &page::Page, form: &Form) -> Result<Session, Problem> {
    let input = match &page.published {
        Some(version) => {
            let typed = |name: &str| form.has(name).then(|| form.text(name));
            typed_input(&version.definition, typed).map_err(unreadable)?
        }
        None => None,
    };
    let run_tool = RunTool { input, idempotency_key: form.optional("idempotencyKey"), ..RunTool::default() };
    Ok(run(ledger, scope, &page.tool.slug, run_tool).await?)
}

/// The state of the form with each error at the field of its member.
fn refused(form: &Form, problem: &Problem) -> FormState {
    let mut state = form.refused("run", problem);
    for error in &mut state.errors {
        let Some(place) = error.field.take() else { continue };
        let (name, below) = input_field(&place);
        if let Some(below) = below {
            error.message = format!("{below}: {}", error.message);
        }
        error.field = Some(name);
    }
    state
}
