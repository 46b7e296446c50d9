//! The texts of a document that an editor has a field for.

use super::{
    super::{
        document::Document,
        members::object,
        operation::Operation,
        outline::{self, BLOCKS, Block, cell, items, text},
        path::Path,
    },
    Kind,
};
use crate::limit::CANVAS_NODES_MAX;
use serde_json::Value;

/// A text that can be edited.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Spot {
    /// The text of a block.
    Text(String),
    /// The text of an item: ids of the block and of the item.
    Item(String, String),
    /// The name of a column of a table: ids of the block and of the column.
    Column(String, String),
    /// A cell of a table: ids of the block, of the row and of the column.
    Cell(String, String, String),
}

impl Spot {
    /// The spot whose text is at this path; `None` for other paths.
    pub fn of(path: &Path) -> Option<Self> {
        let keys: Vec<&str> = path.keys().iter().map(String::as_str).collect();
        let (root, keys) = keys.split_first()?;
        if *root != BLOCKS {
            return None;
        }
        match *keys {
            [block, "text"] => Some(Self::Text(block.into())),
            [block, "items", item, "text"] => Some(Self::Item(block.into(), item.into())),
            [block, "columns", column, "name"] => Some(Self::Column(block.into(), column.into())),
            [block, "rows", row, "cells", column] => Some(Self::Cell(block.into(), row.into(), column.into())),
            _ => None,
        }
    }

    /// The path of the text.
    pub fn path(&self) -> Path {
        let block = block_path(self.block());
        match self {
            Self::Text(_) => block.child("text"),
            Self::Item(_, item) => block.child("items").child(item).child("text"),
            Self::Column(_, column) => block.child("columns").child(column).child("name"),
            Self::Cell(_, row, column) => block.child("rows").child(row).child("cells").child(column),
        }
    }

    /// Id of the block that has the text.
    pub fn block(&self) -> &str {
        match self {
            Self::Text(block) | Self::Item(block, _) | Self::Column(block, _) | Self::Cell(block, ..) => block,
        }
    }

    /// The text as it is shown. A cell that is no text is shown as JSON.
    pub fn text(&self, document: &Document) -> String {
        self.path().of(document.value()).map(cell).unwrap_or_default()
    }

    /// The operations that give it another text; none if it has that text.
    pub fn typed(&self, document: &Document, text: &str) -> Vec<Operation> {
        let (path, value) = (self.path(), Value::from(text));
        match path.of(document.value()) {
            Some(Value::String(old)) if old == text => Vec::new(),
            Some(_) => vec![Operation::Replace { path, value }],
            None => vec![self.added(document, path, text)],
        }
    }

    /// Adds the text. A row may have no map of cells yet.
    fn added(&self, document: &Document, path: Path, text: &str) -> Operation {
        if let Self::Cell(block, row, column) = self {
            let cells = block_path(block).child("rows").child(row).child("cells");
            if cells.of(document.value()).is_none() {
                return Operation::Add { path: cells, value: object(vec![(column.as_str(), text.into())]) };
            }
        }
        Operation::Add { path, value: text.into() }
    }
}

/// Where the document has a block with this id.
pub(super) fn block_path(id: &str) -> Path {
    Path::default().child(BLOCKS).child(id)
}

/// The blocks of a document in their order.
pub(super) fn blocks(document: &Document) -> Vec<(&str, &Value)> {
    items(document.value().get(BLOCKS))
}

/// The value of a block.
pub(super) fn block<'a>(document: &'a Document, id: &str) -> Option<&'a Value> {
    document.value().get(BLOCKS)?.get(id)
}

/// The type of a block.
pub(super) fn kind(value: &Value) -> &str {
    text(value, "type")
}

/// Ids and types of the blocks in their order. What has another type is shown as JSON.
pub fn kinds(document: &Document) -> Vec<(String, Option<Kind>)> {
    let of = |value| Kind::parse(kind(value)).filter(|_| !is_large(value));
    blocks(document).into_iter().map(|(id, value)| (id.to_owned(), of(value))).collect()
}

/// Whether a table has more cells than a document has values. Then it is shown as JSON.
fn is_large(value: &Value) -> bool {
    let count = |member: &str| value.get(member).and_then(Value::as_object).map_or(0, serde_json::Map::len);
    kind(value) == "table" && count("columns") * count("rows") > CANVAS_NODES_MAX
}

/// A block as it is shown.
pub fn read_block(document: &Document, id: &str) -> Option<Block> {
    block(document, id).map(|value| outline::block(id, value))
}

/// The spots of a block, in the order in which they are shown.
pub fn spots(document: &Document, id: &str) -> Vec<Spot> {
    let Some(value) = block(document, id) else { return Vec::new() };
    let list = |member: &str| items(value.get(member));
    match kind(value) {
        "heading" | "text" | "code" => vec![Spot::Text(id.into())],
        "checklist" => list("items").iter().map(|(item, _)| Spot::Item(id.into(), (*item).into())).collect(),
        "table" if !is_large(value) => {
            let columns = list("columns");
            let heads = columns.iter().map(|(column, _)| Spot::Column(id.into(), (*column).into()));
            let cells = list("rows").into_iter().flat_map(|(row, _)| {
                let cell = move |(column, _): &(&str, &Value)| Spot::Cell(id.into(), row.into(), (*column).into());
                columns.iter().map(cell).collect::<Vec<_>>()
            });
            heads.chain(cells).collect()
        }
        _ => Vec::new(),
    }
}

/// A way of the cursor from one text to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// To the text before, in the order in which they are shown.
    Back,
    /// To the text behind.
    On,
    /// To the text above: in a table, of the same column.
    Up,
    /// To the text below.
    Down,
}

/// The text to which a way leads; `None` at the end of the document.
pub fn beside(document: &Document, spot: &Spot, way: Way) -> Option<Spot> {
    let shown = spots(document, spot.block());
    let at = shown.iter().position(|other| other == spot)?;
    let columns = shown.iter().filter(|other| matches!(other, Spot::Column(..))).count();
    let step = if columns > 0 && matches!(way, Way::Up | Way::Down) { columns } else { 1 };
    let inside = match way {
        Way::Back | Way::Up => at.checked_sub(step),
        Way::On | Way::Down => Some(at + step),
    };
    if let Some(found) = inside.and_then(|at| shown.get(at)) {
        return Some(found.clone());
    }
    let all = blocks(document);
    let block = all.iter().position(|(id, _)| *id == spot.block())?;
    match way {
        Way::Back | Way::Up => all[..block].iter().rev().find_map(|(id, _)| spots(document, id).pop()),
        Way::On | Way::Down => all[block + 1..].iter().find_map(|(id, _)| spots(document, id).into_iter().next()),
    }
}
