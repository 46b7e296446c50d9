//! /entities: list, create, one of them, edit.

use super::{
    form::{Form, or_stale},
    people::people_of,
    search_line::list_line,
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
    entity::{self as ui, Choices, ListProps, Props, Relations},
};
use axum::{
    Router,
    extract::{Path, State},
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::get,
};
use domain::{
    entity::{FieldDef, Values, display_text, parse_text},
    id::{EntityId, EntityTypeId},
    issue::Issue,
    search::Field,
};
use ledger::{
    EntityRecord, EntityTypeRecord, Ledger, Scope,
    entity::{self, EntityChange, NewEntity},
    entity_type,
    page::entity as page,
};
use serde::Deserialize;
use std::collections::BTreeMap;
use wire::Code;

pub fn router() -> Router<AppState> {
    Router::new()
        .route("/entities", get(list).post(create))
        .route("/entities/{id}", get(show).post(edit))
        .route("/t/{tenant}/{type}/{id}", get(show_by_path))
}

/// The address of the list.
#[derive(Default, Deserialize)]
pub struct ListQuery {
    /// Slug of a type.
    #[serde(rename = "type")]
    pub slug: Option<String>,
    /// Words and conditions.
    pub q: Option<String>,
    /// Where the page begins.
    pub cursor: Option<String>,
}

/// What the list shows.
struct Filter {
    /// Slug of a type.
    picked: Option<String>,
    /// Words and conditions; may be empty.
    q: String,
    cursor: Option<String>,
}

impl From<ListQuery> for Filter {
    /// The choice "any" of a form arrives as an empty field.
    fn from(query: ListQuery) -> Self {
        Self {
            picked: query.slug.filter(|slug| !slug.is_empty()),
            q: query.q.map(|q| q.trim().to_owned()).unwrap_or_default(),
            cursor: query.cursor,
        }
    }
}

async fn list(
    State(state): State<AppState>,
    viewer: Viewer,
    Params(query): Params<ListQuery>,
) -> Result<Response, PageRejection> {
    let props = read_list(&state, &viewer.scope, query, FormState::default()).await?;
    let status = if props.search.is_refused() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    Ok(render(status, move || ui::list_page(&viewer.shell, props)).await)
}

/// Shows the list with a refused form for a new entity or a new type.
pub async fn refused_list(
    state: &AppState,
    viewer: Viewer,
    slug: Option<String>,
    form: FormState,
    problem: &Problem,
) -> Result<Response, PageRejection> {
    let props = read_list(state, &viewer.scope, ListQuery { slug, ..ListQuery::default() }, form).await?;
    Ok(refuse(problem, move || ui::list_page(&viewer.shell, props)).await)
}

/// Reads the list, with the state of a refused form for a new entity or a new type.
pub async fn read_list(
    state: &AppState,
    scope: &Scope,
    query: ListQuery,
    form: FormState,
) -> Result<ListProps, PageRejection> {
    let filter = Filter::from(query);
    let (line, search) = list_line(&filter.q, &Field::OF_ENTITIES);
    let list = page::list(&state.ledger, scope, filter.picked.clone(), line, filter.cursor.clone()).await?;
    Ok(ListProps { search, ..list_props(list, filter, form) })
}

fn list_props(list: page::List, filter: Filter, form: FormState) -> ListProps {
    ListProps {
        types: list.types.into_iter().map(wire_map::entity_type).collect(),
        picked: filter.picked,
        q: filter.q,
        search: FormState::default(),
        entities: list.entities.into_iter().map(wire_map::entity).collect(),
        next_cursor: list.next_cursor,
        cursor: filter.cursor,
        relations: relations_of(list.relations),
        form,
        bulk: FormState::default(),
    }
}

/// Entities to choose from, as forms offer them.
pub fn choices_of(found: ledger::page::Choices) -> Choices {
    let options = found.options.into_iter().map(|(id, title)| (id.to_string(), title)).collect();
    Choices { options, has_more: found.has_more }
}

/// Converts entities to choices for each type that relations point to.
pub fn relations_of(found: BTreeMap<String, ledger::page::Choices>) -> Relations {
    found.into_iter().map(|(slug, found)| (slug, choices_of(found))).collect()
}

async fn create(State(state): State<AppState>, viewer: Viewer, form: Form) -> Result<Response, PageRejection> {
    let type_id: EntityTypeId = form.text("typeId").parse().map_err(|_| Problem::new(Code::NotFound))?;
    let of = entity_type::get(&state.ledger, &viewer.scope, type_id).await?;
    match make(&state.ledger, &viewer.scope, &of, &form).await {
        Ok(made) => Ok(redirect_with_notice(&format!("/entities/{}", made.id), "entity_created").into_response()),
        Err(error) => {
            let problem = Problem::from(error);
            let refused = form.refused("create", &problem);
            refused_list(&state, viewer, Some(of.slug), refused, &problem).await
        }
    }
}

/// Creates the entity that the form describes.
async fn make(ledger: &Ledger, scope: &Scope, of: &EntityTypeRecord, form: &Form) -> ledger::Result<EntityRecord> {
    entity::create(ledger, scope, new_entity(of, form)?).await
}

fn new_entity(of: &EntityTypeRecord, form: &Form) -> Result<NewEntity, ledger::Error> {
    let title = form.text("title").trim().to_owned();
    Ok(NewEntity { type_id: of.id, title, fields: values(&of.fields, form)? })
}

/// Reads the values of the form. An empty field clears its value.
fn values(fields: &[FieldDef], form: &Form) -> Result<Values, ledger::Error> {
    let mut values = Values::new();
    let mut wrong = Vec::new();
    for field in fields {
        let name = format!("fields.{}", field.slug);
        match parse_text(field, &form.text(&name)) {
            Ok(value) => {
                values.insert(field.slug.clone(), value.unwrap_or_default());
            }
            Err(message) => wrong.push(Issue::new(name, message)),
        }
    }
    if wrong.is_empty() { Ok(values) } else { Err(ledger::Error::Invalid(wrong)) }
}

#[derive(Default, Deserialize)]
struct ShowQuery {
    versions: Option<String>,
}

async fn show(
    State(state): State<AppState>,
    viewer: Viewer,
    Id(id): Id<EntityId>,
    Params(query): Params<ShowQuery>,
) -> Result<Response, PageRejection> {
    let page = page::read(&state.ledger, &viewer.scope, id, query.versions).await?;
    let props = shown_page(page, FormState::default());
    Ok(render(StatusCode::OK, move || ui::page(&viewer.shell, props)).await)
}

async fn show_by_path(
    State(state): State<AppState>,
    viewer: Viewer,
    Path((tenant, slug, id)): Path<(String, String, String)>,
    Params(query): Params<ShowQuery>,
) -> Result<Response, PageRejection> {
    let nowhere = || PageRejection::from(Problem::new(Code::NotFound));
    let id: EntityId = id.parse().map_err(|_| nowhere())?;
    let page = page::read(&state.ledger, &viewer.scope, id, query.versions).await?;
    let here = viewer.shell.viewer.as_ref().is_some_and(|me| me.tenant.slug == tenant);
    if !here || page.entity.type_slug != slug {
        return Err(nowhere());
    }
    let props = shown_page(page, FormState::default());
    Ok(render(StatusCode::OK, move || ui::page(&viewer.shell, props)).await)
}

async fn edit(
    State(state): State<AppState>,
    viewer: Viewer,
    Id(id): Id<EntityId>,
    form: Form,
) -> Result<Response, PageRejection> {
    if form.text("do") == "erase" {
        return erase(&state, viewer, id, &form).await;
    }
    let found = entity::get(&state.ledger, &viewer.scope, id).await?;
    let of = entity_type::get(&state.ledger, &viewer.scope, found.type_id).await?;
    match save(&state.ledger, &viewer.scope, (&found, &of), &form).await {
        Ok(_) => Ok(redirect_with_notice(&format!("/entities/{id}"), "entity_saved").into_response()),
        Err(error) => refused_edit(&state, viewer, id, &form, &error.into()).await,
    }
}

/// Erases the entity, if the word that confirms it was typed.
async fn erase(state: &AppState, viewer: Viewer, id: EntityId, form: &Form) -> Result<Response, PageRejection> {
    if form.text("confirm").trim() != "erase" {
        let problem = Problem::field(Code::InvalidRequest, "confirm", "type the word erase");
        let props =
            shown_page(page::read(&state.ledger, &viewer.scope, id, None).await?, form.refused("erase", &problem));
        return Ok(refuse(&problem, move || ui::page(&viewer.shell, props)).await);
    }
    entity::erase(&state.ledger, &viewer.scope, id).await?;
    Ok(redirect_with_notice(&format!("/entities/{id}"), "entity_erased").into_response())
}

/// Saves what the form changes.
async fn save(
    ledger: &Ledger,
    scope: &Scope,
    (found, of): (&EntityRecord, &EntityTypeRecord),
    form: &Form,
) -> ledger::Result<EntityRecord> {
    entity::update(ledger, scope, found.id, changed(&of.fields, found, form)?).await
}

/// Shows the entity as it is now, with the refused form.
async fn refused_edit(
    state: &AppState,
    viewer: Viewer,
    id: EntityId,
    form: &Form,
    problem: &Problem,
) -> Result<Response, PageRejection> {
    let refused = or_stale(form.refused("edit", problem), problem);
    let props = shown_page(page::read(&state.ledger, &viewer.scope, id, None).await?, refused);
    Ok(refuse(problem, move || ui::page(&viewer.shell, props)).await)
}

/// Reads a change from the form. Unchanged values are left out, because their type may no longer permit them.
fn changed(fields: &[FieldDef], found: &EntityRecord, form: &Form) -> Result<EntityChange, ledger::Error> {
    let touched: Vec<FieldDef> = fields
        .iter()
        .filter(|f| {
            let before = found.fields.get(&f.slug).map(display_text).unwrap_or_default();
            form.text(&format!("fields.{}", f.slug)).trim() != before.trim()
        })
        .cloned()
        .collect();
    Ok(EntityChange {
        version: form.text("version").parse().unwrap_or_default(),
        title: Some(form.text("title").trim().to_owned()),
        fields: values(&touched, form)?,
    })
}

fn shown_page(page: page::Page, form: FormState) -> Props {
    Props {
        relations: relations_of(page.relations),
        statuses: entity::status_map(&page.marked_by),
        older: older(page.entity.id, &page.versions),
        entity: wire_map::entity(page.entity),
        of: wire_map::entity_type(page.of),
        titles: page.titles.into_iter().collect(),
        sessions: page.sessions.into_iter().map(wire_map::entity_session).collect(),
        responses: page.responses.iter().map(|one| (one.session_id.to_string(), one.saved_at)).collect(),
        tasks: page.tasks.into_iter().map(wire_map::action).collect(),
        versions: page.versions.into_iter().map(wire_map::entity_version).collect(),
        versions_max: page::VERSIONS as usize,
        people: people_of(page.people),
        form,
    }
}

/// The link to versions that the page does not show; `None` if it shows all.
fn older(id: EntityId, listed: &[ledger::EntityVersionRecord]) -> Option<String> {
    let is_last = listed.len() <= page::VERSIONS as usize;
    let last = listed.get(page::VERSIONS as usize - 1).filter(|_| !is_last)?;
    Some(format!("/entities/{id}?versions={}", entity::cursor_after(last.version)))
}
