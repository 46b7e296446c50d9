//! What an operation changes, in words for whoever decides about it.

use super::{
    document::Document,
    edit::Spot,
    operation::Operation,
    outline::{BLOCKS, items, text},
    path::Path,
};
use serde_json::Value;

/// Longest text of a change that is shown, characters.
const EXCERPT_CHARS_MAX: usize = 200;
/// Longest text by which a block is named, characters.
const NAME_CHARS_MAX: usize = 40;
/// Most items, rows or columns of a block that are put in order to name one of them. A page can have thousands of
/// operations.
const NAMED_ITEMS_MAX: usize = 500;

/// A change of this document in words, which name the block by its type and its first words: `Removes row 3 of table
/// “Costs”`. What is in no block of the document is called a part. Empty for a test.
pub fn change_words(document: &Document, op: &Operation) -> String {
    let path = op.path();
    let place = Place::of(document, path);
    let beside = |word: &str| place.as_ref().map_or_else(String::new, |place| [word, &place.name].concat());
    let part = || match &place {
        Some(place) if place.is_whole => place.name.clone(),
        _ => ["a part", &beside(" of ")].concat(),
    };
    match op {
        Operation::Replace { value, .. } if Spot::of(path).is_some() => {
            ["Writes “", &excerpt(value), "”", &beside(" in ")].concat()
        }
        Operation::Add { value, .. } => match path.keys() {
            [map, _] if map == BLOCKS => ["Adds ", kind_word(value), " “", &excerpt(value), "”"].concat(),
            _ => ["Adds “", &excerpt(value), "”", &beside(" to ")].concat(),
        },
        Operation::Remove { .. } => ["Removes ", &part()].concat(),
        Operation::Replace { .. } if path.keys().last().is_some_and(|key| key == "order") => match &place {
            Some(place) => ["Moves ", &place.name].concat(),
            None => "Moves a part".to_owned(),
        },
        Operation::Replace { value, .. } => ["Changes ", &part(), " to “", &excerpt(value), "”"].concat(),
        Operation::Test { .. } => String::new(),
    }
}

fn excerpt(value: &Value) -> String {
    let text = value.get("text").unwrap_or(value);
    let text = text.as_str().map_or_else(|| serde_json::to_string(text).unwrap_or_default(), str::to_owned);
    text.chars().take(EXCERPT_CHARS_MAX).collect()
}

/// A block, or an item, row or column in one.
struct Place {
    /// In words for people: `row 3 of table “Costs”`.
    name: String,
    /// Whether the path leads to it, and not to a value in it.
    is_whole: bool,
}

impl Place {
    /// The smallest place at a path or around it. `None` if the document has no such block.
    fn of(document: &Document, path: &Path) -> Option<Self> {
        let [map, id, inside @ ..] = path.keys() else { return None };
        if map != BLOCKS {
            return None;
        }
        let block = document.value().get(BLOCKS)?.get(id.as_str())?;
        let name = block_words(block);
        Some(match position_words(block, inside) {
            Some(position) => Self { name: [position.as_str(), " of ", &name].concat(), is_whole: inside.len() == 2 },
            None => Self { name, is_whole: inside.is_empty() },
        })
    }
}

/// The item, row or column of a block that these keys lead to or into, by its position. `None` for other members, and
/// if the block has no such part or too many.
fn position_words(block: &Value, keys: &[String]) -> Option<String> {
    let [map, id, ..] = keys else { return None };
    let word = match map.as_str() {
        "items" => "item ",
        "rows" => "row ",
        "columns" => "column ",
        _ => return None,
    };
    let at = listed(block, map).iter().position(|(key, _)| *key == id.as_str())?;
    Some([word, &(at + 1).to_string()].concat())
}

/// A block by its type and the first words of its heading or its content.
fn block_words(block: &Value) -> String {
    let kind = kind_word(block);
    let first = |map: &str, member: &str| listed(block, map).first().map_or("", |&(_, item)| text(item, member));
    let texts = [text(block, "heading"), text(block, "text"), first("items", "text"), first("columns", "name")];
    let Some(words) = texts.into_iter().map(str::trim).find(|words| !words.is_empty()) else {
        return kind.to_owned();
    };
    let line = words.split('\n').next().unwrap_or_default();
    let short: String = line.chars().take(NAME_CHARS_MAX).collect();
    let dots = if short.len() < words.len() { "…" } else { "" };
    [kind, " “", &short, dots, "”"].concat()
}

/// The type of a block as a word.
fn kind_word(block: &Value) -> &str {
    match text(block, "type") {
        kind @ ("heading" | "text" | "checklist" | "table" | "code" | "result") => kind,
        _ => "block",
    }
}

/// The items of a map of a block in their order; none if it has too many.
fn listed<'a>(block: &'a Value, map: &str) -> Vec<(&'a str, &'a Value)> {
    let found = block.get(map);
    let is_short = found.and_then(Value::as_object).is_some_and(|map| map.len() <= NAMED_ITEMS_MAX);
    if is_short { items(found) } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Map, json};

    fn document(blocks: &Value) -> Document {
        Document::read(&json!({ "blocks": blocks }).to_string()).unwrap()
    }

    fn path(text: &str) -> Path {
        Path::parse(text).unwrap()
    }

    #[test]
    fn a_change_names_its_block_and_has_its_text() {
        let document = document(&json!({
            "a": { "type": "heading", "text": "Plan\nof it", "order": "a0" },
            "l": { "type": "checklist", "items": {
                "i": { "text": "second", "order": "a2" }, "j": { "text": "first", "order": "a1" } } },
            "t": { "type": "table", "heading": "Costs", "columns": { "c": { "name": "Sum" } }, "rows": { "r": {} } },
            "n": { "type": "table", "columns": { "c": { "name": "Sum" } }, "rows": {} },
            "e": { "type": "text", "text": " " },
            "d": { "type": "drawing", "text": "x".repeat(41) },
        }));
        let replaced = |at: &str, value: Value| Operation::Replace { path: path(at), value };
        let added = |at: &str, value: Value| Operation::Add { path: path(at), value };
        let removed = |at: &str| Operation::Remove { path: path(at) };
        for (op, expected) in [
            (replaced("/blocks/a/text", json!("Ship it")), "Writes “Ship it” in heading “Plan…”"),
            (replaced("/blocks/t/rows/r/cells/c", json!("5")), "Writes “5” in row 1 of table “Costs”"),
            (replaced("/blocks/gone/text", json!("Ship it")), "Writes “Ship it”"),
            (
                replaced("/blocks/l/items/i/done", json!(true)),
                "Changes a part of item 2 of checklist “first” to “true”",
            ),
            (replaced("/blocks/a/order", json!("a1")), "Moves heading “Plan…”"),
            (replaced("/blocks/gone/order", json!("a1")), "Moves a part"),
            (added("/blocks/b", json!({ "type": "code", "text": "New" })), "Adds code “New”"),
            (added("/blocks/e/text", json!("New")), "Adds “New” to text"),
            (added("/title", json!("New")), "Adds “New”"),
            (removed("/blocks/t/columns/c"), "Removes column 1 of table “Costs”"),
            (removed("/blocks/t/rows/r/cells/c"), "Removes a part of row 1 of table “Costs”"),
            (removed("/blocks/t/rows/gone"), "Removes a part of table “Costs”"),
            (removed("/blocks/t/heading"), "Removes a part of table “Costs”"),
            (removed("/blocks/n"), "Removes table “Sum”"),
            (removed("/blocks/e"), "Removes text"),
            (removed("/blocks/gone"), "Removes a part"),
            (Operation::Test { path: path("/blocks/a"), value: json!(1) }, ""),
        ] {
            assert_eq!(change_words(&document, &op), expected);
        }
        let long = change_words(&document, &removed("/blocks/d"));
        assert_eq!(long, format!("Removes block “{}…”", "x".repeat(40)));
    }

    #[test]
    fn a_row_is_named_by_its_position_in_a_table_that_is_not_too_long() {
        let last = |rows: usize| {
            let row = |at: usize| (format!("r{at}"), json!({ "order": format!("a{at:04}"), "cells": {} }));
            let rows_of: Map<String, Value> = (1..=rows).map(row).collect();
            let document = document(&json!({ "t": { "type": "table", "heading": "Costs", "rows": rows_of } }));
            change_words(&document, &Operation::Remove { path: path(&format!("/blocks/t/rows/r{rows}")) })
        };
        for rows in [1, 2, 7, 40, NAMED_ITEMS_MAX] {
            assert_eq!(last(rows), format!("Removes row {rows} of table “Costs”"));
        }
        assert_eq!(last(NAMED_ITEMS_MAX + 1), "Removes a part of table “Costs”");
    }
}
