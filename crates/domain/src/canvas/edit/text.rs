//! Enter and Backspace: splitting a text at the cursor, and joining it with what is before it.

use super::{
    super::{
        document::Document,
        members::{object, set},
        operation::Operation,
        outline::{self, INDENT, items, text},
    },
    Edit, NewId, Spot,
    block::{Kind, Shift, indented, inserted_at, new_text, retyped, taken_out},
    caret::units,
    list::{ORDER, room},
    spot::{block, block_path, blocks, kind, spots},
    table,
};
use serde_json::Value;

/// Enter between two parts of a text. `None` if the editor puts a line break into the text instead: in code, and in
/// a field of an entity, which is one block.
pub fn split(document: &Document, spot: &Spot, (before, after): (&str, &str), new_id: NewId<'_>) -> Option<Edit> {
    match spot {
        Spot::Text(id) => split_block(document, id, (before, after), new_id),
        Spot::Item(id, item) if before.is_empty() && after.is_empty() => left_list(document, id, item, new_id),
        Spot::Item(id, item) => split_item(document, (id.as_str(), item.as_str()), (before, after), new_id),
        Spot::Column(id, column) | Spot::Cell(id, _, column) => match table::below(document, spot) {
            Some(below) => {
                let end = units(&below.text(document));
                Some(Edit::default().then(below, end))
            }
            None => table::row_added(document, id, (None, Some(column.as_str())), new_id).ok(),
        },
    }
}

fn split_block(document: &Document, id: &str, (before, after): (&str, &str), new_id: NewId<'_>) -> Option<Edit> {
    let value = block(document, id)?;
    if kind(value) == "code" || !text(value, "heading").is_empty() {
        return None;
    }
    let spot = Spot::Text(id.into());
    let level = outline::indent(value);
    if level > 0 && before.is_empty() && after.is_empty() {
        return indented(document, &spot, Shift::Back);
    }
    let new = |text: &str| {
        let mut value = new_text(text);
        if level > 0 {
            set(&mut value, INDENT, level.into());
        }
        value
    };
    let at = blocks(document).iter().position(|(other, _)| *other == id)?;
    let new_block = new_id();
    if before.is_empty() && !after.is_empty() {
        let ops = inserted_at(document, at, vec![(new_block, new(""))]).ok()?;
        return Some(Edit::of(ops).then(spot, 0));
    }
    let mut ops = spot.typed(document, before);
    ops.extend(inserted_at(document, at + 1, vec![(new_block.clone(), new(after))]).ok()?);
    Some(Edit::of(ops).then(Spot::Text(new_block), 0))
}

fn split_item(
    document: &Document,
    (id, item): (&str, &str),
    (before, after): (&str, &str),
    new_id: NewId<'_>,
) -> Option<Edit> {
    let list = block_path(id).child("items");
    let shown = items(block(document, id)?.get("items"));
    let at = shown.iter().position(|(other, _)| *other == item)?;
    let spot = Spot::Item(id.into(), item.into());
    // Enter at the begin of a text puts an empty item before it, so that the item keeps its id and its tick.
    let is_before = before.is_empty() && !after.is_empty();
    let (place, new_text) = if is_before { (at, "") } else { (at + 1, after) };
    let (keys, room) = room(&list, &shown, place, 1).ok()?;
    let mut ops = if is_before { Vec::new() } else { spot.typed(document, before) };
    ops.extend(room);
    let order = keys.first().map_or(Value::Null, |key| key.as_str().into());
    let mut value = object(vec![("text", new_text.into()), ("done", false.into()), (ORDER, order)]);
    let level = shown.get(at).map(|(_, value)| outline::indent(value)).unwrap_or_default();
    if level > 0 {
        set(&mut value, INDENT, level.into());
    }
    let new = new_id();
    ops.push(Operation::Add { path: list.child(&new), value });
    let focus = if is_before { spot } else { Spot::Item(id.into(), new) };
    Some(Edit::of(ops).then(focus, 0))
}

/// Enter in an empty item: it becomes a block of text behind the list, or takes the place of a list without others.
fn left_list(document: &Document, id: &str, item: &str, new_id: NewId<'_>) -> Option<Edit> {
    if let Some(outdented) = indented(document, &Spot::Item(id.into(), item.into()), Shift::Back) {
        return Some(outdented);
    }
    if items(block(document, id)?.get("items")).len() < 2 {
        return retyped(document, id, Kind::Text, Some(""), new_id);
    }
    let at = blocks(document).iter().position(|(other, _)| *other == id)?;
    out_of_list(document, (id, item), (at + 1, ""), new_id)
}

/// Removes an item of a list, and adds a block with a text at a position.
fn out_of_list(
    document: &Document,
    (id, item): (&str, &str),
    (at, text): (usize, &str),
    new_id: NewId<'_>,
) -> Option<Edit> {
    let new = new_id();
    let mut ops = vec![Operation::Remove { path: block_path(id).child("items").child(item) }];
    ops.extend(inserted_at(document, at, vec![(new.clone(), new_text(text))]).ok()?);
    Some(Edit::of(ops).then(Spot::Text(new), 0))
}

/// Backspace at the begin of a text: takes back an indentation or a type first, then joins the text with the one
/// before it. `None` if there is nothing to join with.
pub fn joined(document: &Document, spot: &Spot, text: &str, new_id: NewId<'_>) -> Option<Edit> {
    if matches!(spot, Spot::Text(_) | Spot::Item(..))
        && let Some(outdented) = indented(document, spot, Shift::Back)
    {
        return Some(outdented);
    }
    match spot {
        Spot::Text(id) => join_block(document, id, text, new_id),
        Spot::Item(id, item) => join_item(document, (id.as_str(), item.as_str()), text, new_id),
        Spot::Column(..) | Spot::Cell(..) => None,
    }
}

fn join_block(document: &Document, id: &str, mine: &str, new_id: NewId<'_>) -> Option<Edit> {
    let value = block(document, id)?;
    // A field of an entity is removed by its menu only.
    if !text(value, "heading").is_empty() {
        return None;
    }
    if kind(value) != "text" {
        return retyped(document, id, Kind::Text, Some(mine), new_id).map(|edit| edit.then(Spot::Text(id.into()), 0));
    }
    let shown = blocks(document);
    let at = shown.iter().position(|(other, _)| *other == id)?;
    if mine.is_empty() && shown.len() > 1 {
        return Some(taken_out(document, id));
    }
    let (before, before_value) = shown.get(at.checked_sub(1)?)?;
    let is_text = matches!(kind(before_value), "text" | "heading" | "checklist");
    if !is_text || !text(before_value, "heading").is_empty() {
        return None;
    }
    let last = spots(document, before).pop()?;
    let old = last.text(document);
    let mut ops = last.typed(document, &[old.as_str(), mine].concat());
    ops.push(Operation::Remove { path: block_path(id) });
    Some(Edit::of(ops).then(last, units(&old)))
}

fn join_item(document: &Document, (id, item): (&str, &str), mine: &str, new_id: NewId<'_>) -> Option<Edit> {
    let shown = items(block(document, id)?.get("items"));
    let at = shown.iter().position(|(other, _)| *other == item)?;
    let Some((before, _)) = at.checked_sub(1).and_then(|at| shown.get(at)) else {
        if shown.len() < 2 {
            return retyped(document, id, Kind::Text, Some(mine), new_id)
                .map(|edit| edit.then(Spot::Text(id.into()), 0));
        }
        let place = blocks(document).iter().position(|(other, _)| *other == id)?;
        return out_of_list(document, (id, item), (place, mine), new_id);
    };
    let last = Spot::Item(id.into(), (*before).into());
    let old = last.text(document);
    let mut ops = last.typed(document, &[old.as_str(), mine].concat());
    ops.push(Operation::Remove { path: block_path(id).child("items").child(item) });
    Some(Edit::of(ops).then(last, units(&old)))
}
