//! /tools/{slug}/draft and /tools/{slug}/inputs: what is kept of the form of a tool before it is run.

use super::{
    answer::Visit,
    form::{Form, FormWithFiles, or_stale},
    shell::{PageRejection, Viewer},
    tool::{Forms, answer, known},
    tool_input::typed as fields_of,
    tool_run::{back, schema_of},
};
use crate::{problem::Problem, state::AppState};
use app::FormState;
use axum::{
    Json, Router,
    extract::{Path, State},
    response::{IntoResponse, Redirect, Response},
    routing::post,
};
use domain::{
    schema_form::{Form as SchemaForm, read_so_far},
    tool::draft::Fields,
};
use ledger::{
    Ledger, Scope,
    page::tool as page,
    session,
    tool_run::{
        SaveInput, delete_input,
        draft::{SaveForm, ToolDraft, of_form, save_form},
        save_input,
    },
};
use serde_json::json;

pub fn router() -> Router<AppState> {
    Router::new()
        .route("/tools/{slug}/draft", post(keep).get(back))
        .route("/tools/{slug}/inputs", post(name_input).get(back))
}

/// The fields of the form as they are typed; none if the tool is not published.
fn typed(page: &page::Page, form: &Form) -> Fields {
    schema_of(page).map(|schema| read_so_far(SchemaForm::of_input(schema), &fields_of(form))).unwrap_or_default()
}

/// Keeps the form as a draft, or discards its draft. A script gets the number of the save, a person without scripts the
/// page.
async fn keep(
    State(state): State<AppState>,
    viewer: Viewer,
    Path(slug): Path<String>,
    visit: Visit,
    sent: FormWithFiles,
) -> Result<Response, PageRejection> {
    let page = page::read(&state.ledger, &viewer.scope, known(slug)?, page::Query::default()).await?;
    if sent.form.text("_do") == "discard" {
        return discard(&state, viewer, page, &sent.form).await;
    }
    match (save(&state.ledger, &viewer.scope, &page, &sent).await, visit.is_by_script()) {
        (Ok(kept), true) => Ok(for_script(kept)),
        (Ok(kept), false) => Ok(to_form(&page.tool.slug, "draft", &kept.session.id.to_string())),
        (Err(problem), true) => Err(problem.into()),
        (Err(problem), false) => refused(&state, viewer, page, &sent.form, problem).await,
    }
}

/// What the script of forms reads of a save: the number of the draft, and the questions that do not apply.
fn for_script(kept: ToolDraft) -> Response {
    let rev = kept.draft.map_or(0, |draft| draft.rev);
    Json(json!({ "rev": rev, "off": [] })).into_response()
}

/// Leads to the form, which begins with what a member of the query names.
fn to_form(slug: &str, member: &str, value: &str) -> Response {
    let query = form_urlencoded::Serializer::new(String::new()).append_pair(member, value).finish();
    Redirect::to(&format!("/tools/{slug}?{query}#run")).into_response()
}

async fn save(ledger: &Ledger, scope: &Scope, page: &page::Page, sent: &FormWithFiles) -> Result<ToolDraft, Problem> {
    let form = sent.readable()?;
    let rev = form.text("_rev").parse().unwrap_or_default();
    let save = SaveForm { id: form.text("_id"), rev, fields: typed(page, form), is_leaving: form.has("_leaving") };
    Ok(save_form(ledger, scope, &page.tool.slug, save).await?)
}

/// Cancels the session of the draft.
async fn discard(state: &AppState, viewer: Viewer, page: page::Page, form: &Form) -> Result<Response, PageRejection> {
    if let Some(draft) = of_form(&state.ledger, &viewer.scope, &form.text("_id")).await? {
        let reason = Some("the draft was discarded".to_owned());
        session::cancel(&state.ledger, &viewer.scope, draft.id, reason).await?;
    }
    Ok(Redirect::to(&format!("/tools/{}#run", page.tool.slug)).into_response())
}

/// The page with the form as it was typed, and why it was not kept. The next save of a form that was changed elsewhere
/// replaces that change.
async fn refused(
    state: &AppState,
    viewer: Viewer,
    page: page::Page,
    form: &Form,
    problem: Problem,
) -> Result<Response, PageRejection> {
    let draft = of_form(&state.ledger, &viewer.scope, &form.text("_id")).await?.map(|session| session.id);
    let query = page::Query { draft, ..page::Query::default() };
    let page = page::read(&state.ledger, &viewer.scope, page.tool.slug, query).await?;
    let run = or_stale(named(form.refused("run", &problem)), &problem);
    Ok(answer(viewer, page, Forms { run, ..Forms::of(state) }, Some(problem)).await)
}

/// Errors of the name of an input at its control.
fn named(mut state: FormState) -> FormState {
    for error in &mut state.errors {
        error.field = error.field.take().map(|field| if field == "name" { "_name".to_owned() } else { field });
    }
    state
}

/// Saves the form as an input with a name, or deletes a saved input.
async fn name_input(
    State(state): State<AppState>,
    viewer: Viewer,
    Path(slug): Path<String>,
    sent: FormWithFiles,
) -> Result<Response, PageRejection> {
    let page = page::read(&state.ledger, &viewer.scope, known(slug)?, page::Query::default()).await?;
    if sent.form.text("do") == "delete" {
        return delete(&state.ledger, &viewer.scope, &page.tool.slug, &sent.form).await;
    }
    match save_named(&state.ledger, &viewer.scope, &page, &sent).await {
        Ok(name) => Ok(to_form(&page.tool.slug, "saved", &name)),
        Err(problem) => refused(&state, viewer, page, &sent.form, problem).await,
    }
}

/// Saves the fields that are filled in. Returns the name of the input.
async fn save_named(
    ledger: &Ledger,
    scope: &Scope,
    page: &page::Page,
    sent: &FormWithFiles,
) -> Result<String, Problem> {
    let form = sent.readable()?;
    let input = SaveInput { name: form.text("_name").trim().to_owned(), fields: typed(page, form) };
    Ok(save_input(ledger, scope, &page.tool.slug, input).await?.name)
}

/// Deletes a saved input.
async fn delete(ledger: &Ledger, scope: &Scope, slug: &str, form: &Form) -> Result<Response, PageRejection> {
    delete_input(ledger, scope, slug, form.text("_name").trim()).await?;
    Ok(Redirect::to(&format!("/tools/{slug}#run")).into_response())
}
