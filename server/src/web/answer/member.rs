//! The form of a member: /views/{slug}/answer.

use super::{
    flow::{save, show, submit},
    posted_form::{PostedForm, query_pairs},
    site::{Site, options_of},
    visit::Visit,
};
use crate::{
    problem::Problem,
    state::AppState,
    web::shell::{PageRejection, Viewer, render, signed_in},
};
use app::form_page::{self as ui, Link, SignedOutProps};
use axum::{
    Router,
    extract::{Path, RawQuery, State},
    http::StatusCode,
    response::Response,
    routing::{get, post},
};
use ledger::{page::answer as page, response::Respondent};

pub fn router() -> Router<AppState> {
    Router::new()
        .route("/views/{slug}/answer", get(show_form).post(submit_form))
        .route("/views/{slug}/answer/draft", post(save_form))
}

async fn site(state: &AppState, viewer: &Viewer, slug: &str, visit: &Visit) -> Result<Site, PageRejection> {
    let page = page::read(&state.ledger, &viewer.scope, slug).await?;
    let (respondent, action) = (Respondent::member(&viewer.scope)?, format!("/views/{slug}/answer"));
    let back = Some(Link { href: "/today".to_owned(), text: "Back to Shiftbook".to_owned() });
    let entities = options_of(page.entities);
    Ok(Site { back, entities, ..Site::of_member(respondent, page.view_id, action, visit.frame(state)) })
}

async fn show_form(
    State(state): State<AppState>,
    viewer: Viewer,
    Path(slug): Path<String>,
    RawQuery(query): RawQuery,
    visit: Visit,
) -> Result<Response, PageRejection> {
    let site = site(&state, &viewer, &slug, &visit).await?;
    show(&state, site, &query_pairs(query.as_deref())).await
}

async fn submit_form(
    State(state): State<AppState>,
    viewer: Result<Viewer, PageRejection>,
    Path(slug): Path<String>,
    visit: Visit,
    posted: PostedForm,
) -> Result<Response, PageRejection> {
    let Some(viewer) = signed_in(viewer)? else { return signed_out(&state, &slug, &visit, posted).await };
    let site = site(&state, &viewer, &slug, &visit).await?;
    submit(&state, site, &posted).await
}

async fn save_form(
    State(state): State<AppState>,
    viewer: Result<Viewer, PageRejection>,
    Path(slug): Path<String>,
    visit: Visit,
    posted: PostedForm,
) -> Result<Response, PageRejection> {
    let Some(viewer) = signed_in(viewer)? else { return signed_out(&state, &slug, &visit, posted).await };
    let site = site(&state, &viewer, &slug, &visit).await?;
    save(&state, site, &visit, &posted).await
}

/// Keeps the typed text on a page from which it can be sent after signing in elsewhere.
async fn signed_out(
    state: &AppState,
    slug: &str,
    visit: &Visit,
    posted: PostedForm,
) -> Result<Response, PageRejection> {
    if !domain::slug::is_slug(slug) {
        return Err(Problem::new(wire::Code::NotFound).into());
    }
    Ok(keep_typed(state, format!("/views/{slug}/answer"), visit, posted).await)
}

/// The page that has the typed text, for a person who is signed out. `action` is the path that it is sent to.
pub(super) async fn keep_typed(state: &AppState, action: String, visit: &Visit, posted: PostedForm) -> Response {
    let props = SignedOutProps { frame: visit.frame(state), action, kept: posted.everything() };
    render(StatusCode::UNAUTHORIZED, move || ui::signed_out_page(&props)).await
}
