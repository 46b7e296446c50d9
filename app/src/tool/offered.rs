//! What an MCP server lists for a tool, if that is not what the tool has.

use crate::{
    memory::changed_lines,
    render::static_html,
    ui::{
        button::Button,
        notice::{Notice, Tone},
        section::Section,
        time::moment,
    },
};
use domain::{Timestamp, tool::McpCall};
use leptos::{prelude::*, tachys::html::InertElement};
use wire::memory::MemoryDiffLine;

/// The listed tool of an MCP server for a tool of the workspace.
#[derive(Debug, Clone)]
pub struct Offered {
    /// Time at which the server was asked (UTC).
    pub listed_at: Timestamp,
    /// The schemas of the working copy compared with those that the server lists; empty if they are the same. `None` if
    /// the server does not list the tool.
    pub lines: Option<Vec<MemoryDiffLine>>,
}

/// The section; nothing if the server lists what the tool has.
pub(super) fn offered_section(call: &McpCall, offered: &Offered) -> Option<InertElement> {
    let content = match &offered.lines {
        None => {
            let sentence = format!("The server does not list `{}` any more. Runs of this tool fail.", call.tool);
            view! { <Notice tone=Tone::Wait><p>{sentence}</p></Notice> }.into_any()
        }
        Some(lines) if lines.is_empty() => return None,
        Some(lines) => view! {
            <p>"The server lists other schemas than those of the working copy."</p>
            {changed_lines(lines)}
            <form class="form-actions" method="post" action=format!("/mcp-servers/{}", call.server)>
                <input type="hidden" name=format!("tools[{}]", call.tool) value="on"/>
                <Button name="do" value="import">"Update the working copy"</Button>
            </form>
        }
        .into_any(),
    };
    Some(static_html(view! {
        <Section name="offered" id="offered" title="Changed by the server">
            <p class="meta">"Asked "{moment(offered.listed_at)}</p>
            {content}
        </Section>
    }))
}
