//! Values of a record, shortened for a sentence, and the names that replace ids in them.

use crate::text::{
    number::{counted, display_text},
    shorten::one_line,
};
use serde_json::Value;
use std::collections::HashMap;

/// Longest value in a sentence, characters.
const VALUE_CHARS_MAX: usize = 40;

/// Names by id: of records, of people by `user:ID`, and of fields of records by `field:SLUG`.
pub type Titles = HashMap<String, String>;

/// A value shortened for a sentence; the id of a record is shown as its title.
pub fn named(value: &Value, titles: &Titles) -> String {
    let title = value.as_str().and_then(|id| titles.get(id));
    title.map_or_else(|| short(value), |title| one_line(title, VALUE_CHARS_MAX))
}

/// A value shortened for a sentence; an empty one is `nothing`.
fn short(value: &Value) -> String {
    match value {
        Value::Null => "nothing".to_owned(),
        Value::String(text) if text.trim().is_empty() => "nothing".to_owned(),
        Value::Array(items) => counted(items.len() as u64, "item"),
        Value::Object(map) => counted(map.len() as u64, "value"),
        plain => one_line(&display_text(plain), VALUE_CHARS_MAX),
    }
}
