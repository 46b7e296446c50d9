//! The page /mcp-servers/{slug}. Its forms post `do` to it: `refresh`; `import` with `tools[NAME]` for each chosen
//! tool; `save` with the fields of the server; `delete`.

use super::{
    form::{FIELDS, fields},
    transport_words,
};
use crate::{
    FormState,
    document::render,
    render::static_html,
    shell::{RailEntry, Shell, frame},
    text::shorten::one_line,
    ui::{
        button::{Button, Look},
        notice::{Notice, Refused, Tone},
        page_head::PageHead,
        popover::Sheet,
        section::Section,
        table::{Column, Table},
        time::moment,
    },
};
use domain::{mcp::Change, role::Permission};
use leptos::{prelude::*, tachys::html::InertElement};
use wire::mcp_server::{McpServer, McpTool, McpTools};

/// Longest description of a listed tool, characters.
const ABOUT_CHARS_MAX: usize = 200;

/// Data of the page of an MCP server.
#[derive(Debug, Clone)]
pub struct Props {
    /// The server of the page, without the values of its secret headers.
    pub server: McpServer,
    /// The tools that it listed last.
    pub tools: McpTools,
    /// Names of the programs that the operator allows this workspace.
    pub programs: Vec<String>,
    /// State of the form that changes the server.
    pub form: FormState,
    /// Why the last request was refused, if it was not that form.
    pub refusals: Vec<String>,
}

/// Renders the page.
pub fn page(shell: &Shell, props: Props) -> String {
    let title = one_line(&props.server.name, 120);
    render(shell, &title, || {
        let server = &props.server;
        let crumbs =
            vec![("Tools".to_owned(), "/tools".to_owned()), ("MCP servers".to_owned(), "/mcp-servers".to_owned())];
        let secret = server.secret_headers.iter().cloned().collect::<Vec<_>>().join(", ");
        let secret = (!secret.is_empty()).then(|| view! { <div><dt>"Secret headers"</dt><dd>{secret}</dd></div> });
        let page = view! {
            <PageHead title=title.clone() crumbs=crumbs/>
            <Refused messages=props.refusals.clone()/>
            <dl class="facts">
                <div><dt>"Reached by"</dt><dd>{transport_words(&server.transport)}</dd></div>
                <div><dt>"Slug"</dt><dd><code>{server.slug.clone()}</code></dd></div>
                {secret}
                <div><dt>"Changed"</dt><dd>{moment(server.updated_at)}</dd></div>
            </dl>
            {tools_section(server, &props.tools)}
            {change_form(shell, &props)}
        };
        frame(shell, RailEntry::Actions, page)
    })
}

fn tools_section(server: &McpServer, tools: &McpTools) -> InertElement {
    let target = format!("/mcp-servers/{}", server.slug);
    let (ask, asked) = match tools.listed_at {
        None => {
            ("Ask for its tools", view! { <p class="meta">"The server has not listed its tools yet."</p> }.into_any())
        }
        Some(at) => ("Ask again", view! { <p class="meta">"Asked "{moment(at)}</p> }.into_any()),
    };
    let import = (!tools.tools.is_empty()).then(|| import_form(&target, &tools.tools));
    let gone = (!tools.gone.is_empty()).then(|| {
        let sentence = format!("Not listed any more: {}. Runs of tools that call them fail.", tools.gone.join(", "));
        view! { <Notice tone=Tone::Wait><p>{sentence}</p></Notice> }
    });
    let cut = tools.cut.then(|| view! { <p class="meta">"The server has more tools than are kept here."</p> });
    let refused = tools.refused.iter().map(|tool| {
        view! { <li><span dir="auto">{tool.name.clone()}</span><span class="meta">": "{tool.reason.clone()}</span></li> }
    });
    let refused = refused.collect::<Vec<_>>();
    let refused = (!refused.is_empty()).then(|| {
        view! { <p>"These tools cannot be imported:"</p> <ul>{refused}</ul> }
    });
    static_html(view! {
        <Section name="tools" id="tools" title="Its tools">
            {asked}
            <form class="form-actions" method="post" action=target>
                <Button name="do" value="refresh">{ask}</Button>
            </form>
            {gone}
            {import}
            {cut}
            {refused}
        </Section>
    })
}

/// The listed tools with a check box each.
fn import_form(target: &str, tools: &[McpTool]) -> impl IntoView + use<> {
    let rows = tools
        .iter()
        .map(|tool| {
            let change = match tool.change {
                Change::New => "New",
                Change::Changed => "Changed",
                Change::Same => "",
            };
            let label = format!("Import {}", tool.name);
            let about = tool
                .title
                .as_ref()
                .map_or_else(|| tool.description.clone(), |title| format!("{title}. {}", tool.description));
            view! {
                <tr>
                    <td class="table-tick"><input type="checkbox" name=format!("tools[{}]", tool.name) aria-label=label/></td>
                    <td class="table-main">
                        <code>{tool.name.clone()}</code>
                        <div class="meta" dir="auto">{one_line(&about, ABOUT_CHARS_MAX)}</div>
                    </td>
                    <td class="meta">{change}</td>
                </tr>
            }
        })
        .collect::<Vec<_>>();
    let columns = vec![Column::hidden("Import"), Column::text("Tool"), Column::text("Change since the last list")];
    view! {
        <form class="form" method="post" action=target.to_owned()>
            <Table caption="Tools that the server lists" columns=columns>{rows}</Table>
            <div class="form-actions">
                <Button name="do" value="import" look=Look::Primary>"Import chosen tools"</Button>
                <span class="meta">"A new tool is a draft until you publish it. A tool that was imported before gets a new working copy."</span>
            </div>
        </form>
    }
}

/// Changes or deletes the server.
fn change_form(shell: &Shell, props: &Props) -> InertElement {
    let Props { server, programs, form, .. } = props;
    let target = format!("/mcp-servers/{}", server.slug);
    let fields = fields(Some(server), programs, form, shell.may(Permission::Administer));
    static_html(view! {
        <Sheet summary="Change or delete" open=form.is_refused()>
            <form class="form" method="post" action=target.clone() novalidate>
                <Refused messages=form.general(&FIELDS)/>
                <input type="hidden" name="revision" value=server.revision.to_string()/>
                {fields}
                <div class="form-actions"><Button name="do" value="save" look=Look::Primary>"Save"</Button></div>
            </form>
            <form class="form-actions" method="post" action=target>
                <Button name="do" value="delete" look=Look::Danger>"Delete server"</Button>
                <span class="meta">"Tools that call it stay, and their runs fail."</span>
            </form>
        </Sheet>
    })
}
