//! /sessions/{id}/share: makes links to a session. /settings/share-links: lists and revokes them.

use super::{
    form::Form,
    new_secret::{Made, carried},
    people::people_of,
    shell::{PageRejection, Viewer, redirect_with_notice, render, render_or_refuse},
};
use crate::{
    cookie::NewSecret,
    extract::{Id, Params},
    problem::Problem,
    state::AppState,
    wire_map,
};
use app::{
    FormState,
    share::{self as ui, ListProps, Props},
};
use axum::{
    Router,
    extract::State,
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::get,
};
use domain::id::{SessionId, ShareLinkId};
use ledger::{Error, Ledger, Scope, page::share_link as page, share_link};
use serde::Deserialize;

/// Path of the list.
const LIST: &str = "/settings/share-links";
/// The notice after a link was revoked.
const REVOKED: &str = "share_link_revoked";

pub fn router() -> Router<AppState> {
    Router::new()
        .route("/sessions/{id}/share", get(show).post(post))
        .route("/settings/share-links", get(list).post(revoke_listed))
}

async fn show(
    State(state): State<AppState>,
    viewer: Viewer,
    Id(id): Id<SessionId>,
    made: Made,
) -> Result<Response, PageRejection> {
    let found = page::of_session(&state.ledger, &viewer.scope, id).await?;
    let secret = made.secret(NewSecret::ShareLink, &viewer).map(str::to_owned);
    let mut response = answer(viewer, found, secret, FormState::default(), None).await;
    made.forget(&state, NewSecret::ShareLink, &path(id), &mut response);
    Ok(response)
}

/// The path of the page of a session.
fn path(id: SessionId) -> String {
    format!("/sessions/{id}/share")
}

/// The page, with a link that was just made, or with what was refused.
async fn answer(
    viewer: Viewer,
    found: page::OfSession,
    secret: Option<String>,
    form: FormState,
    problem: Option<Problem>,
) -> Response {
    let props = Props {
        session: wire_map::session(found.session),
        audience: found.audience,
        links: found.links.into_iter().map(wire_map::share_link).collect(),
        people: people_of(found.people),
        new_link: secret.map(|secret| format!("{}/s/{secret}", viewer.origin)),
        form,
        now: found.now,
    };
    render_or_refuse(problem.as_ref(), move || ui::page(&viewer.shell, &props)).await
}

/// Makes or revokes a link.
async fn post(
    State(state): State<AppState>,
    viewer: Viewer,
    Id(id): Id<SessionId>,
    form: Form,
) -> Result<Response, PageRejection> {
    let found = page::of_session(&state.ledger, &viewer.scope, id).await?;
    match change(&state.ledger, &viewer.scope, id, &form).await {
        Ok(Some(secret)) => shown_once(&state, viewer, id, secret).await,
        Ok(None) => Ok(redirect_with_notice(&path(id), REVOKED).into_response()),
        Err(error) => {
            let problem = Problem::from(error);
            Ok(answer(viewer, found, None, form.refused("share", &problem), Some(problem)).await)
        }
    }
}

/// Does what the button says. Returns the secret of a link that it made.
async fn change(ledger: &Ledger, scope: &Scope, id: SessionId, form: &Form) -> ledger::Result<Option<String>> {
    match form.text("do").as_str() {
        "share" => {
            let days = form.text("days").trim().parse().map_err(|_| Error::invalid("days", "a whole number"))?;
            Ok(Some(share_link::create(ledger, scope, id, days).await?.1))
        }
        "revoke" => revoke(ledger, scope, form).await.map(|()| None),
        _ => Err(Error::invalid("do", "share or revoke")),
    }
}

async fn revoke(ledger: &Ledger, scope: &Scope, form: &Form) -> ledger::Result<()> {
    let id: ShareLinkId = form.text("link").parse().map_err(|_| Error::invalid("link", "the id of a link"))?;
    share_link::revoke(ledger, scope, id).await
}

/// Redirects to the page that shows the new link once. If no cookie can carry it, the answer is that page.
async fn shown_once(
    state: &AppState,
    viewer: Viewer,
    id: SessionId,
    secret: String,
) -> Result<Response, PageRejection> {
    // With a fragment the browser would not focus the field with the address of the link.
    if let Some(response) = carried(state, &viewer, (NewSecret::ShareLink, &secret), (&path(id), "")) {
        return Ok(response);
    }
    let found = page::of_session(&state.ledger, &viewer.scope, id).await?;
    let mut response = answer(viewer, found, Some(secret), FormState::default(), None).await;
    *response.status_mut() = StatusCode::CREATED;
    Ok(response)
}

#[derive(Default, Deserialize)]
struct ListQuery {
    cursor: Option<String>,
}

async fn list(
    State(state): State<AppState>,
    viewer: Viewer,
    Params(query): Params<ListQuery>,
) -> Result<Response, PageRejection> {
    let props = listed(&state, &viewer, query.cursor).await?;
    Ok(render(StatusCode::OK, move || ui::list_page(&viewer.shell, props)).await)
}

async fn listed(state: &AppState, viewer: &Viewer, cursor: Option<String>) -> Result<ListProps, Error> {
    let is_newest = cursor.is_none();
    Ok(list_props(page::read(&state.ledger, &viewer.scope, cursor).await?, is_newest))
}

fn list_props(found: page::Page, is_newest: bool) -> ListProps {
    let titles = found.sessions.into_iter().map(|session| (session.id.to_string(), session.title));
    ListProps {
        links: found.listed.items.into_iter().map(wire_map::share_link).collect(),
        titles: titles.collect(),
        people: people_of(found.people),
        is_newest,
        next_cursor: found.listed.next_cursor,
        refusals: Vec::new(),
        now: found.now,
    }
}

/// Revokes a link from the list.
async fn revoke_listed(State(state): State<AppState>, viewer: Viewer, form: Form) -> Result<Response, PageRejection> {
    match revoke(&state.ledger, &viewer.scope, &form).await {
        Ok(()) => Ok(redirect_with_notice(LIST, REVOKED).into_response()),
        Err(error) => {
            let problem = Problem::from(error);
            let props = ListProps { refusals: problem.lines(), ..listed(&state, &viewer, None).await? };
            Ok(render_or_refuse(Some(&problem), move || ui::list_page(&viewer.shell, props)).await)
        }
    }
}
