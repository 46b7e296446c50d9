//! /actions: list, create, edit. Forms that run a task post to a server function.

use super::{
    action_undo::undone_by,
    approval_form,
    form::{Form, or_stale},
    search_line::{list_line, non_empty},
    sessions::entry,
    shell::{PageRejection, Viewer, redirect_with_notice, refuse, render},
};
use crate::{
    extract::{Id, Params},
    problem::Problem,
    state::AppState,
    wire_map,
};
use app::{
    FormState,
    action::{self as ui, ListProps, Props, ReviewOptions, Targets},
};
use axum::{
    Router,
    extract::State,
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::get,
};
use domain::{
    action::{ActionStatus, OutputType},
    clock::from_micros,
    id::{ActionId, EntityId, UserId},
    search::Field,
};
use ledger::{
    ActionRecord, Ledger, MemberRecord, Scope,
    action::{self, ActionChange, NewAction, TaskStatus},
    member,
    page::action as page,
};
use serde::Deserialize;
use serde_json::value::RawValue;
use wire::{Code, access::Member};

pub fn router() -> Router<AppState> {
    Router::new().route("/actions", get(list).post(create)).route("/actions/{id}", get(show).post(edit))
}

/// The query of the list. What cannot be read is ignored.
#[derive(Default, Deserialize)]
pub struct ListQuery {
    /// `archived`; active tasks otherwise.
    pub status: Option<String>,
    /// Words and conditions.
    pub q: Option<String>,
    /// Cursor of the page.
    pub cursor: Option<String>,
    /// Entity that a new task is about.
    pub target: Option<String>,
    /// Tasks that were just archived or restored.
    pub undo: Option<String>,
}

impl ListQuery {
    fn status(&self) -> ActionStatus {
        if self.status.as_deref() == Some("archived") { ActionStatus::Archived } else { ActionStatus::Active }
    }

    fn target(&self) -> Option<EntityId> {
        self.target.as_deref().and_then(|id| id.parse().ok())
    }
}

async fn list(
    State(state): State<AppState>,
    viewer: Viewer,
    Params(query): Params<ListQuery>,
) -> Result<Response, PageRejection> {
    let props = read_list(&state, &viewer, query, FormState::default()).await?;
    let status = if props.search.is_refused() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    Ok(render(status, move || ui::list_page(&viewer.shell, props)).await)
}

/// The page without what is read, and the line that narrows it.
fn search_of(query: &ListQuery, form: FormState) -> (ListProps, Option<String>) {
    let q = non_empty(query.q.as_ref()).unwrap_or_default().to_owned();
    let (line, search) = list_line(&q, &Field::OF_TASKS);
    let (undo, shows_archived) = (undone_by(query.undo.as_ref()), query.status() == ActionStatus::Archived);
    (ListProps { shows_archived, form, q, search, undo, ..ListProps::default() }, line)
}

/// Reads the list, with the state of a refused form for a new task.
pub async fn read_list(
    state: &AppState,
    viewer: &Viewer,
    query: ListQuery,
    form: FormState,
) -> Result<ListProps, PageRejection> {
    let (status, target) = (query.status(), query.target());
    let (shown, line) = search_of(&query, form);
    let list = page::list(&state.ledger, &viewer.scope, status, line, query.cursor, target).await?;
    let status_of = |newest: TaskStatus| newest.session_id.is_some().then(|| wire_map::task_status(newest));
    let actions = list.actions.into_iter().map(|(action, newest)| (wire_map::action(action), status_of(newest)));
    let FormChoices { members, reviewing, targets } = form_options(list.form_options, target);
    let (actions, next_cursor) = (actions.collect(), list.next_cursor);
    Ok(ListProps { reviewing, targets, actions, next_cursor, members, ..shown })
}

/// The choices of an action's form.
struct FormChoices {
    /// Members to whom it can be assigned.
    members: Vec<Member>,
    /// Groups and criteria sets for the review of its output.
    reviewing: ReviewOptions,
    /// Entities and agents.
    targets: Targets,
}

fn form_options(found: page::FormOptions, start: Option<EntityId>) -> FormChoices {
    let reviewing = ReviewOptions {
        groups: found.groups.into_iter().map(|group| group.slug).collect(),
        criteria_sets: found.criteria_sets.into_iter().map(|set| (set.id.to_string(), set.name)).collect(),
    };
    let start = start.map(|id| id.to_string()).unwrap_or_default();
    let targets = Targets { choices: super::entity::choices_of(found.targets), start, agents: found.agents };
    FormChoices { members: found.members.into_iter().map(wire_map::member).collect(), reviewing, targets }
}

async fn create(State(state): State<AppState>, viewer: Viewer, form: Form) -> Result<Response, PageRejection> {
    let members = member::list(&state.ledger, &viewer.scope).await?;
    match make(&state.ledger, &viewer.scope, &form, &members).await {
        Ok(action) => Ok(redirect_with_notice(&format!("/actions/{}", action.id), "action_created").into_response()),
        Err(problem) => {
            let refused = approval_form::refused(&form, "create", &problem);
            let props = read_list(&state, &viewer, ListQuery::default(), refused).await?;
            Ok(refuse(&problem, move || ui::list_page(&viewer.shell, props)).await)
        }
    }
}

/// Creates the action that the form describes, once if the form is sent twice.
async fn make(ledger: &Ledger, scope: &Scope, form: &Form, members: &[MemberRecord]) -> Result<ActionRecord, Problem> {
    let new = new_action(form, members)?;
    Ok(match form.optional("key") {
        Some(key) => action::create_once(ledger, scope, new, &key).await?,
        None => action::create(ledger, scope, new).await?,
    })
}

async fn show(State(state): State<AppState>, viewer: Viewer, Id(id): Id<ActionId>) -> Result<Response, PageRejection> {
    let props = read(&state, &viewer, id, viewer.form.clone()).await?;
    Ok(render(StatusCode::OK, move || ui::page(&viewer.shell, props)).await)
}

async fn read(state: &AppState, viewer: &Viewer, id: ActionId, form: FormState) -> Result<Props, PageRejection> {
    Ok(props(page::read(&state.ledger, &viewer.scope, id).await?, form))
}

fn props(page: page::Page, form: FormState) -> Props {
    let FormChoices { members, reviewing, targets } = form_options(page.form_options, page.action.target_entity_id);
    Props {
        reviewing,
        targets,
        action: wire_map::action(page.action),
        task_status: Some(wire_map::task_status(page.newest)),
        has_more_runs: page.has_more_runs,
        runs: page.runs.into_iter().map(entry).collect(),
        members,
        form,
    }
}

async fn edit(
    State(state): State<AppState>,
    viewer: Viewer,
    Id(id): Id<ActionId>,
    form: Form,
) -> Result<Response, PageRejection> {
    let members = member::list(&state.ledger, &viewer.scope).await?;
    let before = action::get(&state.ledger, &viewer.scope, id).await?;
    match save(&state.ledger, &viewer.scope, &before, &form, &members).await {
        Ok(_) => Ok(redirect_with_notice(&format!("/actions/{id}"), "action_saved").into_response()),
        Err(problem) => {
            let refused = or_stale(approval_form::refused(&form, "edit", &problem), &problem);
            let props = read(&state, &viewer, id, refused).await?;
            Ok(refuse(&problem, move || ui::page(&viewer.shell, props)).await)
        }
    }
}

/// Saves what the form changes.
async fn save(
    ledger: &Ledger,
    scope: &Scope,
    before: &ActionRecord,
    form: &Form,
    members: &[MemberRecord],
) -> Result<ActionRecord, Problem> {
    let change = change(form, members, &before.output_config)?;
    Ok(action::update(ledger, scope, before.id, change).await?)
}

fn new_action(form: &Form, members: &[MemberRecord]) -> Result<NewAction, Problem> {
    let documents = (object(form, "outputConfig")?, object(form, "metadata")?);
    let (output_config, metadata) = approval_form::merge(form, members, &[], documents.0, documents.1)?;
    Ok(NewAction {
        name: form.text("name").trim().to_owned(),
        slug: form.optional("slug"),
        description: Some(form.text("description")),
        agent_slug: form.optional("agentSlug"),
        assigned_to: assignee(form)?,
        target_entity_id: target(form)?,
        output_type: form.optional("outputType").as_deref().and_then(OutputType::parse),
        output_config,
        metadata,
    })
}

/// Reads a change from the form. The form sends all fields, so each is a change; an empty field clears an optional
/// value.
fn change(form: &Form, members: &[MemberRecord], before: &str) -> Result<ActionChange, Problem> {
    let empty = || Some("{}".to_owned());
    let kept = approval_form::criteria_sets(before);
    let documents = (object(form, "outputConfig")?, object(form, "metadata")?);
    let (output_config, metadata) = approval_form::merge(form, members, &kept, documents.0, documents.1)?;
    Ok(ActionChange {
        read_at: form.text("updatedAt").parse::<i64>().ok().map(from_micros),
        name: Some(form.text("name").trim().to_owned()),
        slug: form.optional("slug"),
        description: Some(form.text("description")),
        agent_slug: Some(form.optional("agentSlug")),
        assigned_to: Some(assignee(form)?),
        target_entity_id: Some(target(form)?),
        output_type: form.optional("outputType").as_deref().and_then(OutputType::parse),
        output_config: output_config.or_else(empty),
        metadata: metadata.or_else(empty),
        status: form.optional("status").as_deref().and_then(ActionStatus::parse),
    })
}

fn assignee(form: &Form) -> Result<Option<UserId>, Problem> {
    let Some(text) = form.optional("assignedTo") else { return Ok(None) };
    text.parse().map(Some).map_err(|_| Problem::field(Code::InvalidRequest, "assignedTo", "a member of this workspace"))
}

fn target(form: &Form) -> Result<Option<EntityId>, Problem> {
    let Some(text) = form.optional("targetEntityId") else { return Ok(None) };
    let wrong = |_| Problem::field(Code::InvalidRequest, "targetEntityId", "the id of an entity of this workspace");
    text.parse().map(Some).map_err(wrong)
}

/// Reads a JSON document from a field.
fn object(form: &Form, field: &str) -> Result<Option<String>, Problem> {
    let Some(text) = form.optional(field) else { return Ok(None) };
    match serde_json::from_str::<&RawValue>(&text) {
        Ok(json) => Ok(Some(json.get().to_owned())),
        Err(error) => {
            Err(Problem::field(Code::InvalidRequest, field, format!("not valid JSON (line {})", error.line())))
        }
    }
}
