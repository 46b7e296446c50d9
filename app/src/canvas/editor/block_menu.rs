//! The handle of a block: it is dragged, and opens a menu with what keys do too.

use super::{drag, model::label, press::small_button, state::Editor};
use crate::{
    browser::{
        dom,
        view::{BrowserView, reactive},
    },
    ui::{
        button::Look,
        icon::{Icon, icon},
    },
};
use domain::canvas::{
    edit::{self, Edit, Focus, Kind, Shift, Spot},
    outline::Content,
};
use leptos::{
    ev::{KeyboardEvent, MouseEvent},
    html,
    prelude::*,
};

/// An entry of the menu.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Entry {
    Up,
    Down,
    Indent,
    Outdent,
    AddBelow,
    Into(Kind),
    Remove,
}

impl Entry {
    fn label(self) -> String {
        match self {
            Self::Up => "Move up (Alt ↑)".to_owned(),
            Self::Down => "Move down (Alt ↓)".to_owned(),
            Self::Indent => "Indent (Tab)".to_owned(),
            Self::Outdent => "Outdent (Shift Tab)".to_owned(),
            Self::AddBelow => "Add a block below".to_owned(),
            Self::Into(kind) => ["Turn into ", &label(kind).to_ascii_lowercase()].concat(),
            Self::Remove => "Remove".to_owned(),
        }
    }

    /// What it does with a block; `None` if it does nothing there.
    fn edit(self, editor: Editor, id: &str) -> Option<Edit> {
        let spot = Spot::Text(id.to_owned());
        let mut new_id = Editor::new_id;
        editor.read(|document| match self {
            Self::Up => edit::moved(document, &spot, Shift::Back),
            Self::Down => edit::moved(document, &spot, Shift::On),
            Self::Indent => edit::indented(document, &spot, Shift::On),
            Self::Outdent => edit::indented(document, &spot, Shift::Back),
            Self::AddBelow => {
                let new = new_id();
                let block = edit::new_block(&Content::Text(String::new()), &mut new_id);
                let ops = edit::inserted(document, Some(id), vec![(new.clone(), block)]).ok()?;
                Some(Edit { ops, focus: Some(Focus { spot: Spot::Text(new), at: 0 }) })
            }
            Self::Into(kind) => edit::retyped(document, id, kind, None, &mut new_id),
            Self::Remove => Some(edit::taken_out(document, id)),
        })
    }
}

/// The handle with its menu.
#[component]
pub fn BlockMenu(editor: Editor, id: String, kind: Option<Kind>, name: Memo<String>) -> impl IntoView {
    let node = NodeRef::<html::Details>::new();
    let entries = [Entry::Up, Entry::Down, Entry::Indent, Entry::Outdent, Entry::AddBelow]
        .into_iter()
        .chain(Kind::ALL.into_iter().filter(|to| kind.is_some_and(|kind| kind != *to)).map(Entry::Into))
        .chain([Entry::Remove]);
    let entries = entries
        .map(|entry| {
            let id = id.clone();
            let look = if entry == Entry::Remove { Look::Danger } else { Look::Quiet };
            let choose = move || {
                close(node);
                match entry.edit(editor, &id) {
                    Some(edit) => editor.apply(edit),
                    None => editor.peers.announcement.set("This changes nothing for this block.".to_owned()),
                }
            };
            small_button(&entry.label(), look, choose)
        })
        .collect::<Vec<BrowserView>>();
    let handle = id.clone();
    view! {
        <details
            class="canvas-menu" node_ref=node hidden=reactive(move || !editor.mode.get().can_type())
            on:keydown=move |event: KeyboardEvent| {
                if event.key() == "Escape" {
                    close(node);
                }
            }
        >
            <summary
                class="canvas-handle" data-handle=handle title="Drag to move. Press for more."
                aria-label=reactive(move || ["Menu of ", &name.get()].concat())
                on:click=move |event: MouseEvent| {
                    // The release of a dragged handle is a click too.
                    if drag::was_dragged(editor) {
                        event.prevent_default();
                    }
                }
            >
                {icon(Icon::More)}
            </summary>
            <div class="canvas-menu-list">{entries}</div>
        </details>
    }
}

/// Closes the menu, and puts the focus back to its handle.
fn close(node: NodeRef<html::Details>) {
    let Some(menu) = node.get_untracked() else { return };
    let _ = menu.remove_attribute("open");
    if let Some(handle) = dom::find(&menu, "summary") {
        let _ = handle.focus();
    }
}
