//! Tables: rows and columns.

use super::{
    super::{
        document::Document,
        members::{map, object, set},
        operation::Operation,
        order::{NoRoom, spread},
        outline::{Content, items, text},
    },
    Edit, NewId, Spot,
    list::room,
    spot::{block, block_path},
};
use serde_json::Value;

/// Columns and rows of a table that begins empty.
const NEW_SIZE: usize = 2;

/// A table with these names and cells. One without any has two columns and rows, and one without rows has one.
pub(super) fn content(mut columns: Vec<String>, mut rows: Vec<Vec<String>>) -> Content {
    if columns.iter().all(String::is_empty) && rows.is_empty() {
        columns.resize(NEW_SIZE, String::new());
        rows.resize(NEW_SIZE, Vec::new());
    } else if rows.is_empty() {
        rows.push(Vec::new());
    }
    let width = rows.iter().map(Vec::len).max().unwrap_or_default().max(columns.len());
    columns.resize(width, String::new());
    rows.iter_mut().for_each(|row| row.resize(width, String::new()));
    Content::Table(columns, rows)
}

/// The value of a new table, without its order key.
pub(super) fn new_table(columns: &[String], rows: &[Vec<String>], new_id: NewId<'_>) -> Value {
    let names: Vec<String> = columns.iter().map(|_| new_id()).collect();
    let orders = |count| spread(count).unwrap_or_default();
    let columns =
        names.iter().zip(columns).zip(orders(columns.len())).map(|((id, name), order)| {
            (id.clone(), object(vec![("name", name.as_str().into()), ("order", order.into())]))
        });
    let columns = map(columns);
    let rows = rows.iter().zip(orders(rows.len())).map(|(row, order)| {
        let cells = map(names.iter().zip(row).map(|(id, cell)| (id.clone(), cell.as_str().into())));
        (new_id(), object(vec![("cells", cells.into()), ("order", order.into())]))
    });
    object(vec![("type", "table".into()), ("columns", columns.into()), ("rows", map(rows).into())])
}

/// Adds an empty row behind a row, or at the end. The cursor goes to its first cell, or to that of the given column.
///
/// # Errors
/// [`NoRoom`].
pub fn row_added(
    document: &Document,
    id: &str,
    (after, column): (Option<&str>, Option<&str>),
    new_id: NewId<'_>,
) -> Result<Edit, NoRoom> {
    let value = block(document, id).ok_or(NoRoom)?;
    let columns = items(value.get("columns"));
    let cells = map(columns.iter().map(|(column, _)| ((*column).to_owned(), "".into())));
    let row = new_id();
    let ops = added(document, id, "rows", after, &row, object(vec![("cells", cells.into())]))?;
    let column = column.or_else(|| columns.first().map(|(column, _)| *column));
    let edit = Edit::of(ops);
    Ok(match column {
        Some(column) => edit.then(Spot::Cell(id.into(), row, column.into()), 0),
        None => edit,
    })
}

/// Adds a column behind a column, or at the end. The cursor goes to its name.
///
/// # Errors
/// [`NoRoom`].
pub fn column_added(document: &Document, id: &str, after: Option<&str>, new_id: NewId<'_>) -> Result<Edit, NoRoom> {
    let column = new_id();
    let ops = added(document, id, "columns", after, &column, object(vec![("name", "".into())]))?;
    Ok(Edit::of(ops).then(Spot::Column(id.into(), column), 0))
}

fn added(
    document: &Document,
    id: &str,
    member: &str,
    after: Option<&str>,
    new: &str,
    mut value: Value,
) -> Result<Vec<Operation>, NoRoom> {
    let list = block_path(id).child(member);
    let shown = items(block(document, id).and_then(|value| value.get(member)));
    let at = after.and_then(|after| shown.iter().position(|(other, _)| *other == after));
    let (keys, mut ops) = room(&list, &shown, at.map_or(shown.len(), |at| at + 1), 1)?;
    if list.of(document.value()).is_none() {
        ops.push(Operation::Add { path: list.clone(), value: object(Vec::new()) });
    }
    set(&mut value, "order", keys.first().map_or(Value::Null, |key| key.as_str().into()));
    ops.push(Operation::Add { path: list.child(new), value });
    Ok(ops)
}

/// Removes a row. `None` if there is no such row.
pub fn row_removed(document: &Document, id: &str, row: &str) -> Option<Edit> {
    removed(document, id, "rows", row)
}

/// Removes a column. Its cells stay in the document, so that undo brings them back; nothing shows them. `None` if
/// there is no such column, or if it is the only one.
pub fn column_removed(document: &Document, id: &str, column: &str) -> Option<Edit> {
    if items(block(document, id)?.get("columns")).len() < 2 {
        return None;
    }
    removed(document, id, "columns", column)
}

fn removed(document: &Document, id: &str, member: &str, item: &str) -> Option<Edit> {
    let path = block_path(id).child(member).child(item);
    path.of(document.value())?;
    Some(Edit::of(vec![Operation::Remove { path }]))
}

/// The spot below one of a table: the same column in the next row. `None` in the last row.
pub(super) fn below(document: &Document, spot: &Spot) -> Option<Spot> {
    let (id, row, column) = match spot {
        Spot::Column(id, column) => (id, None, column),
        Spot::Cell(id, row, column) => (id, Some(row), column),
        Spot::Text(_) | Spot::Item(..) => return None,
    };
    let rows = items(block(document, id)?.get("rows"));
    let next = match row {
        Some(row) => rows.iter().position(|(other, _)| *other == row.as_str())? + 1,
        None => 0,
    };
    rows.get(next).map(|(row, _)| Spot::Cell(id.clone(), (*row).to_owned(), column.clone()))
}

/// The name of a column, for the labels of its cells.
pub fn column_name(document: &Document, id: &str, column: &str) -> String {
    let columns = block(document, id).and_then(|value| value.get("columns"));
    columns.and_then(|columns| columns.get(column)).map(|value| text(value, "name").to_owned()).unwrap_or_default()
}
