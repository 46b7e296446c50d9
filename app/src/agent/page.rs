//! The page /agents/{slug}.

use super::{
    card::{card, preview},
    list_page::workers,
    props::{Figures, Props},
};
use crate::{
    document::render,
    insight::{RATINGS_UNREAD, cost_sentence, cut_notice, tokens_sentence, unread_notice},
    memory::{View, document_href, document_name, stalled},
    render::static_html,
    sessions::Filter,
    shell::{RailEntry, Shell, frame},
    text::{
        number::{counted, dollars, grouped},
        shorten::one_line,
    },
    ui::{
        button::{ButtonLink, Look},
        empty::Empty,
        page_head::PageHead,
        section::Section,
        time::moment,
    },
};
use domain::search::Test;
use leptos::prelude::*;
use wire::insight::WriterFigures;

/// Renders the page.
pub fn page(shell: &Shell, props: Props) -> String {
    render(shell, &props.agent, || {
        let memory = format!("/agents/{}/memory", props.agent);
        let card = static_html(card(shell, &props));
        let figures = static_html(figures(&props));
        let documents = static_html(memory_part(&props));
        let preview = preview(&props).map(static_html);
        let erased = erased(&props).map(static_html);
        let sessions = sessions_href(&props.agent);
        let page = view! {
            <PageHead title=props.agent.clone() crumbs=vec![("Agents".to_owned(), "/agents".to_owned())]>
                <ButtonLink href=sessions>"Sessions"</ButtonLink>
                <ButtonLink look=Look::Primary href=memory>"Memory"</ButtonLink>
            </PageHead>
            {static_html(presence(&props))}
            {static_html(stalled(shell, &props.stalled))}
            {preview}
            <div class="split">
                <Section name="card" title="Character card">{card}</Section>
                <Section name="figures" title="Last 30 days">{figures}</Section>
            </div>
            <Section name="memory" title="Memory">{documents}</Section>
            {erased}
        };
        frame(shell, RailEntry::Memory, page)
    })
}

/// Whether its workers are connected.
fn presence(props: &Props) -> impl IntoView + use<> {
    match props.workers {
        Some(of) => view! { <p class="meta">"Workers: "{workers(of)}</p> }.into_any(),
        None => view! { <p class="meta">"No worker of this agent was seen in the last 24 hours."</p> }.into_any(),
    }
}

fn figures(props: &Props) -> impl IntoView + use<> {
    let cut = cut_notice(props.is_cut);
    let writer = props.writer.as_ref().map(writer_row);
    let Some(figures) = props.figures else {
        let writer = writer.map(|row| view! { <dl class="facts">{row}</dl> });
        return view! {
            {cut}
            <p class="meta">"No session of this agent ended in the last 30 days."</p>
            {writer}
        }
        .into_any();
    };
    let helped = helpfulness(&figures, props.ratings_missing.is_some());
    let tokens = tokens_sentence((figures.input_tokens, figures.output_tokens), figures.metered, figures.sessions);
    view! {
        {cut}
        {unread_notice(props.ratings_missing)}
        <dl class="facts">
            <div><dt>"Sessions"</dt><dd>{format!("{} ended: {} completed, {} failed", figures.sessions, figures.completed, figures.failed)}</dd></div>
            <div><dt>"Helpfulness"</dt><dd>{helped}</dd></div>
            <div><dt>"Tokens"</dt><dd>{tokens}</dd></div>
            <div><dt>"Cost"</dt><dd>{cost_sentence(figures.cost_usd, figures.priced, figures.sessions)}</dd></div>
            {writer}
        </dl>
        <p><a href="/insights">"All figures"</a>" · "<a href=sessions_href(&props.agent)>"Its sessions"</a></p>
    }
    .into_any()
}

/// What the ratings say. If some could not be read, having none of them does not mean that there are none.
fn helpfulness(figures: &Figures, are_missing: bool) -> String {
    match figures.positive + figures.negative {
        0 if are_missing => RATINGS_UNREAD.to_owned(),
        0 => "No ratings".to_owned(),
        rated => format!("{} of {} said that it helped", figures.positive, counted(rated, "rating")),
    }
}

/// What the memory writer used. The cost of sessions does not include it.
fn writer_row(of: &WriterFigures) -> impl IntoView + use<> {
    let failed = (of.failed > 0).then(|| format!(", {} failed", grouped(of.failed)));
    let tokens = match (of.input_tokens, of.output_tokens) {
        (Some(input), Some(output)) => format!("{} in, {} out", grouped(input), grouped(output)),
        _ => "not reported".to_owned(),
    };
    let cost = of.cost_usd.map_or_else(|| "cost not known".to_owned(), dollars);
    let href = format!("/agents/{}/memory/runs", of.agent);
    view! {
        <div><dt>"Memory writer"</dt><dd><a href=href>{counted(of.runs, "run")}{failed}</a>{format!("; tokens: {tokens}; {cost}")}</dd></div>
    }
}

/// The list of the agent's sessions.
fn sessions_href(agent: &str) -> String {
    Filter::default().and(Test::Agent(vec![agent.to_owned()])).href(None)
}

/// Says what is gone, so that no one takes a gap for silence. `None` if nothing is.
fn erased(props: &Props) -> Option<impl IntoView + use<>> {
    let gone = &props.erasures;
    if gone.sessions == 0 && gone.documents == 0 {
        return None;
    }
    let retention = (gone.sessions > 0).then(|| {
        let more = if gone.is_more { "more than " } else { "" };
        let (sessions, events) = (counted(gone.sessions, "session"), counted(gone.events, "event"));
        let words = format!("Retention erased what was said in {more}{sessions} of this agent ({more}{events}).");
        let due = gone.older_than.map(|due| view! { " They ended before "{moment(due)}"." });
        let at = gone.at.map(|at| view! { " The last was erased "{moment(at)}"." });
        view! {
            <p>{words}{due}{at}" That they took place, when, and how they ended is kept. Lines of the memory that came from them stay, without a turn to read."</p>
        }
    });
    let documents = (gone.documents > 0).then(|| {
        let words = format!(
            "People erased {} of its memory with all versions. Digests, times and authors are kept.",
            counted(gone.documents, "document")
        );
        view! { <p>{words}</p> }
    });
    Some(view! { <Section name="erased" title="Erased">{retention}{documents}</Section> })
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
                        <a class="quiet" href=href dir="auto">{one_line(&document_name(&props.people, &version.path), 100)}</a>
                        <span class="meta">"v"{version.version}" · "{version.operation.as_str()}" · "{moment(version.created_at)}" · "{props.people.word(&version.author)}</span>
                    </p>
                </li>
            }
        })
        .collect::<Vec<_>>();
    if props.documents == 0 && rows.is_empty() {
        let sentence = "This agent remembers nothing yet. Its memory is written after conversations, or by people.";
        let link = Some(("Write a document", format!("/agents/{}/memory", props.agent)));
        return view! { <Empty sentence=sentence link=link/> }.into_any();
    }
    // The rows are versions: a document can have several.
    let words = format!("Last changes of {}", counted(props.documents, "document"));
    view! {
        <p>{words}". "<a href=format!("/agents/{}/memory", props.agent)>"Read and search them"</a></p>
        <ol class="history">{rows}</ol>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FormState, agent::Erasures, entity::People};
    use wire::insight::RatingsMissing;

    #[test]
    fn figures_that_are_not_known_are_not_shown_as_none() {
        let shown = |figures, is_cut, ratings_missing| {
            let props = Props {
                agent: "scout".into(),
                card: None,
                documents: 0,
                recent: Vec::new(),
                figures,
                is_cut,
                ratings_missing,
                writer: None,
                workers: None,
                erasures: Erasures::default(),
                stalled: Vec::new(),
                people: People::default(),
                preview: None,
                form: FormState::default(),
            };
            crate::render::to_html(super::figures(&props))
        };
        let none = Figures { sessions: 2, completed: 2, ..Figures::default() };
        let html = shown(Some(none), true, Some(RatingsMissing::Unavailable));
        for part in [
            "ratings could not be read",
            "database is locked",
            "No session reported a cost",
            "more data than",
            "No session reported tokens.",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
        assert!(!html.contains("No ratings") && !html.contains("$0"), "{html}");
        let html =
            shown(Some(Figures { priced: 1, cost_usd: Some(0.0), metered: 1, input_tokens: 7, ..none }), false, None);
        let tokens = "7 input tokens and 0 output tokens, reported by 1 of 2 sessions.";
        for part in ["No ratings", "$0.00, reported by 1 of 2 sessions.", tokens] {
            assert!(html.contains(part), "{part}: {html}");
        }
        assert!(!html.contains("more data than") && !html.contains("missing from these figures"), "{html}");
        assert!(shown(None, true, None).contains("more data than"));
    }

    #[test]
    fn what_the_memory_writer_used_is_a_row_of_its_own() {
        let figures = serde_json::json!({
            "agent": "scout", "runs": 3, "failed": 1, "inputTokens": 1200, "outputTokens": 30, "costUsd": 0.5,
        });
        let mut figures: WriterFigures = serde_json::from_value(figures).unwrap();
        let html = crate::render::to_html(writer_row(&figures));
        for part in ["/agents/scout/memory/runs", "3 runs", ", 1 failed", "1,200 in, 30 out; $0.50"] {
            assert!(html.contains(part), "{part}: {html}");
        }
        figures.cost_usd = None;
        figures.failed = 0;
        let html = crate::render::to_html(writer_row(&figures));
        assert!(html.contains("cost not known") && !html.contains("failed"), "{html}");
    }
}
