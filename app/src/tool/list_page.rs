//! The page /tools.

use super::{audience_words, kind_word};
use crate::{
    document::render,
    shell::{RailEntry, Shell, frame},
    text::shorten::one_line,
    ui::{
        button::{ButtonLink, Look},
        empty::Empty,
        list_search::ListSearch,
        page_head::PageHead,
        table::{Column, Table},
        time::moment,
    },
    view::state_badge,
};
use domain::role::Permission;
use leptos::prelude::*;
use wire::tool::Tool;

/// Longest description in a row, characters.
const ABOUT_CHARS_MAX: usize = 140;

/// Data of the page /tools.
#[derive(Debug, Clone)]
pub struct ListProps {
    /// The tools of this page.
    pub tools: Vec<Tool>,
    /// Cursor of the next page; absent on the last page.
    pub next_cursor: Option<String>,
    /// What is searched for.
    pub search: ListSearch,
}

/// Renders the page.
pub fn list_page(shell: &Shell, props: ListProps) -> String {
    render(shell, "Tools", || {
        let ListProps { tools, next_cursor, search } = props;
        let manages = shell.may(Permission::ManageTools);
        let head = manages.then(|| {
            view! {
                <ButtonLink href="/mcp-servers">"MCP servers"</ButtonLink>
                <ButtonLink look=Look::Primary href="/tools/new">"New tool"</ButtonLink>
            }
        });
        // Without anything to search there is no search.
        let form = (!tools.is_empty() || !search.q.is_empty()).then(|| search.view("/tools", "Search tools"));
        let list = if tools.is_empty() && !search.q.is_empty() {
            let sentence = "No tool matches the search.";
            view! { <Empty sentence=sentence link=Some(("Show all", "/tools".to_owned()))/> }.into_any()
        } else if tools.is_empty() {
            let sentence = "A tool is a call that people, programs and agents make by name. There are no tools yet.";
            view! { <Empty sentence=sentence link=manages.then(|| ("New tool", "/tools/new".to_owned()))/> }.into_any()
        } else {
            table(&tools).into_any()
        };
        let more = next_cursor.map(|cursor| {
            let href = search.href("/tools", &cursor);
            view! { <nav class="pager" aria-label="Pages"><ButtonLink small=true attr:rel="next" href=href>"More"</ButtonLink></nav> }
        });
        let crumbs = vec![("Tasks".to_owned(), "/actions".to_owned())];
        frame(
            shell,
            RailEntry::Actions,
            view! { <PageHead title="Tools" crumbs=crumbs>{head}</PageHead> {form} {list} {more} },
        )
    })
}

fn table(tools: &[Tool]) -> impl IntoView + use<> {
    let rows = tools
        .iter()
        .map(|tool| {
            let definition = &tool.definition;
            let version = tool.version.map(|version| format!("v{version}")).unwrap_or_default();
            let changed = (tool.changed && tool.version.is_some())
                .then(|| view! { <span class="meta">" · unpublished changes"</span> });
            view! {
                <tr>
                    <td class="table-main">
                        <a class="quiet" dir="auto" href=format!("/tools/{}", tool.slug)>{one_line(&definition.name, ABOUT_CHARS_MAX)}</a>
                        <div class="meta" dir="auto">{one_line(&definition.description, ABOUT_CHARS_MAX)}</div>
                    </td>
                    <td class="meta">{kind_word(definition.kind())}</td>
                    <td>{state_badge(tool.state)}{changed}</td>
                    <td class="meta table-number">{version}</td>
                    <td class="meta">{one_line(&audience_words(&definition.audience), ABOUT_CHARS_MAX)}</td>
                    <td class="meta">{moment(tool.updated_at)}</td>
                </tr>
            }
        })
        .collect::<Vec<_>>();
    view! {
        <Table caption="Tools, newest first" columns=vec![Column::text("Tool"), Column::text("Kind"), Column::text("State"), Column::number("Version"), Column::text("Who may run it"), Column::text("Changed")]>{rows}</Table>
    }
}
