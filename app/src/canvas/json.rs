//! Reads answers of the API by their members. A derived reader for each type, once for texts and once for values, was a
//! tenth of the editor's WASM.

use domain::canvas::Operation;
use serde_json::Value;

/// Reads JSON; `None` if it is none.
pub fn read(json: &str) -> Option<Value> {
    serde_json::from_str(json).ok()
}

/// Takes a member out of an object; null if there is none.
pub fn take(object: &mut Value, name: &str) -> Value {
    object.get_mut(name).map(Value::take).unwrap_or_default()
}

/// A member that is a text.
pub fn text(object: &Value, name: &str) -> Option<String> {
    object.get(name)?.as_str().map(str::to_owned)
}

/// A member that is a whole number from 0.
pub fn number(object: &Value, name: &str) -> Option<u64> {
    object.get(name)?.as_u64()
}

/// A member that is true or false.
pub fn flag(object: &Value, name: &str) -> Option<bool> {
    object.get(name)?.as_bool()
}

/// A member that is a list. One item that cannot be read makes the list unreadable.
pub fn list<T>(object: &Value, name: &str, read: impl Fn(&Value) -> Option<T>) -> Option<Vec<T>> {
    object.get(name)?.as_array()?.iter().map(read).collect()
}

/// The operations of a patch.
pub fn operations(patch: &Value) -> Option<Vec<Operation>> {
    list(patch, "ops", |operation| Operation::read(operation).ok())
}
