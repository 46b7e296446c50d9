//! /tools/{slug}/links: makes, lists and revokes links to a tool.

use super::{
    form::Form,
    new_secret::{Made, carried},
    people::people_of,
    shell::{PageRejection, Viewer, redirect_with_notice, render_or_refuse},
    tool::known,
};
use crate::{cookie::NewSecret, problem::Problem, state::AppState, wire_map};
use app::{
    FormState,
    tool::{LinksProps, links_page},
};
use axum::{
    Router,
    extract::{Path, State},
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::get,
};
use domain::id::ToolLinkId;
use ledger::{Error, Ledger, Scope, page::tool_link as page, tool_link};

/// The notice after a link was revoked.
const REVOKED: &str = "tool_link_revoked";

pub fn router() -> Router<AppState> {
    Router::new().route("/tools/{slug}/links", get(show).post(post))
}

/// The path of the page of a tool.
fn path(slug: &str) -> String {
    format!("/tools/{slug}/links")
}

async fn show(
    State(state): State<AppState>,
    viewer: Viewer,
    Path(slug): Path<String>,
    made: Made,
) -> Result<Response, PageRejection> {
    let found = page::read(&state.ledger, &viewer.scope, &known(slug)?).await?;
    let (path, secret) = (path(&found.tool.slug), made.secret(NewSecret::ToolLink, &viewer).map(str::to_owned));
    let mut response = answer(viewer, found, secret, FormState::default(), None).await;
    made.forget(&state, NewSecret::ToolLink, &path, &mut response);
    Ok(response)
}

/// The page, with a link that was just made, or with what was refused.
async fn answer(
    viewer: Viewer,
    found: page::Page,
    secret: Option<String>,
    form: FormState,
    problem: Option<Problem>,
) -> Response {
    let new_link = secret.map(|secret| format!("{}/r/{secret}", viewer.origin));
    let props = LinksProps { new_link, form, ..links_props(found) };
    render_or_refuse(problem.as_ref(), move || links_page(&viewer.shell, &props)).await
}

fn links_props(found: page::Page) -> LinksProps {
    LinksProps {
        slug: found.tool.slug,
        name: found.tool.definition.name,
        is_allowed: found.is_allowed,
        links: found.links.into_iter().map(wire_map::tool_link).collect(),
        people: people_of(found.people),
        new_link: None,
        form: FormState::default(),
        now: found.now,
    }
}

/// Makes or revokes a link.
async fn post(
    State(state): State<AppState>,
    viewer: Viewer,
    Path(slug): Path<String>,
    form: Form,
) -> Result<Response, PageRejection> {
    let found = page::read(&state.ledger, &viewer.scope, &known(slug)?).await?;
    match change(&state.ledger, &viewer.scope, &found.tool.slug, &form).await {
        Ok(Some(secret)) => shown_once(&state, viewer, found, secret).await,
        Ok(None) => Ok(redirect_with_notice(&path(&found.tool.slug), REVOKED).into_response()),
        Err(error) => {
            let problem = Problem::from(error);
            Ok(answer(viewer, found, None, form.refused("link", &problem), Some(problem)).await)
        }
    }
}

/// Does what the button says. Returns the secret of a link that it made.
async fn change(ledger: &Ledger, scope: &Scope, slug: &str, form: &Form) -> ledger::Result<Option<String>> {
    match form.text("do").as_str() {
        "make" => {
            let days = form.text("days").trim().parse().map_err(|_| Error::invalid("days", "a whole number"))?;
            Ok(Some(tool_link::create(ledger, scope, slug, days).await?.1))
        }
        "revoke" => revoke(ledger, scope, form).await.map(|()| None),
        _ => Err(Error::invalid("do", "make or revoke")),
    }
}

async fn revoke(ledger: &Ledger, scope: &Scope, form: &Form) -> ledger::Result<()> {
    let id: ToolLinkId = form.text("link").parse().map_err(|_| Error::invalid("link", "the id of a link"))?;
    tool_link::revoke(ledger, scope, id).await
}

/// Redirects to the page that shows the new link once. If no cookie can carry it, the answer is that page.
async fn shown_once(
    state: &AppState,
    viewer: Viewer,
    found: page::Page,
    secret: String,
) -> Result<Response, PageRejection> {
    let slug = found.tool.slug;
    // With a fragment the browser would not focus the field with the address of the link.
    if let Some(response) = carried(state, &viewer, (NewSecret::ToolLink, &secret), (&path(&slug), "")) {
        return Ok(response);
    }
    let found = page::read(&state.ledger, &viewer.scope, &slug).await?;
    let mut response = answer(viewer, found, Some(secret), FormState::default(), None).await;
    *response.status_mut() = StatusCode::CREATED;
    Ok(response)
}
