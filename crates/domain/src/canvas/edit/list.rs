//! Places in a list: a map of items with order keys.

use super::super::{
    operation::Operation,
    order::{NoRoom, between, spread},
    outline::text,
    path::Path,
};
use crate::limit::CANVAS_REORDER_MAX;
use serde_json::Value;

/// Member with the order key of an item.
pub(super) const ORDER: &str = "order";

/// Keys for new items at a position of a list, and the operations that make room for them. `items` are in their order.
///
/// Two people who insert at the same place make the same key. There is no key between two equal ones, so the items
/// behind the position get new keys then. If that does not help either, all items get new ones.
pub(super) fn room(
    list: &Path,
    items: &[(&str, &Value)],
    at: usize,
    count: usize,
) -> Result<(Vec<String>, Vec<Operation>), NoRoom> {
    let at = at.min(items.len());
    gap(list, items, at, count).or_else(|_| all_anew(list, items, at, count))
}

fn gap(
    list: &Path,
    items: &[(&str, &Value)],
    at: usize,
    count: usize,
) -> Result<(Vec<String>, Vec<Operation>), NoRoom> {
    let before = at.checked_sub(1).and_then(|at| items.get(at)).map(|(_, value)| text(value, ORDER));
    let behind = &items[at..];
    let equal = behind.iter().take_while(|(_, value)| before == Some(text(value, ORDER))).count();
    if equal > CANVAS_REORDER_MAX {
        return Err(NoRoom);
    }
    let after = behind.get(equal).map(|(_, value)| text(value, ORDER));
    let mut keys: Vec<String> = Vec::with_capacity(count + equal);
    for _ in 0..count + equal {
        let key = between(keys.last().map(String::as_str).or(before), after)?;
        keys.push(key);
    }
    let moved = keys.split_off(count);
    Ok((keys, behind.iter().zip(moved).map(|(item, key)| ordered(list, item, &key)).collect()))
}

fn all_anew(
    list: &Path,
    items: &[(&str, &Value)],
    at: usize,
    count: usize,
) -> Result<(Vec<String>, Vec<Operation>), NoRoom> {
    if items.len() > CANVAS_REORDER_MAX {
        return Err(NoRoom);
    }
    let mut keys = spread(items.len() + count)?;
    let new: Vec<String> = keys.drain(at..at + count).collect();
    Ok((new, items.iter().zip(keys).map(|(item, key)| ordered(list, item, &key)).collect()))
}

/// The operation that gives an item a key.
pub(super) fn ordered(list: &Path, (id, value): &(&str, &Value), key: &str) -> Operation {
    let path = list.child(id).child(ORDER);
    if value.get(ORDER).is_some() {
        Operation::Replace { path, value: key.into() }
    } else {
        Operation::Add { path, value: key.into() }
    }
}

/// The operations that put an item of a list at a position among the other items.
pub(super) fn placed(list: &Path, items: &[(&str, &Value)], id: &str, at: usize) -> Result<Vec<Operation>, NoRoom> {
    let Some(item) = items.iter().find(|(other, _)| *other == id) else { return Ok(Vec::new()) };
    let others: Vec<_> = items.iter().filter(|(other, _)| *other != id).copied().collect();
    let (keys, mut ops) = room(list, &others, at, 1)?;
    ops.extend(keys.first().map(|key| ordered(list, item, key)));
    Ok(ops)
}
