//! The keys of the editor. Each makes one change, or moves the cursor to another text.

use super::{drag, input::field_of, model::Step, slash, state::Editor};
use crate::browser::{dom, field::TextArea};
use domain::canvas::edit::{self, Edit, Shift, Spot, Way, around, units};
use leptos::{ev::KeyboardEvent, prelude::*};

/// Code that browsers give to keys that an input method handles.
const COMPOSING: u32 = 229;

/// A key was pressed somewhere in the editor.
pub fn press(editor: Editor, event: &KeyboardEvent) {
    if event.is_composing() || event.key_code() == COMPOSING {
        return;
    }
    if let Some(step) = step_of(event) {
        if editor.can_type() {
            event.prevent_default();
            editor.step(step);
        }
        return;
    }
    if event.key() == "Escape" {
        drag::cancel(editor);
    }
    let Some((field, spot)) = field_of(event) else { return };
    if slash::press(editor, event) {
        return;
    }
    let key = event.key();
    if key == "Escape" {
        editor.typing.update_value(|typing| typing.leaves_by_tab = true);
        return;
    }
    let is_leaving = editor.typing.try_update_value(|typing| std::mem::take(&mut typing.leaves_by_tab));
    if key == "Tab" && is_leaving == Some(true) {
        return;
    }
    let change = if editor.can_type() { change_of(editor, event, &field, &spot) } else { None };
    match change {
        Some(edit) => {
            event.prevent_default();
            editor.apply(edit);
        }
        None => go(editor, event, &field, &spot),
    }
}

/// Undo or redo, if the key means it.
fn step_of(event: &KeyboardEvent) -> Option<Step> {
    if !(event.ctrl_key() || event.meta_key()) || event.alt_key() {
        return None;
    }
    match (&*event.key().to_ascii_lowercase(), event.shift_key()) {
        ("z", false) => Some(Step::Undo),
        ("z", true) | ("y", false) => Some(Step::Redo),
        _ => None,
    }
}

/// The change that a key makes; `None` if it makes none, and the browser does what the key usually does.
fn change_of(editor: Editor, event: &KeyboardEvent, field: &TextArea, spot: &Spot) -> Option<Edit> {
    let (is_shift, is_alt, is_command) = (event.shift_key(), event.alt_key(), event.ctrl_key() || event.meta_key());
    let text = field.text();
    let selection = field.selection();
    let mut new_id = Editor::new_id;
    editor.read(|document| match (&*event.key(), is_alt, is_command) {
        ("Enter", false, true) => edit::tick(document, spot),
        ("Enter", false, false) if !is_shift => edit::split(document, spot, around(&text, selection), &mut new_id),
        ("Backspace", false, false) if selection == (0, 0) => edit::joined(document, spot, &text, &mut new_id),
        ("ArrowUp", true, false) => edit::moved(document, spot, Shift::Back),
        ("ArrowDown", true, false) => edit::moved(document, spot, Shift::On),
        ("Tab", false, false) if matches!(spot, Spot::Text(_) | Spot::Item(..)) => {
            edit::indented(document, spot, if is_shift { Shift::Back } else { Shift::On })
        }
        _ => None,
    })
}

/// Moves the cursor into another text where the key leads out of this one.
fn go(editor: Editor, event: &KeyboardEvent, field: &TextArea, spot: &Spot) {
    if event.alt_key() || event.ctrl_key() || event.meta_key() || event.shift_key() {
        return;
    }
    let (start, end) = field.selection();
    let length = units(&field.text());
    match &*event.key() {
        "ArrowLeft" if (start, end) == (0, 0) => enter(editor, event, spot, Way::Back),
        "ArrowRight" if start == length && end == length => enter(editor, event, spot, Way::On),
        // Only the browser knows where lines end: if it does not move the cursor, there is no further line.
        "ArrowUp" => follow(editor, field.clone(), spot.clone(), Way::Up),
        "ArrowDown" => follow(editor, field.clone(), spot.clone(), Way::Down),
        _ => {}
    }
}

fn enter(editor: Editor, event: &KeyboardEvent, spot: &Spot, way: Way) {
    if let Some(next) = editor.read(|document| edit::beside(document, spot, way)) {
        event.prevent_default();
        place(editor, next, way);
    }
}

fn follow(editor: Editor, field: TextArea, spot: Spot, way: Way) {
    let before = field.selection();
    dom::after(0, move || {
        if field.is_focused()
            && field.selection() == before
            && let Some(next) = editor.read(|document| edit::beside(document, &spot, way))
        {
            place(editor, next, way);
        }
    });
}

/// Puts the cursor at the end of a text that is entered from behind, and else at its begin.
fn place(editor: Editor, spot: Spot, way: Way) {
    let at = match way {
        Way::Back | Way::Up => editor.read(|document| units(&spot.text(document))),
        Way::On | Way::Down => 0,
    };
    editor.focus(spot, at);
}
