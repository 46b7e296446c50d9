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
    shell::{RailEntry, Shell, frame},
    ui::{
        empty::{Connect, ConnectAgent, Empty},
        page_head::PageHead,
        pager::Pager,
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
        let newest = is_continued.then(|| filter.href(None));
        let older = next_cursor.map(|cursor| filter.href(Some(&cursor)));
        let pager = view! { <Pager newest=newest older=older/> };
        let list = if !entries.is_empty() {
            let table = static_html(session_table(&entries, now, "Sessions, newest first"));
            (view! { <LiveRows>{table}</LiveRows> }, static_html(pager)).into_any()
        } else if !filter.is_open() || is_continued {
            view! { <Empty sentence="No session matches the filter." link=Some(("Show all", "/sessions".to_owned()))/> }
                .into_any()
        } else if let Some(connecting) = connecting {
            view! {
                <Empty sentence="There are no sessions yet.">
                    {static_html(view! { <ConnectAgent connect=connecting/> })}
                </Empty>
            }
            .into_any()
        } else {
            view! { <Empty sentence="There are no sessions yet. Run a task to start one." link=Some(("Go to tasks", "/actions".to_owned()))/> }
                .into_any()
        };
        let page = view! {
            <PageHead title="Sessions"/>
            {static_html(filter_form(&filter, actions))}
            {list}
        };
        frame(shell, RailEntry::Sessions, page)
    })
}
