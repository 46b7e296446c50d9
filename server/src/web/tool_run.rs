//! /tools/{slug}/run: runs a tool from the form of its page, and changes the form as its buttons say.

use super::{
    form::{Form, FormWithFiles, or_stale},
    shell::{PageRejection, Viewer},
    tool::{Forms, answer, known},
    tool_input::{Pressed, pressed, refused, typed_input, unchanged},
    tool_output::{at_controls, chosen, not_shown, output_of, with_target},
};
use crate::{problem::Problem, state::AppState};
use app::{schema_form::STEP, tool::SHOW_FIELDS};
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
    sent: FormWithFiles,
) -> Result<Response, PageRejection> {
    let (draft, page) = page_of_form(&state, &viewer, known(slug)?, &sent).await?;
    let begun = match press(&page, &sent) {
        Some(Ok(pressed)) => return Ok(answer(viewer, page, changed(&state, pressed, &sent.form), None).await),
        Some(Err(problem)) => Err(problem),
        None => start(&state.ledger, &viewer.scope, &page, (draft, &sent)).await,
    };
    match begun {
        Ok(session) => Ok(Redirect::to(&format!("/sessions/{}", session.id)).into_response()),
        Err(problem) => Ok(refuse(&state, viewer, page, &sent, problem).await),
    }
}

/// The page with the draft that the form names, if it was kept.
async fn page_of_form(
    state: &AppState,
    viewer: &Viewer,
    slug: String,
    sent: &FormWithFiles,
) -> ledger::Result<(Option<SessionId>, page::Page)> {
    let draft = of_form(&state.ledger, &viewer.scope, &sent.form.text("_id")).await?.map(|session| session.id);
    let query = page::Query { draft, output: chosen(&sent.form), ..page::Query::default() };
    Ok((draft, page::read(&state.ledger, &viewer.scope, slug, query).await?))
}

/// What a button has made of the form; `None` if no such button was pressed.
fn press(page: &page::Page, sent: &FormWithFiles) -> Option<Result<Pressed, Problem>> {
    if sent.form.text(STEP) == SHOW_FIELDS {
        return Some(unchanged("run", sent).map(|mut shown| {
            let targets = page.targets.as_ref();
            if targets.is_none_or(|targets| targets.target.is_none()) {
                shown.state.errors.push(not_shown(targets.and_then(|targets| targets.refused.as_ref())));
            }
            shown
        }));
    }
    schema_of(page).and_then(|schema| pressed("run", schema, sent))
}

/// The forms of the page after a button has changed the form of the input.
fn changed(state: &AppState, pressed: Pressed, form: &Form) -> Forms {
    let Pressed { state: run, focus } = with_target(pressed, form);
    Forms { run, focus, ..Forms::of(state) }
}

/// The input schema of the published version.
pub fn schema_of(page: &page::Page) -> Option<&Value> {
    page.published.as_ref().map(|version| &version.definition.input_schema)
}

/// The page with the typed input and why it was refused.
async fn refuse(
    state: &AppState,
    viewer: Viewer,
    page: page::Page,
    sent: &FormWithFiles,
    problem: Problem,
) -> Response {
    let mut run = match schema_of(&page) {
        Some(schema) => refused("run", schema, &sent.form, &problem),
        None => sent.form.refused("run", &problem),
    };
    at_controls(&mut run);
    let forms = Forms { run: or_stale(run, &problem), ..Forms::of(state) };
    answer(viewer, page, forms, Some(problem)).await
}

/// Runs the tool with the typed input, once if the form is sent twice. A form that was kept as a draft runs that draft.
async fn start(
    ledger: &Ledger,
    scope: &Scope,
    page: &page::Page,
    (draft, sent): (Option<SessionId>, &FormWithFiles),
) -> Result<Session, Problem> {
    let input = schema_of(page).map(|schema| typed_input(schema, sent)).transpose()?.flatten();
    let form = &sent.form;
    let output = output_of(form)?;
    let Some(id) = draft else {
        let run_tool = RunTool { input, idempotency_key: form.optional("_id"), output, ..RunTool::default() };
        return Ok(run(ledger, scope, &page.tool.slug, run_tool).await?);
    };
    let begin_run =
        BeginRun { rev: form.text("_rev").parse().ok(), fields: last_changes(page, input.as_deref()), output };
    Ok(begin(ledger, scope, id, begin_run).await?)
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
