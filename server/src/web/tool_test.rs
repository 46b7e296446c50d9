//! /tools/{slug}/test: runs the working copy of a tool from the form of its editor.

use super::{
    form::FormWithFiles,
    shell::{PageRejection, Viewer},
    tool::{editor, known, require_manager},
    tool_form::draft_of,
    tool_input::{Pressed, pressed, refused, typed_input},
};
use crate::{problem::Problem, state::AppState};
use app::{FormState, tool::Draft};
use axum::{
    Router,
    extract::{Path, State},
    http::StatusCode,
    response::{IntoResponse, Redirect, Response},
    routing::post,
};
use domain::session::Session;
use ledger::{
    Ledger, Scope, ToolRecord, tool,
    tool_run::{RunTool, test},
};

pub fn router() -> Router<AppState> {
    Router::new().route("/tools/{slug}/test", post(submit).get(back))
}

/// Where the address of the form leads, after a reload or a sign-in: to the editor, which has the form.
async fn back(viewer: Viewer, Path(slug): Path<String>) -> Result<Redirect, PageRejection> {
    require_manager(&viewer.scope)?;
    Ok(Redirect::to(&format!("/tools/{}/edit", known(slug)?)))
}

async fn submit(
    State(state): State<AppState>,
    viewer: Viewer,
    Path(slug): Path<String>,
    sent: FormWithFiles,
) -> Result<Response, PageRejection> {
    require_manager(&viewer.scope)?;
    let stored = tool::get_to_edit(&state.ledger, &viewer.scope, &known(slug)?).await?;
    Ok(match pressed("try", &stored.0.definition.input_schema, &sent) {
        Some(Ok(pressed)) => changed(viewer, stored, pressed).await,
        Some(Err(problem)) => again(viewer, stored, &sent, &problem).await,
        None => match start(&state.ledger, &viewer.scope, &stored.0, &sent).await {
            Ok(session) => Redirect::to(&format!("/sessions/{}", session.id)).into_response(),
            Err(problem) => again(viewer, stored, &sent, &problem).await,
        },
    })
}

/// The editor after a button has changed the form of the input.
async fn changed(viewer: Viewer, stored: (ToolRecord, bool), Pressed { state: tried, focus }: Pressed) -> Response {
    let draft = Draft { focus, ..draft_of(stored) };
    editor(viewer, draft, (FormState::default(), tried), StatusCode::OK).await
}

/// The editor with the typed input and why the test did not begin.
async fn again(viewer: Viewer, stored: (ToolRecord, bool), sent: &FormWithFiles, problem: &Problem) -> Response {
    let tried = refused("try", &stored.0.definition.input_schema, &sent.form, problem);
    let forms = (FormState::default(), tried);
    let mut response = editor(viewer, draft_of(stored), forms, problem.status()).await;
    problem.mark(&mut response);
    response
}

/// Tests the tool with the typed input, once if the form is sent twice.
async fn start(ledger: &Ledger, scope: &Scope, stored: &ToolRecord, sent: &FormWithFiles) -> Result<Session, Problem> {
    let input = typed_input(&stored.definition.input_schema, sent)?;
    let run = RunTool {
        input,
        idempotency_key: sent.form.optional("_id").map(|key| format!("test-{key}")),
        ..RunTool::default()
    };
    Ok(test(ledger, scope, &stored.slug, run).await?)
}
