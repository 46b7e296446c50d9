//! The page /mcp-servers.

use super::{
    form::{FIELDS, fields},
    transport_words,
};
use crate::{
    FormState,
    document::render,
    render::static_html,
    shell::{RailEntry, Shell, frame},
    text::{
        escape::query,
        number::{grouped, unit},
        shorten::one_line,
    },
    ui::{
        button::{Button, Look},
        empty::Empty,
        notice::Refused,
        page_head::PageHead,
        pager::more,
        popover::Sheet,
        table::{Column, Table},
        time::moment,
    },
};
use domain::role::Permission;
use leptos::{prelude::*, tachys::html::InertElement};
use wire::mcp_server::McpServer;

/// Longest text of a cell, characters.
const CELL_CHARS_MAX: usize = 100;

/// Data of the page /mcp-servers.
#[derive(Debug, Clone)]
pub struct ListProps {
    /// The servers of this page.
    pub servers: Vec<McpServer>,
    /// Cursor of the next page; absent on the last page.
    pub next_cursor: Option<String>,
    /// Names of the programs that the operator allows this workspace.
    pub programs: Vec<String>,
    /// State of the form that adds a server.
    pub form: FormState,
}

/// Renders the page.
pub fn list_page(shell: &Shell, props: ListProps) -> String {
    render(shell, "MCP servers", || {
        let ListProps { servers, next_cursor, programs, form } = props;
        let list = if servers.is_empty() {
            let sentence = "An MCP server offers tools that this workspace can call. There are no MCP servers yet.";
            view! { <Empty sentence=sentence/> }.into_any()
        } else {
            table(&servers).into_any()
        };
        let more = more(next_cursor.map(|cursor| format!("/mcp-servers?cursor={}", query(&cursor))));
        let crumbs = vec![("Tools".to_owned(), "/tools".to_owned())];
        let add = add_form(&programs, &form, shell.may(Permission::Administer));
        frame(shell, RailEntry::Actions, view! { <PageHead title="MCP servers" crumbs=crumbs/> {list} {more} {add} })
    })
}

fn add_form(programs: &[String], form: &FormState, may_set_secrets: bool) -> InertElement {
    static_html(view! {
        <Sheet summary="Add an MCP server" open=form.is_refused()>
            <form class="form" method="post" action="/mcp-servers" novalidate>
                <Refused messages=form.general(&FIELDS)/>
                {fields(None, programs, form, may_set_secrets)}
                <div class="form-actions"><Button look=Look::Primary>"Add server"</Button></div>
            </form>
        </Sheet>
    })
}

fn table(servers: &[McpServer]) -> impl IntoView + use<> {
    let rows = servers
        .iter()
        .map(|server| {
            let count = server.tool_count.map(|count| {
                view! { {grouped(count)}<span class="unit">{unit(count, "tool")}</span> }
            });
            let listed = server.listed_at.map_or_else(|| "never".into_any(), |at| moment(at).into_any());
            view! {
                <tr>
                    <td class="table-main">
                        <a class="quiet" dir="auto" href=format!("/mcp-servers/{}", server.slug)>{one_line(&server.name, CELL_CHARS_MAX)}</a>
                    </td>
                    <td class="meta">{one_line(&transport_words(&server.transport), CELL_CHARS_MAX)}</td>
                    <td class="meta table-number">{count}</td>
                    <td class="meta"><span class="unit">"listed "</span>{listed}</td>
                </tr>
            }
        })
        .collect::<Vec<_>>();
    let columns =
        vec![Column::text("Server"), Column::text("Reached by"), Column::number("Tools"), Column::text("Listed")];
    view! { <Table caption="MCP servers, newest first" columns=columns>{rows}</Table> }
}
