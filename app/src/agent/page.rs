//! The page /agents/{slug}.

use crate::{
    document::render,
    entity::People,
    memory::{View, document_href},
    render::static_html,
    shell::{Place, Shell, frame},
    text::{
        number::{counted, dollars, grouped},
        shorten::one_line,
    },
    ui::{
        button::{ButtonLink, CopyLine, Look},
        page_head::PageHead,
        section::Section,
        time::moment,
    },
};
use domain::role::Permission;
use leptos::prelude::*;
use wire::memory::{CharacterCard, MemoryVersion};

/// Figures of the last 30 days.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Figures {
    /// Sessions that ended.
    pub sessions: u64,
    /// Of those, sessions that completed.
    pub completed: u64,
    /// Of those, sessions that failed.
    pub failed: u64,
    /// Ratings that it helped.
    pub positive: u64,
    /// Ratings that it did not.
    pub negative: u64,
    /// Tokens that the models read.
    pub input_tokens: u64,
    /// Tokens that the models wrote.
    pub output_tokens: u64,
    /// Cost, where sessions report one.
    pub cost_usd: f64,
}

/// Data of the page.
#[derive(Debug, Clone)]
pub struct Props {
    /// Slug of the agent.
    pub agent: String,
    /// Its character card.
    pub card: Option<CharacterCard>,
    /// Number of its memory documents.
    pub documents: u64,
    /// The newest versions of them.
    pub recent: Vec<MemoryVersion>,
    /// Its figures; `None` if it had no session.
    pub figures: Option<Figures>,
    /// Names of authors.
    pub people: People,
}

/// Renders the page.
pub fn page(shell: &Shell, props: Props) -> String {
    render(shell, &props.agent, || {
        let memory = format!("/agents/{}/memory", props.agent);
        let card = static_html(card(shell, &props));
        let figures = static_html(figures(&props));
        let documents = static_html(memory_part(&props));
        let page = view! {
            <PageHead title=props.agent.clone() crumbs=vec![("Agents".to_owned(), "/agents".to_owned())]>
                <ButtonLink look=Look::Primary href=memory>"Memory"</ButtonLink>
            </PageHead>
            <div class="split">
                <Section name="card" title="Character card">{card}</Section>
                <Section name="figures" title="Last 30 days">{figures}</Section>
            </div>
            <Section name="memory" title="Memory">{documents}</Section>
        };
        frame(shell, Place::Memory, page)
    })
}

fn card(shell: &Shell, props: &Props) -> impl IntoView + use<> {
    let facts = match &props.card {
        None => view! { <p class="meta">"This agent has no character card."</p> }.into_any(),
        Some(card) => {
            let original = format!("/api/agents/{}/card/original", props.agent);
            view! {
                <dl class="facts">
                    <div><dt>"Name"</dt><dd dir="auto">{one_line(&card.name, 200)}</dd></div>
                    <div><dt>"Given"</dt><dd>{moment(card.created_at)}" by "{props.people.word(&card.author)}</dd></div>
                    <div><dt>"File"</dt><dd><a href=original download="">{card.media_type.clone()}</a></dd></div>
                    <div><dt>"SHA-256"</dt><dd class="memory-digest">{card.sha256.clone()}</dd></div>
                </dl>
                <p><a href=document_href(&props.agent, "self/description.md", View::Text)>"Its fields are documents below self/"</a></p>
            }
            .into_any()
        }
    };
    let command = shell.may(Permission::ManageActions).then(|| {
        let line = format!("shiftbook agent card card.png --agent {}", props.agent);
        view! { <p class="meta">"Give it a card of version 2 or 3, as PNG or JSON:"</p><CopyLine text=line what="the command"/> }
    });
    view! { {facts}{command} }
}

fn figures(props: &Props) -> impl IntoView + use<> {
    let Some(figures) = props.figures else {
        return view! { <p class="meta">"No session of this agent ended in the last 30 days."</p> }.into_any();
    };
    let rated = figures.positive + figures.negative;
    let helped = if rated == 0 {
        "No ratings".to_owned()
    } else {
        format!("{} of {} said that it helped", figures.positive, counted(rated, "rating"))
    };
    let tokens = format!("{} in, {} out", grouped(figures.input_tokens), grouped(figures.output_tokens));
    view! {
        <dl class="facts">
            <div><dt>"Sessions"</dt><dd>{format!("{} ended: {} completed, {} failed", figures.sessions, figures.completed, figures.failed)}</dd></div>
            <div><dt>"Helpfulness"</dt><dd>{helped}</dd></div>
            <div><dt>"Tokens"</dt><dd>{tokens}</dd></div>
            <div><dt>"Cost"</dt><dd>{dollars(figures.cost_usd)}</dd></div>
        </dl>
        <p><a href="/insights">"All figures"</a>" · "<a href="/sessions">"Sessions"</a></p>
    }
    .into_any()
}

fn memory_part(props: &Props) -> impl IntoView + use<> {
    let rows = props
        .recent
        .iter()
        .filter(|version| !version.path.starts_with("erased/"))
        .map(|version| {
            let href = document_href(&props.agent, &version.path, View::History);
            view! {
                <li class="history-item">
                    <p class="history-head">
                        <a class="quiet" href=href dir="auto">{one_line(&version.path, 100)}</a>
                        <span class="meta">"v"{version.version}" · "{version.operation.as_str()}" · "{moment(version.created_at)}" · "{props.people.word(&version.author)}</span>
                    </p>
                </li>
            }
        })
        .collect::<Vec<_>>();
    let words = counted(props.documents, "document");
    view! {
        <p>{words}". "<a href=format!("/agents/{}/memory", props.agent)>"Read and search them"</a></p>
        <ol class="history">{rows}</ol>
    }
}
