//! One section: a question, its chart and legend, and the figures as a table.

use super::chart::{Series, stacked_bars};
use crate::{
    render::static_html,
    ui::chart_frame::{ChartFrame, Key},
};
use leptos::prelude::*;

/// Data of a section.
pub struct Section {
    /// Prefix of its ids.
    pub name: &'static str,
    /// The question.
    pub title: &'static str,
    /// The answer in one sentence.
    pub answer: String,
    /// The series of the chart.
    pub series: Vec<Series>,
    /// Formats a value for the axis and the table.
    pub word: fn(f64) -> String,
}

/// The section. `days` are pairs of a long name for the table and a short one for the axis.
pub fn section(days: &[(String, String)], section: Section) -> impl IntoView + use<> {
    let Section { name, title, answer, series, word } = section;
    let short: Vec<_> = days.iter().map(|(_, short)| short.clone()).collect();
    let drawing = stacked_bars(&short, &series, word);
    let heading = format!("insight-{name}");
    let labelled = heading.clone();
    let body = drawing.map(|svg| {
        view! {
            <ChartFrame title=title svg=svg keys=legend(&series)>{table(days, &series, title, word)}</ChartFrame>
        }
    });
    static_html(view! {
        <section class="insight" aria-labelledby=labelled>
            <h2 id=heading>{title}</h2>
            <p class="insight-answer">{answer}</p>
            {body}
        </section>
    })
}

fn legend(series: &[Series]) -> Vec<Key> {
    series.iter().map(|part| Key { label: part.name, ink: part.ink.name() }).collect()
}

/// Days with at least one value, newest first.
fn table(
    days: &[(String, String)],
    series: &[Series],
    title: &'static str,
    word: fn(f64) -> String,
) -> impl IntoView + use<> {
    let heads = series.iter().map(|part| view! { <th scope="col" class="table-number">{part.name}</th> });
    let heads = heads.collect::<Vec<_>>();
    let rows = days
        .iter()
        .enumerate()
        .rev()
        .filter(|(day, _)| series.iter().any(|part| part.values.get(*day).is_some_and(|value| *value != 0.0)))
        .map(|(day, (long, _))| {
            let cell = |part: &Series| {
                let value = part.says.as_ref().unwrap_or(&part.values).get(day).copied().unwrap_or_default();
                let shown = if value == 0.0 { "–".to_owned() } else { word(value) };
                view! { <td class="table-number">{shown}</td> }
            };
            view! { <tr><th scope="row">{long.clone()}</th>{series.iter().map(cell).collect::<Vec<_>>()}</tr> }
        })
        .collect::<Vec<_>>();
    view! {
        <div class="insight-table" tabindex="0" role="group" aria-label=format!("{title}: table")>
            <table>
                <caption class="hidden-text">{format!("{title}, by day, newest first")}</caption>
                <thead><tr><th scope="col">"Day"</th>{heads}</tr></thead>
                <tbody>{rows}</tbody>
            </table>
        </div>
    }
}
