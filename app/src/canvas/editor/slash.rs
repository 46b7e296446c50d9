//! The menu that a slash opens in an empty block of text: it chooses the type of the block.

use super::{
    model::{Slash, label},
    state::Editor,
};
use crate::browser::view::{BrowserView, browser_view, memo, reactive};
use domain::canvas::edit::{Kind, Spot, retyped};
use leptos::{
    ev::{KeyboardEvent, MouseEvent},
    prelude::*,
};

/// Id of the list of types.
pub const LIST_ID: &str = "canvas-types";

/// What a text in a block of text means for the menu. Returns whether the menu is open, in which case the text is not
/// part of the document.
pub fn typed(editor: Editor, spot: &Spot, text: &str) -> bool {
    let opened = match (spot, text.strip_prefix('/')) {
        (Spot::Text(block), Some(filter)) if is_text(editor, block) && !filter.contains(char::is_whitespace) => {
            let slash = Slash { block: block.clone(), filter: filter.to_owned(), at: 0 };
            Some(slash).filter(|slash| !slash.kinds().is_empty())
        }
        _ => None,
    };
    let is_open = opened.is_some();
    if is_open || editor.slash.with_untracked(Option::is_some) {
        editor.slash.set(opened);
    }
    is_open
}

fn is_text(editor: Editor, block: &str) -> bool {
    editor.blocks.with_untracked(|blocks| blocks.iter().any(|(id, kind)| id == block && *kind == Some(Kind::Text)))
}

/// A key while the menu is open. Returns whether it was for the menu.
pub fn press(editor: Editor, event: &KeyboardEvent) -> bool {
    let Some(slash) = editor.slash.get_untracked() else { return false };
    let kinds = slash.kinds();
    let last = kinds.len().saturating_sub(1);
    let at = match &*event.key() {
        "ArrowDown" => {
            if slash.at == last {
                0
            } else {
                slash.at + 1
            }
        }
        "ArrowUp" => slash.at.checked_sub(1).unwrap_or(last),
        "Enter" | "Tab" => {
            event.prevent_default();
            if let Some(kind) = kinds.get(slash.at) {
                choose(editor, &slash.block, *kind);
            }
            return true;
        }
        "Escape" => {
            event.prevent_default();
            close(editor, &slash.block);
            return true;
        }
        _ => return false,
    };
    event.prevent_default();
    editor.slash.set(Some(Slash { at, ..slash }));
    true
}

/// Closes the menu. What was typed becomes the text.
pub fn close(editor: Editor, block: &str) {
    editor.slash.set(None);
    let spot = Spot::Text(block.to_owned());
    if let Some(field) = editor.field(&spot) {
        editor.write(&spot, &field.text());
    }
}

/// Gives the block a type. The slash and what follows it are no part of its text.
fn choose(editor: Editor, block: &str, kind: Kind) {
    editor.slash.set(None);
    let spot = Spot::Text(block.to_owned());
    if let Some(field) = editor.field(&spot) {
        field.show("", |_, _| 0);
        field.grow();
    }
    let edit = editor.read(|document| retyped(document, block, kind, Some(""), &mut Editor::new_id));
    match edit {
        Some(edit) => editor.apply(edit),
        // It has the type and an empty text already.
        None => editor.focus(spot, 0),
    }
}

/// The menu below a block, while it is open there.
#[component]
pub fn SlashMenu(editor: Editor, block: String) -> impl IntoView {
    let own = block.clone();
    let shown = memo(move || editor.slash.get().filter(|slash| slash.block == own));
    reactive(move || {
        let slash = shown.get()?;
        let block = block.clone();
        let option = move |(at, kind): (usize, Kind)| {
            let block = block.clone();
            browser_view(move || {
                view! {
                    <li
                        class="canvas-type" role="option" id=option_id(at)
                        aria-selected=if at == slash.at { "true" } else { "false" }
                        on:mousedown=move |event: MouseEvent| {
                            // The field keeps the focus.
                            event.prevent_default();
                            choose(editor, &block, kind);
                        }
                    >
                        {label(kind)}
                    </li>
                }
            })
        };
        let options: Vec<BrowserView> = slash.kinds().into_iter().enumerate().map(option).collect();
        let list = move || {
            view! {
                <ul class="canvas-types" id=LIST_ID role="listbox" aria-label="Type of the block">{options}</ul>
            }
        };
        Some(browser_view(list))
    })
}

/// Id of the option at a position.
pub fn option_id(at: usize) -> String {
    ["canvas-type-", &at.to_string()].concat()
}
