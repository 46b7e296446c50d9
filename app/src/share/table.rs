//! The table of links to sessions.

use crate::{
    entity::People,
    render::static_html,
    secret_link::{Link, link_row, links_table},
    text::shorten::one_line,
};
use domain::{Timestamp, share_link::Audience};
use leptos::{prelude::*, tachys::html::InertElement};
use std::collections::BTreeMap;
use wire::share_link::ShareLink;

/// Heading of how often a link was opened.
const OPENED: &str = "Opened";

/// The table of links, with a form for each that works. The forms post `do=revoke` and `link` to `action`. `titles` has
/// the titles of sessions by id; a session that is not in it is not named.
pub(super) fn table(
    links: &[ShareLink],
    titles: &BTreeMap<String, String>,
    people: &People,
    action: &str,
    now: Timestamp,
) -> InertElement {
    links_table(OPENED, links.iter().map(|link| row(link, titles, people, action, now)).collect())
}

fn row(
    link: &ShareLink,
    titles: &BTreeMap<String, String>,
    people: &People,
    action: &str,
    now: Timestamp,
) -> InertElement {
    let session = titles.get(&link.session_id.to_string()).map(|title| {
        let href = format!("/sessions/{}", link.session_id);
        view! { <div><a href=href dir="auto">{one_line(title, 200)}</a></div> }
    });
    let shows = match link.audience {
        Audience::ToolResult => "result of a tool",
        Audience::Session => "whole session",
    };
    let main = static_html(view! { {session}<code>{link.hint.clone()}"…"</code><span class="meta">" "{shows}</span> });
    let id = link.id.to_string();
    let shown = Link {
        id: &id,
        hint: &link.hint,
        created_by: &link.created_by,
        created_at: link.created_at,
        expires_at: link.expires_at,
        uses: link.uses,
        last_used_at: link.last_used_at,
        revoked_at: link.revoked_at,
    };
    link_row(shown, main, (OPENED, action), people, now)
}
