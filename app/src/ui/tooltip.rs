//! An explanation of a word, shown on hover and on keyboard focus. A button needs none: its `title` names its key.

use leptos::prelude::*;

/// A word with its explanation.
#[component]
pub fn Tooltip(
    /// The id of the explanation.
    #[prop(into)]
    id: String,
    /// What is explained; it takes the keyboard focus.
    word: &'static str,
    /// The explanation.
    text: &'static str,
) -> impl IntoView {
    let described_by = id.clone();
    view! {
        <span class="tooltip">
            <span class="tooltip-word" tabindex="0" role="note" aria-describedby=described_by>{word}</span>
            <span class="tooltip-text" role="tooltip" id=id>{text}</span>
        </span>
    }
}
