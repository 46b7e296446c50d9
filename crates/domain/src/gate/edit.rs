//! What a reviewer may change: values, never the shape that the agent staged.

use crate::issue::Issue;
use serde_json::{Map, Value};

/// Whether an edit stays within what was staged: no key the agent did not stage, no value of another type. `null`
/// clears a value, and a staged `null` takes any plain value.
///
/// # Errors
/// Every offending path at once.
pub fn within(staged: &Map<String, Value>, edited: &Map<String, Value>) -> Result<(), Vec<Issue>> {
    let mut issues = Vec::new();
    objects("", staged, edited, &mut issues);
    if issues.is_empty() { Ok(()) } else { Err(issues) }
}

fn objects(path: &str, staged: &Map<String, Value>, edited: &Map<String, Value>, issues: &mut Vec<Issue>) {
    for (key, value) in edited {
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        match staged.get(key) {
            None => issues.push(Issue::new(path, "the agent did not stage this; only staged values can be edited")),
            Some(before) => values(&path, before, value, issues),
        }
    }
}

fn values(path: &str, staged: &Value, edited: &Value, issues: &mut Vec<Issue>) {
    match (staged, edited) {
        (_, Value::Null) => {}
        (Value::Null, Value::Object(_) | Value::Array(_)) => {
            issues.push(Issue::new(path, "a plain value: nothing was staged here"));
        }
        (Value::Null, _) => {}
        (Value::Object(staged), Value::Object(edited)) => objects(path, staged, edited, issues),
        (Value::Array(staged), Value::Array(edited)) => {
            // Records of a list keep their places; a list of plain values may grow and shrink.
            if staged.iter().any(Value::is_object) && staged.len() != edited.len() {
                issues.push(Issue::new(path, format!("{} items, as they were staged", staged.len())));
                return;
            }
            for (at, item) in edited.iter().enumerate() {
                match staged.get(at).or(staged.last()) {
                    Some(before) => values(&format!("{path}[{at}]"), before, item, issues),
                    None => issues.push(Issue::new(format!("{path}[{at}]"), "an empty list was staged")),
                }
            }
        }
        (before, after) if kind(before) == kind(after) => {}
        (before, _) => issues.push(Issue::new(path, kind(before))),
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// The staged value with the reviewer's values in place of the agent's. Keys that the edit leaves out stay.
pub fn merge(staged: &Map<String, Value>, edited: &Map<String, Value>) -> Map<String, Value> {
    let mut merged = staged.clone();
    for (key, value) in edited {
        let value = match (merged.get(key), value) {
            (Some(Value::Object(before)), Value::Object(after)) => Value::Object(merge(before, after)),
            (Some(Value::Array(before)), Value::Array(after)) => Value::Array(
                after
                    .iter()
                    .enumerate()
                    .map(|(at, item)| match (before.get(at), item) {
                        (Some(Value::Object(before)), Value::Object(after)) => Value::Object(merge(before, after)),
                        _ => item.clone(),
                    })
                    .collect(),
            ),
            _ => value.clone(),
        };
        merged.insert(key.clone(), value);
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn map(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn keys_and_types_that_were_not_staged_are_named() {
        let staged = map(json!({
            "stage": "Won", "amount": 3, "note": null, "tags": ["a"], "entities": [{"title": "x"}, {"title": "y"}], "deep": {"a": 1}
        }));
        let edited = map(json!({
            "stage": 1, "amount": "3", "note": {"x": 1}, "tags": ["a", "b", 3], "entities": [{"title": "x", "id": "z"}],
            "deep": {"a": 2, "b": 1}, "owner": "me"
        }));
        let issues = within(&staged, &edited).unwrap_err();
        let mut named: Vec<_> = issues.iter().map(|issue| issue.field.as_str()).collect();
        named.sort_unstable();
        assert_eq!(named, ["amount", "deep.b", "entities", "note", "owner", "stage", "tags[2]"]);
        let fine = map(json!({
            "stage": null, "note": "x", "tags": [], "entities": [{"title": "X"}, {}], "deep": {"a": 2}
        }));
        assert_eq!(within(&staged, &fine), Ok(()));
    }

    #[test]
    fn what_an_edit_leaves_out_stays() {
        let staged = map(json!({ "a": 1, "b": {"c": 1, "d": 2}, "e": [{"f": 1, "g": 2}] }));
        let edited = map(json!({ "b": {"d": 3}, "e": [{"g": 4}] }));
        assert_eq!(
            Value::from(merge(&staged, &edited)),
            json!({ "a": 1, "b": {"c": 1, "d": 3}, "e": [{"f": 1, "g": 4}] })
        );
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            "[a-c]{0,3}".prop_map(Value::from)
        ];
        leaf.prop_recursive(3, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map("[a-d]", inner, 0..4).prop_map(|m| Value::Object(m.into_iter().collect())),
            ]
        })
    }

    fn any_map() -> impl Strategy<Value = Map<String, Value>> {
        prop::collection::btree_map("[a-d]", any_json(), 0..4).prop_map(|m| m.into_iter().collect())
    }

    fn paths(value: &Value, at: &str, all: &mut Vec<String>) {
        match value {
            Value::Object(map) => map.iter().for_each(|(key, value)| {
                all.push(format!("{at}.{key}"));
                paths(value, &format!("{at}.{key}"), all);
            }),
            // One place for all items: a list of plain values may grow.
            Value::Array(items) => items.iter().for_each(|item| paths(item, &format!("{at}[]"), all)),
            _ => {}
        }
    }

    proptest! {
        #[test]
        fn an_accepted_edit_never_brings_a_path_that_was_not_staged(staged in any_map(), edited in any_map()) {
            if within(&staged, &edited).is_ok() {
                let (mut known, mut found) = (Vec::new(), Vec::new());
                paths(&Value::Object(staged.clone()), "", &mut known);
                paths(&Value::Object(merge(&staged, &edited)), "", &mut found);
                for path in found {
                    prop_assert!(known.contains(&path), "{path}");
                }
            }
        }

        #[test]
        fn what_was_staged_is_within_itself_and_merges_to_itself(staged in any_map()) {
            prop_assert_eq!(within(&staged, &staged), Ok(()));
            prop_assert_eq!(merge(&staged, &staged), staged);
        }
    }
}
