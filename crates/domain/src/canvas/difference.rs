//! The operations that turn one document into another. Restoring an earlier version is a patch of them.

use super::{document::Document, operation::Operation, path::Path};
use crate::limit::{CANVAS_DEPTH_MAX, CANVAS_OPS_MAX};
use serde_json::Value;

/// Levels at which members are compared, from the finest to the coarsest. Below the level a value is replaced as a
/// whole: members of blocks, blocks, and the members of the document.
const LEVELS: [usize; 4] = [CANVAS_DEPTH_MAX, 3, 2, 1];

/// The operations that turn `from` into `to`: at most [`CANVAS_OPS_MAX`], as fine as that allows, so that a patch of
/// them conflicts with as few changes of others as possible. Empty if the documents are the same. If they differ in
/// more members of their own than that, the whole document is replaced.
pub fn operations(from: &Document, to: &Document) -> Vec<Operation> {
    for level in LEVELS {
        let mut ops = Vec::new();
        compare(&Path::default(), (from.value(), to.value()), level, &mut ops);
        if ops.len() <= CANVAS_OPS_MAX {
            return ops;
        }
    }
    vec![Operation::Replace { path: Path::default(), value: to.value().clone() }]
}

fn compare(path: &Path, (from, to): (&Value, &Value), level: usize, ops: &mut Vec<Operation>) {
    if from == to {
        return;
    }
    let (Value::Object(old), Value::Object(new)) = (from, to) else {
        ops.push(Operation::Replace { path: path.clone(), value: to.clone() });
        return;
    };
    if level == 0 {
        ops.push(Operation::Replace { path: path.clone(), value: to.clone() });
        return;
    }
    for key in old.keys().filter(|key| !new.contains_key(*key)) {
        ops.push(Operation::Remove { path: path.child(key) });
    }
    for (key, value) in new {
        match old.get(key) {
            Some(before) => compare(&path.child(key), (before, value), level - 1, ops),
            None => ops.push(Operation::Add { path: path.child(key), value: value.clone() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn document(value: &Value) -> Document {
        Document::read(&value.to_string()).unwrap()
    }

    /// The operations, which must lead to the second document.
    fn between(from: &Value, to: &Value) -> Vec<String> {
        let (from, to) = (document(from), document(to));
        let ops = operations(&from, &to);
        assert_eq!(from.apply(&ops).unwrap().document, to);
        ops.iter().map(|operation| json!(operation).to_string()).collect()
    }

    #[test]
    fn only_what_differs_is_changed() {
        let from = json!({ "a": 1, "blocks": { "x": { "text": "old", "order": "a0" }, "y": {} }, "list": [1, 2] });
        let to = json!({ "b": 2, "blocks": { "x": { "text": "new", "order": "a0" }, "z": {} }, "list": [1] });
        let expected = [
            json!({ "op": "remove", "path": "/a" }),
            json!({ "op": "add", "path": "/b", "value": 2 }),
            json!({ "op": "remove", "path": "/blocks/y" }),
            json!({ "op": "replace", "path": "/blocks/x/text", "value": "new" }),
            json!({ "op": "add", "path": "/blocks/z", "value": {} }),
            json!({ "op": "replace", "path": "/list", "value": [1] }),
        ];
        let mut found = between(&from, &to);
        let mut expected: Vec<_> = expected.iter().map(|operation| json!(operation).to_string()).collect();
        found.sort();
        expected.sort();
        assert_eq!(found, expected);
        assert_eq!(between(&from, &from), Vec::<String>::new());
        assert_eq!(between(&json!({ "a": {} }), &json!({ "a": [] })).len(), 1, "another type of value");
    }

    #[test]
    fn many_differences_are_made_by_few_operations() {
        let blocks = |blocks: usize, text: &str| {
            let one = |n: usize| (format!("b{n}"), json!({ "text": text, "heading": text, "order": "a0" }));
            json!({ "blocks": (0..blocks).map(one).collect::<serde_json::Map<_, _>>() })
        };
        assert_eq!(between(&blocks(32, "a"), &blocks(32, "b")).len(), 64, "each member");
        assert_eq!(between(&blocks(40, "a"), &blocks(40, "b")).len(), 40, "each block");
        assert_eq!(between(&blocks(65, "a"), &blocks(65, "b")).len(), 1, "the map of blocks");
        let members = |value: u32| (0..65).map(|n| (n.to_string(), json!(value))).collect::<serde_json::Map<_, _>>();
        let whole = between(&json!(members(1)), &json!(members(2)));
        assert!(whole.len() == 1 && whole[0].contains(r#""path":"""#), "{whole:?}");
    }
}
