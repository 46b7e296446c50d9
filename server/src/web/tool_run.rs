//! /tools/{slug}/run: runs a tool from the form of its page, and changes the form as its buttons say.

use super::{
    form::{Form, FormWithFiles, is_password},
    shell::{PageRejection, Viewer},
    tool::{Forms, answer, known},
};
use crate::{problem::Problem, state::AppState};
use app::FormState;
use axum::{
    Router,
    extract::{Path, State},
    response::{IntoResponse, Redirect, Response},
    routing::post,
};
use domain::{
    session::Session,
    tool::form::{Fields, ROOT, place, press, read},
};
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
    let begun = match schema_of(&page).and_then(|schema| pressed("run", schema, &sent)) {
        Some(Ok(pressed)) => return Ok(answer(viewer, page, changed(&state, pressed), None).await),
        Some(Err(problem)) => Err(problem),
        None => start(&state.ledger, &viewer.scope, &page, &sent.form).await,
    };
    match started {
        Ok(session) => Ok(Redirect::to(&format!("/sessions/{}", session.id)).into_response()),
        Err(problem) => Ok(refuse(viewer, page, &sent.form, problem).await),
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
    let query = page::Query { draft, ..page::Query::default() };
    Ok((draft, page::read(&state.ledger, &viewer.scope, slug, query).await?))
}

/// The forms of the page after a button has changed the form of the input.
fn changed(state: &AppState, Pressed { state: run, focus }: Pressed) -> Forms {
    Forms { run, focus, ..Forms::of(state) }
}

/// The input schema of the published version.
fn schema_of(page: &page::Page) -> Option<&Value> {
    page.published.as_ref().map(|version| &version.definition.input_schema)
}

/// What a button has made of the form, or why it could not; `None` if the form runs the tool.
fn pressed(page: &page::Page, sent: &FormWithFiles) -> Option<Result<Forms, Problem>> {
    if let Some(problem) = &sent.refused {
        return Some(Err(problem.clone()));
    }
    let step = sent.form.text("step");
    let schema = schema_of(page).filter(|_| !step.is_empty())?;
    let mut fields = typed(&sent.form);
    Some(match press(schema, &mut fields, &step) {
        Ok(focus) => Ok(Forms { run: unsent(&fields), focus, ..Forms::default() }),
        Err(wrong) => Err(ledger::Error::Invalid(wrong).into()),
    })
}

/// The page with the typed input and why the tool was not run.
async fn refuse(viewer: Viewer, page: page::Page, form: &Form, problem: Problem) -> Response {
    let forms = Forms { run: refused(form, schema_of(&page), &problem), ..Forms::default() };
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
    let Some(id) = draft else {
        let run_tool = RunTool { input, idempotency_key: form.optional("_id"), ..RunTool::default() };
        return Ok(run(ledger, scope, &page.tool.slug, run_tool).await?);
    };
    let begin_run = BeginRun { rev: form.text("_rev").parse().ok(), fields: last_changes(page, input.as_deref()) };
    Ok(begin(ledger, scope, id, begin_run).await?)
}

/// The state of a form that a button has changed. Passwords are not shown again.
fn unsent(fields: &Fields) -> FormState {
    // A state without values is that of a form that was not sent, which begins with the defaults.
    let shown = fields.iter().filter(|(name, _)| !is_password(name)).chain([("step", "")]);
    FormState {
        form: "run".to_owned(),
        values: shown.map(|(name, text)| (name.to_owned(), text.to_owned())).collect(),
        errors: Vec::new(),
    }
}

/// Runs the tool with the typed input, once if the form is sent twice.
async fn start(ledger: &Ledger, scope: &Scope, page: &page::Page, form: &Form) -> Result<Session, Problem> {
    let input = match schema_of(page) {
        Some(schema) => read(schema, &typed(form)).map_err(ledger::Error::Invalid)?,
        None => None,
    };
    let input = input.map(|value| value.to_string());
    let run_tool = RunTool { input, idempotency_key: form.optional("idempotencyKey") };
    Ok(run(ledger, scope, &page.tool.slug, run_tool).await?)
}

/// The state of the form with each error at the field of its part.
fn refused(form: &Form, schema: Option<&Value>, problem: &Problem) -> FormState {
    let mut state = form.refused("run", problem);
    let Some(schema) = schema else { return state };
    let fields = typed(form);
    for error in &mut state.errors {
        let pointer = error.field.as_deref().and_then(|field| field.strip_prefix(ROOT));
        let Some(pointer) = pointer.filter(|rest| rest.is_empty() || rest.starts_with('/')) else { continue };
        let (name, inside) = place(schema, &fields, pointer);
        error.message = format!("{inside}{}", error.message);
        error.field = Some(name);
    }
    state
}
