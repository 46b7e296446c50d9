//! /sessions/{id}/promote: writes the result of a tool to an entity by a task.

use super::{
    entity::choices_of,
    form::Form,
    shell::{PageRejection, Viewer, render_or_refuse},
};
use crate::{
    extract::{Id, Params},
    problem::Problem,
    state::AppState,
    wire_map,
};
use app::{
    FormState,
    tool::{self as ui, PromoteField, PromoteProps, PromoteTarget},
};
use axum::{
    Router,
    extract::State,
    response::{IntoResponse, Redirect, Response},
    routing::get,
};
use domain::{
    id::{ActionId, EntityId, SessionId},
    session::Session,
};
use ledger::{
    Error, Ledger, Scope,
    page::tool_result::{self as page, Page, Target},
    tool_run::{PromoteRun, promote},
};
use serde::Deserialize;
use std::{collections::BTreeMap, str::FromStr};

/// Name of the form.
const FORM: &str = "promote";
/// What names of controls for parts of the result begin with.
const FIELDS: &str = "fields.";

pub fn router() -> Router<AppState> {
    Router::new().route("/sessions/{id}/promote", get(show).post(write))
}

#[derive(Default, Deserialize)]
struct ShowQuery {
    task: Option<String>,
    entity: Option<String>,
}

async fn show(
    State(state): State<AppState>,
    viewer: Viewer,
    Id(id): Id<SessionId>,
    Params(query): Params<ShowQuery>,
) -> Result<Response, PageRejection> {
    let typed = [("task", query.task), ("entity", query.entity)];
    let typed = typed.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    answer(&state, viewer, id, &Form::of(typed.collect()), None).await
}

async fn write(
    State(state): State<AppState>,
    viewer: Viewer,
    Id(id): Id<SessionId>,
    form: Form,
) -> Result<Response, PageRejection> {
    match promoted(&state.ledger, &viewer.scope, id, &form).await {
        Ok(written) => Ok(Redirect::to(&format!("/sessions/{}", written.id)).into_response()),
        Err(error) => answer(&state, viewer, id, &form, Some(error.into())).await,
    }
}

/// The page for what was chosen, with what was refused.
async fn answer(
    state: &AppState,
    viewer: Viewer,
    id: SessionId,
    form: &Form,
    refused: Option<Problem>,
) -> Result<Response, PageRejection> {
    let (query, unread) = match chosen(form) {
        Ok(query) => (query, None),
        Err(error) => (page::Query::default(), Some(Problem::from(error))),
    };
    let mut found = page::read(&state.ledger, &viewer.scope, id, query).await?;
    let unfit = found.refused.take().map(|issue| Problem::from(Error::Invalid(vec![issue])));
    let problem = refused.or(unread).or(unfit);
    let props = props(found, placed(form, problem.as_ref()));
    Ok(render_or_refuse(problem.as_ref(), move || ui::promote_page(&viewer.shell, &props)).await)
}

/// The task and the entity of the form.
fn chosen(form: &Form) -> ledger::Result<page::Query> {
    Ok(page::Query { action_id: id_of(form, "task")?, entity_id: id_of(form, "entity")? })
}

fn id_of<T: FromStr>(form: &Form, field: &str) -> ledger::Result<Option<T>> {
    let parse = |text: String| text.parse::<T>().map_err(|_| Error::invalid(field, "an id, or nothing"));
    form.optional(field).map(parse).transpose()
}

/// Writes the parts that the form names.
async fn promoted(ledger: &Ledger, scope: &Scope, id: SessionId, form: &Form) -> ledger::Result<Session> {
    let page::Query { action_id, entity_id } = chosen(form)?;
    let action_id = action_id.ok_or_else(|| Error::invalid("task", "choose a task"))?;
    let fields = pointers(form);
    if fields.is_empty() {
        return Err(Error::invalid("fields", "name a part of the result for at least one field"));
    }
    promote(ledger, scope, id, PromoteRun { action_id, entity_id, fields }).await
}

/// The JSON Pointers of the form by field. `#` before one is left out, so that `#` alone is the whole result.
fn pointers(form: &Form) -> BTreeMap<String, String> {
    let typed = form.below(FIELDS).map(|(slug, pointer)| (slug, pointer.trim()));
    let typed = typed.filter(|(_, pointer)| !pointer.is_empty());
    typed.map(|(slug, pointer)| (slug.to_owned(), pointer.strip_prefix('#').unwrap_or(pointer).to_owned())).collect()
}

/// The state of the form, with errors at its controls.
fn placed(form: &Form, problem: Option<&Problem>) -> FormState {
    let Some(problem) = problem else { return form.state_without_errors(FORM) };
    let mut state = form.refused(FORM, problem);
    for error in &mut state.errors {
        error.field = error.field.take().map(|field| control_of(&field));
    }
    state
}

fn control_of(path: &str) -> String {
    match (path, path.strip_prefix("result.")) {
        ("actionId", _) => "task".to_owned(),
        ("entityId", _) => "entity".to_owned(),
        (_, Some(slug)) => format!("{FIELDS}{slug}"),
        (other, None) => other.to_owned(),
    }
}

fn props(found: Page, form: FormState) -> PromoteProps {
    PromoteProps {
        session: wire_map::session(found.session),
        tasks: found.tasks.into_iter().map(|(id, name)| (id.to_string(), name)).collect(),
        has_more_tasks: found.has_more_tasks,
        entities: choices_of(found.entities),
        target: found.target.map(target),
        form,
    }
}

/// A task and an entity as one text.
pub fn choice_key(task: ActionId, entity: Option<EntityId>) -> String {
    format!("{task}/{}", entity.map(|id| id.to_string()).unwrap_or_default())
}

/// Converts what a task writes.
pub fn target(found: Target) -> PromoteTarget {
    let field = |field: page::TargetField| PromoteField {
        slug: field.slug,
        name: field.name,
        pointer: field.pointer,
        is_required: field.is_required,
    };
    PromoteTarget {
        task: found.action_id.to_string(),
        name: found.name,
        chosen: choice_key(found.action_id, found.chosen),
        entity: found.entity.map(|(id, title)| (id.to_string(), title)),
        fields: found.fields.into_iter().map(field).collect(),
        pointers: found.pointers,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_are_by_field_and_errors_are_at_their_controls() {
        let typed = [("task", "x"), ("fields.stage", " /body/stage "), ("fields.size", ""), ("fields.note", "#")];
        let form = Form::of(typed.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect());
        let expected = [("note", ""), ("stage", "/body/stage")].map(|(slug, at)| (slug.to_owned(), at.to_owned()));
        assert_eq!(pointers(&form), BTreeMap::from(expected));
        for (path, control) in
            [("result.stage", "fields.stage"), ("fields.size", "fields.size"), ("actionId", "task"), ("id", "id")]
        {
            assert_eq!(control_of(path), control);
        }
        assert!(chosen(&form).is_err(), "the task is no id");
    }
}
