//! The form of a member: /views/{slug}/answer.

use super::{
    flow::{Site, entity_types, frame, save, show, submit},
    posted_form::{PostedForm, query_pairs},
};
use crate::{
    nonce::Nonce,
    problem::Problem,
    state::AppState,
    web::shell::{PageRejection, Viewer, render},
};
use app::form_page::{self as ui, EntityOptions, Link, SignedOutProps};
use axum::{
    Extension, Router,
    extract::{Path, RawQuery, State},
    http::{HeaderMap, StatusCode},
    response::Response,
    routing::{get, post},
};
use ledger::{entity, entity_type, response::Respondent, view};

/// Most entities that a form offers for one question. Others are answered by their id.
const ENTITIES_MAX: u32 = 200;

pub fn router() -> Router<AppState> {
    Router::new()
        .route("/views/{slug}/answer", get(show_form).post(submit_form))
        .route("/views/{slug}/answer/draft", post(save_form))
}

async fn site(
    state: &AppState,
    viewer: &Viewer,
    slug: &str,
    headers: &HeaderMap,
    nonce: Option<&Nonce>,
) -> Result<Site, PageRejection> {
    let view = view::get_by_slug(&state.ledger, &viewer.scope, slug).await?;
    let entities = match view.version {
        Some(version) => {
            let version = view::get_version(&state.ledger, &viewer.scope, view.id, version).await?;
            entities(state, viewer, &entity_types(&version.fields)).await?
        }
        None => EntityOptions::new(),
    };
    Ok(Site {
        respondent: Respondent::member(&viewer.scope)?,
        view_id: view.id,
        request_id: None,
        action: format!("/views/{slug}/answer"),
        hidden: Vec::new(),
        frame: frame(state, headers, nonce),
        back: Some(Link { href: "/today".to_owned(), text: "Back to Shiftbook".to_owned() }),
        says_why: true,
        has_cookies: true,
        entities,
    })
}

/// The entities that can be chosen, by the key of the field. A type with too many is left out.
pub async fn entities(
    state: &AppState,
    viewer: &Viewer,
    types: &[(String, String)],
) -> Result<EntityOptions, PageRejection> {
    let mut options = EntityOptions::new();
    if types.is_empty() {
        return Ok(options);
    }
    let known =
        entity_type::list(&state.ledger, &viewer.scope, ledger::ListPage { limit: 1_000, cursor: None }).await?;
    for (key, slug) in types {
        let Some(of_type) = known.items.iter().find(|known| known.slug == *slug) else { continue };
        let query =
            entity::ListEntities { type_id: Some(of_type.id), title_contains: None, limit: ENTITIES_MAX, cursor: None };
        let listed = entity::list(&state.ledger, &viewer.scope, query).await?;
        if listed.next_cursor.is_none() {
            let choices = listed.items.into_iter().map(|entity| (entity.id.to_string(), entity.title));
            options.insert(key.clone(), choices.collect());
        }
    }
    Ok(options)
}

async fn show_form(
    State(state): State<AppState>,
    viewer: Viewer,
    Path(slug): Path<String>,
    RawQuery(query): RawQuery,
    nonce: Option<Extension<Nonce>>,
    headers: HeaderMap,
) -> Result<Response, PageRejection> {
    let site = site(&state, &viewer, &slug, &headers, nonce.as_deref()).await?;
    show(&state, site, &query_pairs(query.as_deref())).await
}

async fn submit_form(
    State(state): State<AppState>,
    viewer: Result<Viewer, PageRejection>,
    Path(slug): Path<String>,
    nonce: Option<Extension<Nonce>>,
    headers: HeaderMap,
    posted: PostedForm,
) -> Result<Response, PageRejection> {
    let viewer = match viewer {
        Ok(viewer) => viewer,
        Err(PageRejection::Redirect(_)) => return signed_out(&state, &slug, &headers, nonce.as_deref(), posted).await,
        Err(problem) => return Err(problem),
    };
    let site = site(&state, &viewer, &slug, &headers, nonce.as_deref()).await?;
    submit(&state, site, &posted).await
}

async fn save_form(
    State(state): State<AppState>,
    viewer: Result<Viewer, PageRejection>,
    Path(slug): Path<String>,
    nonce: Option<Extension<Nonce>>,
    headers: HeaderMap,
    posted: PostedForm,
) -> Result<Response, PageRejection> {
    let viewer = match viewer {
        Ok(viewer) => viewer,
        Err(PageRejection::Redirect(_)) => return signed_out(&state, &slug, &headers, nonce.as_deref(), posted).await,
        Err(problem) => return Err(problem),
    };
    let site = site(&state, &viewer, &slug, &headers, nonce.as_deref()).await?;
    save(&state, site, &headers, &posted).await
}

/// Keeps what was typed on a page from which it can be sent after signing in elsewhere.
async fn signed_out(
    state: &AppState,
    slug: &str,
    headers: &HeaderMap,
    nonce: Option<&Nonce>,
    posted: PostedForm,
) -> Result<Response, PageRejection> {
    if !domain::slug::is_slug(slug) {
        return Err(Problem::new(wire::Code::NotFound).into());
    }
    Ok(keep_typed(state, format!("/views/{slug}/answer"), headers, nonce, posted).await)
}

/// The page that has what was typed, for a person who is signed out. `action` is the path that it is sent to.
pub(super) async fn keep_typed(
    state: &AppState,
    action: String,
    headers: &HeaderMap,
    nonce: Option<&Nonce>,
    posted: PostedForm,
) -> Response {
    let props = SignedOutProps { frame: frame(state, headers, nonce), action, kept: posted.everything() };
    render(StatusCode::UNAUTHORIZED, move || ui::signed_out_page(&props)).await
}
