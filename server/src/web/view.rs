//! /views: list, make, one of them with its publication, edit.

use super::{
    form::Form,
    fragment::wants_fragment,
    people::people_of,
    shell::{PageRejection, Viewer, redirect_with_notice, render},
    view_form::{draft_of, placed, press, read},
};
use crate::{problem::Problem, state::AppState, wire_map};
use app::{
    FormState,
    view::{self as ui, Draft, EditorProps, ListProps, Props},
};
use axum::{
    Router,
    extract::{Path, Query, State},
    http::{HeaderMap, StatusCode},
    response::{Html, IntoResponse, Response},
    routing::get,
};
use domain::slug::is_slug;
use ledger::{
    ViewRecord,
    page::view as page,
    view::{self, NewView, ViewChange},
};
use serde::Deserialize;

pub fn router() -> Router<AppState> {
    Router::new()
        .route("/views", get(list).post(create))
        .route("/views/new", get(new))
        .route("/views/{slug}", get(show).post(post))
        .route("/views/{slug}/edit", get(edit).post(save))
}

#[derive(Default, Deserialize)]
struct ListQuery {
    cursor: Option<String>,
}

async fn list(
    State(state): State<AppState>,
    viewer: Viewer,
    Query(query): Query<ListQuery>,
) -> Result<Response, PageRejection> {
    let listed = page::list(&state.ledger, &viewer.scope, query.cursor).await?;
    let views = listed.items.into_iter().map(wire_map::view).collect();
    let props = ListProps { views, next_cursor: listed.next_cursor };
    Ok(render(StatusCode::OK, move || ui::list_page(&viewer.shell, props)).await)
}

/// The slug of a path. What is no slug names no view.
fn known(slug: String) -> Result<String, Problem> {
    if is_slug(&slug) { Ok(slug) } else { Err(ledger::Error::NotFound("view").into()) }
}

async fn show(
    State(state): State<AppState>,
    viewer: Viewer,
    Path(slug): Path<String>,
) -> Result<Response, PageRejection> {
    let page = page::read(&state.ledger, &viewer.scope, known(slug)?).await?;
    Ok(answer(viewer, page, None).await)
}

async fn answer(viewer: Viewer, page: page::Page, problem: Option<Problem>) -> Response {
    let refusals = problem.as_ref().map(|problem| problem.to_wire(String::new()));
    let refusals = refusals.map(|wire| {
        let fields: Vec<_> = wire.errors.iter().map(|e| format!("{}: {}", e.field, e.message)).collect();
        if fields.is_empty() { vec![wire.detail.unwrap_or(wire.title)] } else { fields }
    });
    let props = Props {
        form: wire_map::view(page.view),
        versions: page.versions.into_iter().map(wire_map::view_version).collect(),
        has_more_versions: page.has_more_versions,
        people: people_of(page.people),
        refusals: refusals.unwrap_or_default(),
    };
    let status = problem.as_ref().map_or(StatusCode::OK, Problem::status);
    let mut response = render(status, move || ui::page(&viewer.shell, props)).await;
    if let Some(problem) = problem {
        problem.mark(&mut response);
    }
    response
}

/// Publishes, closes or deletes the view.
async fn post(
    State(state): State<AppState>,
    viewer: Viewer,
    Path(slug): Path<String>,
    form: Form,
) -> Result<Response, PageRejection> {
    let page = page::read(&state.ledger, &viewer.scope, known(slug)?).await?;
    let (ledger, scope, id) = (&state.ledger, &viewer.scope, page.view.id);
    let path = format!("/views/{}", page.view.slug);
    let done = match form.text("do").as_str() {
        "publish" => {
            let published = view::publish(ledger, scope, id, form.text("revision").parse().ok()).await;
            published.map(|_| (path, "view_published"))
        }
        "unpublish" => view::unpublish(ledger, scope, id).await.map(|_| (path, "view_unpublished")),
        "delete" => view::delete(ledger, scope, id).await.map(|()| ("/views".to_owned(), "view_deleted")),
        _ => Err(ledger::Error::invalid("do", "publish, unpublish or delete")),
    };
    match done {
        Ok((path, notice)) => Ok(redirect_with_notice(&path, notice).into_response()),
        Err(error) => Ok(answer(viewer, page, Some(error.into())).await),
    }
}

async fn new(State(state): State<AppState>, viewer: Viewer) -> Result<Response, PageRejection> {
    let offered = page::editor(&state.ledger, &viewer.scope, None).await?;
    let draft = Draft { rows: vec![ui::Row::default()], ..Draft::default() };
    Ok(editor(viewer, offered, draft, FormState::default(), StatusCode::OK).await)
}

async fn edit(
    State(state): State<AppState>,
    viewer: Viewer,
    Path(slug): Path<String>,
) -> Result<Response, PageRejection> {
    let offered = page::editor(&state.ledger, &viewer.scope, Some(known(slug)?)).await?;
    let draft = offered.view.as_ref().map(draft_of).unwrap_or_default();
    Ok(editor(viewer, offered, draft, FormState::default(), StatusCode::OK).await)
}

async fn editor(viewer: Viewer, offered: page::Editor, draft: Draft, form: FormState, status: StatusCode) -> Response {
    let page::Editor { criteria_sets, entity_types, groups, .. } = offered;
    let props = EditorProps { draft, criteria_sets, entity_types, groups, form };
    render(status, move || ui::editor_page(&viewer.shell, props)).await
}

async fn create(
    State(state): State<AppState>,
    viewer: Viewer,
    headers: HeaderMap,
    form: Form,
) -> Result<Response, PageRejection> {
    let offered = page::editor(&state.ledger, &viewer.scope, None).await?;
    posted(&state, viewer, headers, offered, form).await
}

async fn save(
    State(state): State<AppState>,
    viewer: Viewer,
    Path(slug): Path<String>,
    headers: HeaderMap,
    form: Form,
) -> Result<Response, PageRejection> {
    let offered = page::editor(&state.ledger, &viewer.scope, Some(known(slug)?)).await?;
    posted(&state, viewer, headers, offered, form).await
}

/// Saves what the editor holds, or answers the changed editor: a question more, less or in another place.
async fn posted(
    state: &AppState,
    viewer: Viewer,
    headers: HeaderMap,
    offered: page::Editor,
    form: Form,
) -> Result<Response, PageRejection> {
    let (mut draft, wrong) = read(&form, offered.view.as_ref());
    if wants_fragment(&headers) {
        let shown = ui::preview_fragment(&draft.title, &draft.introduction, &draft.fields);
        return Ok(Html(shown).into_response());
    }
    if form.text("do") != "save" {
        press(&mut draft, &form.text("do"));
        let kept = placed(&form, None);
        return Ok(editor(viewer, offered, draft, kept, StatusCode::OK).await);
    }
    let saved = match wrong.is_empty() {
        true => store(state, &viewer, offered.view.as_ref(), &draft, &form).await,
        false => Err(ledger::Error::Invalid(wrong).into()),
    };
    match saved {
        Ok(slug) => Ok(redirect_with_notice(&format!("/views/{slug}"), "view_saved").into_response()),
        Err(problem) => {
            let refused = placed(&form, Some(&problem));
            let mut response = editor(viewer, offered, draft, refused, problem.status()).await;
            problem.mark(&mut response);
            Ok(response)
        }
    }
}

async fn store(
    state: &AppState,
    viewer: &Viewer,
    before: Option<&ViewRecord>,
    draft: &Draft,
    form: &Form,
) -> Result<String, Problem> {
    let (title, introduction) = (draft.title.clone(), draft.introduction.clone());
    let (fields, publication) = (draft.fields.clone(), draft.publication.clone());
    let stored = match before {
        None => {
            let new = NewView { title, slug: form.optional("slug"), introduction, fields, publication };
            view::create(&state.ledger, &viewer.scope, new).await?
        }
        Some(before) => {
            let change = ViewChange {
                revision: draft.revision,
                title: Some(title),
                introduction: Some(introduction),
                fields: Some(fields),
                publication: Some(publication),
            };
            view::update(&state.ledger, &viewer.scope, before.id, change).await?
        }
    };
    Ok(stored.slug)
}
