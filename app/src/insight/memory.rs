//! The page /insights/memories: which memories help, and what the model that orders them is worth.

use crate::{
    document::render,
    memory::{View, document_href},
    render::static_html,
    shell::{RailEntry, Shell, frame},
    text::number::{counted, percent},
    ui::{
        empty::Empty,
        page_head::PageHead,
        table::{Column, Table},
        time::moment,
    },
};
use domain::{Timestamp, relevance::WORTH_FROM};
use leptos::prelude::*;

/// Ratings and uses of the memories of one document.
#[derive(Debug, Clone)]
pub struct MemoryFigure {
    /// Slug of the agent.
    pub agent: String,
    /// Path of the document.
    pub path: String,
    /// Number of times that agents were given one of its memories.
    pub given: u64,
    /// Number of its uses.
    pub used: u64,
    /// Number of its ratings.
    pub rated: u64,
    /// Mean of the ratings, from -1 to 1.
    pub mean: Option<f64>,
}

/// A version of the model that orders memories.
#[derive(Debug, Clone)]
pub struct RankerFigure {
    /// Number of the version.
    pub version: u64,
    /// Time of its training.
    pub at: Timestamp,
    /// NDCG@5 with the formula alone.
    pub formula: f64,
    /// NDCG@5 with formula and model.
    pub model: f64,
    /// Bounds of the gain (95 %).
    pub gain: (f64, f64),
    /// Whether it is in use, can be used, or the reason why not.
    pub state: String,
}

/// Data of the page.
#[derive(Debug, Clone)]
pub struct MemoryProps {
    /// Memories that agents were given.
    pub given: u64,
    /// Those of them that were rated.
    pub rated: u64,
    /// Those of them that were used.
    pub used: u64,
    /// Documents with the best ratings.
    pub helpful: Vec<MemoryFigure>,
    /// Documents whose memories are given and not used.
    pub unused: Vec<MemoryFigure>,
    /// Documents with ratings below 0.
    pub harmful: Vec<MemoryFigure>,
    /// Number of documents with fewer ratings than these lists need.
    pub few: u64,
    /// Versions of the model, newest first.
    pub rankers: Vec<RankerFigure>,
}

/// Renders the page.
pub fn memory_page(shell: &Shell, props: MemoryProps) -> String {
    render(shell, "Memories that help", || {
        let MemoryProps { given, rated, used, helpful, unused, harmful, few, rankers } = props;
        let crumbs = vec![("Insights".to_owned(), "/insights".to_owned())];
        let body = if given == 0 && rankers.is_empty() {
            let sentence = "No agent was given a memory yet. Figures appear when agents use their memory.";
            view! { <Empty sentence=sentence link=Some(("Go to Memory", "/memory".to_owned()))/> }.into_any()
        } else {
            let share = |part: u64| percent(part as f64 / given.max(1) as f64);
            let covered = if given == 1 {
                let not = |part: u64| if part == 0 { "not " } else { "" };
                format!("Agents were given 1 memory. It was {}rated and {}used.", not(rated), not(used))
            } else {
                format!(
                    "Of the newest {} that agents were given, {} were rated and {} were used.",
                    counted(given, "memory"),
                    share(rated),
                    share(used)
                )
            };
            view! {
                <p class="insight-answer">{covered}</p>
                {documents("helpful", "Rated as helpful", &helpful)}
                {documents("unused", "Given, and never used", &unused)}
                {documents("harmful", "Rated as harmful", &harmful)}
                {(few > 0).then(|| view! { <p class="meta">{few_words(few)}</p> })}
                {versions(&rankers)}
            }
            .into_any()
        };
        let page = view! {
            <PageHead title="Memories that help" crumbs=crumbs/>
            {static_html(body)}
        };
        frame(shell, RailEntry::Insights, page)
    })
}

/// The sentence about documents whose ratings are in no list.
fn few_words(few: u64) -> String {
    let has = if few == 1 { "has" } else { "have" };
    format!("{} {has} fewer than {WORTH_FROM} ratings: too few to tell.", counted(few, "document"))
}

/// The table of documents; `None` without any.
fn documents(name: &'static str, title: &'static str, figures: &[MemoryFigure]) -> Option<impl IntoView + use<>> {
    if figures.is_empty() {
        return None;
    }
    let rows = figures.iter().map(|of| {
        let href = document_href(&of.agent, &of.path, View::Usefulness);
        let mean = of.mean.map_or_else(|| "–".to_owned(), |mean| format!("{mean:.2}"));
        view! {
            <tr>
                <td class="table-main"><a href=href dir="auto">{of.path.clone()}</a></td>
                <td class="meta" data-label="Agent">{of.agent.clone()}</td>
                <td class="table-number"><span class="unit">"Given "</span>{of.given}</td>
                <td class="table-number"><span class="unit">"Used "</span>{of.used}</td>
                <td class="table-number"><span class="unit">"Rated "</span>{of.rated}</td>
                <td class="table-number"><span class="unit">"Mean "</span>{mean}</td>
            </tr>
        }
    });
    let rows = rows.collect::<Vec<_>>();
    let figures = ["Given", "Used", "Rated", "Mean rating"].map(Column::number);
    let columns: Vec<_> = ["Document", "Agent"].map(Column::text).into_iter().chain(figures).collect();
    let heading = format!("memories-{name}");
    let labelled = heading.clone();
    Some(view! {
        <section class="insight" aria-labelledby=labelled>
            <h2 id=heading>{title}</h2>
            <Table caption=title columns=columns>{rows}</Table>
        </section>
    })
}

/// The table of versions of the model.
fn versions(rankers: &[RankerFigure]) -> impl IntoView + use<> {
    let rows = rankers.iter().map(|of| {
        let (low, high) = of.gain;
        view! {
            <tr>
                <td class="table-main">{format!("Version {}", of.version)}</td>
                <td class="meta" data-label="Trained">{moment(of.at)}</td>
                <td class="table-number"><span class="unit">"Formula "</span>{format!("{:.3}", of.formula)}</td>
                <td class="table-number"><span class="unit">"With the model "</span>{format!("{:.3}", of.model)}</td>
                <td class="table-number"><span class="unit">"Gain "</span>{format!("{low:+.3} to {high:+.3}")}</td>
                <td class="meta" data-label="State">{of.state.clone()}</td>
            </tr>
        }
    });
    let rows = rows.collect::<Vec<_>>();
    let columns = vec![
        Column::text("Model"),
        Column::text("Trained"),
        Column::number("Formula"),
        Column::number("With the model"),
        Column::number("Gain, 95 %"),
        Column::text("State"),
    ];
    let table = (!rankers.is_empty()).then(|| {
        view! { <Table caption="Versions of the model, newest first" columns=columns focusable=true>{rows}</Table> }
    });
    view! {
        <section class="insight" aria-labelledby="memories-order">
            <h2 id="memories-order">"The order of memories"</h2>
            <p class="insight-answer">{match rankers.is_empty() {
                true => "A formula orders memories. A model is trained when 51 sessions have ratings or uses.",
                false => "NDCG@5 on the newest sessions: 1 is the best order. A model is used only if it is shown to be better.",
            }}</p>
            {table}
        </section>
    }
}
