//! Tables that compare agents, and tasks.

use super::figure_text::seconds;
use crate::{
    render::static_html,
    sessions::Filter,
    text::{
        duration,
        number::{counted, dollars, grouped, percent, unit},
        shorten::one_line,
    },
    ui::table::{Column as UiColumn, Table},
};
use domain::{search::Test, session::Status};
use leptos::prelude::*;
use std::collections::BTreeMap;
use wire::insight::{Figures, PartFigures, ToolFigures, WriterFigures};

/// Most rows of one table; the API returns all of them.
const ROWS_MAX: usize = 50;
/// Longest name of a tool, characters.
const NAME_CHARS_MAX: usize = 120;

/// A column: its heading, and the text of a row; `None` for an empty cell.
type Column = (&'static str, fn(&Figures) -> Option<String>);

/// Heading of the column whose counts link to the failed sessions.
const FAILED: &str = "Failed";

const COLUMNS: [Column; 13] = [
    ("Sessions", |f| Some(grouped(f.sessions))),
    (FAILED, |f| (f.failed > 0).then(|| grouped(f.failed))),
    ("Helpful", |f| f.helpful.map(|share| format!("{} of {}", percent(share), f.positive + f.negative))),
    ("Not rated", |f| (f.sessions > 0).then(|| percent(f.unrated as f64 / f.sessions as f64))),
    ("Accepted", |f| count_if_answered(f, f.accepted)),
    ("Rejected", |f| count_if_answered(f, f.rejected)),
    ("Neutral", |f| count_if_answered(f, f.neutral)),
    ("No follow-up yet", |f| count_if_answered(f, f.unknown)),
    ("Approved", |f| share_if_decided(f, f.approved)),
    ("Edited", |f| share_if_decided(f, f.edited)),
    ("Denied", |f| share_if_decided(f, f.denied)),
    ("Median wait", |f| f.wait_median_seconds.map(|wait| seconds(wait as f64))),
    ("Cost", |f| f.cost_usd.map(dollars)),
];

fn count_if_answered(figures: &Figures, count: u64) -> Option<String> {
    let answers = figures.accepted + figures.rejected + figures.neutral + figures.unknown;
    (answers > 0).then(|| grouped(count))
}

fn share_if_decided(figures: &Figures, count: u64) -> Option<String> {
    let judged = figures.approved + figures.edited + figures.denied;
    (judged > 0).then(|| percent(count as f64 / judged as f64))
}

/// The table of agents or tasks. Columns in which no row has more than 0 are omitted, and so is a table without rows.
/// `sessions_of` returns the filter for the sessions of a slug.
pub fn parts(
    name: &'static str,
    title: &'static str,
    one: &'static str,
    parts: &[PartFigures],
    name_of: &dyn Fn(Option<&str>) -> String,
    sessions_of: &dyn Fn(&str) -> Option<Filter>,
) -> Option<impl IntoView + use<>> {
    if parts.is_empty() {
        return None;
    }
    let shown = parts.get(..ROWS_MAX).unwrap_or(parts);
    let left_out = parts.len() - shown.len();
    let has_value = |(_, says): &Column| shown.iter().any(|part| says(&part.figures).is_some_and(|text| text != "0"));
    let columns: Vec<Column> = COLUMNS.into_iter().filter(has_value).collect();
    let rows =
        shown.iter().map(|part| row(part, name_of(part.slug.as_deref()), &columns, sessions_of)).collect::<Vec<_>>();
    let heading = format!("insight-{name}");
    let labelled = heading.clone();
    let label = format!("{title}: table");
    let heads = columns.iter().map(|(head, _)| view! { <th scope="col" class="table-number">{*head}</th> });
    let heads = heads.collect::<Vec<_>>();
    Some(static_html(view! {
        <section class="insight" aria-labelledby=labelled>
            <h2 id=heading>{title}</h2>
            <div class="insight-parts" tabindex="0" role="group" aria-label=label>
                <table>
                    <caption class="hidden-text">{format!("{title}, most sessions first")}</caption>
                    <thead><tr><th scope="col">{one}</th>{heads}</tr></thead>
                    <tbody>{rows}</tbody>
                </table>
            </div>
            {(left_out > 0).then(|| view! { <p class="meta">{not_shown(left_out)}</p> })}
        </section>
    }))
}

/// Says how many rows of a table are left out.
fn not_shown(left_out: usize) -> String {
    format!("Not shown: {}. GET /api/insights returns all of them.", counted(left_out as u64, "more row"))
}

fn row(
    part: &PartFigures,
    name: String,
    columns: &[Column],
    sessions_of: &dyn Fn(&str) -> Option<Filter>,
) -> impl IntoView + use<> {
    let sessions = part.slug.as_deref().and_then(sessions_of);
    let cells = columns.iter().map(|(head, says)| {
        let text = says(&part.figures).unwrap_or_else(|| "–".to_owned());
        let linked = sessions.clone().filter(|_| *head == FAILED && part.figures.failed > 0);
        let text = match linked {
            Some(filter) => {
                let href = filter.and(Test::Status(vec![Status::Failed])).href(None);
                let label = format!("{text}: failed sessions of {name}");
                view! { <a href=href aria-label=label>{text}</a> }.into_any()
            }
            None => text.into_any(),
        };
        view! { <td class="table-number">{text}</td> }
    });
    let cells = cells.collect::<Vec<_>>();
    let name = match sessions {
        Some(filter) => view! { <a href=filter.href(None)>{name}</a> }.into_any(),
        None => name.into_any(),
    };
    view! { <tr><th scope="row" dir="auto">{name}</th>{cells}</tr> }
}

/// The table of what memory writers used; `None` without any run.
pub fn writers(writers: &[WriterFigures]) -> Option<impl IntoView + use<>> {
    if writers.is_empty() {
        return None;
    }
    let shown = writers.get(..ROWS_MAX).unwrap_or(writers);
    let left_out = writers.len() - shown.len();
    let rows = shown.iter().map(|of| {
        let href = format!("/agents/{}/memory/runs", of.agent);
        let cost = of.cost_usd.map_or_else(|| "–".to_owned(), dollars);
        // Not 0: models whose services report no tokens use some all the same.
        let tokens = |tokens: Option<u64>| tokens.map_or_else(|| "–".to_owned(), grouped);
        view! {
            <tr>
                <td class="table-main"><a href=href>{of.agent.clone()}</a></td>
                <td class="table-number">{grouped(of.runs)}<span class="unit">{unit(of.runs, "run")}</span></td>
                <td class="table-number">{grouped(of.failed)}<span class="unit">" failed"</span></td>
                <td class="table-number">{tokens(of.input_tokens)}<span class="unit">{unit(of.input_tokens.unwrap_or_default(), "input token")}</span></td>
                <td class="table-number">{tokens(of.output_tokens)}<span class="unit">{unit(of.output_tokens.unwrap_or_default(), "output token")}</span></td>
                <td class="table-number"><span class="unit">"Cost "</span>{cost}</td>
            </tr>
        }
    });
    let rows = rows.collect::<Vec<_>>();
    let figures = ["Runs", "Failed", "Input tokens", "Output tokens", "Cost"].map(UiColumn::number);
    let columns: Vec<_> = [UiColumn::text("Agent")].into_iter().chain(figures).collect();
    Some(static_html(view! {
        <section class="insight" aria-labelledby="insight-writers">
            <h2 id="insight-writers">"Memory writers"</h2>
            <p class="insight-answer">"What the models that summarise conversations used. The figures above do not include it."</p>
            <Table caption="Memory writers by agent" columns=columns>{rows}</Table>
            {(left_out > 0).then(|| view! { <p class="meta">{not_shown(left_out)}</p> })}
        </section>
    }))
}

/// The table of tools; `None` without any run. `names` has the names of tools by their slugs. A tool that is not in it
/// has its slug.
pub fn tools(tools: &[ToolFigures], names: &BTreeMap<String, String>) -> Option<impl IntoView + use<>> {
    if tools.is_empty() {
        return None;
    }
    let shown = tools.get(..ROWS_MAX).unwrap_or(tools);
    let left_out = tools.len() - shown.len();
    let rows = shown.iter().map(|of| {
        let took = |ms: Option<u64>| ms.map_or_else(|| "–".to_owned(), duration::words);
        let rate = of.failure_rate.map_or_else(|| "–".to_owned(), percent);
        let name = one_line(names.get(&of.slug).unwrap_or(&of.slug), NAME_CHARS_MAX);
        view! {
            <tr>
                <td class="table-main"><a href=format!("/tools/{}", of.slug) dir="auto">{name}</a></td>
                <td class="table-number">{grouped(of.runs)}<span class="unit">{unit(of.runs, "run")}</span></td>
                <td class="table-number">{grouped(of.failed)}<span class="unit">" failed"</span></td>
                <td class="table-number"><span class="unit">"Failure rate "</span>{rate}</td>
                <td class="table-number"><span class="unit">"Median time "</span>{took(of.p50_ms)}</td>
                <td class="table-number"><span class="unit">"95th percentile "</span>{took(of.p95_ms)}</td>
                <td class="table-number"><span class="unit">"Cost "</span>{of.cost_usd.map_or_else(|| "–".to_owned(), dollars)}</td>
            </tr>
        }
    });
    let rows = rows.collect::<Vec<_>>();
    let figures = ["Runs", "Failed", "Failure rate", "Median time", "95th percentile", "Cost"].map(UiColumn::number);
    let columns: Vec<_> = [UiColumn::text("Tool")].into_iter().chain(figures).collect();
    Some(static_html(view! {
        <section class="insight" aria-labelledby="insight-tools">
            <h2 id="insight-tools">"Tools"</h2>
            <p class="insight-answer">"Runs that ended. Times are of completed runs, from start to end, with the time they waited for an approval. The figures above do not include them."</p>
            <Table caption="Tools, most runs first" columns=columns>{rows}</Table>
            {(left_out > 0).then(|| view! { <p class="meta">{not_shown(left_out)}</p> })}
        </section>
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_writers_have_their_nouns_for_narrow_screens() {
        let figures = serde_json::json!({
            "agent": "scout", "runs": 1, "failed": 2, "inputTokens": 1200, "outputTokens": 30, "costUsd": 0.5,
        });
        let html = crate::render::to_html(writers(&[serde_json::from_value(figures).unwrap()]));
        for part in [" run<", " failed<", "1,200", " input tokens<", " output tokens<", ">Cost <"] {
            assert!(html.contains(part), "{part}: {html}");
        }
    }

    #[test]
    fn tools_have_times_with_units_and_no_figure_where_nothing_is_known() {
        let mut figures = serde_json::json!({
            "slug": "weather", "runs": 1200, "completed": 1199, "failed": 1, "failureRate": 0.25, "p50Ms": 340,
            "p95Ms": 61_000, "costUsd": 0.5, "priced": 1,
        });
        let html = |figures: &serde_json::Value| {
            let names = BTreeMap::from([("weather".to_owned(), "The <b>weather".to_owned())]);
            crate::render::to_html(tools(&[serde_json::from_value(figures.clone()).unwrap()], &names))
        };
        let known = html(&figures);
        for part in ["/tools/weather", "1,200", " runs<", "25%", "340 ms", "1 min 1 s", "$0.50"] {
            assert!(known.contains(part), "{part}: {known}");
        }
        assert!(known.contains(">The &lt;b&gt;weather<"), "the name of the tool: {known}");
        for name in ["failureRate", "p50Ms", "p95Ms", "costUsd"] {
            figures[name] = serde_json::Value::Null;
        }
        assert_eq!(html(&figures).matches('–').count(), 4);
        figures["slug"] = "gone".into();
        assert!(html(&figures).contains(">gone<"), "a tool without a name has its slug");
    }

    #[test]
    fn a_column_in_which_all_are_zero_is_left_out() {
        let figures = serde_json::json!({
            "sessions": 3, "completed": 3, "failed": 0, "positive": 0, "negative": 0, "skipped": 0, "unrated": 3,
            "helpful": null, "accepted": 0, "rejected": 0, "neutral": 0, "unknown": 3, "approved": 0, "edited": 0,
            "denied": 0, "answered": 0, "expired": 0, "waitMedianSeconds": null, "waitP90Seconds": null,
            "waitTotalSeconds": 0, "inputTokens": 0, "outputTokens": 0, "costUsd": null, "priced": 0,
        });
        let figures: Figures = serde_json::from_value(figures).unwrap();
        let of = |figures: Figures| {
            let part = PartFigures { slug: None, figures };
            crate::render::to_html(parts("agents", "By agent", "agent", &[part], &|_| "No agent".to_owned(), &|_| None))
        };
        let html = of(figures.clone());
        assert!(html.contains("No follow-up yet") && !html.contains("Accepted"), "{html}");
        assert!(html.contains(">No agent<"), "{html}");
        assert!(of(Figures { accepted: 1, ..figures }).contains("Accepted"));
    }

    #[test]
    fn what_a_table_leaves_out_is_counted() {
        assert_eq!(not_shown(1), "Not shown: 1 more row. GET /api/insights returns all of them.");
        assert_eq!(not_shown(2), "Not shown: 2 more rows. GET /api/insights returns all of them.");
    }
}
