//! What a JSON Schema lets be at a part of its values: whether a result of a tool can ever have something there. Only
//! what can never be is excluded. What this reading of a schema does not decide counts as possible.

use super::parts::Part;
use crate::{
    json_pointer::{escaped, unescaped},
    limit::TOOL_POINTER_CHARS_MAX,
};
use serde_json::{Map, Value};
use std::ops::{BitAnd, BitOr, Not};

/// Most schemas that are read for one question, because each reference can double their number.
const SCHEMAS_MAX: usize = 500;
/// Most levels of schemas inside of each other.
const DEPTH_MAX: usize = 64;
/// Deepest part that is offered.
const PARTS_DEPTH_MAX: usize = 4;
/// Most parts that are offered.
const PARTS_MAX: usize = 200;

/// A set of kinds of JSON values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kinds(u8);

impl Kinds {
    /// No value.
    pub const NONE: Self = Self(0);
    /// `null`.
    pub const NULL: Self = Self(1);
    /// `true` and `false`.
    pub const BOOLEAN: Self = Self(1 << 1);
    /// Whole numbers and others.
    pub const NUMBER: Self = Self(1 << 2);
    /// Texts, also those of a format.
    pub const STRING: Self = Self(1 << 3);
    /// Lists of items.
    pub const ARRAY: Self = Self(1 << 4);
    /// Named members.
    pub const OBJECT: Self = Self(1 << 5);
    /// Every value.
    pub const ALL: Self = Self((1 << 6) - 1);

    fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::NULL,
            Value::Bool(_) => Self::BOOLEAN,
            Value::Number(_) => Self::NUMBER,
            Value::String(_) => Self::STRING,
            Value::Array(_) => Self::ARRAY,
            Value::Object(_) => Self::OBJECT,
        }
    }

    /// The kind that the keyword `type` names. An unknown one is no limit.
    fn named(name: &Value) -> Self {
        match name.as_str() {
            Some("null") => Self::NULL,
            Some("boolean") => Self::BOOLEAN,
            Some("number" | "integer") => Self::NUMBER,
            Some("string") => Self::STRING,
            Some("array") => Self::ARRAY,
            Some("object") => Self::OBJECT,
            _ => Self::ALL,
        }
    }

    /// Whether there is no kind in the set.
    pub fn is_empty(self) -> bool {
        self == Self::NONE
    }

    fn has(self, other: Self) -> bool {
        !(self & other).is_empty()
    }

    /// The names of the kinds, as JSON Schema has them, such as `string or null`.
    pub fn words(self) -> String {
        let names = [
            (Self::NULL, "null"),
            (Self::BOOLEAN, "boolean"),
            (Self::NUMBER, "number"),
            (Self::STRING, "string"),
            (Self::ARRAY, "array"),
            (Self::OBJECT, "object"),
        ];
        let found: Vec<_> = names.into_iter().filter(|(kind, _)| self.has(*kind)).map(|(_, name)| name).collect();
        found.join(" or ")
    }
}

impl BitAnd for Kinds {
    type Output = Self;

    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl Not for Kinds {
    type Output = Self;

    fn not(self) -> Self {
        Self(!self.0 & Self::ALL.0)
    }
}

impl BitOr for Kinds {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// Returns which kinds of values there can be at a JSON Pointer of the values that a schema allows. Empty if there can
/// never be one.
pub fn kinds_at(schema: &Value, pointer: &str) -> Kinds {
    let path: Vec<_> = pointer.split('/').skip(1).map(unescaped).collect();
    Reader { root: schema, schemas: 0 }.kinds(schema, &path, 0)
}

struct Reader<'s> {
    root: &'s Value,
    schemas: usize,
}

impl Reader<'_> {
    fn kinds(&mut self, schema: &Value, path: &[String], depth: usize) -> Kinds {
        self.schemas += 1;
        let members = match schema {
            Value::Bool(false) => return Kinds::NONE,
            Value::Object(members) => members,
            _ => return Kinds::ALL,
        };
        // References below another `$id` are not in this document.
        if self.schemas > SCHEMAS_MAX || depth > DEPTH_MAX || (depth > 0 && members.contains_key("$id")) {
            return Kinds::ALL;
        }
        let mut found = self.own(members, path, depth);
        let root = self.root;
        let target = members.get("$ref").and_then(Value::as_str).and_then(|text| text.strip_prefix('#'));
        if let Some(target) = target.and_then(|path| root.pointer(path)) {
            found = found & self.kinds(target, path, depth + 1);
        }
        for part in list(members, "allOf") {
            found = found & self.kinds(part, path, depth + 1);
        }
        for name in ["anyOf", "oneOf"] {
            let variants = list(members, name);
            if !variants.is_empty() {
                let any = variants.iter().fold(Kinds::NONE, |any, one| any | self.kinds(one, path, depth + 1));
                found = found & any;
            }
        }
        found
    }

    /// What the keywords of one schema allow, without the schemas that it combines.
    fn own(&mut self, members: &Map<String, Value>, path: &[String], depth: usize) -> Kinds {
        let typed = match members.get("type") {
            Some(Value::Array(names)) => names.iter().fold(Kinds::NONE, |all, name| all | Kinds::named(name)),
            Some(name) => Kinds::named(name),
            None => Kinds::ALL,
        };
        let values = match (members.get("const"), members.get("enum")) {
            (Some(value), _) => Some(std::slice::from_ref(value)),
            (None, Some(Value::Array(values))) => Some(values.as_slice()),
            (None, _) => None,
        };
        if let Some(values) = values {
            let fitting = values.iter().filter(|value| typed.has(Kinds::of(value)));
            return fitting.filter_map(|value| part_of(value, path)).fold(Kinds::NONE, |all, at| all | Kinds::of(at));
        }
        let Some((first, rest)) = path.split_first() else { return typed };
        let mut found = Kinds::NONE;
        if typed.has(Kinds::OBJECT) {
            found = found | self.member(members, (first.as_str(), rest), depth);
        }
        if typed.has(Kinds::ARRAY)
            && let Some(index) = index_of(first)
        {
            found = found | self.item(members, (index, rest), depth);
        }
        found
    }

    fn member(&mut self, members: &Map<String, Value>, (name, rest): (&str, &[String]), depth: usize) -> Kinds {
        if let Some(schema) = members.get("properties").and_then(|properties| properties.get(name)) {
            return self.kinds(schema, rest, depth + 1);
        }
        if members.get("patternProperties").is_some_and(|patterns| *patterns != Value::Object(Map::new())) {
            return Kinds::ALL;
        }
        members.get("additionalProperties").map_or(Kinds::ALL, |schema| self.kinds(schema, rest, depth + 1))
    }

    fn item(&mut self, members: &Map<String, Value>, (index, rest): (usize, &[String]), depth: usize) -> Kinds {
        let most = members.get("maxItems").and_then(Value::as_u64);
        if most.is_some_and(|most| most <= index as u64) {
            return Kinds::NONE;
        }
        let schema = list(members, "prefixItems").get(index).or_else(|| members.get("items"));
        schema.map_or(Kinds::ALL, |schema| self.kinds(schema, rest, depth + 1))
    }
}

fn list<'m>(members: &'m Map<String, Value>, name: &str) -> &'m [Value] {
    members.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// The part of a value at a path.
fn part_of<'v>(value: &'v Value, path: &[String]) -> Option<&'v Value> {
    path.iter().try_fold(value, |value, name| match value {
        Value::Object(members) => members.get(name),
        Value::Array(items) => items.get(index_of(name)?),
        _ => None,
    })
}

/// The index that a part of a JSON Pointer is: digits without a leading zero.
fn index_of(part: &str) -> Option<usize> {
    let is_index = part == "0" || (!part.starts_with('0') && part.bytes().all(|byte| byte.is_ascii_digit()));
    if is_index { part.parse().ok() } else { None }
}

/// Returns the members that a schema names, the outermost first: at most 200, at most four levels deep. References are
/// followed. Members of schemas that it combines and those whose pointer is too long are left out.
pub fn named_parts(schema: &Value) -> Vec<Part> {
    let mut found = Vec::new();
    let mut level = vec![(String::new(), schema)];
    for _ in 0..PARTS_DEPTH_MAX {
        let mut below = Vec::new();
        for (at, of) in level {
            for (name, member) in
                target_of(schema, of).get("properties").and_then(Value::as_object).into_iter().flatten()
            {
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

fn target_of<'s>(root: &'s Value, schema: &'s Value) -> &'s Value {
    let path = schema.get("$ref").and_then(Value::as_str).and_then(|text| text.strip_prefix('#'));
    path.and_then(|path| root.pointer(path)).unwrap_or(schema)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn words(schema: &Value, pointer: &str) -> String {
        kinds_at(schema, pointer).words()
    }

    #[test]
    fn what_a_schema_excludes_is_never_there() {
        let of_body = json!({ "type": "object", "properties": {
            "status": { "type": "integer" },
            "body": { "type": "object", "additionalProperties": false, "properties": {
                "stage": { "enum": ["Won", null] }, "size": { "type": ["number", "string"] } } },
        } });
        for (pointer, expected) in [
            ("", "object"),
            ("/status", "number"),
            ("/status/0", ""),
            ("/body/stage", "null or string"),
            ("/body/size", "number or string"),
            ("/body/name", ""),
            ("/body/0", ""),
            ("/other/deep", "null or boolean or number or string or array or object"),
        ] {
            assert_eq!(words(&of_body, pointer), expected, "{pointer}");
        }
        assert_eq!(words(&json!(false), ""), "");
        assert_eq!(words(&json!({ "const": { "a": [true] } }), "/a/0"), "boolean");
        assert_eq!(words(&json!({ "const": { "a": [true] } }), "/a/1"), "");
        let lists = json!({ "type": "array", "prefixItems": [{ "type": "string" }], "items": false });
        assert_eq!(["/0", "/1", "/00"].map(|pointer| words(&lists, pointer)), ["string", "", ""]);
        assert_eq!(words(&json!({ "type": "array", "maxItems": 1 }), "/1"), "");
    }

    #[test]
    fn combined_schemas_and_references_are_read() {
        let schema = json!({
            "$defs": { "Text": { "type": "string" }, "Node": { "type": "object", "properties": {
                "next": { "$ref": "#/$defs/Node" }, "name": { "$ref": "#/$defs/Text" } },
                "additionalProperties": false } },
            "anyOf": [{ "$ref": "#/$defs/Node" }, { "type": "null" }],
        });
        for (pointer, expected) in
            [("", "null or object"), ("/next/next/name", "string"), ("/next/size", ""), ("/name/first", "")]
        {
            assert_eq!(words(&schema, pointer), expected, "{pointer}");
        }
        let both = json!({ "allOf": [{ "type": ["string", "number"] }, { "type": ["number", "null"] }] });
        assert_eq!(words(&both, ""), "number");
    }

    #[test]
    fn what_is_not_decided_is_possible() {
        for schema in [
            json!(true),
            json!({}),
            json!({ "$ref": "#/$defs/None" }),
            json!({ "not": {} }),
            json!({ "properties": { "a": { "$id": "other", "$ref": "#/x" } } }),
            json!({ "patternProperties": { "^a$": { "type": "string" } }, "additionalProperties": false }),
        ] {
            assert_eq!(kinds_at(&schema, "/a"), Kinds::ALL, "{schema}");
        }
        // Each level doubles the number of schemas, and a circle never ends.
        let level = |n: usize| json!({ "allOf": [{ "$ref": format!("#/$defs/{}", n + 1) }, { "$ref": format!("#/$defs/{}", n + 1) }] });
        let levels: Map<_, _> = (0..40).map(|n| (n.to_string(), level(n))).collect();
        assert_eq!(kinds_at(&json!({ "$defs": levels, "$ref": "#/$defs/0" }), "/a"), Kinds::ALL);
        assert_eq!(kinds_at(&json!({ "$ref": "#" }), "/a"), Kinds::ALL);
    }

    #[test]
    fn the_named_parts_of_a_schema_are_offered() {
        let schema = json!({ "$defs": { "Body": { "properties": { "a/b": {}, "size": {} } } }, "properties": {
            "body": { "$ref": "#/$defs/Body" }, "status": {} } });
        let found = named_parts(&schema);
        let pointers: Vec<_> = found.iter().map(|part| part.pointer.as_str()).collect();
        assert_eq!(pointers, ["/body", "/status", "/body/a~1b", "/body/size"]);
        assert!(named_parts(&json!(true)).is_empty());
        let circle = json!({ "properties": { "next": { "$ref": "#" } } });
        assert_eq!(named_parts(&circle).len(), PARTS_DEPTH_MAX);
        let wide: Map<_, _> = (0..1_000).map(|n| (format!("m{n}"), json!({}))).collect();
        assert_eq!(named_parts(&json!({ "properties": wide })).len(), PARTS_MAX);
    }
}
