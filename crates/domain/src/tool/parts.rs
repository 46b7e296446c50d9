//! The parts of a result that are offered for the fields of an entity.

use crate::{json_pointer::escaped, limit::TOOL_POINTER_CHARS_MAX};
use serde_json::Value;

/// Deepest part that is offered.
const DEPTH_MAX: usize = 4;
/// Most parts that are offered.
const PARTS_MAX: usize = 200;

/// A member of an object in a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// JSON Pointer into the result.
    pub pointer: String,
    /// Name of the member.
    pub name: String,
}

/// Returns the members of the objects in a result, the outermost first: at most 200, at most four levels deep. Items of
/// lists and members whose pointer is too long are left out.
pub fn parts(result: &Value) -> Vec<Part> {
    let mut found = Vec::new();
    let mut level = vec![(String::new(), result)];
    for _ in 0..DEPTH_MAX {
        let mut below = Vec::new();
        for (at, value) in level {
            for (name, member) in value.as_object().into_iter().flatten() {
                let pointer = format!("{at}/{}", escaped(name));
                if pointer.chars().count() > TOOL_POINTER_CHARS_MAX {
                    continue;
                }
                if found.len() == PARTS_MAX {
                    return found;
                }
                found.push(Part { pointer: pointer.clone(), name: name.clone() });
                below.push((pointer, member));
            }
        }
        level = below;
    }
    found
}

/// Returns the pointer of the first part that has one of these names. Case and all characters but letters and digits do
/// not count.
pub fn pointer_named<'a>(parts: &'a [Part], names: &[&str]) -> Option<&'a str> {
    names.iter().find_map(|name| {
        let wanted = plain(name);
        let part = parts.iter().find(|part| !wanted.is_empty() && plain(&part.name) == wanted)?;
        Some(part.pointer.as_str())
    })
}

fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn parts_are_named_by_the_members_of_objects_from_the_outside_in() {
        let result = json!({ "body": { "Stage": "Won", "a/b": { "c~": 1 } }, "list": [{ "stage": 1 }], "stage": 2 });
        let found = parts(&result);
        let pointers: Vec<_> = found.iter().map(|part| part.pointer.as_str()).collect();
        assert_eq!(pointers, ["/body", "/list", "/stage", "/body/Stage", "/body/a~1b", "/body/a~1b/c~0"]);
        for part in &found {
            assert!(result.pointer(&part.pointer).is_some(), "{}", part.pointer);
        }
        assert_eq!(pointer_named(&found, &["stage"]), Some("/stage"));
        assert_eq!(pointer_named(&found[3..], &["STAGE"]), Some("/body/Stage"));
        assert_eq!(pointer_named(&found, &["size", "a-B"]), Some("/body/a~1b"));
        assert_eq!((pointer_named(&found, &["size", "-"]), parts(&json!("a"))), (None, Vec::new()));
    }

    #[test]
    fn the_parts_of_a_large_result_are_limited() {
        let wide: serde_json::Map<_, _> = (0..1_000).map(|n| (format!("m{n}"), json!({ "a": 1 }))).collect();
        assert_eq!(parts(&Value::Object(wide)).len(), PARTS_MAX);
        let deep = (0..50).fold(json!(1), |inner, _| json!({ "a": inner }));
        assert_eq!(parts(&deep).len(), DEPTH_MAX);
        assert!(parts(&json!({ "x".repeat(TOOL_POINTER_CHARS_MAX): 1 })).is_empty());
    }
}
