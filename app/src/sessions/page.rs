//! The page /sessions.

use super::{
    LiveRows,
    filter::{Filter, filter_form},
    row::session_table,
    view_model::SessionEntry,
};
use crate::{
    document::render,
    render::static_html,
    shell::{Place, Shell, frame},
    ui::{
        empty::{Connect, connect, empty},
        page_head::page_head,
    },
};
use leptos::prelude::*;

/// Data of the page /sessions.
#[derive(Debug, Clone, Default)]
pub struct Props {
    /// The filter of the address.
    pub filter: Filter,
    /// Tasks to filter by, `(id, name)`.
    pub actions: Vec<(String, String)>,
    /// The sessions of this page, newest first.
    pub entries: Vec<SessionEntry>,
    /// Cursor of the next page; absent on the last page.
    pub next_cursor: Option<String>,
    /// Whether this is a page after the first.
    pub is_continued: bool,
    /// How to connect an agent; present while the workspace has no session.
    pub connect: Option<Connect>,
}

/// Renders the page.
pub fn page(shell: &Shell, props: Props) -> String {
    let now = shell.now;
    render(shell, "Sessions", || {
        let Props { filter, actions, entries, next_cursor, is_continued, connect: connecting } = props;
        let pager = view! {
            <nav class="pager" aria-label="Pages">
                {is_continued.then(|| view! { <a class="button" data-size="small" href=filter.href(None)>"Newest"</a> })}
                {next_cursor.map(|c| view! { <a class="button" data-size="small" rel="next" href=filter.href(Some(&c))>"Older"</a> })}
            </nav>
        };
        let list = if !entries.is_empty() {
            (session_table(&entries, now, "Sessions, newest first"), view! { <LiveRows/> }, static_html(pager))
                .into_any()
        } else if !filter.is_open() || is_continued {
            empty("No session matches the filter.", Some(("Show all", "/sessions".to_owned()))).into_any()
        } else if let Some(connecting) = connecting {
            view! {
                <div class="empty">
                    <p>"There are no sessions yet."</p>
                    {static_html(connect(connecting))}
                </div>
            }
            .into_any()
        } else {
            empty("There are no sessions yet. Run a task to start one.", Some(("Go to tasks", "/actions".to_owned())))
                .into_any()
        };
        let page = view! {
            {page_head("Sessions".to_owned(), Vec::new(), ())}
            {static_html(filter_form(&filter, actions))}
            {list}
        };
        frame(shell, Place::Sessions, page)
    })
}
