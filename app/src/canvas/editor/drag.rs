//! Dragging a block by its handle, with a mouse, a pen or a finger.

use super::{
    model::{Drag, DropPlace},
    state::Editor,
};
use crate::browser::{dom, pointer, viewport};
use domain::canvas::edit::placed_before;
use leptos::{ev::PointerEvent, prelude::*};

/// A pointer that moves less than this is a press, pixels.
const STILL_PX: i32 = 5;
/// Within this distance of the top or bottom of the screen the page scrolls, pixels.
const EDGE_PX: f64 = 48.0;
/// How far it scrolls with each movement, pixels.
const SCROLL_PX: f64 = 16.0;

/// A handle is pressed.
pub fn on_down(editor: Editor, event: &PointerEvent) {
    editor.drag.set_value(None);
    if !editor.can_type() || !pointer::is_plain(event) {
        return;
    }
    let Some(handle) = pointer::closest(event, "[data-handle]") else { return };
    pointer::capture(&handle, event);
    let id = handle.get_attribute("data-handle").unwrap_or_default();
    editor.drag.set_value(Some(Drag { id, from_y: event.client_y(), has_moved: false }));
}

/// The pointer moves.
pub fn on_move(editor: Editor, event: &PointerEvent) {
    let y = event.client_y();
    let is_moving = editor.drag.try_update_value(|drag| {
        drag.as_mut().filter(|_| event.buttons() != 0).is_some_and(|drag| {
            drag.has_moved |= (y - drag.from_y).abs() >= STILL_PX;
            drag.has_moved
        })
    });
    if is_moving != Some(true) {
        return;
    }
    event.prevent_default();
    let y = f64::from(y);
    if y < EDGE_PX {
        viewport::scroll_by(-SCROLL_PX);
    } else if y > viewport::height() - EDGE_PX {
        viewport::scroll_by(SCROLL_PX);
    }
    let Some(root) = editor.root.get_untracked() else { return };
    let blocks = dom::find_all(&root, "[data-block]");
    let before = pointer::first_below(&blocks, event).and_then(|block| block.get_attribute("data-block"));
    let place = Some(DropPlace { before });
    if editor.drop.with_untracked(|shown| *shown != place) {
        editor.drop.set(place);
    }
}

/// The pointer is lifted: the block is dropped.
pub fn on_up(editor: Editor) {
    let place = editor.drop.get_untracked();
    editor.drop.set(None);
    let id = editor.drag.with_value(|drag| drag.as_ref().filter(|drag| drag.has_moved).map(|drag| drag.id.clone()));
    let (Some(place), Some(id)) = (place, id) else { return };
    if let Some(edit) = editor.read(|document| placed_before(document, &id, place.before.as_deref())) {
        editor.apply(edit);
    }
}

/// The browser takes the pointer away, or the person presses Escape: nothing is moved.
pub fn cancel(editor: Editor) {
    editor.drag.set_value(None);
    if editor.drop.with_untracked(Option::is_some) {
        editor.drop.set(None);
    }
}

/// Whether the handle was dragged and not pressed. True once for each drag.
pub fn was_dragged(editor: Editor) -> bool {
    editor.drag.try_update_value(|drag| drag.take().is_some_and(|drag| drag.has_moved)).unwrap_or_default()
}
