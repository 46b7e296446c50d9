//! The sidebar of a session: related sessions, input and output.

use super::title::row_title;
use crate::{
    result::{write_result, write_value},
    text::{html::Html, shorten::one_line},
    ui::badge::StatusBadge,
};
use domain::session::{UNTITLED, WaitsFor};
use leptos::prelude::*;
use serde_json::value::RawValue;
use wire::session::{Dependencies, Neighbour, Session};

/// Longest title in the sidebar, characters.
const TITLE_CHARS_MAX: usize = 120;

/// Sessions that the sidebar of a session links to.
pub struct RelatedSessions<'a> {
    pub parent: Option<&'a Session>,
    pub children: &'a [Session],
    pub has_more_children: bool,
    pub graph: &'a Dependencies,
    pub retries: &'a [Session],
}

/// The content of the sidebar; `None` if it would be empty.
pub fn sidebar(session: &Session, related_sessions: &RelatedSessions<'_>) -> Option<impl IntoView + use<>> {
    let related = |title: &'static str, sessions: Vec<(String, AnyView)>| {
        (!sessions.is_empty()).then(|| {
            let items = sessions
                .into_iter()
                .map(|(link, badge)| view! { <li><span inner_html=link></span>{badge}</li> })
                .collect::<Vec<_>>();
            view! { <section><h2>{title}</h2><ul>{items}</ul></section> }
        })
    };
    let line =
        |s: &Session| (link(&s.id.to_string(), &row_title(s)), view! { <StatusBadge status=s.status/> }.into_any());
    let beside = |s: &Neighbour| {
        (link(&s.session_id.to_string(), &neighbour_title(s)), view! { <StatusBadge status=s.status/> }.into_any())
    };
    let RelatedSessions { parent, children, has_more_children, graph, retries } = related_sessions;
    let of = session.retry_of.map(|id| {
        view! { <section><h2>"Run again from"</h2><p><a href=format!("/sessions/{id}")>"an earlier session"</a></p></section> }
    });
    let input = document("Input", session.input.as_deref(), None);
    let result = document("Result", session.result.as_deref(), Some(&session.id.to_string()));
    let has_any = of.is_some()
        || parent.is_some()
        || !children.is_empty()
        || !retries.is_empty()
        || !graph.dependencies.is_empty()
        || !graph.dependents.is_empty()
        || input.is_some()
        || result.is_some();
    // Only a session that waits for dependencies still waits; otherwise the heading is in the past tense.
    let waits_for = if session.waits_for == Some(WaitsFor::Dependencies) { "Waiting for" } else { "Depended on" };
    let waited_for_by = if session.status.is_final() { "Was needed by" } else { "Needed by" };
    let more = has_more_children.then(|| view! { <p class="meta">"More sessions are not shown"</p> });
    has_any.then(|| {
        view! {
            {related("Started by", parent.map(line).into_iter().collect())}
            {related(waits_for, graph.dependencies.iter().map(beside).collect())}
            {related(waited_for_by, graph.dependents.iter().map(beside).collect())}
            {of}
            {related("Run again as", retries.iter().map(line).collect())}
            {related("Started", children.iter().map(line).collect())}
            {more}
            {input}
            {result}
        }
    })
}

fn link(id: &str, title: &str) -> String {
    let mut html = Html::default();
    html.raw("<a href=\"/sessions/").text(id).raw("\" dir=\"auto\">").text(title).raw("</a>");
    html.finish()
}

fn neighbour_title(session: &Neighbour) -> String {
    let title = one_line(&session.title, TITLE_CHARS_MAX);
    match session.action_slug.as_ref().or(session.agent_slug.as_ref()) {
        _ if !title.is_empty() && title != UNTITLED => title,
        Some(slug) => format!("Session of {slug}"),
        None => "Session".to_owned(),
    }
}

/// A value of a session. `result_of` is the id of the session whose result it is.
fn document(title: &'static str, raw: Option<&RawValue>, result_of: Option<&str>) -> Option<impl IntoView + use<>> {
    let raw = raw.filter(|raw| raw.get() != "null")?;
    let mut html = Html::default();
    match result_of {
        Some(session_id) => write_result(&mut html, raw, session_id),
        None => write_value(&mut html, Some(raw), None),
    }
    Some(view! { <section><h2>{title}</h2><div inner_html=html.finish()></div></section> })
}
