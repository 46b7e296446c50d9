//! `POST /actions/decisions`: archives or restores the selected tasks of the list, or all of it.

use super::{
    action::{ListQuery, read_list},
    action_undo::undoable,
    form::Form,
    shell::{PageRejection, Viewer, local_path, redirect_to, refuse, render},
};
use crate::{problem::Problem, state::AppState};
use app::{FormState, action as ui};
use axum::{
    Router,
    extract::State,
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::post,
};
use domain::{action::ActionStatus, id::ActionId, limit::BULK_ACTIONS_MAX};
use ledger::{
    Error,
    action::{self, Archiving, ListActions, OpenAction},
};

/// The refusal of a form without tasks.
const NO_TASK: &str = "Select at least one task.";

pub fn router() -> Router<AppState> {
    Router::new().route("/actions/decisions", post(decide))
}

async fn decide(State(state): State<AppState>, viewer: Viewer, form: Form) -> Result<Response, PageRejection> {
    match answer(&state, &viewer, &form).await {
        Ok(Answer::Ask(props)) => Ok(render(StatusCode::OK, move || ui::archive_page(&viewer.shell, props)).await),
        Ok(Answer::Done(address, notice)) => Ok(redirect_to(&address, notice).into_response()),
        Err(error @ Error::Invalid(_)) => refused(&state, viewer, &form, error).await,
        Err(error) => Err(error.into()),
    }
}

/// The answer to the form.
enum Answer {
    /// What would happen, and a button that confirms it.
    Ask(ui::ArchiveProps),
    /// The address that follows, and the notice.
    Done(String, &'static str),
}

/// Does what the form decides. Before tasks with sessions that have not ended are archived, the page says so once.
async fn answer(state: &AppState, viewer: &Viewer, form: &Form) -> Result<Answer, Error> {
    let (status, notice) = decision_of(form)?;
    let ids = if form.has("all") { listed(state, viewer, form, status).await? } else { tasks_of(form)? };
    if let Some(props) = question(state, viewer, form, (&ids, status)).await? {
        return Ok(Answer::Ask(props));
    }
    let done = action::set_statuses(&state.ledger, &viewer.scope, &ids, status).await?;
    let next = local_path(form.optional("next").as_deref()).to_owned();
    let notice = if done.refused == 0 { notice } else { "tasks_refused" };
    Ok(Answer::Done(undoable(next, &done.changed), notice))
}

/// What to confirm before tasks get this status. `None` if nothing is, or if it was confirmed.
async fn question(
    state: &AppState,
    viewer: &Viewer,
    form: &Form,
    (ids, status): (&[ActionId], ActionStatus),
) -> Result<Option<ui::ArchiveProps>, Error> {
    if status != ActionStatus::Archived || form.has("confirmed") {
        return Ok(None);
    }
    let found = action::archiving(&state.ledger, &viewer.scope, ids).await?;
    Ok((!found.open.is_empty()).then(|| archive_props(found, ids, form)))
}

fn archive_props(found: Archiving, ids: &[ActionId], form: &Form) -> ui::ArchiveProps {
    let open = |task: OpenAction| ui::OpenTask {
        id: task.id.to_string(),
        name: task.name,
        pending: task.pending,
        others: task.others,
    };
    ui::ArchiveProps {
        tasks: ids.iter().map(ActionId::to_string).collect(),
        total: found.active,
        open: found.open.into_iter().map(open).collect(),
        next: local_path(form.optional("next").as_deref()).to_owned(),
    }
}

/// The status that the form gives tasks, and the notice that says so.
fn decision_of(form: &Form) -> Result<(ActionStatus, &'static str), Error> {
    match form.text("decision").as_str() {
        "archive" => Ok((ActionStatus::Archived, "tasks_archived")),
        "restore" => Ok((ActionStatus::Active, "tasks_restored")),
        _ => Err(Error::invalid("decision", "archive or restore")),
    }
}

/// The tasks of the list that the form was on, the newest: those that do not have the status.
async fn listed(state: &AppState, viewer: &Viewer, form: &Form, status: ActionStatus) -> Result<Vec<ActionId>, Error> {
    let before = if status == ActionStatus::Active { ActionStatus::Archived } else { ActionStatus::Active };
    let (line, limit) = (form.optional("q"), u32::try_from(BULK_ACTIONS_MAX).unwrap_or(1));
    let wanted = ListActions { status: Some(before), line, limit, ..ListActions::default() };
    let found = action::list(&state.ledger, &viewer.scope, wanted).await?;
    let ids: Vec<ActionId> = found.items.into_iter().map(|action| action.id).collect();
    if ids.is_empty() { Err(Error::invalid("task", NO_TASK)) } else { Ok(ids) }
}

/// The tasks whose check boxes are ticked.
fn tasks_of(form: &Form) -> Result<Vec<ActionId>, Error> {
    let text = form.text("task");
    let ids: Result<Vec<ActionId>, _> = text.lines().map(str::parse::<ActionId>).collect();
    let ids = ids.map_err(|error| Error::invalid("task", error.to_string()))?;
    if ids.is_empty() { Err(Error::invalid("task", NO_TASK)) } else { Ok(ids) }
}

/// The list with what is wrong with the form.
async fn refused(state: &AppState, viewer: Viewer, form: &Form, error: Error) -> Result<Response, PageRejection> {
    let problem = Problem::from(error);
    let status = (form.text("decision") == "restore").then(|| "archived".to_owned());
    let query = ListQuery { status, q: form.optional("q"), ..ListQuery::default() };
    let mut props = read_list(state, &viewer, query, FormState::default()).await?;
    props.bulk = form.refused(ui::BULK_FORM, &problem);
    Ok(refuse(&problem, move || ui::list_page(&viewer.shell, props)).await)
}
