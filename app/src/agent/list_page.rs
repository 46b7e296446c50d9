//! The page /agents.

use super::props::Workers;
use crate::{
    agent_href::agent_href,
    document::render,
    render::static_html,
    shell::{RailEntry, Shell, frame},
    text::number::{counted, grouped, unit},
    ui::{
        empty::Empty,
        page_head::PageHead,
        table::{Column, Table},
        time::moment,
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
    /// Its workers; `None` if none was seen in the last day.
    pub workers: Option<Workers>,
}

impl ListedAgent {
    /// What it does now; `None` for nothing.
    fn work(&self) -> Option<String> {
        let counts = [
            (self.running, "running"),
            (self.queued, "queued"),
            (self.waiting, "waiting for people"),
            (self.idle, "idle"),
        ];
        let some = counts.into_iter().filter(|(count, _)| *count > 0);
        let words: Vec<_> = some.map(|(count, word)| format!("{} {word}", grouped(count))).collect();
        (!words.is_empty()).then(|| words.join(", "))
    }
}

/// Data of the page.
#[derive(Debug, Clone, Default)]
pub struct ListProps {
    /// The agents, by slug.
    pub agents: Vec<ListedAgent>,
    /// Workers that take sessions of any agent; `None` if none was seen in the last day.
    pub of_any: Option<Workers>,
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
            let href = agent_href(&agent.slug);
            view! {
                <tr>
                    <td class="table-main"><a class="quiet" href=href>{agent.slug.clone()}</a></td>
                    <td class="meta">{agent.workers.map(workers)}</td>
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
        Column::text("Workers"),
        Column::text("Now"),
        Column::number("Sessions, last 30 days"),
        Column::number("Failed"),
        Column::number("Memory documents"),
    ];
    let of_any = props
        .of_any
        .map(|of| view! { <p class="meta">"Workers that take sessions of any agent: "{workers(of)}"."</p> });
    view! { <Table caption="Agents, by name" columns=columns>{rows}</Table>{of_any} }.into_any()
}

/// How many workers are connected, and when one was last seen.
pub(super) fn workers(of: Workers) -> impl IntoView {
    let words = match of.connected {
        0 => "seen ".to_owned(),
        connected => format!("connected, {}, seen ", counted(connected, "worker")),
    };
    view! { <span>{words}{moment(of.seen_at)}</span> }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_says_how_many_workers_are_connected_and_when_one_was_seen() {
        let seen_at = "2026-11-29T08:00:00Z".parse().unwrap();
        let agent = |slug: &str, connected: Option<u64>| ListedAgent {
            slug: slug.into(),
            workers: connected.map(|connected| Workers { connected, seen_at }),
            ..ListedAgent::default()
        };
        let agents = vec![agent("busy", Some(2)), agent("gone", Some(0)), agent("never", None)];
        let of_any = Some(Workers { connected: 1, seen_at });
        let html = crate::render::to_html(list(&ListProps { agents, of_any }));
        assert!(html.contains("connected, 2 workers, seen <time datetime=\"2026-11-29T08:00:00.000Z\""), "{html}");
        assert!(html.contains("of any agent: <span>connected, 1 worker, seen <time"), "{html}");
        assert_eq!((html.matches("connected").count(), html.matches("seen <time").count()), (2, 3), "{html}");
    }

    #[test]
    fn an_agent_says_what_it_does_now() {
        let busy = ListedAgent { running: 2, queued: 1_200, waiting: 1, ..ListedAgent::default() };
        assert_eq!(busy.work().as_deref(), Some("2 running, 1,200 queued, 1 waiting for people"));
        assert_eq!(ListedAgent::default().work(), None);
    }
}
