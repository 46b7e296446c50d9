//! How operations are related to others: whether they are about one value, and which one takes another in.

use super::{operation::Operation, path::Path};
use serde_json::Value;

/// Whether one of the changes writes a value that another one writes, or a part of it.
pub(super) fn are_related(ops: &[Operation], others: &[Operation]) -> bool {
    let mut pairs = ops.iter().flat_map(|one| others.iter().map(move |other| (one.path(), other.path())));
    pairs.any(|(one, other)| is_related(one, other))
}

/// The text that operations give to a value.
pub(super) fn written<'a>(ops: &'a [Operation], at: &Path) -> Option<&'a str> {
    ops.iter().rev().find_map(|operation| match operation {
        Operation::Replace { path, value: Value::String(text) } if path == at => Some(text.as_str()),
        _ => None,
    })
}

/// Whether the places are the same, or one is in the other.
pub(super) fn is_related(one: &Path, other: &Path) -> bool {
    one == other || one.is_above(other) || other.is_above(one)
}

/// Position of the operation that a replacement of the same value can join. Nothing after it may be about that value.
pub(super) fn join_place(ops: &[Operation], operation: &Operation) -> Option<usize> {
    let Operation::Replace { path, .. } = operation else { return None };
    let place = ops.iter().rposition(|other| is_related(other.path(), path))?;
    match ops.get(place)? {
        Operation::Replace { path: other, .. } | Operation::Add { path: other, .. } if other == path => Some(place),
        _ => None,
    }
}

/// Gives the operation at a position the value of a replacement.
pub(super) fn join(ops: &mut [Operation], place: usize, operation: &Operation) {
    if let (
        Some(Operation::Replace { value, .. } | Operation::Add { value, .. }),
        Operation::Replace { value: new, .. },
    ) = (ops.get_mut(place), operation)
    {
        value.clone_from(new);
    }
}
