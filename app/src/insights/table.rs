//! Agents and actions beside each other, as rows.

use super::page::{percent, seconds};
use crate::{
    document::solid,
    text::number::{dollars, grouped},
};
use leptos::prelude::*;
use wire::insight::{Figures, PartFigures};

/// Rows of one table; the API has them all.
const ROWS_MAX: usize = 50;

/// The table of what is counted per agent or action.
pub fn parts(
    name: &'static str,
    title: &'static str,
    one: &'static str,
    parts: &[PartFigures],
) -> impl IntoView + use<> {
    let left_out = parts.len().saturating_sub(ROWS_MAX);
    let rows = parts.iter().take(ROWS_MAX).map(row).collect::<Vec<_>>();
    let heading = format!("insight-{name}");
    let labelled = heading.clone();
    let label = format!("{title}: table");
    let heads = [
        "Sessions",
        "Failed",
        "Helpful",
        "Not rated",
        "Accepted",
        "Rejected",
        "Neutral",
        "Unknown",
        "Approved",
        "Edited",
        "Denied",
        "Median wait",
        "Cost",
    ];
    let heads = heads.map(|head| view! { <th scope="col" class="table-number">{head}</th> }).to_vec();
    solid(view! {
        <section class="insight" aria-labelledby=labelled>
            <h2 id=heading>{title}</h2>
            <div class="insight-parts" tabindex="0" role="group" aria-label=label>
                <table>
                    <caption class="hidden-text">{format!("{title}, most sessions first")}</caption>
                    <thead><tr><th scope="col">{one}</th>{heads}</tr></thead>
                    <tbody>{rows}</tbody>
                </table>
            </div>
            {(left_out > 0).then(|| view! { <p class="meta">{format!("{left_out} more are not shown; GET /api/insights has all.")}</p> })}
        </section>
    })
}

fn row(part: &PartFigures) -> impl IntoView + use<> {
    let Figures { sessions, failed, unrated, approved, edited, denied, .. } = part.figures;
    let answers = part.figures.positive + part.figures.negative;
    let helpful = part.figures.helpful.map(|share| format!("{} of {answers}", percent(share)));
    let Figures { accepted, rejected, neutral, unknown, .. } = part.figures;
    let counts = |n: u64| (accepted + rejected + neutral + unknown > 0).then(|| grouped(n));
    let judged = approved + edited + denied;
    let of_judged = |n: u64| (judged > 0).then(|| percent(n as f64 / judged as f64));
    let cells = [
        Some(grouped(sessions)),
        (failed > 0).then(|| grouped(failed)),
        helpful,
        (sessions > 0).then(|| percent(unrated as f64 / sessions as f64)),
        counts(accepted),
        counts(rejected),
        counts(neutral),
        counts(unknown),
        of_judged(approved),
        of_judged(edited),
        of_judged(denied),
        part.figures.wait_median_seconds.map(|wait| seconds(wait as f64)),
        part.figures.cost_usd.map(dollars),
    ];
    let cells = cells.map(|cell| view! { <td class="table-number">{cell.unwrap_or_else(|| "–".to_owned())}</td> });
    let name = part.slug.clone().unwrap_or_else(|| "none".to_owned());
    view! { <tr><th scope="row" dir="auto">{name}</th>{cells.to_vec()}</tr> }
}
