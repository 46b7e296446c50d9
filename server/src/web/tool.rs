//! /tools: list, make, one of them with its publication and secrets, edit.

use super::{
    form::{Form, or_stale},
    people::people_of,
    shell::{PageRejection, Viewer, redirect_with_notice, render, render_or_refuse},
    tool_form::{compared_text, draft_of, new_draft, placed, read},
};
use crate::{extract::Params, problem::Problem, state::AppState, wire_map};
use app::{
    FormState,
    tool::{self as ui, Comparison, Draft, ListProps, Props},
};
use axum::{
    Router,
    extract::{Path, State},
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::get,
};
use domain::{
    issue::Issue,
    role::Permission,
    tool::{Change, Definition, Implementation, Secret, http::secret_names, is_tool_slug},
};
use ledger::{
    Ledger, Scope, ToolRecord,
    page::tool as page,
    tool::{self, NewTool, ToolChange},
};
use serde::Deserialize;
use std::collections::BTreeSet;
use wire::Code;

pub fn router() -> Router<AppState> {
    Router::new()
        .route("/tools", get(list).post(create))
        .route("/tools/new", get(new))
        .route("/tools/{slug}", get(show).post(post))
        .route("/tools/{slug}/edit", get(edit).post(save))
}

#[derive(Default, Deserialize)]
struct ListQuery {
    cursor: Option<String>,
}

#[derive(Default, Deserialize)]
struct ShowQuery {
    version: Option<u64>,
}

async fn list(
    State(state): State<AppState>,
    viewer: Viewer,
    Params(query): Params<ListQuery>,
) -> Result<Response, PageRejection> {
    let listed = page::list(&state.ledger, &viewer.scope, query.cursor).await?;
    let tools = listed.items.into_iter().map(wire_map::tool).collect();
    let props = ListProps { tools, next_cursor: listed.next_cursor };
    Ok(render(StatusCode::OK, move || ui::list_page(&viewer.shell, props)).await)
}

/// The slug of a path. What no tool can be named names no tool.
fn known(slug: String) -> Result<String, Problem> {
    if is_tool_slug(&slug) { Ok(slug) } else { Err(ledger::Error::NotFound("tool").into()) }
}

async fn show(
    State(state): State<AppState>,
    viewer: Viewer,
    Path(slug): Path<String>,
    Params(query): Params<ShowQuery>,
) -> Result<Response, PageRejection> {
    let page = page::read(&state.ledger, &viewer.scope, known(slug)?, query.version).await?;
    Ok(answer(viewer, page, FormState::default(), None).await)
}

async fn answer(viewer: Viewer, page: page::Page, secret_form: FormState, problem: Option<Problem>) -> Response {
    // The form of a secret shows its own errors.
    let refusals = problem.as_ref().filter(|_| !secret_form.is_refused()).map(Problem::lines);
    let props = props(page, secret_form, refusals.unwrap_or_default());
    render_or_refuse(problem.as_ref(), move || ui::page(&viewer.shell, props)).await
}

fn props(page: page::Page, secret_form: FormState, refusals: Vec<String>) -> Props {
    let comparison = page.compared.map(|(version, before)| {
        let before = before.map(|before| compared_text(before.definition)).unwrap_or_default();
        let lines = ledger::memory::compare(&before, &compared_text(version.definition));
        Comparison { version: version.version, lines: wire_map::memory_diff_lines(lines) }
    });
    let missing_secrets = match &page.secrets {
        Some(secrets) => missing(&page.tool.definition, secrets.iter().map(|secret| secret.name.as_str()).collect()),
        None => Vec::new(),
    };
    Props {
        tool: wire_map::tool(page.tool),
        versions: page.versions.into_iter().map(wire_map::tool_version).collect(),
        has_more_versions: page.has_more_versions,
        comparison,
        people: people_of(page.people),
        secrets: page.secrets.map(|secrets| secrets.into_iter().map(wire_map::tool_secret).collect()),
        missing_secrets,
        refusals,
        secret_form,
    }
}

/// Names of secrets that a call needs and that are not set.
fn missing(definition: &Definition, set: BTreeSet<&str>) -> Vec<String> {
    match &definition.implementation {
        Implementation::Http { http } => {
            secret_names(http).into_iter().filter(|name| !set.contains(name.as_str())).collect()
        }
        Implementation::Worker {} => Vec::new(),
    }
}

/// Publishes, withdraws or deletes the tool, and sets or deletes a secret.
async fn post(
    State(state): State<AppState>,
    viewer: Viewer,
    Path(slug): Path<String>,
    form: Form,
) -> Result<Response, PageRejection> {
    let page = page::read(&state.ledger, &viewer.scope, known(slug)?, None).await?;
    match change(&state.ledger, &viewer.scope, &page.tool.slug, &form).await {
        Ok((path, notice)) => Ok(redirect_with_notice(&path, notice).into_response()),
        Err(error) => {
            let problem = Problem::from(error);
            Ok(answer(viewer, page, secret_form(&form, &problem), Some(problem)).await)
        }
    }
}

/// State of the form that sets a secret, if that was refused.
fn secret_form(form: &Form, problem: &Problem) -> FormState {
    if form.text("do") != "set-secret" {
        return FormState::default();
    }
    let mut state = form.refused("secret", problem);
    for error in &mut state.errors {
        error.field = error.field.take().map(|field| if field == "value" { "password".to_owned() } else { field });
    }
    state
}

/// Does what the button says. Returns the path of the page after it, and its notice.
async fn change(ledger: &Ledger, scope: &Scope, slug: &str, form: &Form) -> ledger::Result<(String, &'static str)> {
    let page = format!("/tools/{slug}");
    let name = form.text("name").trim().to_owned();
    match form.text("do").as_str() {
        "publish" => {
            tool::publish(ledger, scope, slug, form.text("revision").parse().ok()).await?;
            Ok((page, "tool_published"))
        }
        "unpublish" => {
            tool::unpublish(ledger, scope, slug).await?;
            Ok((page, "tool_unpublished"))
        }
        "delete" => {
            tool::delete(ledger, scope, slug).await?;
            Ok(("/tools".to_owned(), "tool_deleted"))
        }
        "set-secret" => {
            tool::set_secret(ledger, scope, slug, &name, Secret::new(form.text("password"))).await?;
            Ok((page, "tool_secret_set"))
        }
        "delete-secret" => {
            tool::delete_secret(ledger, scope, slug, &name).await?;
            Ok((page, "tool_secret_deleted"))
        }
        _ => Err(ledger::Error::invalid("do", "publish, unpublish, delete, set-secret or delete-secret")),
    }
}

/// Refuses everyone who may not change tools.
fn require_manager(scope: &Scope) -> Result<(), Problem> {
    if scope.may(Permission::ManageTools) {
        return Ok(());
    }
    Err(ledger::Error::Forbidden("only operators and admins can change tools").into())
}

async fn new(viewer: Viewer) -> Result<Response, PageRejection> {
    require_manager(&viewer.scope)?;
    Ok(editor(viewer, new_draft(), FormState::default(), StatusCode::OK).await)
}

async fn edit(
    State(state): State<AppState>,
    viewer: Viewer,
    Path(slug): Path<String>,
) -> Result<Response, PageRejection> {
    require_manager(&viewer.scope)?;
    let stored = tool::get(&state.ledger, &viewer.scope, &known(slug)?).await?;
    Ok(editor(viewer, draft_of(stored), FormState::default(), StatusCode::OK).await)
}

async fn editor(viewer: Viewer, draft: Draft, form: FormState, status: StatusCode) -> Response {
    render(status, move || ui::editor_page(&viewer.shell, &draft, &form)).await
}

async fn create(State(state): State<AppState>, viewer: Viewer, form: Form) -> Result<Response, PageRejection> {
    require_manager(&viewer.scope)?;
    let stored = match read(&form) {
        Ok(definition) => {
            tool::create(&state.ledger, &viewer.scope, NewTool { slug: form.optional("slug"), definition }).await
        }
        Err(issue) => Err(ledger::Error::Invalid(vec![issue])),
    };
    saved(viewer, None, form, stored).await
}

async fn save(
    State(state): State<AppState>,
    viewer: Viewer,
    Path(slug): Path<String>,
    form: Form,
) -> Result<Response, PageRejection> {
    require_manager(&viewer.scope)?;
    let before = tool::get(&state.ledger, &viewer.scope, &known(slug)?).await?;
    let stored = store(&state.ledger, &viewer.scope, &before, (read(&form), &form)).await;
    saved(viewer, Some(before), form, stored).await
}

/// Changes the tool that the editor was opened with. All parts that the editor holds are written: one that was taken
/// out of the text gets its default.
async fn store(
    ledger: &Ledger,
    scope: &Scope,
    before: &ToolRecord,
    (read, form): (Result<Change, Issue>, &Form),
) -> ledger::Result<ToolRecord> {
    let definition = read.map_err(|issue| vec![issue])?.define()?.into();
    let revision = form.text("revision").parse().unwrap_or_default();
    tool::update(ledger, scope, &before.slug, ToolChange { revision, definition }).await
}

/// The page after a save, or the editor with the typed text and why it was not saved. If the tool was changed in the
/// meantime, the next save replaces that change.
async fn saved(
    viewer: Viewer,
    before: Option<ToolRecord>,
    form: Form,
    stored: ledger::Result<ToolRecord>,
) -> Result<Response, PageRejection> {
    let error = match stored {
        Ok(tool) => return Ok(redirect_with_notice(&format!("/tools/{}", tool.slug), "tool_saved").into_response()),
        Err(error) => error,
    };
    let problem = Problem::from(error);
    let mut draft = before.map_or_else(new_draft, draft_of);
    let mut typed = or_stale(placed(&form, &problem), &problem);
    if problem.code() != Code::StaleVersion {
        draft.revision = form.text("revision").parse().unwrap_or(draft.revision);
    }
    typed.values.remove("revision");
    let mut response = editor(viewer, draft, typed, problem.status()).await;
    problem.mark(&mut response);
    Ok(response)
}
