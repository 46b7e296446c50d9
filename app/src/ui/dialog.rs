//! Modal dialogs. The browser traps the focus, closes them with Escape and gives the focus back.

use super::button::Button;
use leptos::{html, prelude::*};

/// A dialog with a title, a close button and a body. A button with `data-open` and its id opens it.
#[component]
pub fn Dialog(
    /// What a `data-open` refers to.
    id: &'static str,
    /// The heading, which also names the dialog for screen readers.
    title: &'static str,
    /// The element, for who opens it.
    #[prop(optional)]
    node: NodeRef<html::Dialog>,
    /// The body.
    children: Children,
) -> impl IntoView {
    let title_id = format!("{id}-title");
    let labelled_by = title_id.clone();
    view! {
        <dialog class="dialog" id=id aria-labelledby=labelled_by node_ref=node>
            <div class="dialog-head">
                <h2 id=title_id>{title}</h2>
                <form method="dialog"><Button small=true>"Close"</Button></form>
            </div>
            <div class="dialog-body">{children()}</div>
        </dialog>
    }
}
