//! How many steps the check of a value against a JSON Schema takes.
//!
//! A check applies each schema on its way as often as it is referred to. Two references to a schema that has two
//! references itself are four checks, so a small schema can take longer than anyone waits, and one that refers to
//! itself twice takes twice as many steps for each level of the value. The steps are counted here before the check,
//! from above: each branch counts, also one that a check would leave out.

use serde_json::{Map, Value};

/// Keywords with a list of schemas for the same value.
const LISTS: [&str; 3] = ["allOf", "anyOf", "oneOf"];
/// Keywords with a schema for the same value.
const SINGLE: [&str; 4] = ["not", "if", "then", "else"];
/// Keywords with schemas by name for the same value.
const BY_NAME: [&str; 2] = ["dependentSchemas", "dependencies"];
/// Keywords that refer to schemas.
const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];
/// Keywords for which the schemas for the same value are applied again for each of its parts.
const UNEVALUATED: [&str; 2] = ["unevaluatedProperties", "unevaluatedItems"];
/// Keywords with a schema for each value of an object.
const OF_VALUES: [&str; 2] = ["additionalProperties", "unevaluatedProperties"];
/// Keywords with a schema for each item of a list.
const OF_ITEMS: [&str; 4] = ["items", "contains", "unevaluatedItems", "additionalItems"];
/// Values of an `enum` that are compared in one step.
const ENUM_VALUES: usize = 16;
/// Takes the place of the name of a member, which `propertyNames` has a schema for.
static NAME: Value = Value::Null;

/// Whether the check of a value against a schema takes at most `steps_max` steps.
pub fn is_check_within(schema: &Value, value: &Value, steps_max: usize) -> bool {
    let mut walk = Walk { root: schema, bases: Vec::new(), named: Vec::new(), open: Vec::new(), left: steps_max };
    walk.find_names(schema);
    walk.run(schema, value).is_some()
}

struct Walk<'a> {
    root: &'a Value,
    /// Parts of the schema with an address of their own.
    bases: Vec<&'a Value>,
    /// Parts of the schema with a name for references.
    named: Vec<(&'a str, &'a Value)>,
    /// Schemas that are still to be applied to values.
    open: Vec<(&'a Value, &'a Value)>,
    left: usize,
}

impl<'a> Walk<'a> {
    /// Finds the parts of the schema that references can name in another way than by their place.
    fn find_names(&mut self, root: &'a Value) {
        let mut open = vec![root];
        while let Some(part) = open.pop() {
            match part {
                Value::Object(members) => {
                    let text = |name: &str| members.get(name).and_then(Value::as_str);
                    if text("$id").is_some() {
                        self.bases.push(part);
                    }
                    let names = ["$anchor", "$dynamicAnchor"].into_iter().filter_map(text);
                    self.named.extend(names.map(|name| (name, part)));
                    open.extend(members.values());
                }
                Value::Array(items) => open.extend(items),
                _ => {}
            }
        }
    }

    /// Takes all steps. `None` if there are too many.
    fn run(&mut self, schema: &'a Value, value: &'a Value) -> Option<()> {
        self.push(schema, value)?;
        while let Some((schema, value)) = self.open.pop() {
            let Value::Object(members) = schema else { continue };
            self.compare(members)?;
            let is_again = UNEVALUATED.iter().any(|name| members.contains_key(*name));
            let times = if is_again { parts_of(value).saturating_add(1) } else { 1 };
            for _ in 0..times {
                self.of_same_value(members, value)?;
            }
            match value {
                Value::Object(fields) => self.of_fields(members, fields)?,
                Value::Array(items) => self.of_items(members, items)?,
                _ => {}
            }
        }
        Some(())
    }

    fn push(&mut self, schema: &'a Value, value: &'a Value) -> Option<()> {
        self.left = self.left.checked_sub(1)?;
        self.open.push((schema, value));
        Some(())
    }

    fn compare(&mut self, members: &Map<String, Value>) -> Option<()> {
        let values = members.get("enum").and_then(Value::as_array).map_or(0, Vec::len);
        self.left = self.left.checked_sub(values / ENUM_VALUES)?;
        Some(())
    }

    fn of_same_value(&mut self, members: &'a Map<String, Value>, value: &'a Value) -> Option<()> {
        for schema in LISTS.iter().filter_map(|name| members.get(*name)?.as_array()).flatten() {
            self.push(schema, value)?;
        }
        for schema in SINGLE.iter().filter_map(|name| members.get(*name)) {
            self.push(schema, value)?;
        }
        for schema in BY_NAME.iter().filter_map(|name| members.get(*name)?.as_object()).flat_map(Map::values) {
            self.push(schema, value)?;
        }
        for target in REFERENCES.iter().filter_map(|name| members.get(*name)?.as_str()) {
            for schema in self.targets(target) {
                self.push(schema, value)?;
            }
        }
        Some(())
    }

    fn of_fields(&mut self, members: &'a Map<String, Value>, fields: &'a Map<String, Value>) -> Option<()> {
        let by_name = members.get("properties").and_then(Value::as_object);
        let by_pattern = members.get("patternProperties").and_then(Value::as_object);
        for (name, value) in fields {
            // A pattern may fit each name.
            let schemas = by_name.and_then(|schemas| schemas.get(name)).into_iter();
            let schemas = schemas.chain(by_pattern.into_iter().flat_map(Map::values));
            for schema in schemas.chain(OF_VALUES.iter().filter_map(|name| members.get(*name))) {
                self.push(schema, value)?;
            }
            if let Some(schema) = members.get("propertyNames") {
                self.push(schema, &NAME)?;
            }
        }
        Some(())
    }

    fn of_items(&mut self, members: &'a Map<String, Value>, items: &'a [Value]) -> Option<()> {
        // Older dialects have a list under `items`.
        let by_place = ["prefixItems", "items"].map(|name| members.get(name).and_then(Value::as_array));
        for (index, value) in items.iter().enumerate() {
            let placed = by_place.iter().flatten().filter_map(|schemas| schemas.get(index));
            for schema in placed.chain(OF_ITEMS.iter().filter_map(|name| members.get(*name))) {
                self.push(schema, value)?;
            }
        }
        Some(())
    }

    /// The schemas that a reference can mean. Parts with addresses of their own are not distinguished: each that has
    /// the named part counts.
    fn targets(&self, reference: &str) -> Vec<&'a Value> {
        let (address, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        if !fragment.is_empty() && !fragment.starts_with('/') {
            return self.named.iter().filter(|(name, _)| *name == fragment).map(|(_, part)| *part).collect();
        }
        let pointer = percent_decoded(fragment);
        // Without an address the reference is about the nearest part that has one.
        let of_root = address.is_empty().then_some(self.root);
        let mut found: Vec<&'a Value> = Vec::new();
        for target in of_root.iter().chain(&self.bases).filter_map(|base| base.pointer(&pointer)) {
            if !found.iter().any(|known| std::ptr::eq(*known, target)) {
                found.push(target);
            }
        }
        found
    }
}

/// Number of members or items of a value.
fn parts_of(value: &Value) -> usize {
    match value {
        Value::Object(fields) => fields.len(),
        Value::Array(items) => items.len(),
        _ => 0,
    }
}

/// A text with each `%` and two hexadecimal digits replaced by their byte.
fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let code = after.get(..2).filter(|_| first == b'%').and_then(|digits| std::str::from_utf8(digits).ok());
        match code.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn is_within(schema: &Value, value: &Value) -> bool {
        is_check_within(schema, value, 10_000)
    }

    /// Definitions of which each checks a value twice by the next one.
    fn doubling(levels: usize, next: impl Fn(usize) -> Value) -> Value {
        let mut defs: Map<String, Value> =
            (0..levels).map(|at| (at.to_string(), json!({ "allOf": [next(at + 1), next(at + 1)] }))).collect();
        defs.insert(levels.to_string(), json!({ "type": "string" }));
        json!({ "$ref": "#/$defs/0", "$defs": defs })
    }

    #[test]
    fn references_that_double_are_found_however_they_are_written() {
        let place = |at: usize| json!({ "$ref": format!("#/$defs/{at}") });
        assert!(is_within(&doubling(8, place), &json!("x")));
        assert!(!is_within(&doubling(30, place), &json!("x")));
        assert!(!is_within(&doubling(30, |at| json!({ "$ref": format!("#/%24defs/{at}") })), &json!("x")));
        let mut anchored = doubling(30, |at| json!({ "$ref": format!("#n{at}") }));
        let mut addressed = doubling(30, |at| json!({ "$ref": format!("https://example.org/{at}") }));
        for at in 0..=30 {
            anchored["$defs"][at.to_string()]["$anchor"] = format!("n{at}").into();
            addressed["$defs"][at.to_string()]["$id"] = format!("https://example.org/{at}").into();
        }
        assert!(!is_within(&anchored, &json!("x")));
        assert!(!is_within(&addressed, &json!("x")));
        assert!(!is_within(&json!({ "$ref": "#" }), &json!("x")));
    }

    #[test]
    fn a_schema_that_refers_to_itself_is_checked_as_deep_as_the_value_is() {
        let tree = json!({ "properties": { "next": { "$ref": "#" }, "list": { "items": { "$ref": "#" } } } });
        let deep = (0..50).fold(json!({}), |inner, _| json!({ "next": inner, "list": [{}, {}] }));
        assert!(is_within(&tree, &deep));
        // Twice at each level is too often, unless the value is flat.
        let next = json!({ "properties": { "next": { "$ref": "#" } } });
        let twice = json!({ "allOf": [next, next] });
        assert!(is_within(&twice, &json!({ "next": {} })));
        assert!(!is_within(&twice, &deep));
    }

    #[test]
    fn large_values_and_lists_count() {
        let schema = json!({ "items": { "properties": { "kind": { "enum": (0..160).collect::<Vec<_>>() } } } });
        let rows = |count: usize| Value::Array(vec![json!({ "kind": 1 }); count]);
        assert!(is_within(&schema, &rows(100)));
        assert!(!is_within(&schema, &rows(1_000)));
        let some = json!({ "allOf": vec![json!({ "properties": {} }); 20], "unevaluatedProperties": false });
        let fields = |count: usize| Value::Object((0..count).map(|at| (at.to_string(), json!(1))).collect());
        assert!(is_within(&some, &fields(10)));
        assert!(!is_within(&some, &fields(1_000)));
    }
}
