//! The blocks of a canvas, as pages and files show them.
//!
//! A block is an item of the map `blocks` with a `type`: heading, text, checklist, table, code or result. Documents are
//! written by programs too, so everything else in them is shown as JSON.

use super::{
    document::Document,
    members::map,
    operation::Operation,
    order::{NoRoom, between},
    path::Path,
};
use crate::limit::{CANVAS_INDENT_MAX, CANVAS_NODES_MAX};
use serde_json::{Value, json};
use std::collections::BinaryHeap;

/// Name of the map of blocks.
pub(super) const BLOCKS: &str = "blocks";
/// Member that says how far a block or an item is indented.
pub(super) const INDENT: &str = "indent";

/// An item of the map of blocks, or what is beside that map.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// Its key in the map of blocks; empty for what is no block.
    pub id: String,
    /// Its heading; empty without one.
    pub heading: String,
    /// Type of the field of an entity that its text is the value of; empty for other blocks.
    pub field: String,
    /// How far it is indented, 0 to [`CANVAS_INDENT_MAX`].
    pub indent: u8,
    /// Its type with the members that the type has.
    pub content: Content,
}

/// A type of block with its members.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// A heading of the document, which is the text.
    Heading(String),
    /// Lines of prose.
    Text(String),
    /// Items to tick.
    Checklist(Vec<CheckItem>),
    /// The names of the columns, and the cells of each row in their order.
    Table(Vec<String>, Vec<Vec<String>>),
    /// Code, with the name of its language or an empty one.
    Code(String, String),
    /// What a run of a tool returned: the id of its session, and the result as JSON.
    Result(String, String),
    /// Anything else, as JSON.
    Other(String),
}

/// An item of a checklist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckItem {
    /// Its key.
    pub id: String,
    /// Words of the item, on one line.
    pub text: String,
    /// Whether it is ticked.
    pub is_done: bool,
    /// How far it is indented, 0 to [`CANVAS_INDENT_MAX`].
    pub indent: u8,
}

/// The blocks of a document in their order, then its other members.
pub fn blocks(document: &Document) -> Vec<Block> {
    let mut found: Vec<Block> =
        items(document.value().get(BLOCKS)).into_iter().map(|(id, value)| block(id, value)).collect();
    found.extend(rest(document).map(|json| Block {
        id: String::new(),
        heading: String::new(),
        field: String::new(),
        indent: 0,
        content: Content::Other(json),
    }));
    found
}

/// What is beside the map of blocks, as JSON; `None` if nothing is.
pub fn rest(document: &Document) -> Option<String> {
    let is_rest = |(key, value): &(&String, &Value)| key.as_str() != BLOCKS || !value.is_object();
    let members = document.value().as_object()?.iter().filter(is_rest);
    let rest = map(members.map(|(key, value)| (key.clone(), value.clone())));
    (!rest.is_empty()).then(|| pretty(&Value::Object(rest)))
}

/// The items of a map by order and id.
pub(super) fn items(map: Option<&Value>) -> Vec<(&str, &Value)> {
    let items: Vec<_> =
        map.and_then(Value::as_object).into_iter().flatten().map(|(id, value)| (id.as_str(), value)).collect();
    // Sorted by a heap: browsers load this code, and there a sort of a slice is several times as large.
    let places: BinaryHeap<_> =
        items.iter().enumerate().map(|(at, (id, value))| (text(value, "order"), *id, at)).collect();
    places.into_sorted_vec().into_iter().filter_map(|(_, _, at)| items.get(at).copied()).collect()
}

pub(super) fn text<'a>(value: &'a Value, member: &str) -> &'a str {
    value.get(member).and_then(Value::as_str).unwrap_or_default()
}

/// How far a block or an item is indented.
pub(super) fn indent(value: &Value) -> u8 {
    let indent = value.get(INDENT).and_then(Value::as_u64).unwrap_or_default();
    u8::try_from(indent).unwrap_or(CANVAS_INDENT_MAX).min(CANVAS_INDENT_MAX)
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

/// The text of a cell.
pub(super) fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => serde_json::to_string(other).unwrap_or_default(),
    }
}

/// Reads a block.
pub(super) fn block(id: &str, value: &Value) -> Block {
    let text = |member| text(value, member).to_owned();
    let content = match value.get("type").and_then(Value::as_str).unwrap_or_default() {
        "heading" => Content::Heading(text("text")),
        "text" => Content::Text(text("text")),
        "code" => Content::Code(text("language"), text("text")),
        "result" => Content::Result(text("session"), value.get("value").map(pretty).unwrap_or_default()),
        "checklist" => Content::Checklist(items(value.get("items")).into_iter().map(check_item).collect()),
        "table" => table(value).unwrap_or_else(|| Content::Other(pretty(value))),
        _ => Content::Other(pretty(value)),
    };
    Block { id: id.to_owned(), heading: text("heading"), field: text("field"), indent: indent(value), content }
}

fn check_item((id, value): (&str, &Value)) -> CheckItem {
    let is_done = value.get("done") == Some(&Value::Bool(true));
    CheckItem { id: id.to_owned(), text: text(value, "text").to_owned(), is_done, indent: indent(value) }
}

/// A table; `None` if it would have more cells than a document has values: each row has a cell for each column, so a
/// small document could make a page of millions.
fn table(value: &Value) -> Option<Content> {
    let (columns, rows) = (items(value.get("columns")), items(value.get("rows")));
    if columns.len() * rows.len() > CANVAS_NODES_MAX {
        return None;
    }
    let row = |row: &Value| {
        columns
            .iter()
            .map(|(id, _)| row.get("cells").and_then(|cells| cells.get(id)).map(cell).unwrap_or_default())
            .collect()
    };
    let rows = rows.into_iter().map(|(_, value)| row(value)).collect();
    Some(Content::Table(columns.iter().map(|(_, column)| text(column, "name").to_owned()).collect(), rows))
}

/// The operations that add a block of text, code or a heading at the end.
///
/// # Errors
/// [`NoRoom`] if the order key of the last block is no key, or has no room after it.
pub fn added(document: &Document, id: &str, kind: &str, text: &str) -> Result<Vec<Operation>, NoRoom> {
    let blocks = document.value().get(BLOCKS);
    let last = items(blocks).last().map(|(_, value)| self::text(value, "order").to_owned());
    let order = between(last.as_deref().filter(|order| !order.is_empty()), None)?;
    let root = Path::default().child(BLOCKS);
    let mut ops = Vec::new();
    if blocks.is_none() {
        ops.push(Operation::Add { path: root.clone(), value: json!({}) });
    }
    ops.push(Operation::Add { path: root.child(id), value: json!({ "type": kind, "text": text, "order": order }) });
    Ok(ops)
}

/// The operation that gives a block another text.
pub fn edited(document: &Document, id: &str, text: &str) -> Operation {
    let (path, value) = (Path::default().child(BLOCKS).child(id).child("text"), json!(text));
    match path.of(document.value()) {
        Some(_) => Operation::Replace { path, value },
        None => Operation::Add { path, value },
    }
}

/// The operation that ticks an item of a checklist, or takes the tick away.
pub fn ticked(document: &Document, id: &str, item: &str, is_done: bool) -> Operation {
    let path = Path::default().child(BLOCKS).child(id).child("items").child(item).child("done");
    match path.of(document.value()) {
        Some(_) => Operation::Replace { path, value: json!(is_done) },
        None => Operation::Add { path, value: json!(is_done) },
    }
}

/// The operation that removes a block.
pub fn removed(id: &str) -> Operation {
    Operation::Remove { path: Path::default().child(BLOCKS).child(id) }
}

/// The blocks as Markdown under a title.
pub fn markdown(title: &str, blocks: &[Block]) -> String {
    let mut out = format!("# {}\n", line(title));
    for block in blocks {
        if !block.heading.is_empty() {
            out.push_str(&format!("\n### {}\n", line(&block.heading)));
        }
        out.push('\n');
        out.push_str(&content(&block.content));
    }
    out
}

/// The content of a block as Markdown.
fn content(content: &Content) -> String {
    match content {
        Content::Heading(text) => format!("## {}\n", line(text)),
        Content::Text(text) => format!("{}\n", text.trim_end()),
        Content::Checklist(items) => items
            .iter()
            .map(|item| {
                let before = "  ".repeat(item.indent.into());
                format!("{before}- [{}] {}\n", if item.is_done { 'x' } else { ' ' }, line(&item.text))
            })
            .collect(),
        Content::Table(columns, rows) => {
            let rule = vec!["---".to_owned(); columns.len()];
            [columns, &rule].into_iter().chain(rows).map(|cells| table_row(cells)).collect()
        }
        Content::Code(language, text) => fenced(language, text),
        Content::Result(_, json) | Content::Other(json) => fenced("json", json),
    }
}

fn table_row(cells: &[String]) -> String {
    let cells = cells.iter().map(|cell| line(cell).replace('\\', "\\\\").replace('|', "\\|"));
    format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
}

/// A block of code between fences that its text does not contain.
fn fenced(language: &str, text: &str) -> String {
    // A canvas can have hundreds of thousands of backticks in a row, so each character is looked at once.
    let longest = text.split(|char| char != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat((longest + 1).max(3));
    let language: String = language.chars().filter(|char| char.is_alphanumeric() || "+-#".contains(*char)).collect();
    format!("{fence}{language}\n{}\n{fence}\n", text.trim_end())
}

/// A text on one line.
fn line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Map;

    fn document(value: &Value) -> Document {
        Document::read(&value.to_string()).unwrap()
    }

    #[test]
    fn blocks_are_in_their_order_and_exported_as_markdown() {
        let document = document(&json!({ "blocks": {
            "z": { "type": "heading", "text": "Plan\nB", "order": "a0" },
            "b": { "type": "text", "heading": "Goal", "text": "Ship *it*\n", "order": "a1" },
            "a": { "type": "checklist", "order": "a1", "items": {
                "2": { "text": "second", "done": true, "order": "a2", "indent": 900 }, "1": { "text": "first", "order": "a1" }
            } },
            "t": { "type": "table", "order": "a2", "columns": { "n": { "name": "Na|me" }, "v": { "name": "V" } },
                "rows": { "r": { "cells": { "v": 2, "n": "x" } } } },
            "c": { "type": "code", "language": "rs`", "text": "```\nx", "order": "a3" },
            "o": { "type": "drawing", "order": "a4" },
            "r": { "type": "result", "heading": "Search", "session": "s", "value": [1], "order": "a5" }
        }, "entityId": "e" }));
        let expected = "# Title\n\n## Plan B\n\n- [ ] first\n          - [x] second\n\n### Goal\n\nShip *it*\n\n| Na\\|me | V |\n\
                        | --- | --- |\n| x | 2 |\n\n````rs\n```\nx\n````\n\n```json\n";
        let found = blocks(&document);
        assert_eq!(
            found.iter().map(|block| block.id.as_str()).collect::<Vec<_>>(),
            ["z", "a", "b", "t", "c", "o", "r", ""]
        );
        let markdown = markdown("Title", &found);
        assert!(markdown.starts_with(expected) && markdown.contains("entityId"), "{markdown}");
        assert_eq!(found[6].content, Content::Result("s".into(), "[\n  1\n]".into()));
        assert!(markdown.contains("### Search\n\n```json\n[\n  1\n]\n```"), "{markdown}");
    }

    #[test]
    fn code_of_many_backticks_gets_one_more_around_it() {
        let ticks = "`".repeat(200_000);
        let code = content(&Content::Code(String::new(), format!("x {ticks} `` y")));
        assert_eq!(code.lines().next().map(str::len), Some(ticks.len() + 1));
        assert_eq!(content(&Content::Code(String::new(), "``".into())), "```\n``\n```\n");
    }

    #[test]
    fn a_table_with_too_many_cells_is_shown_as_json() {
        let map = |items: usize| (0..items).map(|n| (n.to_string(), json!({}))).collect::<Map<_, _>>();
        let content = |rows: usize| {
            let table = json!({ "type": "table", "columns": map(100), "rows": map(rows) });
            blocks(&document(&json!({ "blocks": { "t": table } }))).remove(0).content
        };
        assert!(matches!(content(200), Content::Table(columns, rows) if columns.len() == 100 && rows.len() == 200));
        assert!(matches!(content(201), Content::Other(_)));
    }

    #[test]
    fn blocks_are_added_edited_ticked_and_removed() {
        let apply = |document: &Document, ops: &[Operation]| document.apply(ops).unwrap().document;
        let empty = document(&json!({}));
        let one = apply(&empty, &added(&empty, "a", "text", "x").unwrap());
        let two = apply(&one, &added(&one, "b", "heading", "y").unwrap());
        assert_eq!(blocks(&two).iter().map(|block| block.id.as_str()).collect::<Vec<_>>(), ["a", "b"]);
        let edited = apply(&two, &[edited(&two, "a", "z"), removed("b")]);
        assert_eq!(blocks(&edited)[0].content, Content::Text("z".into()));
        let list = document(&json!({ "blocks": { "l": { "type": "checklist", "items": { "i": { "text": "x" } } } } }));
        for is_done in [true, false] {
            let Content::Checklist(items) = &blocks(&apply(&list, &[ticked(&list, "l", "i", is_done)]))[0].content
            else {
                panic!("no list")
            };
            assert_eq!(items[0].is_done, is_done);
        }
        let wrong = document(&json!({ "blocks": { "a": { "order": "no key!" } } }));
        assert_eq!(added(&wrong, "b", "text", "x"), Err(NoRoom));
    }
}
