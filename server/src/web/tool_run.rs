//! /tools/{slug}/run: runs a tool from the form of its page.

use super::{
    form::{Form, or_stale, unreadable},
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
use domain::{id::SessionId, session::Session, tool::draft::Fields};
use ledger::{
    Ledger, Scope,
    page::tool as page,
    tool_run::{
        RunTool,
        draft::{BeginRun, begin, of_form},
        run,
    },
};
use serde_json::Value;

pub fn router() -> Router<AppState> {
    Router::new().route("/tools/{slug}/run", post(submit).get(back))
}

/// Where the address of the form leads, after a reload or a sign-in: to the page of the tool, which has the form.
pub async fn back(
    State(state): State<AppState>,
    viewer: Viewer,
    Path(slug): Path<String>,
) -> Result<Redirect, PageRejection> {
    let page = page::read(&state.ledger, &viewer.scope, known(slug)?, page::Query::default()).await?;
    Ok(Redirect::to(&format!("/tools/{}", page.tool.slug)))
}

async fn submit(
    State(state): State<AppState>,
    viewer: Viewer,
    Path(slug): Path<String>,
    form: Form,
) -> Result<Response, PageRejection> {
    let slug = known(slug)?;
    let draft = of_form(&state.ledger, &viewer.scope, &form.text("_id")).await?.map(|session| session.id);
    let query = page::Query { draft, ..page::Query::default() };
    let page = page::read(&state.ledger, &viewer.scope, slug, query).await?;
    match start(&state.ledger, &viewer.scope, &page, (draft, &form)).await {
        Ok(session) => Ok(Redirect::to(&format!("/sessions/{}", session.id)).into_response()),
        Err(problem) => Ok(answer(viewer, page, forms(&state, &form, &problem), Some(problem)).await),
    }
}

/// The forms of the page after a run was refused.
fn forms(state: &AppState, form: &Form, problem: &Problem) -> Forms {
    Forms { run: or_stale(refused("run", form, problem), problem), ..Forms::of(state) }
}

/// Runs the tool with the typed input, once if the form is sent twice. A form that was kept as a draft runs that draft.
async fn start(
    ledger: &Ledger,
    scope: &Scope,
    page: &page::Page,
    (draft, form): (Option<SessionId>, &Form),
) -> Result<Session, Problem> {
    let input = typed(page, form)?;
    let Some(id) = draft else {
        let run_tool = RunTool { input, idempotency_key: form.optional("_id") };
        return Ok(run(ledger, scope, &page.tool.slug, run_tool).await?);
    };
    let begin_run = BeginRun { rev: form.text("_rev").parse().ok(), fields: last_changes(page, input.as_deref()) };
    Ok(begin(ledger, scope, id, begin_run).await?)
}

/// The typed input as JSON; `None` if nothing was typed, or the tool is not published.
fn typed(page: &page::Page, form: &Form) -> Result<Option<String>, Problem> {
    let Some(version) = &page.published else { return Ok(None) };
    let typed = |name: &str| form.has(name).then(|| form.text(name));
    typed_input(&version.definition, typed).map_err(unreadable)
}

/// The typed input as changes of the draft: fields that are empty now are removed from it.
fn last_changes(page: &page::Page, input: Option<&str>) -> Fields {
    let mut fields: Fields = input.and_then(|input| serde_json::from_str(input).ok()).unwrap_or_default();
    for field in page.draft.iter().flat_map(|draft| draft.content.fields.keys()) {
        if !fields.contains_key(field) {
            fields.insert(field.clone(), Value::Null);
        }
    }
    fields
}

/// The state of the form with each error at the field of its member.
pub fn refused(name: &str, form: &Form, problem: &Problem) -> FormState {
    let mut state = form.refused(name, problem);
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
