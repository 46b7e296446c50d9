//! A line to copy: selectable text, and a button where scripts run.

use super::icon::{Icon, icon};
use leptos::prelude::*;

/// One copyable piece of text, in the face of code.
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
