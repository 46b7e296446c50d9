//! /settings/audit: the audit list, for admins.

use super::{
    people::people_of,
    shell::{PageRejection, Viewer, render},
};
use crate::{extract::Params, problem::Problem, state::AppState, wire_map};
use app::audit::{self as ui, Filter, Known, Names, Props};
use axum::{Router, extract::State, http::StatusCode, response::Response, routing::get};
use domain::{audit::Kind, member::MemberStatus};
use ledger::{ListPage, audit::ListEntries, page::audit as page};
use serde::Deserialize;
use std::collections::HashMap;
use wire::Code;

pub fn router() -> Router<AppState> {
    Router::new().route("/settings/audit", get(show))
}

/// The query. A form sends empty texts for what is not chosen.
#[derive(Default, Deserialize)]
struct ShowQuery {
    kind: Option<String>,
    actor: Option<String>,
    cursor: Option<String>,
}

async fn show(
    State(state): State<AppState>,
    viewer: Viewer,
    Params(query): Params<ShowQuery>,
) -> Result<Response, PageRejection> {
    let filter = filter(&query)?;
    let cursor = query.cursor.filter(|cursor| !cursor.is_empty());
    let is_newest = cursor.is_none();
    let page = ListPage { cursor, ..ListPage::default() };
    let wanted = ListEntries { kind: filter.kind, actor: filter.actor.clone(), page, ..ListEntries::default() };
    let found = page::read(&state.ledger, &viewer.scope, wanted).await?;
    let props = Props { filter, is_newest, ..props(found) };
    Ok(render(StatusCode::OK, move || ui::page(&viewer.shell, props)).await)
}

fn filter(query: &ShowQuery) -> Result<Filter, Problem> {
    let given = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
    let unknown = || Problem::field(Code::InvalidRequest, "kind", "a kind of the audit list");
    let kind = given(&query.kind).map(|kind| Kind::parse(&kind).ok_or_else(unknown)).transpose()?;
    Ok(Filter { kind, actor: given(&query.actor) })
}

/// Converts what is stored.
fn props(found: page::Page) -> Props {
    let page::Page { listed, people, groups, invitations, views, tools } = found;
    let mut targets = HashMap::new();
    let mut know = |id: String, name: String, href: Option<String>| targets.insert(id, Known { name, href });
    for member in &people.members {
        let is_present = member.status != MemberStatus::Removed;
        let href = is_present.then(|| format!("/settings/members/{}", member.user_id));
        know(member.user_id.to_string(), member.display_name().to_owned(), href);
    }
    for (id, name) in &people.tokens {
        know(id.to_string(), name.clone(), Some("/settings#tokens".to_owned()));
    }
    for group in groups {
        know(group.id.to_string(), group.name, Some("/settings#groups".to_owned()));
    }
    for invitation in invitations {
        know(invitation.id.to_string(), invitation.email, Some("/settings#members".to_owned()));
    }
    for tool in tools {
        know(tool.id.to_string(), tool.definition.name, Some(format!("/tools/{}", tool.slug)));
    }
    let views: HashMap<_, _> =
        views.into_iter().map(|view| (view.id.to_string(), (view.title, format!("/views/{}", view.slug)))).collect();
    for (id, (title, href)) in &views {
        know(id.clone(), title.clone(), Some(href.clone()));
    }
    let entries: Vec<_> = listed.items.into_iter().map(wire_map::audit_entry).collect();
    for entry in entries.iter().filter(|entry| entry.kind == Kind::LinkCreated) {
        let detail: serde_json::Value = serde_json::from_str(entry.detail.get()).unwrap_or_default();
        let view = detail["view"].as_str().and_then(|id| views.get(id));
        if let (Some(target), Some((title, href))) = (entry.target, view) {
            know(target.id.to_string(), title.clone(), Some(href.clone()));
        }
    }
    let actors = people_of(people).0;
    let mut choices: Vec<_> = actors.iter().map(|(actor, name)| (actor.clone(), name.clone())).collect();
    choices.sort_by(|a, b| a.1.cmp(&b.1));
    let names = Names { actors, targets };
    Props { entries, names, people: choices, next_cursor: listed.next_cursor, ..Props::default() }
}
