//! How a bucket developed over the day: its age, and one bar for each hour. Loaded after the page.

use super::bucket::BUCKETS;
use crate::{
    render::to_html,
    text::html::Html,
    ui::{questions::count_words, time::machine},
};
use domain::{Timestamp, work_queue::Bucket};
use leptos::prelude::*;

/// Height of the tallest bar, units of the SVG.
const TALLEST: u64 = 16;
/// Width of an hour, units; a quarter of it is the gap.
const HOUR: usize = 4;
const BAR: u64 = 3;

/// The development of one bucket over the day.
#[derive(Debug, Clone)]
pub struct Trend {
    /// Group of the work queue that is counted.
    pub bucket: Bucket,
    /// Since when its oldest session has been waiting or running, or when its newest one ended.
    pub at: Option<Timestamp>,
    /// Number of sessions in each hour since midnight.
    pub hours: Vec<u64>,
}

/// An HTML fragment for each bucket, shown below its label. `questions` is the number of open questions beside the
/// sessions that wait for the reader.
pub fn trend_fragment(trends: &[Trend], questions: u64) -> String {
    to_html(trends.iter().map(|trend| trend_view(trend, questions)).collect::<Vec<_>>())
}

fn trend_view(trend: &Trend, questions: u64) -> impl IntoView + use<> {
    let name = trend.bucket.as_str();
    let about = BUCKETS.into_iter().find(|words| words.name == name).map_or("", |words| words.about);
    let sub = match trend.at {
        None => about.into_any(),
        Some(at) => {
            let (before, kind) = match trend.bucket {
                Bucket::Running => ("longest ", "age"),
                Bucket::Failed | Bucket::DoneToday => ("last ", "ago"),
                Bucket::NeedsMe | Bucket::Delegatable => ("oldest ", "age"),
            };
            view! { {before}<time datetime=machine(at) data-time=kind></time> }.into_any()
        }
    };
    let beside = count_words(questions).filter(|_| trend.bucket == Bucket::NeedsMe).map(|words| format!(" + {words}"));
    let width = trend.hours.len().max(24) * HOUR;
    view! {
        <div data-trend=name>
            <span class="strip-sub">{sub}{beside}</span>
            <svg class="strip-day" viewBox=format!("0 0 {width} {TALLEST}") preserveAspectRatio="none" aria-hidden="true" inner_html=bars(&trend.hours)></svg>
        </div>
    }
}

/// One bar per hour, relative to the busiest hour. An hour with at least one session has a visible bar.
fn bars(hours: &[u64]) -> String {
    let most = hours.iter().copied().max().unwrap_or_default().max(1);
    let mut svg = Html::with_capacity(1_024);
    for (at, &count) in hours.iter().enumerate() {
        let height = if count == 0 { 1 } else { (count * TALLEST / most).max(3) };
        let kind = if count == 0 { "none" } else { "some" };
        svg.raw("<rect data-hour=\"").raw(kind).raw("\" x=\"").number((at * HOUR) as u64);
        svg.raw("\" y=\"").number(TALLEST - height).raw("\" width=\"").number(BAR);
        svg.raw("\" height=\"").number(height).raw("\"></rect>");
    }
    svg.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_hour_beside_a_busy_one_has_a_visible_bar() {
        let drawn = bars(&[0, 1, 1_000]);
        let heights: Vec<_> = drawn.split("height=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
        assert_eq!(heights, ["1", "3", "16"]);
        assert_eq!(drawn.matches("data-hour=\"some\"").count(), 2);
    }

    #[test]
    fn an_empty_bucket_shows_its_explanation() {
        let empty = Trend { bucket: Bucket::Failed, at: None, hours: vec![0; 3] };
        assert!(trend_fragment(&[empty], 2).contains("in the last 24 hours"));
        let at = Some("2026-11-21T07:04:03Z".parse().unwrap());
        let html = trend_fragment(&[Trend { bucket: Bucket::NeedsMe, at, hours: vec![0, 2] }], 2);
        assert!(html.contains(" + 2 open questions"), "{html}");
        assert!(html.contains("oldest <") && html.contains("2026-11-21T07:04:03.000Z"), "{html}");
    }
}
