//! Blocks: adding, moving, indenting, removing, and another type.

use super::{
    super::{
        document::Document,
        members::{map, object, set},
        operation::Operation,
        order::{NoRoom, spread},
        outline::{self, BLOCKS, CheckItem, Content, INDENT, items},
        path::Path,
    },
    Edit, NewId, Spot,
    caret::units,
    list::{ORDER, placed, room},
    spot::{block, block_path, blocks, kind, spots},
    table,
};
use crate::{limit::CANVAS_INDENT_MAX, names::names};
use serde_json::Value;
use std::fmt;

/// A type of block that a person can add.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Lines of prose.
    Text,
    /// A heading of the document.
    Heading,
    /// Items to tick.
    Checklist,
    /// Columns and rows.
    Table,
    /// Lines of a program, as they are.
    Code,
}

names!(Kind {
    Text = "text",
    Heading = "heading",
    Checklist = "checklist",
    Table = "table",
    Code = "code",
});

/// Direction of a move by one place, or of an indentation by one level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shift {
    /// Up in the list, or to the left.
    Back,
    /// Down in the list, or to the right.
    On,
}

/// The value of a new block, without its order key.
pub fn new_block(content: &Content, new_id: NewId<'_>) -> Value {
    let code = |language: &str, text: &str| {
        object(vec![("type", "code".into()), ("language", language.into()), ("text", text.into())])
    };
    match content {
        Content::Heading(text) => object(vec![("type", "heading".into()), ("text", text.as_str().into())]),
        Content::Text(text) => new_text(text),
        Content::Code(language, text) => code(language, text),
        Content::Checklist(found) => object(vec![("type", "checklist".into()), ("items", item_map(found, new_id))]),
        Content::Table(columns, rows) => table::new_table(columns, rows, new_id),
        Content::Result(session, json) => {
            let value: Value = serde_json::from_str(json).unwrap_or_else(|_| json.as_str().into());
            object(vec![("type", "result".into()), ("session", session.as_str().into()), ("value", value)])
        }
        Content::Other(text) => code("json", text),
    }
}

/// The value of a new block of text, without its order key.
pub(super) fn new_text(text: &str) -> Value {
    object(vec![("type", "text".into()), ("text", text.into())])
}

fn item_map(found: &[CheckItem], new_id: NewId<'_>) -> Value {
    let orders = spread(found.len()).unwrap_or_default();
    let item = |(item, order): (&CheckItem, String)| {
        let (text, done) = (item.text.as_str().into(), item.is_done.into());
        let mut value = object(vec![("text", text), ("done", done), (ORDER, order.into())]);
        if item.indent > 0 {
            set(&mut value, INDENT, item.indent.into());
        }
        (new_id(), value)
    };
    Value::Object(map(found.iter().zip(orders).map(item)))
}

/// The operations that add blocks behind a block, or at the end.
///
/// # Errors
/// [`NoRoom`] if the list has too many blocks with unusable order keys.
pub fn inserted(document: &Document, after: Option<&str>, new: Vec<(String, Value)>) -> Result<Vec<Operation>, NoRoom> {
    let shown = blocks(document);
    let at = after.and_then(|after| shown.iter().position(|(id, _)| *id == after)).map_or(shown.len(), |at| at + 1);
    inserted_at(document, at, new)
}

/// The operations that add blocks at a position of the list.
pub(super) fn inserted_at(document: &Document, at: usize, new: Vec<(String, Value)>) -> Result<Vec<Operation>, NoRoom> {
    let root = Path::default().child(BLOCKS);
    let (keys, room) = room(&root, &blocks(document), at, new.len())?;
    let mut ops = Vec::with_capacity(new.len() + room.len() + 1);
    if document.value().get(BLOCKS).is_none() {
        ops.push(Operation::Add { path: root.clone(), value: object(Vec::new()) });
    }
    ops.extend(room);
    for ((id, mut value), key) in new.into_iter().zip(keys) {
        set(&mut value, ORDER, key.into());
        ops.push(Operation::Add { path: root.child(&id), value });
    }
    Ok(ops)
}

/// Moves an item of a checklist, a row of a table, or a block by one place; `None` at the end of its list.
pub fn moved(document: &Document, spot: &Spot, shift: Shift) -> Option<Edit> {
    let (list, shown, id) = match spot {
        Spot::Item(of, item) => {
            (block_path(of).child("items"), items(block(document, of)?.get("items")), item.as_str())
        }
        Spot::Cell(of, row, _) => (block_path(of).child("rows"), items(block(document, of)?.get("rows")), row.as_str()),
        other => (Path::default().child(BLOCKS), blocks(document), other.block()),
    };
    let at = shown.iter().position(|(other, _)| *other == id)?;
    let to = match shift {
        Shift::Back => at.checked_sub(1)?,
        Shift::On => Some(at + 1).filter(|to| *to < shown.len())?,
    };
    placed(&list, &shown, id, to).ok().map(Edit::of)
}

/// Puts a block before another one, or at the end. `None` if it is there already.
pub fn placed_before(document: &Document, id: &str, before: Option<&str>) -> Option<Edit> {
    let shown = blocks(document);
    let from = shown.iter().position(|(other, _)| *other == id)?;
    let target = match before {
        Some(before) => shown.iter().position(|(other, _)| *other == before)?,
        None => shown.len(),
    };
    if target == from || target == from + 1 {
        return None;
    }
    let to = if target > from { target - 1 } else { target };
    placed(&Path::default().child(BLOCKS), &shown, id, to).ok().map(Edit::of)
}

/// Indents a block, or an item of a checklist. `None` at the outermost and at the deepest level.
pub fn indented(document: &Document, spot: &Spot, shift: Shift) -> Option<Edit> {
    let of = match spot {
        Spot::Item(of, item) => block_path(of).child("items").child(item),
        other => block_path(other.block()),
    };
    let value = of.of(document.value())?;
    let level = outline::indent(value);
    let new = match shift {
        Shift::Back => level.checked_sub(1)?,
        Shift::On => Some(level + 1).filter(|level| *level <= CANVAS_INDENT_MAX)?,
    };
    let path = of.child(INDENT);
    Some(Edit::of(vec![match value.get(INDENT) {
        Some(_) => Operation::Replace { path, value: new.into() },
        None => Operation::Add { path, value: new.into() },
    }]))
}

/// Ticks an item of a checklist, or takes the tick away. `None` for other texts.
pub fn tick(document: &Document, spot: &Spot) -> Option<Edit> {
    let Spot::Item(of, item) = spot else { return None };
    let value = block_path(of).child("items").child(item).of(document.value())?.get("done");
    let is_done = value.and_then(Value::as_bool).unwrap_or_default();
    Some(Edit::of(vec![outline::ticked(document, of, item, !is_done)]))
}

/// Removes a block. The cursor goes to the end of the block before it, or to the begin of the next one.
pub fn taken_out(document: &Document, id: &str) -> Edit {
    let shown = blocks(document);
    let at = shown.iter().position(|(other, _)| *other == id).unwrap_or_default();
    let edit = Edit::of(vec![Operation::Remove { path: block_path(id) }]);
    let last = |(id, _): &(&str, &Value)| spots(document, id).pop();
    if let Some(spot) = shown[..at.min(shown.len())].iter().rev().find_map(last) {
        let end = units(&spot.text(document));
        return edit.then(spot, end);
    }
    let first = |(id, _): &(&str, &Value)| spots(document, id).into_iter().next();
    match shown.iter().skip(at + 1).find_map(first) {
        Some(spot) => edit.then(spot, 0),
        None => edit,
    }
}

/// Gives a block another type, with its text. `text` is that of the block without what chose the type; without it the
/// block keeps its own. `None` for what is no block, and for the type that it has.
pub fn retyped(document: &Document, id: &str, to: Kind, text: Option<&str>, new_id: NewId<'_>) -> Option<Edit> {
    let value = block(document, id)?;
    let is_plain = |kind: &str| matches!(kind, "text" | "heading" | "code");
    if is_plain(kind(value)) && is_plain(to.as_str()) {
        let path = block_path(id).child("type");
        let mut ops = text.map(|text| Spot::Text(id.into()).typed(document, text)).unwrap_or_default();
        if kind(value) != to.as_str() {
            ops.push(Operation::Replace { path, value: to.as_str().into() });
        }
        let at = units(text.unwrap_or_default());
        return (!ops.is_empty()).then(|| Edit::of(ops).then(Spot::Text(id.into()), at));
    }
    if kind(value) == to.as_str() {
        return None;
    }
    let lines = text.map_or_else(|| lines_of(document, id), |text| text.lines().map(str::to_owned).collect());
    let mut new = new_block(&content(to, lines), new_id);
    for member in [ORDER, INDENT, "heading"] {
        if let Some(kept) = value.get(member) {
            set(&mut new, member, kept.clone());
        }
    }
    let after = Document::of(object(vec![(BLOCKS, object(vec![(id, new.clone())]))]))?;
    let edit = Edit::of(vec![Operation::Replace { path: block_path(id), value: new }]);
    Some(match spots(&after, id).into_iter().next() {
        Some(spot) => {
            let end = units(&spot.text(&after));
            edit.then(spot, end)
        }
        None => edit,
    })
}

/// The texts of a block as lines.
fn lines_of(document: &Document, id: &str) -> Vec<String> {
    let Some(value) = block(document, id) else { return Vec::new() };
    match outline::block(id, value).content {
        Content::Heading(text)
        | Content::Text(text)
        | Content::Code(_, text)
        | Content::Result(_, text)
        | Content::Other(text) => text.lines().map(str::to_owned).collect(),
        Content::Checklist(found) => found.into_iter().map(|item| item.text).collect(),
        Content::Table(columns, rows) => [columns].into_iter().chain(rows).map(|cells| cells.join("\t")).collect(),
    }
}

/// A content of a type with these lines.
fn content(kind: Kind, lines: Vec<String>) -> Content {
    match kind {
        Kind::Text => Content::Text(lines.join("\n")),
        Kind::Heading => Content::Heading(lines.join(" ")),
        Kind::Code => Content::Code(String::new(), lines.join("\n")),
        Kind::Checklist => {
            let item = |text| CheckItem { id: String::new(), text, is_done: false, indent: 0 };
            let lines = if lines.is_empty() { vec![String::new()] } else { lines };
            Content::Checklist(lines.into_iter().map(item).collect())
        }
        Kind::Table => {
            let mut rows: Vec<Vec<String>> =
                lines.iter().map(|line| line.split('\t').map(str::to_owned).collect()).collect();
            let columns = if rows.is_empty() { Vec::new() } else { rows.remove(0) };
            table::content(columns, rows)
        }
    }
}
