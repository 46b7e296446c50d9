//! `POST /entities/erase`: erases the selected entities of the list, or all of it, once a page has named them.

use super::{
    entity::{ListQuery, read_list},
    form::Form,
    shell::{PageRejection, Viewer, local_path, redirect_to, refuse, render_or_refuse},
};
use crate::{problem::Problem, state::AppState};
use app::{FormState, entity as ui};
use axum::{
    Router,
    extract::State,
    response::{IntoResponse, Response},
    routing::post,
};
use domain::id::EntityId;
use ledger::{
    Error,
    entity::{self, Erasable, EraseMany, Erasing, ShownEntity},
};
use wire::Code;

/// The refusal of a form without entities.
const NO_ENTITY: &str = "Select at least one entity.";
/// The refusal of a form with entities that cannot be erased.
const NONE_LEFT: &str = "The selected entities are erased already or not there.";

pub fn router() -> Router<AppState> {
    Router::new().route("/entities/erase", post(erase))
}

async fn erase(State(state): State<AppState>, viewer: Viewer, form: Form) -> Result<Response, PageRejection> {
    match answer(&state, &viewer, &form).await {
        Ok(Answer::Ask(props, problem)) => {
            Ok(render_or_refuse(problem.as_ref(), move || ui::erase_page(&viewer.shell, *props)).await)
        }
        Ok(Answer::Done(notice)) => {
            Ok(redirect_to(local_path(form.optional("next").as_deref()), notice).into_response())
        }
        Err(error @ Error::Invalid(_)) => refused(&state, viewer, &form, error).await,
        Err(error) => Err(error.into()),
    }
}

/// The answer to the form.
enum Answer {
    /// What would be erased, and why the confirmation was refused if it was.
    Ask(Box<ui::EraseProps>, Option<Problem>),
    /// The notice of the list.
    Done(&'static str),
}

/// Erases the entities if their number was typed, at the versions that the form names. Otherwise asks for it.
async fn answer(state: &AppState, viewer: &Viewer, form: &Form) -> Result<Answer, Error> {
    if !form.has("confirm") {
        let ids = if form.has("all") { listed(state, viewer, form).await? } else { selected(form)? };
        return question(state, viewer, form, &ids, None).await;
    }
    let shown = confirmed_entities(form)?;
    if let Some(problem) = not_confirmed(form, shown.len()) {
        return question(state, viewer, form, &ids_of(&shown), Some(problem)).await;
    }
    Ok(done(entity::erase_many(&state.ledger, &viewer.scope, &shown).await?))
}

/// What erasing these entities would do, and why the confirmation was refused if it was.
async fn question(
    state: &AppState,
    viewer: &Viewer,
    form: &Form,
    ids: &[EntityId],
    refusal: Option<Problem>,
) -> Result<Answer, Error> {
    let found = entity::erasing(&state.ledger, &viewer.scope, ids).await?;
    if found.entities.is_empty() {
        return Err(Error::invalid("entity", if ids.is_empty() { NO_ENTITY } else { NONE_LEFT }));
    }
    Ok(Answer::Ask(Box::new(erase_props(found, form, refusal.as_ref())), refusal))
}

fn erase_props(found: Erasing, form: &Form, refusal: Option<&Problem>) -> ui::EraseProps {
    let erasable = |one: Erasable| ui::Erasable {
        id: one.id.to_string(),
        title: one.title,
        type_name: one.type_name,
        version: one.version,
        values: one.values,
        sessions: one.sessions,
    };
    ui::EraseProps {
        entities: found.entities.into_iter().map(erasable).collect(),
        left_out: found.left_out,
        next: local_path(form.optional("next").as_deref()).to_owned(),
        form: refusal.map(|problem| form.refused("erase", problem)).unwrap_or_default(),
    }
}

/// Why the form does not confirm the erasure of so many entities. `None` if it does.
fn not_confirmed(form: &Form, count: usize) -> Option<Problem> {
    let number = count.to_string();
    let is_confirmed = count > 0 && form.text("confirm").trim() == number;
    (!is_confirmed).then(|| Problem::field(Code::InvalidRequest, "confirm", format!("type the number {number}")))
}

/// What the list says afterwards.
const fn done(done: EraseMany) -> Answer {
    Answer::Done(if done.refused == 0 { "entities_erased" } else { "entities_refused" })
}

/// The entities of the list that the form was on, the newest.
async fn listed(state: &AppState, viewer: &Viewer, form: &Form) -> Result<Vec<EntityId>, Error> {
    entity::newest(&state.ledger, &viewer.scope, form.optional("type"), form.optional("q")).await
}

fn ids_of(shown: &[ShownEntity]) -> Vec<EntityId> {
    shown.iter().map(|entity| entity.id).collect()
}

/// The entities whose check boxes are ticked.
fn selected(form: &Form) -> Result<Vec<EntityId>, Error> {
    form.text("entity").lines().map(id_of).collect()
}

/// The entities of the confirmation, each as `id@version`.
fn confirmed_entities(form: &Form) -> Result<Vec<ShownEntity>, Error> {
    form.text("entity").lines().map(shown_one).collect()
}

fn shown_one(line: &str) -> Result<ShownEntity, Error> {
    let wrong = || Error::invalid("entity", "an id and a version");
    let (id, version) = line.split_once('@').ok_or_else(wrong)?;
    Ok(ShownEntity { id: id_of(id)?, version: version.parse().map_err(|_| wrong())? })
}

fn id_of(text: &str) -> Result<EntityId, Error> {
    text.parse::<EntityId>().map_err(|error| Error::invalid("entity", error.to_string()))
}

/// The list with what is wrong with the form.
async fn refused(state: &AppState, viewer: Viewer, form: &Form, error: Error) -> Result<Response, PageRejection> {
    let problem = Problem::from(error);
    let query = ListQuery { slug: form.optional("type"), q: form.optional("q"), cursor: form.optional("cursor") };
    let mut props = read_list(state, &viewer.scope, query, FormState::default()).await?;
    props.bulk = form.refused(ui::BULK_FORM, &problem);
    Ok(refuse(&problem, move || ui::list_page(&viewer.shell, props)).await)
}
