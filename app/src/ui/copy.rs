//! Text with a button that copies it; the button needs scripts.

use super::icon::{Icon, icon};
use leptos::prelude::*;

/// A line of monospaced text with a copy button. `what` names the text in the button's label.
pub fn copy_line(text: String, what: &'static str) -> impl IntoView {
    view! {
        <div class="copy-line">
            <pre tabindex="0">{text.clone()}</pre>
            <button class="button js-only" type="button" data-size="small" data-copy=text aria-label=format!("Copy {what}")>
                {icon(Icon::Copy)}
                <span>"Copy"</span>
            </button>
        </div>
    }
}
