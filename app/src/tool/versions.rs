//! The versions of a tool, and what one changed.

use crate::{
    entity::People,
    memory::changed_lines,
    render::static_html,
    ui::{section::Section, time::moment},
};
use leptos::{prelude::*, tachys::html::InertElement};
use wire::{
    memory::MemoryDiffLine,
    tool::{Tool, ToolVersion},
};

/// A version compared with the one before it.
#[derive(Debug, Clone)]
pub struct Comparison {
    /// Number of the version.
    pub version: u64,
    /// The lines of both definitions as JSON. All lines of the first version are added.
    pub lines: Vec<MemoryDiffLine>,
}

/// The list of versions, with the comparison that the reader chose.
pub(super) fn versions_section(
    tool: &Tool,
    versions: &[ToolVersion],
    has_more: bool,
    comparison: Option<&Comparison>,
    people: &People,
) -> InertElement {
    let items = versions
        .iter()
        .map(|version| {
            let number = version.version;
            let href = format!("/tools/{}?version={number}#versions", tool.slug);
            let is_shown = comparison.is_some_and(|comparison| comparison.version == number);
            view! {
                <li>
                    {format!("Version {number}")}
                    <span class="meta">" · "{moment(version.published_at)}" · "{people.word(&version.published_by)}" · "</span>
                    <a href=href aria-current=is_shown.then_some("true")>{format!("What version {number} changed")}</a>
                </li>
            }
        })
        .collect::<Vec<_>>();
    let none = items.is_empty().then(|| view! { <p class="meta">"It was never published."</p> });
    let more = has_more.then(|| {
        let href = format!("/api/tools/{}/versions", tool.slug);
        view! { <p class="meta">"There are older versions. "<a href=href>"All versions as JSON"</a></p> }
    });
    let changes = comparison.map(|comparison| {
        view! {
            <h3>{format!("What version {} changed", comparison.version)}</h3>
            {changed_lines(&comparison.lines)}
        }
    });
    static_html(view! {
        <Section name="versions" id="versions" title="Versions">
            {none}
            <ul class="tool-versions">{items}</ul>
            {more}
            {changes}
        </Section>
    })
}
