//! Values of documents, made without `json!` and `collect`: browsers load this code, and there each use of those is a
//! serializer or a sort of its own.

use serde_json::{Map, Value};

/// An object with these members.
pub(super) fn object(members: Vec<(&str, Value)>) -> Value {
    Value::Object(map(members.into_iter().map(|(key, value)| (key.to_owned(), value))))
}

/// A map with these members. Of two with one key, it has the last.
pub(super) fn map(members: impl Iterator<Item = (String, Value)>) -> Map<String, Value> {
    let mut map = Map::new();
    for (key, value) in members {
        map.insert(key, value);
    }
    map
}

/// Sets a member of an object. Other values stay as they are.
pub(super) fn set(object: &mut Value, key: &str, value: Value) {
    if let Value::Object(members) = object {
        members.insert(key.to_owned(), value);
    }
}
