//! The document of a canvas.

use super::{
    members::map,
    operation::{Operation, size},
    path::{Path, index},
};
use crate::limit::{CANVAS_BYTES_MAX, CANVAS_DEPTH_MAX, CANVAS_NODES_MAX};
use serde_json::{Map, Value};

/// A document: an object, within the limits of a canvas.
#[derive(Debug, Clone, PartialEq)]
pub struct Document(Value);

/// Why an operation cannot be applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// The value, or what it is in, does not exist.
    NotFound,
    /// The member to add exists.
    Exists,
    /// A test found another value.
    TestFailed,
    /// The document itself can be replaced only by an object, and never be removed.
    Root,
}

/// The limit that a document exceeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum OverLimit {
    /// See [`CANVAS_BYTES_MAX`].
    #[error("the document would have more than 262144 bytes")]
    Bytes,
    /// See [`CANVAS_DEPTH_MAX`].
    #[error("the document would be nested deeper than 32 levels")]
    Depth,
    /// See [`CANVAS_NODES_MAX`].
    #[error("the document would have more than 20000 values")]
    Nodes,
}

/// The result of applying operations.
#[derive(Debug, Clone, PartialEq)]
pub struct Applied {
    /// The changed document.
    pub document: Document,
    /// Operations that undo the change. Each is guarded by a test of the value that the change wrote.
    pub inverse: Vec<Operation>,
}

impl Default for Document {
    fn default() -> Self {
        Self(Value::Object(Map::new()))
    }
}

impl Document {
    /// Reads a stored document; `None` if it is no JSON object.
    pub fn read(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok().and_then(Self::of)
    }

    /// A document of this content; `None` if it is no object.
    pub fn of(value: Value) -> Option<Self> {
        value.is_object().then_some(Self(value))
    }

    /// The document as a value.
    pub const fn value(&self) -> &Value {
        &self.0
    }

    /// The document as JSON, with its members in the order of their keys.
    pub fn text(&self) -> String {
        // Serialisation fails only for maps whose keys are no text.
        serde_json::to_string(&sorted(&self.0)).unwrap_or_default()
    }

    /// Checks bytes, depth and number of values.
    ///
    /// # Errors
    /// The limit that the document exceeds.
    pub fn check(&self) -> Result<(), OverLimit> {
        let mut nodes = 0;
        count(&self.0, CANVAS_DEPTH_MAX, &mut nodes)?;
        if size(&self.0) > CANVAS_BYTES_MAX { Err(OverLimit::Bytes) } else { Ok(()) }
    }

    /// Applies operations in order to a copy of the document.
    ///
    /// # Errors
    /// The position of the first operation that fails, and why. Nothing is applied then.
    pub fn apply(&self, ops: &[Operation]) -> Result<Applied, (usize, Failure)> {
        let mut value = self.0.clone();
        let mut inverse = Vec::new();
        for (at, operation) in ops.iter().enumerate() {
            apply(&mut value, operation, &mut inverse).map_err(|failure| (at, failure))?;
        }
        inverse.reverse();
        Ok(Applied { document: Self(value), inverse })
    }

    /// Applies the operations of a committed patch in place.
    ///
    /// # Errors
    /// The position of the first operation that fails, and why. The document cannot be used afterwards.
    pub fn fold(&mut self, ops: &[Operation]) -> Result<(), (usize, Failure)> {
        let mut inverse = Vec::new();
        for (at, operation) in ops.iter().enumerate() {
            apply(&mut self.0, operation, &mut inverse).map_err(|failure| (at, failure))?;
        }
        Ok(())
    }
}

/// Applies one operation. What undoes it is added in reverse: first the change, then its guard.
fn apply(document: &mut Value, operation: &Operation, inverse: &mut Vec<Operation>) -> Result<(), Failure> {
    match operation {
        Operation::Test { path, value } => {
            let found = path.of(document).ok_or(Failure::TestFailed)?;
            if is_same(found, value) { Ok(()) } else { Err(Failure::TestFailed) }
        }
        Operation::Replace { path, value } => {
            if path.is_root() && !value.is_object() {
                return Err(Failure::Root);
            }
            let place = place(document, path.keys()).ok_or(Failure::NotFound)?;
            let before = std::mem::replace(place, value.clone());
            inverse.push(Operation::Replace { path: path.clone(), value: before });
            inverse.push(Operation::Test { path: path.clone(), value: value.clone() });
            Ok(())
        }
        Operation::Add { path, value } => {
            let path = add(document, path, value)?;
            inverse.push(Operation::Remove { path: path.clone() });
            inverse.push(Operation::Test { path, value: value.clone() });
            Ok(())
        }
        Operation::Remove { path } => {
            let value = remove(document, path)?;
            inverse.push(Operation::Add { path: path.clone(), value });
            Ok(())
        }
    }
}

/// Adds a value and returns its path, in which an index replaces `-`.
fn add(document: &mut Value, path: &Path, value: &Value) -> Result<Path, Failure> {
    let (last, parents) = path.keys().split_last().ok_or(Failure::Exists)?;
    match place(document, parents).ok_or(Failure::NotFound)? {
        Value::Object(members) if members.contains_key(last) => Err(Failure::Exists),
        Value::Object(members) => {
            members.insert(last.clone(), value.clone());
            Ok(path.clone())
        }
        Value::Array(items) => {
            let at = if last == "-" { Some(items.len()) } else { index(last) };
            let at = at.filter(|at| *at <= items.len()).ok_or(Failure::NotFound)?;
            items.insert(at, value.clone());
            Ok(parents.iter().fold(Path::default(), |path, key| path.child(key)).child(&at.to_string()))
        }
        _ => Err(Failure::NotFound),
    }
}

fn remove(document: &mut Value, path: &Path) -> Result<Value, Failure> {
    let (last, parents) = path.keys().split_last().ok_or(Failure::Root)?;
    let removed = match place(document, parents).ok_or(Failure::NotFound)? {
        Value::Object(members) => members.remove(last),
        Value::Array(items) => index(last).filter(|at| *at < items.len()).map(|at| items.remove(at)),
        _ => None,
    };
    removed.ok_or(Failure::NotFound)
}

fn place<'a>(document: &'a mut Value, keys: &[String]) -> Option<&'a mut Value> {
    keys.iter().try_fold(document, |value, key| match value {
        Value::Object(members) => members.get_mut(key),
        Value::Array(items) => items.get_mut(index(key)?),
        _ => None,
    })
}

/// Whether two values are equal as RFC 6902 compares them: numbers by value, members in any order.
pub(super) fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => {
            one == other || (one.is_f64() || other.is_f64()) && one.as_f64() == other.as_f64()
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let has_same = |(key, value)| other.get(key).is_some_and(|other| is_same(value, other));
            one.len() == other.len() && one.iter().all(has_same)
        }
        _ => one == other,
    }
}

fn count(value: &Value, depth: usize, nodes: &mut usize) -> Result<(), OverLimit> {
    *nodes += 1;
    if *nodes > CANVAS_NODES_MAX {
        return Err(OverLimit::Nodes);
    }
    let inner = || depth.checked_sub(1).ok_or(OverLimit::Depth);
    match value {
        Value::Object(members) => {
            let inner = inner()?;
            members.values().try_for_each(|value| count(value, inner, nodes))
        }
        Value::Array(items) => {
            let inner = inner()?;
            items.iter().try_for_each(|item| count(item, inner, nodes))
        }
        _ => Ok(()),
    }
}

/// The same value, with its members in the order of their keys, whatever order the map keeps.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_by_key(|(key, _)| *key);
            Value::Object(map(members.into_iter().map(|(key, value)| (key.clone(), sorted(value)))))
        }
        Value::Array(items) => items.iter().map(sorted).collect(),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn ops(ops: Value) -> Vec<Operation> {
        ops.as_array().unwrap().iter().map(|op| Operation::read(op).unwrap()).collect()
    }

    fn document(value: Value) -> Document {
        Document(value)
    }

    #[test]
    fn every_operation_applies_and_its_inverse_undoes_it() {
        let before = document(json!({"a": {"b": 1, "list": [1, 2]}, "c": "x"}));
        let change = ops(json!([
            {"op": "test", "path": "/a/b", "value": 1.0},
            {"op": "replace", "path": "/a/b", "value": 2},
            {"op": "replace", "path": "/a/b", "value": 3},
            {"op": "add", "path": "/d", "value": {"e": 1}},
            {"op": "add", "path": "/d/f", "value": 2},
            {"op": "remove", "path": "/c"},
            {"op": "add", "path": "/a/list/-", "value": 3},
            {"op": "add", "path": "/a/list/0", "value": 0},
            {"op": "remove", "path": "/a/list/1"}
        ]));
        let applied = before.apply(&change).unwrap();
        assert_eq!(applied.document.0, json!({"a": {"b": 3, "list": [0, 2, 3]}, "d": {"e": 1, "f": 2}}));
        let undone = applied.document.apply(&applied.inverse).unwrap();
        assert_eq!(undone.document, before);
        assert_eq!(undone.document.apply(&undone.inverse).unwrap().document, applied.document);
    }

    #[test]
    fn an_undo_fails_when_someone_changed_the_value() {
        let applied =
            document(json!({"a": 1})).apply(&ops(json!([{"op": "replace", "path": "/a", "value": 2}]))).unwrap();
        let changed = document(json!({"a": 5}));
        assert_eq!(changed.apply(&applied.inverse), Err((0, Failure::TestFailed)));
    }

    #[test]
    fn an_operation_that_fails_says_which_and_why() {
        let before = document(json!({"a": {"b": 1}, "list": [1]}));
        for (change, expected) in [
            (json!([{"op": "add", "path": "/a", "value": 1}]), (0, Failure::Exists)),
            (json!([{"op": "remove", "path": "/a/b"}, {"op": "remove", "path": "/a/b"}]), (1, Failure::NotFound)),
            (json!([{"op": "replace", "path": "/x", "value": 1}]), (0, Failure::NotFound)),
            (json!([{"op": "add", "path": "/a/b/c", "value": 1}]), (0, Failure::NotFound)),
            (json!([{"op": "add", "path": "/list/3", "value": 1}]), (0, Failure::NotFound)),
            (json!([{"op": "add", "path": "/list/4000000000", "value": 1}]), (0, Failure::NotFound)),
            (json!([{"op": "add", "path": "/list/00", "value": 1}]), (0, Failure::NotFound)),
            (json!([{"op": "test", "path": "/x", "value": null}]), (0, Failure::TestFailed)),
            (json!([{"op": "replace", "path": "", "value": []}]), (0, Failure::Root)),
            (json!([{"op": "remove", "path": ""}]), (0, Failure::Root)),
        ] {
            assert_eq!(before.apply(&ops(change.clone())).unwrap_err(), expected, "{change}");
        }
    }

    #[test]
    fn a_document_is_bounded_in_bytes_depth_and_values() {
        let nested = (0..CANVAS_DEPTH_MAX).fold(json!(1), |value, _| json!({ "a": value }));
        assert_eq!(document(nested.clone()).check(), Ok(()));
        assert_eq!(document(json!({ "a": nested })).check(), Err(OverLimit::Depth));
        let wide: Vec<u8> = vec![0; CANVAS_NODES_MAX];
        assert_eq!(document(json!({ "a": wide })).check(), Err(OverLimit::Nodes));
        assert_eq!(document(json!({ "a": "x".repeat(CANVAS_BYTES_MAX) })).check(), Err(OverLimit::Bytes));
    }
}
