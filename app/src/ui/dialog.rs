//! Modal dialogs. The browser traps the focus, closes them with Escape and gives the focus back.

use super::{button::Button, content::Content};
use leptos::prelude::*;

/// A dialog with a title, a close button and a body. A button with `data-open` and its id opens it.
#[component]
pub fn Dialog(
    /// What a `data-open` refers to.
    id: &'static str,
    /// The heading, which also names the dialog for screen readers.
    title: &'static str,
    /// The body.
    children: Content,
) -> impl IntoView {
    let title_id = format!("{id}-title");
    let labelled_by = title_id.clone();
    view! {
        <dialog class="dialog" id=id aria-labelledby=labelled_by>
            <div class="dialog-head">
                <h2 id=title_id>{title}</h2>
                <form method="dialog"><Button small=true>"Close"</Button></form>
            </div>
            <div class="dialog-body">{children.view()}</div>
        </dialog>
    }
}
