//! The list of all shortcuts, over the page. Only in the WASM build.

use super::{
    catalog::{Bindings, SHORTCUTS},
    keys_view::keys_view,
};
use crate::ui::dialog::Dialog;
use leptos::{html, prelude::*};

/// All shortcuts with the person's keys.
#[component]
pub fn KeysDialog(bindings: RwSignal<Bindings>, dialog: NodeRef<html::Dialog>) -> impl IntoView {
    let row = move |(at, ways): (usize, &Vec<String>)| {
        let words = SHORTCUTS.get(at).map(|shortcut| shortcut.words);
        view! { <dt>{keys_view(ways)}</dt><dd>{words}</dd> }
    };
    view! {
        <Dialog id="keys" title="Keyboard" node=dialog>
            <dl class="keys">{move || bindings.with(|bindings| bindings.iter().enumerate().map(row).collect_view())}</dl>
            <p class="keys-more"><a href="/settings#keyboard">"Change them in the settings"</a></p>
        </Dialog>
    }
}
