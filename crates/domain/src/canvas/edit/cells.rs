//! Pasted cells within a table.

use super::{
    super::{
        document::Document,
        members::{map, object},
        operation::Operation,
        order::NoRoom,
        outline::items,
    },
    Edit, NewId, Spot,
    caret::units,
    list::{ORDER, room},
    spot::{block, block_path},
};
use crate::limit::{CANVAS_NODES_MAX, CANVAS_OPS_MAX};
use serde_json::{Map, Value};

/// Writes pasted rows into a table, from a cell or the name of a column to the right and down, as one change. Columns
/// and rows that are missing are added. From the name of a column on, the first row has names of columns.
///
/// # Errors
/// [`NoRoom`] for a text outside of a table, without cells, and for a table that would have too many cells.
pub fn cells_pasted(
    document: &Document,
    spot: &Spot,
    pasted: &[Vec<String>],
    new_id: NewId<'_>,
) -> Result<Edit, NoRoom> {
    let (id, from_row, from_column) = match spot {
        Spot::Cell(id, row, column) => (id, Some(row), column),
        Spot::Column(id, column) => (id, None, column),
        Spot::Text(_) | Spot::Item(..) => return Err(NoRoom),
    };
    let value = block(document, id).ok_or(NoRoom)?;
    let (columns, rows) = (items(value.get("columns")), items(value.get("rows")));
    let left = columns.iter().position(|(column, _)| column == from_column).ok_or(NoRoom)?;
    let width = pasted.iter().map(Vec::len).max().filter(|width| *width > 0).ok_or(NoRoom)?;
    let (names, cells) = match from_row {
        Some(_) => (None, pasted),
        None => (pasted.first(), &pasted[1..]),
    };
    let top = from_row.and_then(|row| rows.iter().position(|(other, _)| other == row)).unwrap_or_default();
    if columns.len().max(left + width) * rows.len().max(top + cells.len()) > CANVAS_NODES_MAX {
        return Err(NoRoom);
    }
    let (ids, mut ops) = columns_for(document, id, (left, width), names, new_id)?;
    let ids = &ids[left..left + width];
    let existing = rows.len().saturating_sub(top).min(cells.len());
    let (over, new) = cells.split_at(existing);
    let fine: Vec<Operation> = over.iter().zip(&rows[top..]).flat_map(|(row, of)| by_cell(id, of, ids, row)).collect();
    if ops.len() + fine.len() + new.len() <= CANVAS_OPS_MAX {
        ops.extend(fine);
    } else {
        ops.extend(over.iter().zip(&rows[top..]).map(|(row, of)| by_row(id, of, ids, row)));
    }
    ops.extend(new_rows(document, id, ids, new, new_id)?);
    Ok(with_focus(document, Edit::of(ops), spot))
}

/// The cursor goes to the end of the text at which the paste begins.
fn with_focus(document: &Document, edit: Edit, spot: &Spot) -> Edit {
    match document.apply(&edit.ops) {
        Ok(applied) => {
            let end = units(&spot.text(&applied.document));
            edit.then(spot.clone(), end)
        }
        Err(_) => edit,
    }
}

/// Ids of the columns with those that are missing, and the operations that add these and write names.
fn columns_for(
    document: &Document,
    id: &str,
    (left, width): (usize, usize),
    names: Option<&Vec<String>>,
    new_id: NewId<'_>,
) -> Result<(Vec<String>, Vec<Operation>), NoRoom> {
    let list = block_path(id).child("columns");
    let columns = items(block(document, id).and_then(|value| value.get("columns")));
    let mut ids: Vec<String> = columns.iter().map(|(column, _)| (*column).to_owned()).collect();
    let name = |at: usize| names.and_then(|names| names.get(at.checked_sub(left)?)).cloned();
    let mut ops = Vec::new();
    for (at, column) in ids.iter().enumerate() {
        if let Some(name) = name(at) {
            ops.extend(Spot::Column(id.to_owned(), column.clone()).typed(document, &name));
        }
    }
    let missing = (left + width).saturating_sub(ids.len());
    let (keys, moved) = room(&list, &columns, columns.len(), missing)?;
    ops.extend(moved);
    for key in keys {
        let (at, column) = (ids.len(), new_id());
        let value = object(vec![("name", name(at).unwrap_or_default().into()), (ORDER, key.into())]);
        ops.push(Operation::Add { path: list.child(&column), value });
        ids.push(column);
    }
    Ok((ids, ops))
}

/// The operations that write the cells of a row one by one. A row may have no map of cells yet.
fn by_cell(id: &str, of: &(&str, &Value), ids: &[String], row: &[String]) -> Vec<Operation> {
    let Some(cells) = of.1.get("cells").filter(|cells| cells.is_object()) else {
        return vec![by_row(id, of, ids, row)];
    };
    let path = block_path(id).child("rows").child(of.0).child("cells");
    let write = |(column, text): (&String, &String)| {
        let (path, value) = (path.child(column), Value::from(text.as_str()));
        match cells.get(column) {
            Some(old) if *old == value => None,
            Some(_) => Some(Operation::Replace { path, value }),
            None => Some(Operation::Add { path, value }),
        }
    };
    ids.iter().zip(row).filter_map(write).collect()
}

/// The operation that writes the cells of a row at once, with those that it has beside them.
fn by_row(id: &str, of: &(&str, &Value), ids: &[String], row: &[String]) -> Operation {
    let path = block_path(id).child("rows").child(of.0).child("cells");
    let mut cells = of.1.get("cells").and_then(Value::as_object).cloned().unwrap_or_default();
    for (column, text) in texts(ids, row) {
        cells.insert(column, text);
    }
    let value = Value::Object(cells);
    match of.1.get("cells") {
        Some(_) => Operation::Replace { path, value },
        None => Operation::Add { path, value },
    }
}

fn texts(ids: &[String], row: &[String]) -> Map<String, Value> {
    map(ids.iter().zip(row).map(|(column, text)| (column.clone(), text.as_str().into())))
}

/// The operations that add rows at the end.
fn new_rows(
    document: &Document,
    id: &str,
    ids: &[String],
    new: &[Vec<String>],
    new_id: NewId<'_>,
) -> Result<Vec<Operation>, NoRoom> {
    let list = block_path(id).child("rows");
    let rows = items(block(document, id).and_then(|value| value.get("rows")));
    let (keys, mut ops) = room(&list, &rows, rows.len(), new.len())?;
    if !new.is_empty() && list.of(document.value()).is_none() {
        ops.push(Operation::Add { path: list.clone(), value: object(Vec::new()) });
    }
    for (row, key) in new.iter().zip(keys) {
        let value = object(vec![("cells", texts(ids, row).into()), (ORDER, key.into())]);
        ops.push(Operation::Add { path: list.child(&new_id()), value });
    }
    Ok(ops)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canvas::{edit::Shift, outline};
    use serde_json::json;

    fn table() -> Document {
        let row = |cells: Value, order: &str| json!({ "cells": cells, "order": order });
        let column = |name: &str, order: &str| json!({ "name": name, "order": order });
        let table = json!({ "type": "table", "order": "a0",
            "columns": { "x": column("X", "a0"), "y": column("Y", "a1") },
            "rows": { "r": row(json!({ "x": "1", "y": "2" }), "a0"), "s": { "order": "a1" } } });
        Document::read(&json!({ "blocks": { "t": table } }).to_string()).unwrap()
    }

    fn pasted(rows: &[&[&str]]) -> Vec<Vec<String>> {
        rows.iter().map(|row| row.iter().map(|cell| (*cell).to_owned()).collect()).collect()
    }

    /// The rows of the table after a change, without the rule.
    fn rows(edit: &Edit) -> Vec<String> {
        let changed = table().apply(&edit.ops).unwrap().document;
        let markdown = outline::markdown("", &outline::blocks(&changed));
        markdown.lines().filter(|line| line.starts_with('|') && !line.contains("---")).map(str::to_owned).collect()
    }

    fn ids() -> impl FnMut() -> String {
        let mut made = 0;
        move || {
            made += 1;
            format!("n{made}")
        }
    }

    #[test]
    fn pasted_cells_spread_over_a_table_and_make_it_larger() {
        let cell = Spot::Cell("t".into(), "r".into(), "y".into());
        let edit = cells_pasted(&table(), &cell, &pasted(&[&["a", "b"], &["c"], &["d", "e"]]), &mut ids()).unwrap();
        assert_eq!(rows(&edit), ["| X | Y |  |", "| 1 | a | b |", "|  | c |  |", "|  | d | e |"]);
        assert_eq!(edit.focus.map(|focus| (focus.spot, focus.at)), Some((cell, 1)));
        let head = Spot::Column("t".into(), "x".into());
        let edit = cells_pasted(&table(), &head, &pasted(&[&["N", "M"], &["7", "8"]]), &mut ids()).unwrap();
        assert_eq!(rows(&edit), ["| N | M |", "| 7 | 8 |", "|  |  |"]);
        for nothing in [pasted(&[]), pasted(&[&[]])] {
            assert_eq!(cells_pasted(&table(), &head, &nothing, &mut ids()), Err(NoRoom));
        }
    }

    #[test]
    fn many_pasted_cells_are_written_by_row_within_one_patch() {
        let wide: Vec<String> = (0..CANVAS_OPS_MAX - 10).map(|n| n.to_string()).collect();
        let cell = Spot::Cell("t".into(), "r".into(), "x".into());
        let edit = cells_pasted(&table(), &cell, &[wide.clone(), wide.clone()], &mut ids()).unwrap();
        assert!(edit.ops.len() <= CANVAS_OPS_MAX, "{}", edit.ops.len());
        assert!(rows(&edit).iter().skip(1).all(|row| row.contains("| 0 | 1 | 2 |")), "{:?}", rows(&edit));
        let large = vec![wide; CANVAS_NODES_MAX / 20];
        assert_eq!(cells_pasted(&table(), &cell, &large, &mut ids()), Err(NoRoom));
    }

    #[test]
    fn a_row_of_a_table_is_moved_among_the_rows() {
        let cell = |row: &str| Spot::Cell("t".into(), row.into(), "x".into());
        let down = super::super::moved(&table(), &cell("r"), Shift::On).unwrap();
        assert_eq!(rows(&down), ["| X | Y |", "|  |  |", "| 1 | 2 |"]);
        assert_eq!(super::super::moved(&table(), &cell("s"), Shift::On), None);
    }
}
