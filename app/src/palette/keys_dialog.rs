//! The list of all shortcuts, over the page. Only in the WASM build.

use super::{
    act::here,
    catalog::Bindings,
    key_group::{fixed_keys, groups},
    keys_view::keys_view,
};
use crate::ui::dialog::Dialog;
use leptos::{html, prelude::*};

/// All shortcuts that have a key, with the person's keys, and the fixed keys of pages: those of this page first.
#[component]
pub fn KeysDialog(bindings: RwSignal<Bindings>, dialog: NodeRef<html::Dialog>) -> impl IntoView {
    let row = move |(at, words): &(usize, String)| {
        let ways = bindings.with(|bindings| bindings.get(*at).cloned()).filter(|ways| !ways.is_empty())?;
        Some(view! { <dt>{keys_view(&ways)}</dt><dd>{words.clone()}</dd> })
    };
    let groups = groups(&here()).into_iter().map(move |(title, shortcuts)| {
        let rows = move || shortcuts.iter().filter_map(row).collect_view();
        let fixed = fixed_keys(title).iter().map(|(key, words)| view! { <dt><kbd>{*key}</kbd></dt><dd>{*words}</dd> });
        view! { <h3 class="keys-group">{title}</h3><dl class="keys">{rows}{fixed.collect_view()}</dl> }
    });
    view! {
        <Dialog id="keys" title="Keyboard" node=dialog>
            {groups.collect_view()}
            <p class="keys-more"><a href="/settings#keyboard">"Change them in the settings"</a></p>
        </Dialog>
    }
}
