//! /tools: list, make, one of them with its publication and secrets, edit.

use super::{
    entity::choices_of,
    form::{Form, or_stale},
    people::people_of,
    posted,
    search_line::searched,
    shell::{PageRejection, Viewer, redirect_with_notice, render, render_or_refuse},
    tool_form::{compared_schemas, compared_text, draft_of, new_draft, placed, read},
    tool_result::target,
};
use crate::{extract::Params, problem::Problem, state::AppState, wire_map};
use app::{
    FieldError, FormState,
    tool::{self as ui, Comparison, Continued, Draft, EndedRuns, ListProps, Offered, Props, Run, Start},
};
use axum::{
    Router,
    extract::{Path, RawQuery, State},
    http::{StatusCode, request::Parts},
    response::{IntoResponse, Response},
    routing::get,
};
use domain::{
    id::SessionId,
    role::Permission,
    search::Field,
    tool::{Definition, Implementation, Secret, http::secret_names, is_tool_slug},
};
use ledger::{
    Ledger, SavedInputRecord, Scope, ToolDraftRecord, ToolRecord,
    page::{tool as page, tool_result::Targets},
    tool::{self, NewSecret, NewTool, ToolChange},
};
use serde::Deserialize;
use std::collections::BTreeSet;
use wire::Code;

/// Most fields that are read from the address of a tool's page.
const ADDRESS_FIELDS_MAX: usize = 100;

pub fn router() -> Router<AppState> {
    Router::new()
        .route("/tools", get(list).post(create))
        .route("/tools/new", get(new))
        .route("/tools/{slug}", get(show).post(post))
        .route("/tools/{slug}/edit", get(edit).post(save))
}

#[derive(Default, Deserialize)]
struct ListQuery {
    q: Option<String>,
    cursor: Option<String>,
}

#[derive(Default, Deserialize)]
struct ShowQuery {
    version: Option<u64>,
    again: Option<SessionId>,
    draft: Option<SessionId>,
    saved: Option<String>,
}

async fn list(
    State(state): State<AppState>,
    viewer: Viewer,
    Params(query): Params<ListQuery>,
) -> Result<Response, PageRejection> {
    let (line, search, status) = searched(query.q.as_ref(), &Field::OF_TOOLS);
    let listed = page::list(&state.ledger, &viewer.scope, line.as_deref(), query.cursor).await?;
    let tools = listed.items.into_iter().map(wire_map::tool).collect();
    let props = ListProps { tools, next_cursor: listed.next_cursor, search };
    Ok(render(status, move || ui::list_page(&viewer.shell, props)).await)
}

/// The slug of a path. What no tool can be named names no tool.
pub fn known(slug: String) -> Result<String, Problem> {
    if is_tool_slug(&slug) { Ok(slug) } else { Err(ledger::Error::NotFound("tool").into()) }
}

async fn show(
    State(state): State<AppState>,
    viewer: Viewer,
    Path(slug): Path<String>,
    Params(query): Params<ShowQuery>,
    RawQuery(address): RawQuery,
) -> Result<Response, PageRejection> {
    let ShowQuery { version: compared, again, draft, saved } = query;
    let shown = page::Query { compared, again, draft, saved, output: None };
    let page = page::read(&state.ledger, &viewer.scope, known(slug)?, shown).await?;
    let address = address.unwrap_or_default();
    let address = form_urlencoded::parse(address.as_bytes()).into_owned().take(ADDRESS_FIELDS_MAX).collect();
    Ok(answer(viewer, page, Forms { address, ..Forms::of(&state) }, None).await)
}

/// States of the forms of a page.
#[derive(Default)]
pub struct Forms {
    /// Of the form that sets a secret.
    pub secret: FormState,
    /// Of the form that runs the tool.
    pub run: FormState,
    /// Address of the script that saves drafts.
    pub script: String,
    /// Values of fields in the address of the page.
    pub address: Vec<(String, String)>,
    /// The part of the form that the last button was about.
    pub focus: String,
}

impl Forms {
    /// Forms that were not sent.
    pub fn of(state: &AppState) -> Self {
        Self { script: state.assets.path("form-js").unwrap_or_default(), ..Self::default() }
    }
}

/// The page of a tool, with the problem of a form that was refused.
pub async fn answer(viewer: Viewer, page: page::Page, forms: Forms, problem: Option<Problem>) -> Response {
    // These forms show their own errors.
    let shows_own = forms.secret.is_refused() || forms.run.is_refused();
    let refusals = problem.as_ref().filter(|_| !shows_own).map(Problem::lines);
    let props = props(page, forms, refusals.unwrap_or_default());
    render_or_refuse(problem.as_ref(), move || ui::page(&viewer.shell, props)).await
}

fn props(page: page::Page, forms: Forms, refusals: Vec<String>) -> Props {
    let comparison = page.compared.map(|(version, before)| {
        let before = before.map(|before| compared_text(before.definition)).unwrap_or_default();
        let lines = ledger::memory::compare(&before, &compared_text(version.definition));
        Comparison { version: version.version, lines: wire_map::memory_diff_lines(lines) }
    });
    let missing_secrets = match &page.secrets {
        Some(secrets) => missing(&page.tool.definition, secrets.iter().map(|secret| secret.name.as_str()).collect()),
        None => Vec::new(),
    };
    let start = start(&forms, page.draft, page.drafts, (page.chosen, page.saved));
    let offered = page.offered.map(|offered| {
        let definition = &page.tool.definition;
        let has = compared_schemas(&definition.input_schema, definition.output_schema.as_ref());
        let lines = offered.tool.map(|listed| {
            let lists = compared_schemas(&listed.input_schema, listed.output_schema.as_ref());
            let lines = if lists == has { Vec::new() } else { ledger::memory::compare(&has, &lists) };
            wire_map::memory_diff_lines(lines)
        });
        Offered { listed_at: offered.listed_at, lines }
    });
    Props {
        tool: wire_map::tool(page.tool),
        versions: page.versions.into_iter().map(wire_map::tool_version).collect(),
        has_more_versions: page.has_more_versions,
        comparison,
        may_run: page.may_run,
        people: people_of(page.people),
        needs_admin: page.needs_admin,
        secrets: page.secrets.map(|secrets| secrets.into_iter().map(wire_map::tool_secret).collect()),
        missing_secrets,
        refusals,
        secret_form: forms.secret,
        run: Run {
            start,
            published: page.published.map(wire_map::tool_version),
            again: page.again.map(wire_map::session),
            targets: page.targets.map(targets_of),
            runs: page.runs.into_iter().map(|row| wire_map::session(row.session)).collect(),
            has_more_runs: page.has_more_runs,
            ended: EndedRuns { ended: page.ended.ended, failed: page.ended.failed, is_cut: page.ended.is_cut },
            form: forms.run,
            focus: forms.focus,
        },
        offered,
    }
}

fn targets_of(found: Targets) -> ui::Targets {
    ui::Targets {
        tasks: found.tasks.into_iter().map(|(id, name)| (id.to_string(), name)).collect(),
        has_more_tasks: found.has_more_tasks,
        entities: choices_of(found.entities),
        target: found.target.map(target),
    }
}

/// What the form that runs the tool begins with.
fn start(
    forms: &Forms,
    draft: Option<ToolDraftRecord>,
    drafts: Vec<ToolDraftRecord>,
    (chosen, saved): (Option<SavedInputRecord>, Vec<SavedInputRecord>),
) -> Start {
    let continued = draft.map(|draft| Continued {
        id: draft.session_id,
        rev: draft.rev,
        fields: draft.content.fields,
        saved_at: draft.saved_at,
    });
    let drafts = drafts.into_iter().map(|draft| (draft.session_id, draft.saved_at));
    let drafts = drafts.filter(|(id, _)| continued.as_ref().is_none_or(|shown| shown.id != *id)).collect();
    let chosen = chosen.and_then(|input| Some((input.name, serde_json::from_str(&input.fields).ok()?)));
    let saved = saved.into_iter().map(|input| input.name).collect();
    Start { continued, drafts, chosen, saved, address: forms.address.clone(), script: forms.script.clone() }
}

/// Names of secrets that a call needs and that are not set.
fn missing(definition: &Definition, set: BTreeSet<&str>) -> Vec<String> {
    match &definition.implementation {
        Implementation::Http { http } => {
            secret_names(http).into_iter().filter(|name| !set.contains(name.as_str())).collect()
        }
        Implementation::Worker {} | Implementation::Composite { .. } | Implementation::Mcp { .. } => Vec::new(),
    }
}

/// Publishes, withdraws or deletes the tool, and sets or deletes a secret.
async fn post(
    State(state): State<AppState>,
    viewer: Viewer,
    Path(slug): Path<String>,
    form: Form,
) -> Result<Response, PageRejection> {
    let page = page::read(&state.ledger, &viewer.scope, known(slug)?, page::Query::default()).await?;
    match change(&state.ledger, &viewer.scope, &page.tool.slug, &form).await {
        Ok((path, notice)) => Ok(redirect_with_notice(&path, notice).into_response()),
        Err(error) => {
            let problem = Problem::from(error);
            let forms = Forms { secret: secret_form(&form, &problem), ..Forms::of(&state) };
            Ok(answer(viewer, page, forms, Some(problem)).await)
        }
    }
}

/// State of the form that sets a secret, if that was refused.
fn secret_form(form: &Form, problem: &Problem) -> FormState {
    if form.text("do") != "set-secret" {
        return FormState::default();
    }
    let mut state = form.refused("secret", problem);
    if problem.code() == Code::StaleVersion {
        let message = "Another version was published in the meantime. Check where it sends the secrets, then set the \
                       secret again.";
        state.errors = vec![FieldError { field: None, message: message.to_owned() }];
    }
    for error in &mut state.errors {
        error.field = error.field.take().map(|field| if field == "value" { "password".to_owned() } else { field });
    }
    state
}

/// What a button of the page asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    /// Publish the working copy; with a revision, only if it is at that one.
    Publish(Option<u64>),
    Unpublish,
    Delete,
    SetSecret(NewSecret),
    /// Delete the secret with this name.
    DeleteSecret(String),
}

impl Step {
    fn of(form: &Form) -> ledger::Result<Self> {
        let name = || form.text("name").trim().to_owned();
        match form.text("do").as_str() {
            "publish" => Ok(Self::Publish(form.text("revision").parse().ok())),
            "unpublish" => Ok(Self::Unpublish),
            "delete" => Ok(Self::Delete),
            "set-secret" => {
                let (value, version) = (Secret::new(form.text("password")), form.text("version").parse().ok());
                Ok(Self::SetSecret(NewSecret { name: name(), value, version }))
            }
            "delete-secret" => Ok(Self::DeleteSecret(name())),
            _ => Err(ledger::Error::invalid("do", "publish, unpublish, delete, set-secret or delete-secret")),
        }
    }

    /// The path of the page after this step, and its notice.
    fn leads_to(&self, slug: &str) -> (String, &'static str) {
        let page = format!("/tools/{slug}");
        match self {
            Self::Publish(_) => (page, "tool_published"),
            Self::Unpublish => (page, "tool_unpublished"),
            Self::Delete => ("/tools".to_owned(), "tool_deleted"),
            Self::SetSecret(..) => (page, "tool_secret_set"),
            Self::DeleteSecret(_) => (page, "tool_secret_deleted"),
        }
    }
}

/// Does what the button says. Returns the path of the page after it, and its notice.
async fn change(ledger: &Ledger, scope: &Scope, slug: &str, form: &Form) -> ledger::Result<(String, &'static str)> {
    let step = Step::of(form)?;
    let next = step.leads_to(slug);
    match step {
        Step::Publish(revision) => drop(tool::publish(ledger, scope, slug, revision).await?),
        Step::Unpublish => drop(tool::unpublish(ledger, scope, slug).await?),
        Step::Delete => tool::delete(ledger, scope, slug).await?,
        Step::SetSecret(new) => tool::set_secret(ledger, scope, slug, new).await?,
        Step::DeleteSecret(name) => tool::delete_secret(ledger, scope, slug, &name).await?,
    }
    Ok(next)
}

/// Refuses everyone who may not change tools.
pub fn require_manager(scope: &Scope) -> Result<(), Problem> {
    if scope.may(Permission::ManageTools) {
        return Ok(());
    }
    Err(ledger::Error::Forbidden("only operators and admins can change tools").into())
}

async fn new(viewer: Viewer) -> Result<Response, PageRejection> {
    require_manager(&viewer.scope)?;
    Ok(editor(viewer, new_draft(), (FormState::default(), FormState::default()), StatusCode::OK).await)
}

async fn edit(
    State(state): State<AppState>,
    viewer: Viewer,
    Path(slug): Path<String>,
) -> Result<Response, PageRejection> {
    require_manager(&viewer.scope)?;
    let stored = tool::get_to_edit(&state.ledger, &viewer.scope, &known(slug)?).await?;
    Ok(editor(viewer, draft_of(stored), (FormState::default(), FormState::default()), StatusCode::OK).await)
}

/// The editor. `tried` is the state of the form that tests the tool.
pub async fn editor(
    viewer: Viewer,
    draft: Draft,
    (form, tried): (FormState, FormState),
    status: StatusCode,
) -> Response {
    render(status, move || ui::editor_page(&viewer.shell, &draft, &form, &tried)).await
}

/// Takes the form of a new tool. One that is sent after the sign-in has expired is kept by the sign-in page.
async fn create(
    State(state): State<AppState>,
    viewer: Result<Viewer, PageRejection>,
    parts: Parts,
    form: Form,
) -> Result<Response, PageRejection> {
    match viewer {
        Ok(viewer) => store_new(&state.ledger, viewer, &form).await,
        Err(rejection) => posted::keep_or_reject(&state, rejection, (&parts, &form), "/tools/new").await,
    }
}

async fn store_new(ledger: &Ledger, viewer: Viewer, form: &Form) -> Result<Response, PageRejection> {
    require_manager(&viewer.scope)?;
    let stored = match read(form) {
        Ok(definition) => {
            tool::create(ledger, &viewer.scope, NewTool { slug: form.optional("slug"), definition }).await
        }
        Err(issue) => Err(ledger::Error::Invalid(vec![issue])),
    };
    saved(viewer, new_draft(), form, stored).await
}

/// Takes the form of a tool that exists. One that is sent after the sign-in has expired is kept by the sign-in page.
async fn save(
    State(state): State<AppState>,
    viewer: Result<Viewer, PageRejection>,
    Path(slug): Path<String>,
    parts: Parts,
    form: Form,
) -> Result<Response, PageRejection> {
    let slug = known(slug)?;
    match viewer {
        Ok(viewer) => store_change(&state.ledger, viewer, &slug, &form).await,
        Err(rejection) => {
            posted::keep_or_reject(&state, rejection, (&parts, &form), &format!("/tools/{slug}/edit")).await
        }
    }
}

async fn store_change(ledger: &Ledger, viewer: Viewer, slug: &str, form: &Form) -> Result<Response, PageRejection> {
    require_manager(&viewer.scope)?;
    let before = tool::get_to_edit(ledger, &viewer.scope, slug).await?;
    let stored = match edited(form) {
        Ok(change) => tool::update(ledger, &viewer.scope, slug, change).await,
        Err(error) => Err(error),
    };
    saved(viewer, draft_of(before), form, stored).await
}

/// The change that makes a stored tool what the editor holds. All parts are written: one that was taken out of the text
/// gets its default.
fn edited(form: &Form) -> ledger::Result<ToolChange> {
    let definition = read(form).map_err(|issue| vec![issue])?.define()?;
    let revision = form.text("revision").parse().unwrap_or_default();
    Ok(ToolChange { revision, definition: definition.into() })
}

/// The page after a save, or the editor with the typed text and why it was not saved.
async fn saved(
    viewer: Viewer,
    draft: Draft,
    form: &Form,
    stored: ledger::Result<ToolRecord>,
) -> Result<Response, PageRejection> {
    let problem = match stored {
        Ok(tool) => return Ok(redirect_with_notice(&format!("/tools/{}", tool.slug), "tool_saved").into_response()),
        Err(error) => Problem::from(error),
    };
    let (draft, typed) = refused(draft, form, &problem);
    let mut response = editor(viewer, draft, (typed, FormState::default()), problem.status()).await;
    problem.mark(&mut response);
    Ok(response)
}

/// The editor of a refused save. If the tool was changed in the meantime, the next save replaces that change.
fn refused(draft: Draft, form: &Form, problem: &Problem) -> (Draft, FormState) {
    let typed = or_stale(placed(form, problem), problem);
    if problem.code() == Code::StaleVersion {
        return (draft, typed);
    }
    let revision = form.text("revision").parse().unwrap_or(draft.revision);
    (Draft { revision, ..draft }, typed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(fields: &[(&str, &str)]) -> Form {
        Form::of(fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
    }

    #[test]
    fn a_button_is_a_step_that_leads_to_a_page() {
        let step = |fields: &[(&str, &str)]| Step::of(&form(fields)).unwrap();
        assert_eq!(step(&[("do", "publish"), ("revision", "3")]), Step::Publish(Some(3)));
        assert_eq!(step(&[("do", "publish")]), Step::Publish(None));
        let set = step(&[("do", "set-secret"), ("name", " KEY "), ("password", " x "), ("version", "2")]);
        let new = NewSecret { name: "KEY".to_owned(), value: Secret::new(" x ".to_owned()), version: Some(2) };
        assert_eq!(set, Step::SetSecret(new));
        assert_eq!(set.leads_to("echo"), ("/tools/echo".to_owned(), "tool_secret_set"));
        assert_eq!(step(&[("do", "delete")]).leads_to("echo"), ("/tools".to_owned(), "tool_deleted"));
        assert!(
            matches!(Step::of(&form(&[("do", "archive")])), Err(ledger::Error::Invalid(wrong)) if wrong[0].field == "do")
        );
    }

    #[test]
    fn after_a_change_of_someone_else_the_next_save_replaces_it() {
        let stored = Draft { revision: 3, ..Draft::default() };
        let form = form(&[("revision", "2")]);
        let stale = ledger::Error::StaleRevision { given: 2, current: 3 }.into();
        assert_eq!(refused(stored.clone(), &form, &stale).0.revision, 3);
        let other = ledger::Error::invalid("name", "too long").into();
        assert_eq!(refused(stored, &form, &other).0.revision, 2);
    }
}
