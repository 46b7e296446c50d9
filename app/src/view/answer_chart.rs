//! The answers to one question as bars, and the same figures as a table.

use crate::{
    insight::chart::{AxisSide, Series, SeriesColor, stacked_bars},
    render::static_html,
    text::{
        number::{counted, grouped, percent},
        shorten::one_line,
    },
    ui::chart_frame::{ChartFrame, Key},
};
use domain::response_chart::{Bar, Chart};
use leptos::{prelude::*, tachys::html::InertElement};

/// Longest label below a bar, characters. The table has the whole label.
const AXIS_CHARS_MAX: usize = 14;
/// Longest label in the table, characters.
const LABEL_CHARS_MAX: usize = 120;

/// The chart of one question. `at` is its number on the page, for ids.
pub fn answer_chart(at: usize, chart: &Chart) -> InertElement {
    let title = one_line(&chart.column.label, LABEL_CHARS_MAX);
    let short: Vec<_> = chart.bars.iter().map(|bar| one_line(&bar.label, AXIS_CHARS_MAX)).collect();
    let values = chart.bars.iter().map(|bar| bar.count as f64).collect();
    let series = Series { name: "Responses", color: SeriesColor::Accent, values, says: None };
    let tick = |value: f64| if value.fract() == 0.0 { format!("{value:.0}") } else { String::new() };
    let drawing = stacked_bars(&short, &[series], AxisSide::Left, tick);
    let heading = format!("answers-{at}");
    let labelled = heading.clone();
    let figures = table(chart, &title);
    let body = match drawing {
        Some(svg) => {
            let keys = vec![Key { label: "Responses", color: SeriesColor::Accent.name() }];
            view! { <ChartFrame title=title.clone() svg=svg keys=keys from_start=true>{figures}</ChartFrame> }
                .into_any()
        }
        None => figures.into_any(),
    };
    static_html(view! {
        <section class="insight" aria-labelledby=labelled>
            <h3 id=heading dir="auto">{title}</h3>
            <p class="insight-answer" dir="auto">{sentence(chart)}</p>
            {body}
        </section>
    })
}

/// The most frequent answer and the mean, in words.
fn sentence(chart: &Chart) -> String {
    if chart.answered == 0 {
        return "No one has answered this question.".to_owned();
    }
    let mut text = format!("{} to this question.", counted(chart.answered, "answer"));
    let most = chart.bars.iter().map(|bar| bar.count).max().unwrap_or_default();
    let first: Vec<_> = chart.bars.iter().filter(|bar| bar.count == most && most > 0).collect();
    if let [only] = first.as_slice() {
        text.push_str(&format!(
            " Most frequent: {} ({}).",
            one_line(&only.label, LABEL_CHARS_MAX),
            share(only.count, chart)
        ));
    }
    if let Some(mean) = chart.mean() {
        text.push_str(&format!(" Mean: {mean:.2}."));
    }
    text
}

fn share(count: u64, chart: &Chart) -> String {
    percent(count as f64 / chart.answered.max(1) as f64)
}

fn table(chart: &Chart, title: &str) -> InertElement {
    let row = |Bar { label, count, .. }: &Bar| {
        view! {
            <tr>
                <th scope="row" dir="auto">{one_line(label, LABEL_CHARS_MAX)}</th>
                <td class="table-number">{grouped(*count)}</td>
                <td class="table-number">{share(*count, chart)}</td>
            </tr>
        }
    };
    let rows: Vec<_> = chart.bars.iter().map(row).collect();
    let other = (chart.other > 0).then(|| {
        view! {
            <tr>
                <th scope="row">"Another answer, from an earlier version"</th>
                <td class="table-number">{grouped(chart.other)}</td>
                <td class="table-number">{share(chart.other, chart)}</td>
            </tr>
        }
    });
    let caption = match chart.is_multiple {
        true => format!("{title}. One response can have several of the answers."),
        false => title.to_owned(),
    };
    static_html(view! {
        <div class="insight-table" data-answers tabindex="0" role="group" aria-label=format!("{title}: table")>
            <table>
                <caption class="hidden-text">{caption}</caption>
                <thead><tr><th scope="col">"Answer"</th><th scope="col" class="table-number">"Responses"</th><th scope="col" class="table-number">"Share"</th></tr></thead>
                <tbody>{rows}{other}</tbody>
            </table>
        </div>
    })
}
