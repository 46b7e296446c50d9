//! Typed and pasted text.

use super::{slash, state::Editor};
use crate::browser::{clipboard, field::TextArea};
use domain::canvas::{
    Path,
    edit::{self, Spot, around},
};
use leptos::{
    ev::{ClipboardEvent, CompositionEvent, Event, FocusEvent},
    prelude::*,
};

/// Selects the fields of texts.
pub const FIELDS: &str = "textarea[data-path]";
/// The field of an event, and its text in the document.
pub fn field_of(event: &Event) -> Option<(TextArea, Spot)> {
    let field = TextArea::at(event, FIELDS)?;
    let path = Path::parse(&field.attribute("data-path")?).ok()?;
    Some((field, Spot::of(&path)?))
}

/// Something was typed into a field. A text is sent at the end of a word and after a pause. While an input method
/// composes characters there is no change, and the browser keeps the text.
pub fn on_input(editor: Editor, event: &Event) {
    let Some((field, spot)) = field_of(event) else { return };
    if editor.typing.with_value(|typing| typing.is_composing) {
        keep(editor, &spot, Some(&field.text()));
        return;
    }
    field.grow();
    let text = field.text();
    if slash::typed(editor, &spot, &text) {
        return;
    }
    editor.write(&spot, &text);
    let (start, _) = field.selection();
    let (before, _) = around(&text, (start, start));
    if before.ends_with(|char: char| char.is_whitespace() || char.is_ascii_punctuation()) {
        editor.flush();
    }
}

/// An input method begins to compose characters.
pub fn on_composition_start(editor: Editor, _: &CompositionEvent) {
    editor.typing.update_value(|typing| typing.is_composing = true);
}

/// An input method has written its characters.
pub fn on_composition_end(editor: Editor, event: &CompositionEvent) {
    end_composition(editor, event);
}

/// What was composed is a change from now on.
fn end_composition(editor: Editor, event: &Event) {
    editor.typing.update_value(|typing| typing.is_composing = false);
    on_input(editor, event);
    if let Some((_, spot)) = field_of(event) {
        keep(editor, &spot, None);
    }
    editor.release();
}

/// Lets the browser keep a text that is in no change; `None` when it is in one.
fn keep(editor: Editor, spot: &Spot, text: Option<&str>) {
    if let Some(kept) = editor.outbox() {
        kept.keep_text(&spot.path().to_string(), text);
    }
}

/// The focus came to an element: others may see where this person is.
pub fn on_focus(editor: Editor, event: &FocusEvent) {
    editor.typing.update_value(|typing| typing.leaves_by_tab = false);
    on_move(editor, event);
}

/// The cursor may have moved.
pub fn on_move(editor: Editor, event: &Event) {
    if let Some((field, spot)) = field_of(event) {
        editor.peers.mark(spot.block());
        editor.presence.mark(spot.block(), field.selection());
    }
}

/// The focus left an element. A composition without an end is over, the menu closes, and what was typed is sent.
pub fn on_blur(editor: Editor, event: &FocusEvent) {
    if editor.typing.with_value(|typing| typing.is_composing) {
        end_composition(editor, event);
    }
    if let Some(slash) = editor.slash.get_untracked() {
        slash::close(editor, &slash.block);
    }
    editor.presence.unmark();
    editor.flush();
}

/// Something was pasted. Markdown and tables become blocks, and cells go into the cells of a table, as one change; in
/// code, and for one paragraph, the browser puts the text into the field.
pub fn on_paste(editor: Editor, event: &ClipboardEvent) {
    if !editor.can_type() {
        return;
    }
    let Some((field, spot)) = field_of(event) else { return };
    if matches!(spot, Spot::Column(..) | Spot::Cell(..)) {
        return paste_cells(editor, event, &spot);
    }
    if is_one_text(editor, spot.block()) {
        return;
    }
    let table = clipboard::table(event).and_then(edit::rows_of).map(|table| vec![table]);
    let Some(contents) = table.or_else(|| edit::contents(&clipboard::text(event))) else { return };
    event.prevent_default();
    let text = field.text();
    let parts = around(&text, field.selection());
    match editor.read(|document| edit::pasted(document, &spot, parts, &contents, &mut Editor::new_id)) {
        Ok(edit) => editor.apply(edit),
        Err(_) => editor.say("There is no space for these blocks here. Paste them in another place."),
    }
}

/// Several pasted cells spread over the table. Everything else is a text for the field.
fn paste_cells(editor: Editor, event: &ClipboardEvent, spot: &Spot) {
    let rows = clipboard::table(event).or_else(|| edit::tabbed(&clipboard::text(event).replace("\r\n", "\n")));
    let Some(rows) = rows.filter(|rows| rows.iter().map(Vec::len).sum::<usize>() > 1) else { return };
    event.prevent_default();
    match editor.read(|document| edit::cells_pasted(document, spot, &rows, &mut Editor::new_id)) {
        Ok(edit) => editor.apply(edit),
        Err(_) => editor.say("This table has no space for these cells."),
    }
}

/// Whether a block stays one block: code, and a field of an entity.
fn is_one_text(editor: Editor, id: &str) -> bool {
    editor.read(|document| {
        let block = edit::read_block(document, id);
        block.is_none_or(|block| {
            !block.heading.is_empty() || matches!(block.content, domain::canvas::outline::Content::Code(..))
        })
    })
}
