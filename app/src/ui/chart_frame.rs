//! The frame of a drawing: its legend, and the same figures as a table for readers who do not see it.

use super::content::Content;
use leptos::prelude::*;

/// One entry of a legend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key {
    /// What the colour means.
    pub label: &'static str,
    /// The name of the colour, as in style/chart_frame.css.
    pub color: &'static str,
}

/// The frame. A drawing that is wider than the page scrolls sideways.
#[component]
pub fn ChartFrame(
    /// What the drawing shows.
    #[prop(into)]
    title: String,
    /// The drawing as SVG. Visual only: the table has its figures as text.
    svg: String,
    /// The legend.
    keys: Vec<Key>,
    /// Whether a drawing that is too wide is first seen at its beginning, and not at its end, where the newest day is.
    #[prop(optional)]
    from_start: bool,
    /// The table with the same figures.
    children: Content,
) -> impl IntoView {
    let keys =
        keys.into_iter().map(|Key { label, color }| view! { <span class="chart-key" data-color=color>{label}</span> });
    view! {
        <div class="chart-frame">
            <figure class="chart-figure">
                <div
                    class="chart-drawing"
                    data-from-start=from_start.then_some("")
                    tabindex="0"
                    role="group"
                    aria-label=format!("{title}: chart. The table shows the same figures.")
                    inner_html=svg
                ></div>
                <figcaption class="chart-legend">{keys.collect::<Vec<_>>()}</figcaption>
            </figure>
            {children.view()}
        </div>
    }
}
