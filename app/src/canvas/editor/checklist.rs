//! A checklist: items with a box to tick.

use super::{state::Editor, text_field::TextField};
use crate::browser::view::{browser_view, list, memo, reactive};
use domain::canvas::{
    edit::{self, Spot, read_block},
    outline::{CheckItem, Content},
};
use leptos::prelude::*;

/// The items of a block.
#[component]
pub fn Checklist(editor: Editor, id: String) -> impl IntoView {
    let of = id.clone();
    let items = editor.watch(move |document| ids(document, &of));
    let items = list(move || {
        let view = |item: String| {
            let spot = Spot::Item(id.clone(), item.clone());
            (item, browser_view(move || view! { <ItemView editor spot/> }))
        };
        items.get().into_iter().map(view).collect()
    });
    view! { <ul class="canvas-checklist">{items}</ul> }
}

#[component]
fn ItemView(editor: Editor, spot: Spot) -> impl IntoView {
    let of = spot.clone();
    let item = editor.watch(move |document| item_of(document, &of));
    let is_done = move || item.with(|item| item.as_ref().is_some_and(|item| item.is_done));
    let indent = reactive(move || item.with(|item| item.as_ref().map_or(0, |item| item.indent)).to_string());
    let done = reactive(move || is_done().then_some(""));
    let label = memo(move || item.with(|item| item.as_ref().map(|item| item.text.clone()).unwrap_or_default()));
    let name = memo(|| "Item".to_owned());
    let ticked = spot.clone();
    let tick = move |_| {
        if let Some(edit) = editor.read(|document| edit::tick(document, &ticked)) {
            editor.apply(edit);
        }
    };
    view! {
        <li data-indent=indent data-done=done>
            <input
                type="checkbox" aria-label=reactive(move || ["Done: ", &label.get()].concat()) prop:checked=reactive(is_done)
                disabled=reactive(move || !editor.mode.get().can_type()) on:change=tick
            />
            <TextField editor spot label=name look="item"/>
        </li>
    }
}

/// Ids of the items.
fn ids(document: &domain::canvas::Document, block: &str) -> Vec<String> {
    let id = |spot| match spot {
        Spot::Item(_, id) => Some(id),
        _ => None,
    };
    edit::spots(document, block).into_iter().filter_map(id).collect()
}

fn item_of(document: &domain::canvas::Document, spot: &Spot) -> Option<CheckItem> {
    let Spot::Item(block, id) = spot else { return None };
    match read_block(document, block)?.content {
        Content::Checklist(items) => items.into_iter().find(|item| item.id == *id),
        _ => None,
    }
}
