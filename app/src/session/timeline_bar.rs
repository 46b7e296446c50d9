//! The timeline as an SVG whose segments and ticks link to events of the transcript.

use super::{
    find::FoundTick,
    timeline::{LENGTH, Timeline},
    transcript::BEYOND_TARGET,
};
use crate::{
    text::{duration, html::Html, number},
    ui::{badge::word, time::clock},
};
use leptos::prelude::*;

/// The link to an event: to its row on this page, or to the page that has it. `shown` is the first and last sequence on
/// this page.
pub fn href(sequence: u64, shown: (u64, u64)) -> String {
    if sequence >= shown.0 && sequence <= shown.1 {
        format!("#seq-{sequence}")
    } else {
        format!("?before={}#seq-{sequence}", sequence + BEYOND_TARGET)
    }
}

/// The SVG with its legend. `shown` is the first and last sequence on the page. `found` are the marks of a search.
pub fn timeline_bar(line: &Timeline, found: &[FoundTick], shown: (u64, u64)) -> impl IntoView + use<> {
    let legend = line.totals.iter().map(|(status, ms)| {
        view! { <span class="timeline-key" data-status=status.as_str()>{word(*status)}" "{duration::words(*ms)}</span> }
    });
    let legend = legend.collect::<Vec<_>>();
    let mark = |words: Option<String>, kind: &'static str| {
        words.map(|words| view! { <span class="timeline-key" data-mark=kind>{words}</span> })
    };
    let words = (!found.is_empty()).then(|| "Found".to_owned());
    let marks =
        (mark(line.calls.words("tool call"), "tool"), mark(line.faults.words("error"), "error"), mark(words, "find"));
    view! {
        <div class="timeline">
            <svg class="timeline-bar" viewBox="0 0 1000 28" preserveAspectRatio="none" role="group" aria-label=format!("Timeline: {}", line.words()) inner_html=drawing(line, found, shown)></svg>
            <div class="timeline-words">{legend}{marks}</div>
        </div>
    }
}

fn drawing(line: &Timeline, found: &[FoundTick], shown: (u64, u64)) -> String {
    let mut svg = Html::with_capacity(4_096);
    svg.raw("<rect class=\"timeline-track\" x=\"0\" y=\"6\" width=\"1000\" height=\"16\"></rect>");
    for segment in &line.segments {
        let label = format!("{}, {}", word(segment.status), duration::words(segment.duration_ms));
        open_link(&mut svg, &href(segment.sequence, shown), &label, true);
        svg.raw("<rect class=\"timeline-segment\" data-status=\"")
            .raw(segment.status.as_str())
            .raw("\" y=\"6\" height=\"16\"");
        place(&mut svg, segment.x, segment.width.max(1.5));
        svg.raw("</a>");
    }
    for tick in &line.tools {
        let label = format!("{} at {} UTC", number::counted(tick.count, "tool call"), clock(tick.at));
        // Ticks are not in the tab order: a hundred stops would be in the way, and the transcript has the same
        // events.
        open_link(&mut svg, &href(tick.sequence, shown), &label, false);
        svg.raw("<rect class=\"timeline-tick\" y=\"3\" height=\"10\"");
        place(&mut svg, tick.x.min(LENGTH - 2.0), 2.0);
        svg.raw("</a>");
    }
    for tick in &line.errors {
        let label = format!("{} at {} UTC", number::counted(tick.count, "error"), clock(tick.at));
        open_link(&mut svg, &href(tick.sequence, shown), &label, true);
        svg.raw("<rect class=\"timeline-tick\" data-mark=\"error\" y=\"0\" height=\"28\"");
        place(&mut svg, tick.x.min(LENGTH - 4.0), 4.0);
        svg.raw("</a>");
    }
    for tick in found {
        let label = format!("Found {} at {} UTC", number::counted(tick.count, "event"), clock(tick.at));
        // The link to the next one is in the tab order.
        open_link(&mut svg, &tick.href, &label, false);
        svg.raw("<rect class=\"timeline-tick\" data-mark=\"find\" y=\"17\" height=\"11\"");
        place(&mut svg, tick.x.min(LENGTH - 3.0), 3.0);
        svg.raw("</a>");
    }
    svg.finish()
}

fn open_link(svg: &mut Html, href: &str, label: &str, by_keyboard: bool) {
    svg.raw("<a href=\"").text(href).raw("\" aria-label=\"").text(label).raw("\"");
    if !by_keyboard {
        svg.raw(" tabindex=\"-1\"");
    }
    svg.raw("><title>").text(label).raw("</title>");
}

fn place(svg: &mut Html, x: f64, width: f64) {
    svg.raw(" x=\"").text(&format!("{x:.1}")).raw("\" width=\"").text(&format!("{width:.1}")).raw("\"></rect>");
}

#[cfg(test)]
mod tests {
    use super::href;

    #[test]
    fn marks_lead_to_the_page_that_has_their_event() {
        assert_eq!(href(150, (101, 300)), "#seq-150");
        assert_eq!(href(50, (101, 300)), "?before=150#seq-50");
    }
}
