//! JSON with placeholders: a string that is exactly `{/pointer}` means the value at that JSON Pointer.

use crate::json_pointer::{escaped, unescaped};
use serde_json::{Map, Value};

/// The JSON Pointer of a string that is exactly `{/pointer}`.
pub(super) fn pointer(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('{')?.strip_suffix('}')?;
    inner.starts_with('/').then_some(inner)
}

/// Fills a template. `None` for a string that points to nothing: members of objects are left out then, and items of
/// arrays are `null`.
pub(super) fn fill(template: &Value, from: &Map<String, Value>) -> Option<Value> {
    match template {
        Value::String(text) => match pointer(text) {
            Some(pointer) => at(pointer, from),
            None => Some(template.clone()),
        },
        Value::Array(items) => Some(items.iter().map(|item| fill(item, from).unwrap_or_default()).collect()),
        Value::Object(members) => {
            let filled = members.iter().filter_map(|(name, item)| Some((name.clone(), fill(item, from)?)));
            Some(Value::Object(filled.collect()))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => Some(template.clone()),
    }
}

fn at(pointer: &str, from: &Map<String, Value>) -> Option<Value> {
    let (first, rest) = match pointer[1..].find('/') {
        Some(end) => (&pointer[1..=end], &pointer[end + 1..]),
        None => (&pointer[1..], ""),
    };
    from.get(&unescaped(first))?.pointer(rest).filter(|value| !value.is_null()).cloned()
}

/// A placeholder of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Placeholder<'a> {
    /// JSON Pointer of the place in the template.
    pub place: String,
    /// JSON Pointer of the value that it means.
    pub source: &'a str,
}

/// The placeholders of a template, in their order.
pub(super) fn placeholders(template: &Value) -> Vec<Placeholder<'_>> {
    let mut found = Vec::new();
    collect(template, &mut String::new(), &mut found);
    found
}

fn collect<'a>(template: &'a Value, place: &mut String, found: &mut Vec<Placeholder<'a>>) {
    let before = place.len();
    match template {
        Value::String(text) => {
            found.extend(pointer(text).map(|source| Placeholder { place: place.clone(), source }));
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                place.push_str(&format!("/{index}"));
                collect(item, place, found);
                place.truncate(before);
            }
        }
        Value::Object(members) => {
            for (name, item) in members {
                place.push_str(&format!("/{}", escaped(name)));
                collect(item, place, found);
                place.truncate(before);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_placeholders_of_a_template_have_their_places() {
        let template = json!({ "a/b": ["x", "{/input/c}"], "d": { "e": "{/steps/f}" }, "g": "a {/h}" });
        let found: Vec<_> = placeholders(&template).into_iter().map(|found| (found.place, found.source)).collect();
        assert_eq!(found, [("/a~1b/1".to_owned(), "/input/c"), ("/d/e".to_owned(), "/steps/f")]);
        let whole = json!("{/input}");
        assert_eq!(placeholders(&whole), [Placeholder { place: String::new(), source: "/input" }]);
    }
}
