//! How far a long operation is.

use leptos::prelude::*;

/// A bar. Without a total it shows only that something continues.
#[component]
pub fn Progress(
    /// What is counted: the name of the bar for screen readers.
    label: &'static str,
    /// How much is done, and how much there is; the latter is unknown at first.
    of: impl Fn() -> (u64, Option<u64>) + Clone + Send + Sync + 'static,
) -> impl IntoView {
    let at = of.clone();
    view! {
        <progress
            class="progress"
            max=move || scale(of()).map(|(max, _)| max.to_string())
            value=move || scale(at()).map(|(_, value)| value.to_string())
            aria-label=label
        ></progress>
    }
}

/// Maximum and value of the bar. A bar of nothing is full, so that an empty operation does not look unfinished.
const fn scale((done, total): (u64, Option<u64>)) -> Option<(u64, u64)> {
    match total {
        Some(0) => Some((1, 1)),
        Some(total) if done < total => Some((total, done)),
        Some(total) => Some((total, total)),
        None => None,
    }
}
