//! The page /agents.

use crate::{
    document::render,
    render::static_html,
    shell::{RailEntry, Shell, frame},
    text::number::{grouped, unit},
    ui::{
        empty::Empty,
        page_head::PageHead,
        table::{Column, Table},
    },
};
use leptos::prelude::*;

/// An agent of the workspace. Agents are not configured: a slug is one as soon as a task, a session or a memory has it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListedAgent {
    /// Name by which tasks and sessions refer to it.
    pub slug: String,
    /// Number of its memory documents.
    pub documents: u64,
    /// Sessions of the last 30 days that have ended.
    pub sessions: u64,
    /// Of those, sessions that failed.
    pub failed: u64,
    /// Sessions that wait for a worker.
    pub queued: u64,
    /// Sessions that run.
    pub running: u64,
    /// Conversations that wait for the next message.
    pub idle: u64,
    /// Sessions that wait for people.
    pub waiting: u64,
}

impl ListedAgent {
    /// What it does now; empty for nothing.
    fn work(&self) -> String {
        let counts = [
            (self.running, "running"),
            (self.queued, "queued"),
            (self.waiting, "waiting for people"),
            (self.idle, "idle"),
        ];
        let some = counts.into_iter().filter(|(count, _)| *count > 0);
        some.map(|(count, word)| format!("{} {word}", grouped(count))).collect::<Vec<_>>().join(", ")
    }
}

/// Data of the page.
#[derive(Debug, Clone, Default)]
pub struct ListProps {
    /// The agents, by slug.
    pub agents: Vec<ListedAgent>,
}

/// Renders the page.
pub fn list_page(shell: &Shell, props: ListProps) -> String {
    render(shell, "Agents", || {
        let page = view! {
            <PageHead title="Agents"/>
            {static_html(list(&props))}
        };
        frame(shell, RailEntry::Memory, page)
    })
}

fn list(props: &ListProps) -> impl IntoView + use<> {
    if props.agents.is_empty() {
        let sentence =
            "There are no agents yet. An agent appears here when a task, a session or a memory has its name.";
        return view! { <Empty sentence=sentence link=Some(("Tasks", "/actions".to_owned()))/> }.into_any();
    }
    let rows = props
        .agents
        .iter()
        .map(|agent| {
            let href = format!("/agents/{}", agent.slug);
            view! {
                <tr>
                    <td class="table-main"><a class="quiet" href=href>{agent.slug.clone()}</a></td>
                    <td class="meta">{agent.work()}</td>
                    <td class="table-number">{grouped(agent.sessions)}<span class="unit">{unit(agent.sessions, "session")}" in the last 30 days"</span></td>
                    <td class="table-number">{grouped(agent.failed)}<span class="unit">" failed"</span></td>
                    <td class="table-number">{grouped(agent.documents)}<span class="unit">{unit(agent.documents, "memory document")}</span></td>
                </tr>
            }
        })
        .collect::<Vec<_>>();
    let columns = vec![
        Column::text("Agent"),
        Column::text("Now"),
        Column::number("Sessions, last 30 days"),
        Column::number("Failed"),
        Column::number("Memory documents"),
    ];
    view! { <Table caption="Agents, by name" columns=columns>{rows}</Table> }.into_any()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_says_what_it_does_now() {
        let busy = ListedAgent { running: 2, queued: 1_200, waiting: 1, ..ListedAgent::default() };
        assert_eq!(busy.work(), "2 running, 1,200 queued, 1 waiting for people");
        assert_eq!(ListedAgent::default().work(), "");
    }
}
