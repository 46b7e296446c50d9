//! The page /settings/share-links.

use super::table::table;
use crate::{
    document::render,
    entity::People,
    render::static_html,
    shell::{RailEntry, Shell, frame},
    text::escape::query,
    ui::{empty::Empty, notice::Refused, page_head::PageHead, pager::Pager},
};
use domain::{Timestamp, role::Permission};
use leptos::prelude::*;
use std::collections::BTreeMap;
use wire::share_link::ShareLink;

/// Path of the page.
const PATH: &str = "/settings/share-links";

/// Data of the page.
#[derive(Debug, Clone, Default)]
pub struct ListProps {
    /// The links, newest first.
    pub links: Vec<ShareLink>,
    /// Titles of their sessions, by id.
    pub titles: BTreeMap<String, String>,
    /// Everyone who may have made them.
    pub people: People,
    /// Whether these are the newest links.
    pub is_newest: bool,
    /// Cursor of the next page; absent on the last page.
    pub next_cursor: Option<String>,
    /// Why a change was refused.
    pub refusals: Vec<String>,
    /// Time at which the links were read (UTC).
    pub now: Timestamp,
}

/// Renders the page.
pub fn list_page(shell: &Shell, props: ListProps) -> String {
    render(shell, "Shared links", || {
        let ListProps { links, titles, people, is_newest, next_cursor, refusals, now } = props;
        let whose = match shell.may(Permission::Administer) {
            true => "Links with which people without an account read sessions of this workspace.",
            false => "Your links with which people without an account read sessions.",
        };
        let list = match links.is_empty() {
            true => view! { <Empty sentence="Nothing is shared. The page of a session has “Share”."/> }.into_any(),
            false => table(&links, &titles, &people, PATH, now).into_any(),
        };
        let newest = (!is_newest).then(|| PATH.to_owned());
        let older = next_cursor.map(|cursor| format!("{PATH}?cursor={}", query(&cursor)));
        let page = view! {
            <PageHead title="Shared links" crumbs=vec![("Settings".to_owned(), "/settings".to_owned())]/>
            <p class="meta">{whose}</p>
            <Refused messages=refusals/>
            {static_html(list)}
            <Pager newest=newest older=older/>
        };
        frame(shell, RailEntry::Settings, page)
    })
}
