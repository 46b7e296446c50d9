//! /views: list, make, one of them with its publication and links, edit.

use super::{
    form::Form,
    fragment::wants_fragment,
    new_secret::{Made, carried},
    people::people_of,
    shell::{PageRejection, Viewer, redirect_with_notice, render},
    view_form::{draft_of, placed, press, read},
};
use crate::{cookie::NewSecret, embed_snippet::snippet, problem::Problem, state::AppState, wire_map};
use app::{
    FormState,
    view::{self as ui, Draft, EditorProps, ListProps, Props},
};
use axum::{
    Router,
    extract::{Path, Query, State},
    http::{HeaderMap, HeaderValue, StatusCode, header::CACHE_CONTROL},
    response::{Html, IntoResponse, Response},
    routing::get,
};
use domain::slug::is_slug;
use ledger::{
    ViewRecord,
    page::view as page,
    view::{self, NewView, ViewChange},
    view_link::{self, NewViewLink},
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
    let entry = |(view, counts): (ViewRecord, ledger::ResponseCounts)| ui::Entry {
        view: wire_map::view(view),
        submitted: counts.submitted,
        drafts: counts.drafts,
    };
    let views = listed.items.into_iter().map(entry).collect();
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
    made: Made,
) -> Result<Response, PageRejection> {
    let page = page::read(&state.ledger, &viewer.scope, known(slug)?).await?;
    let secret = made.secret(NewSecret::FormLink, &viewer);
    let path = format!("/views/{}", page.view.slug);
    let shown = Shown { new_link: secret.map(str::to_owned), ..Shown::default() };
    let mut response = answer(viewer, page, shown, None).await;
    if secret.is_some() {
        made.forget(&state, NewSecret::FormLink, &path, &mut response);
    }
    Ok(response)
}

/// What the page shows besides what is stored.
#[derive(Default)]
struct Shown {
    /// Secret of a link that was just made.
    new_link: Option<String>,
    /// State of the form that makes a link.
    link_form: FormState,
}

async fn answer(viewer: Viewer, page: page::Page, shown: Shown, problem: Option<Problem>) -> Response {
    // The form of a link shows its own errors.
    let refusals = problem.as_ref().filter(|_| !shown.link_form.is_refused());
    let refusals = refusals.map(|problem| {
        let wire = problem.to_wire(String::new());
        let fields: Vec<_> = wire.errors.iter().map(|e| format!("{}: {}", e.field, e.message)).collect();
        if fields.is_empty() { vec![wire.detail.unwrap_or(wire.title)] } else { fields }
    });
    let new_link = shown.new_link.map(|secret| ui::NewFormLink {
        url: format!("{}/f/{secret}", viewer.origin),
        snippet: snippet(&viewer.origin, &secret),
    });
    let is_new = new_link.is_some();
    let props = Props {
        form: wire_map::view(page.view),
        versions: page.versions.into_iter().map(wire_map::view_version).collect(),
        has_more_versions: page.has_more_versions,
        people: people_of(page.people),
        refusals: refusals.unwrap_or_default(),
        links: ui::LinksProps {
            links: page.links.into_iter().map(wire_map::view_link).collect(),
            new_link,
            form: shown.link_form,
            now: page.now,
        },
        preview: page.preview,
    };
    let status = problem.as_ref().map_or(StatusCode::OK, Problem::status);
    let mut response = render(status, move || ui::page(&viewer.shell, props)).await;
    if is_new {
        response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    if let Some(problem) = problem {
        problem.mark(&mut response);
    }
    response
}

/// Publishes, closes or deletes the view, and makes or revokes a link.
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
        "link" => return create_link(&state, viewer, page, &form).await,
        "revoke" => match form.text("link").parse() {
            Ok(link) => view_link::revoke(ledger, scope, link).await.map(|()| (path, "view_link_revoked")),
            Err(_) => Err(ledger::Error::invalid("link", "the id of a link")),
        },
        _ => Err(ledger::Error::invalid("do", "publish, unpublish, delete, link or revoke")),
    };
    match done {
        Ok((path, notice)) => Ok(redirect_with_notice(&path, notice).into_response()),
        Err(error) => Ok(answer(viewer, page, Shown::default(), Some(error.into())).await),
    }
}

/// Makes a link. The redirect leads to the page that shows it once.
async fn create_link(
    state: &AppState,
    viewer: Viewer,
    page: page::Page,
    form: &Form,
) -> Result<Response, PageRejection> {
    let (ledger, scope) = (&state.ledger, &viewer.scope);
    let made = match form.text("days").trim().parse() {
        Ok(days) => {
            let new = NewViewLink { days, note: form.text("note"), request_id: None };
            view_link::create_noted(ledger, scope, page.view.id, new).await
        }
        Err(_) => Err(ledger::Error::invalid("days", "a whole number")),
    };
    let secret = match made {
        Ok((_, secret)) => secret,
        Err(error) => {
            let problem = Problem::from(error);
            let shown = Shown { link_form: form.refused("link", &problem), ..Shown::default() };
            return Ok(answer(viewer, page, shown, Some(problem)).await);
        }
    };
    let slug = page.view.slug.clone();
    let path = format!("/views/{slug}");
    // With a fragment the browser would not focus the field with the address of the link.
    if let Some(response) = carried(state, &viewer, (NewSecret::FormLink, &secret), (&path, "")) {
        return Ok(response);
    }
    let page = page::read(ledger, scope, slug).await?;
    let shown = Shown { new_link: Some(secret), ..Shown::default() };
    let mut response = answer(viewer, page, shown, None).await;
    *response.status_mut() = StatusCode::CREATED;
    Ok(response)
}

async fn new(State(state): State<AppState>, viewer: Viewer) -> Result<Response, PageRejection> {
    let offered = page::editor(&state.ledger, &viewer.scope, None).await?;
    let draft = Draft { rows: vec![ui::Row::default()], ..Draft::default() };
    editor(&state, viewer, offered, draft, FormState::default(), StatusCode::OK).await
}

async fn edit(
    State(state): State<AppState>,
    viewer: Viewer,
    Path(slug): Path<String>,
) -> Result<Response, PageRejection> {
    let offered = page::editor(&state.ledger, &viewer.scope, Some(known(slug)?)).await?;
    let draft = offered.view.as_ref().map(draft_of).unwrap_or_default();
    editor(&state, viewer, offered, draft, FormState::default(), StatusCode::OK).await
}

async fn editor(
    state: &AppState,
    viewer: Viewer,
    offered: page::Editor,
    draft: Draft,
    form: FormState,
    status: StatusCode,
) -> Result<Response, PageRejection> {
    let preview = page::preview(&state.ledger, &viewer.scope, draft.fields.clone()).await?;
    let page::Editor { criteria_sets, entity_types, groups, .. } = offered;
    let props = EditorProps { draft, preview, criteria_sets, entity_types, groups, form };
    Ok(render(status, move || ui::editor_page(&viewer.shell, props)).await)
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
        let fields = page::preview(&state.ledger, &viewer.scope, draft.fields).await?;
        let shown = ui::preview_fragment(&draft.title, &draft.introduction, &fields);
        return Ok(Html(shown).into_response());
    }
    if form.text("do") != "save" {
        press(&mut draft, &form.text("do"));
        let kept = placed(&form, None);
        return editor(state, viewer, offered, draft, kept, StatusCode::OK).await;
    }
    let saved = match wrong.is_empty() {
        true => store(state, &viewer, offered.view.as_ref(), &draft, &form).await,
        false => Err(ledger::Error::Invalid(wrong).into()),
    };
    match saved {
        Ok(slug) => Ok(redirect_with_notice(&format!("/views/{slug}"), "view_saved").into_response()),
        Err(problem) => {
            let refused = placed(&form, Some(&problem));
            let mut response = editor(state, viewer, offered, draft, refused, problem.status()).await?;
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
