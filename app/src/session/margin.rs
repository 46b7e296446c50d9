//! What stands beside a transcript: where it came from, what it started, what went in and came out.

use super::tool;
use crate::{sessions::row_title, text::html::Html, ui::status_badge::status_badge};
use leptos::prelude::*;
use serde_json::value::RawValue;
use wire::session::Session;

/// The margin's contents, or nothing where there is nothing to say.
pub fn margin(
    session: &Session,
    parent: Option<&Session>,
    children: &[Session],
    has_more_children: bool,
    retries: &[Session],
) -> Option<impl IntoView + use<>> {
    let related = |title: &'static str, sessions: Vec<(String, AnyView)>| {
        (!sessions.is_empty()).then(|| {
            let items = sessions
                .into_iter()
                .map(|(link, badge)| view! { <li><span inner_html=link></span>{badge}</li> })
                .collect::<Vec<_>>();
            view! { <section><h2>{title}</h2><ul>{items}</ul></section> }
        })
    };
    let line = |s: &Session| {
        let mut html = Html::default();
        html.raw("<a href=\"/sessions/").text(&s.id).raw("\" dir=\"auto\">").text(&row_title(s)).raw("</a>");
        (html.finish(), status_badge(s.status).into_any())
    };
    let of = session.retry_of.clone().map(|id| {
        view! { <section><h2>"Retry of"</h2><p><a href=format!("/sessions/{id}")>"the earlier session"</a></p></section> }
    });
    let input = document("Input", session.input.as_deref());
    let result = document("Result", session.result.as_deref());
    let has_any = of.is_some()
        || parent.is_some()
        || !children.is_empty()
        || !retries.is_empty()
        || input.is_some()
        || result.is_some();
    let more = has_more_children.then(|| view! { <p class="meta">"and more"</p> });
    has_any.then(|| {
        view! {
            {related("Started by", parent.map(line).into_iter().collect())}
            {of}
            {related("Retried as", retries.iter().map(line).collect())}
            {related("Started", children.iter().map(line).collect())}
            {more}
            {input}
            {result}
        }
    })
}

fn document(title: &'static str, raw: Option<&RawValue>) -> Option<impl IntoView + use<>> {
    let raw = raw.filter(|raw| raw.get() != "null")?;
    let mut html = Html::default();
    tool::payload(&mut html, Some(raw));
    Some(view! { <section><h2>{title}</h2><div inner_html=html.finish()></div></section> })
}
