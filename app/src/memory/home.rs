//! The page /memory: the agents that have a memory, and a search over all of them.

use crate::{
    document::render,
    entity::People,
    memory::{StalledWriter, View, document_href, document_name, stalled},
    render::static_html,
    shell::{RailEntry, Shell, frame},
    text::{
        number::{counted, grouped, unit},
        shorten::one_line,
    },
    ui::{
        button::{Button, ButtonLink, Look},
        empty::Empty,
        list_search::ListSearch,
        notice::{Notice, Tone},
        page_head::PageHead,
        popover::Popover,
        section::Section,
        table::{Column, Table},
        time::moment,
    },
};
use domain::{Timestamp, role::Permission};
use leptos::prelude::*;
use wire::memory::{FoundMemory, MemoryDocument};

/// How much an agent remembers.
#[derive(Debug, Clone)]
pub struct AgentMemory {
    /// Slug of the agent.
    pub agent: String,
    /// Number of its documents.
    pub documents: u64,
    /// Size of its documents, bytes.
    pub bytes: u64,
    /// Time of the last change (UTC).
    pub updated_at: Timestamp,
}

/// Data of the page.
#[derive(Debug, Clone, Default)]
pub struct HomeProps {
    /// Agents with a memory, by slug.
    pub agents: Vec<AgentMemory>,
    /// Documents about the person who looks, by agent.
    pub own: Vec<MemoryDocument>,
    /// When the person who looks asked to be forgotten (UTC).
    pub asked_at: Option<Timestamp>,
    /// Number of members who ask to be forgotten, for admins.
    pub requests: u64,
    /// Writers that wait after failures.
    pub stalled: Vec<StalledWriter>,
    /// What is searched for.
    pub search: ListSearch,
    /// What was searched for, and what was found.
    pub found: Option<(String, Vec<FoundMemory>)>,
    /// Names of the people of the workspace.
    pub people: People,
}

/// Renders the page.
pub fn home_page(shell: &Shell, props: HomeProps) -> String {
    render(shell, "Memory", || {
        let found = props.found.as_ref().map(|(query, found)| static_html(results(query, found, &props.people)));
        let page = view! {
            <PageHead title="Memory">
                <ButtonLink look=Look::Quiet href="/agents">"Agents"</ButtonLink>
                {shell.may(Permission::Administer).then(|| view! {
                    <Popover label="More" look=Look::Quiet>
                        <ButtonLink look=Look::Danger href="/memory/forget">"Forget a person…"</ButtonLink>
                    </Popover>
                })}
            </PageHead>
            {static_html(props.search.view("/memory", "Search all memories"))}
            {found}
            {static_html(stalled(shell, &props.stalled))}
            {static_html(requests(props.requests))}
            {static_html(about_you(shell, &props))}
            {static_html(agents(&props.agents))}
        };
        frame(shell, RailEntry::Memory, page)
    })
}

/// What agents remember of the person who looks, with the way to correct it. `None` for programs.
fn about_you(shell: &Shell, props: &HomeProps) -> Option<impl IntoView + use<>> {
    shell.viewer.as_ref()?.user.as_ref()?;
    let rows = props
        .own
        .iter()
        .map(|document| {
            let (agent, path) = (document.agent.clone(), document.path.as_str());
            let (text, edit) = (document_href(&agent, path, View::Text), document_href(&agent, path, View::Edit));
            view! {
                <li class="history-item">
                    <p class="history-head">
                        <a class="quiet" href=text>"What "{agent.clone()}" remembers of you"</a>
                        <span class="meta">"Changed "{moment(document.updated_at)}</span>
                        <a href=edit>"Correct it"<span class="hidden-text">" for "{agent}</span></a>
                    </p>
                </li>
            }
        })
        .collect::<Vec<_>>();
    let body = if rows.is_empty() {
        view! { <Empty sentence="No agent has a document about you." small=true/> }.into_any()
    } else {
        view! { <ol class="history">{rows}</ol> }.into_any()
    };
    let hint = "Agents are given these documents in your own conversations only, unless they are marked as shared. An admin can erase all that agents know about you.";
    let (step, label) = match props.asked_at {
        Some(_) => ("withdraw", "Withdraw the request"),
        None => ("ask", "Ask to be forgotten"),
    };
    let asked =
        props.asked_at.map(|at| view! { <p>"You asked to be forgotten: "{moment(at)}". An admin decides."</p> });
    Some(view! {
        <Section name="about-you" title="About you">
            {body}
            <p class="meta">{hint}</p>
            {asked}
            <form class="form" method="post" action="/memory/forget-me">
                <div class="form-actions"><Button name="step" value=step>{label}</Button></div>
            </form>
        </Section>
    })
}

/// Tells admins that members ask to be forgotten.
fn requests(requests: u64) -> Option<impl IntoView + use<>> {
    let sentence = match requests {
        0 => return None,
        1 => "1 person asks to be forgotten.".to_owned(),
        many => format!("{} ask to be forgotten.", counted(many, "person")),
    };
    Some(
        view! { <Notice tone=Tone::Wait><p>{sentence}" "<a href="/memory/forget">"Look at the requests"</a></p></Notice> },
    )
}

fn agents(agents: &[AgentMemory]) -> impl IntoView + use<> {
    if agents.is_empty() {
        let sentence = "No agent remembers anything yet. An agent's memory begins with its first summarised conversation, its first use of the memory tool, a character card, or a document that you write on its page.";
        return view! { <Empty sentence=sentence link=Some(("Agents", "/agents".to_owned()))/> }.into_any();
    }
    let rows = agents
        .iter()
        .map(|AgentMemory { agent, documents, bytes, updated_at }| {
            view! {
                <tr>
                    <td class="table-main"><a class="quiet" href=format!("/agents/{agent}/memory")>{agent.clone()}</a></td>
                    <td class="table-number">{grouped(*documents)}<span class="unit">{unit(*documents, "document")}</span></td>
                    <td class="table-number">{grouped(*bytes)}<span class="unit">{unit(*bytes, "byte")}</span></td>
                    <td class="meta"><span class="unit">"Changed "</span>{moment(*updated_at)}</td>
                </tr>
            }
        })
        .collect::<Vec<_>>();
    let columns =
        vec![Column::text("Agent"), Column::number("Documents"), Column::number("Bytes"), Column::text("Changed")];
    view! { <Section name="agents" title="Agents"><Table caption="Agents with a memory" columns=columns>{rows}</Table></Section> }
        .into_any()
}

/// What a search found.
pub fn results(query: &str, found: &[FoundMemory], people: &People) -> impl IntoView + use<> {
    let title = format!("{} for “{}”", counted(found.len() as u64, "document"), one_line(query, 80));
    let items = found
        .iter()
        .map(|found| {
            let href = document_href(&found.document.agent, &found.document.path, View::Text);
            view! {
                <li class="history-item">
                    <p class="history-head">
                        <a class="quiet" href=href dir="auto">{one_line(&document_name(people, &found.document.path), 120)}</a>
                        <span class="meta">{found.document.agent.clone()}" · line "{found.line}</span>
                    </p>
                    <p dir="auto">{one_line(&found.excerpt, 240)}</p>
                </li>
            }
        })
        .collect::<Vec<_>>();
    let body = if items.is_empty() {
        view! { <Empty sentence="No document has one of these words. Search looks for words, not for meanings." small=true/> }
            .into_any()
    } else {
        view! { <ol class="history">{items}</ol> }.into_any()
    };
    view! { <Section name="found" title=title>{body}</Section> }
}
