//! The table of links to sessions.

use crate::{
    entity::People,
    text::{number::counted, shorten::one_line},
    ui::{
        button::{Button, Look},
        table::{Column, Table},
        time::{moment, stamp},
    },
};
use domain::{Timestamp, share_link::Audience};
use leptos::prelude::*;
use std::collections::BTreeMap;
use wire::share_link::ShareLink;

/// The table of links, with a form for each that works. The forms post `do=revoke` and `link` to `action`. `titles` has
/// the titles of sessions by id; a session that is not in it is not named.
pub(super) fn table(
    links: &[ShareLink],
    titles: &BTreeMap<String, String>,
    people: &People,
    action: &str,
    now: Timestamp,
) -> impl IntoView + use<> {
    let rows = links.iter().map(|link| row(link, titles, people, action, now)).collect::<Vec<_>>();
    let columns = vec![
        Column::text("Link"),
        Column::text("Created"),
        Column::text("Opened"),
        Column::text("Works until"),
        Column::hidden("Revoke"),
    ];
    view! { <Table caption="Links, newest first" columns=columns focusable=true>{rows}</Table> }
}

fn row(
    link: &ShareLink,
    titles: &BTreeMap<String, String>,
    people: &People,
    action: &str,
    now: Timestamp,
) -> impl IntoView + use<> {
    let session = titles.get(&link.session_id.to_string()).map(|title| {
        let href = format!("/sessions/{}", link.session_id);
        view! { <div><a href=href dir="auto">{one_line(title, 200)}</a></div> }
    });
    let shows = match link.audience {
        Audience::ToolResult => "result of a tool",
        Audience::Session => "whole session",
    };
    let last = link.last_used_at.map(|at| view! { <span class="meta">", last "{moment(at)}</span> });
    let opened = if link.uses == 0 { "never".to_owned() } else { counted(link.uses, "time") };
    let until = match link.revoked_at {
        Some(at) => view! { "revoked "{moment(at)} }.into_any(),
        None if link.expires_at <= now => view! { "expired "{moment(link.expires_at)} }.into_any(),
        None => stamp(link.expires_at).into_any(),
    };
    let works = link.revoked_at.is_none() && link.expires_at > now;
    let about = format!("link {}", link.hint);
    let revoke = works.then(|| {
        view! {
            <form method="post" action=action.to_owned()>
                <input type="hidden" name="link" value=link.id.to_string()/>
                <Button small=true name="do" value="revoke" look=Look::Danger about=about>"Revoke"</Button>
            </form>
        }
    });
    view! {
        <tr>
            <td class="table-main">{session}<code>{link.hint.clone()}"…"</code><span class="meta">" "{shows}</span></td>
            <td class="meta" data-label="Created">{moment(link.created_at)}" by "{people.word(&link.created_by)}</td>
            <td class="meta" data-label="Opened">{opened}{last}</td>
            <td class="meta" data-label="Works until">{until}</td>
            <td class="table-number">{revoke}</td>
        </tr>
    }
}
