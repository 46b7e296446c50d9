//! One section: a question, its chart and legend, and the figures as a table.

use super::chart::{AxisSide, Series, stacked_bars};
use crate::{
    render::static_html,
    sessions::Filter,
    ui::chart_frame::{ChartFrame, Key},
};
use chrono::NaiveDate;
use leptos::prelude::*;

/// A day of the period.
pub struct Day {
    /// The day, UTC.
    pub date: NaiveDate,
    /// Its name in tables.
    pub long: String,
    /// Its name at the axis.
    pub short: String,
}

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
    /// Returns the filter for the sessions that the figures of a day are about. The table links to them.
    pub sessions_of: fn(NaiveDate) -> Filter,
}

/// Renders the question with its answer, and the chart with its figures where there are any.
pub fn section(days: &[Day], section: Section) -> impl IntoView + use<> {
    let Section { name, title, answer, series, word, sessions_of } = section;
    let short: Vec<_> = days.iter().map(|day| day.short.clone()).collect();
    // The newest day is at the right, and seen first.
    let drawing = stacked_bars(&short, &series, AxisSide::Right, word);
    let heading = format!("insight-{name}");
    let labelled = heading.clone();
    let body = drawing.map(|svg| {
        view! {
            <ChartFrame title=title svg=svg keys=legend(&series)>{table(days, &series, title, word, sessions_of)}</ChartFrame>
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
    series.iter().map(|part| Key { label: part.name, color: part.color.name() }).collect()
}

/// Days with at least one value, newest first.
fn table(
    days: &[Day],
    series: &[Series],
    title: &'static str,
    word: fn(f64) -> String,
    sessions_of: fn(NaiveDate) -> Filter,
) -> impl IntoView + use<> {
    let heads = series.iter().map(|part| view! { <th scope="col" class="table-number">{part.name}</th> });
    let heads = heads.collect::<Vec<_>>();
    let rows = days
        .iter()
        .enumerate()
        .rev()
        .filter(|(day, _)| series.iter().any(|part| part.values.get(*day).is_some_and(|value| *value != 0.0)))
        .map(|(day, Day { date, long, .. })| {
            let name = view! { <a href=sessions_of(*date).href(None)>{long.clone()}</a> };
            let cell = |part: &Series| {
                let value = part.says.as_ref().unwrap_or(&part.values).get(day).copied().unwrap_or_default();
                let shown = if value == 0.0 { "–".to_owned() } else { word(value) };
                view! { <td class="table-number">{shown}</td> }
            };
            view! { <tr><th scope="row">{name}</th>{series.iter().map(cell).collect::<Vec<_>>()}</tr> }
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
