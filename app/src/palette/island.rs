//! The palette's dialog and search field. The field takes keys from the start; its list is loaded when it is needed.

use super::{
    part,
    state::{Keys, Operation},
};
use leptos::prelude::*;

/// The palette, and all keyboard shortcuts. Mounted once, on every page with the shell.
#[island]
pub fn Palette() -> impl IntoView {
    let keys = Keys::new(part::load);
    #[cfg(feature = "hydrate")]
    super::start(keys);
    view! {
        <dialog class="dialog" id="palette" aria-label="Go to or search" node_ref=keys.dialog>
            <input
                class="palette-input" id="palette-input" type="text" role="combobox" aria-expanded="true"
                aria-label="Go to a page, run a command, or find a session, task, entity or agent" aria-controls="palette-list"
                aria-activedescendant=move || keys.selected_id.get()
                placeholder="Pages, commands, or names" autocomplete="off" spellcheck="false" maxlength="200" node_ref=keys.field
                on:keydown=move |event| keys.press(&event)
                on:input:target=move |event| keys.play(Operation::Typed(event.target().value()))
            />
            <div class="fragment" node_ref=keys.place></div>
        </dialog>
    }
}
