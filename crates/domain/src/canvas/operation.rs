//! Patches: the closed set of operations that a canvas takes.

use super::path::{Path, check_key};
use crate::limit::{CANVAS_DEPTH_MAX, CANVAS_OPS_MAX, CANVAS_ORDER_BYTES_MAX, CANVAS_PATCH_BYTES_MAX, KEY_CHARS_MAX};
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};
use serde_json::{Map, Value};
use std::fmt;

/// A change of one value, or a test of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "op", rename_all = "lowercase")]
pub enum Operation {
    /// Adds a member that must not exist yet, or inserts into an array.
    Add {
        /// Place of the new value.
        path: Path,
        /// The new value.
        value: Value,
    },
    /// Replaces a value that must exist.
    Replace {
        /// Place of the value.
        path: Path,
        /// The new value.
        value: Value,
    },
    /// Removes a value that must exist.
    Remove {
        /// Place of the value.
        path: Path,
    },
    /// Compares a value. If it differs, the whole patch is rejected.
    Test {
        /// Place of the value.
        path: Path,
        /// The expected value.
        value: Value,
    },
}

/// A change of a canvas, as its author asks for it.
#[derive(Debug, Clone, PartialEq)]
pub struct Patch {
    /// Made by the author, unique in the canvas. A patch that is sent again under the same id changes nothing.
    pub op_id: String,
    /// Version that the author saw.
    pub base: u64,
    /// The operations, in order.
    pub ops: Vec<Operation>,
    /// Whether the patch is rejected unless `base` is the newest version.
    pub is_strict: bool,
}

/// A patch that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invalid {
    /// Field of the patch, such as `ops[2].path`.
    pub field: String,
    /// The reason, as a sentence.
    pub reason: String,
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.reason)
    }
}

impl Operation {
    /// Reads an operation.
    ///
    /// # Errors
    /// The member and the reason, if the operation is none of the closed set, lacks a member, has an unknown one, or
    /// has a value that no canvas may hold.
    pub fn read(operation: &Value) -> Result<Self, (&'static str, String)> {
        let members = operation.as_object().ok_or(("", "an operation is an object".to_owned()))?;
        let name = members.get("op").and_then(Value::as_str).unwrap_or_default();
        if !matches!(name, "add" | "replace" | "remove" | "test") {
            return Err(("op", "add, replace, remove or test; a canvas takes no other operations".into()));
        }
        if let Some(other) = members.keys().find(|key| !matches!(key.as_str(), "op" | "path" | "value")) {
            return Err(("", format!("unknown member: {}", other.chars().take(40).collect::<String>())));
        }
        let text = members.get("path").and_then(Value::as_str).ok_or(("path", "a JSON Pointer".to_owned()))?;
        let path = Path::parse(text).map_err(|reason| ("path", format!("the path {reason}")))?;
        if name == "remove" {
            return match members.contains_key("value") {
                true => Err(("value", "remove has no value".into())),
                false => Ok(Self::Remove { path }),
            };
        }
        let value = value(members)?;
        if let Some(key) = path.keys().last() {
            check_order(key, &value).map_err(|reason| ("value", format!("the value {reason}")))?;
        }
        Ok(match name {
            "add" => Self::Add { path, value },
            "replace" => Self::Replace { path, value },
            _ => Self::Test { path, value },
        })
    }

    /// Place of the value that the operation is about.
    pub const fn path(&self) -> &Path {
        match self {
            Self::Add { path, .. } | Self::Replace { path, .. } | Self::Remove { path } | Self::Test { path, .. } => {
                path
            }
        }
    }

    /// Whether the operation changes the document.
    pub const fn writes(&self) -> bool {
        !matches!(self, Self::Test { .. })
    }
}

impl<'de> Deserialize<'de> for Operation {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::read(&Value::deserialize(deserializer)?).map_err(|(_, reason)| D::Error::custom(reason))
    }
}

/// Member that holds the place of an item in its list.
const ORDER: &str = "order";

fn value(members: &Map<String, Value>) -> Result<Value, (&'static str, String)> {
    let value = members.get("value").ok_or(("value", "this operation needs a value".to_owned()))?;
    check_value(value, CANVAS_DEPTH_MAX).map_err(|reason| ("value", format!("the value {reason}")))?;
    Ok(value.clone())
}

/// Checks keys and depth.
fn check_value(value: &Value, depth_max: usize) -> Result<(), &'static str> {
    let inner = || depth_max.checked_sub(1).ok_or("is deeper than a canvas can be");
    match value {
        Value::Object(members) => {
            let inner = inner()?;
            members.iter().try_for_each(|(key, value)| {
                check_key(key)?;
                check_order(key, value)?;
                check_value(value, inner)
            })
        }
        Value::Array(items) => {
            let inner = inner()?;
            items.iter().try_for_each(|item| check_value(item, inner))
        }
        _ => Ok(()),
    }
}

/// Order keys grow with each item that is inserted at the same place.
fn check_order(key: &str, value: &Value) -> Result<(), &'static str> {
    let is_long = key == ORDER && value.as_str().is_some_and(|order| order.len() > CANVAS_ORDER_BYTES_MAX);
    if is_long { Err("has an order key that is longer than 64 bytes; give the items new keys") } else { Ok(()) }
}

impl Patch {
    /// Reads the operations of a patch.
    ///
    /// # Errors
    /// [`Invalid`] with the first field that is wrong.
    pub fn read_ops(ops: &[Value]) -> Result<Vec<Operation>, Invalid> {
        if ops.len() > 2 * CANVAS_OPS_MAX {
            return Err(too_many());
        }
        let read = |(at, operation)| {
            Operation::read(operation).map_err(|(member, reason)| {
                let dot = if member.is_empty() { "" } else { "." };
                Invalid { field: format!("ops[{at}]{dot}{member}"), reason }
            })
        };
        ops.iter().enumerate().map(read).collect()
    }

    /// Checks the size of the patch.
    ///
    /// # Errors
    /// [`Invalid`] with the first field that is wrong.
    pub fn check(&self) -> Result<(), Invalid> {
        let id = &self.op_id;
        if id.is_empty() || id.chars().count() > KEY_CHARS_MAX || id.chars().any(char::is_control) {
            let reason = format!("1 to {KEY_CHARS_MAX} characters, without control characters");
            return Err(Invalid { field: "opId".into(), reason });
        }
        let writing = self.ops.iter().filter(|op| op.writes()).count();
        if writing == 0 {
            return Err(Invalid {
                field: "ops".into(),
                reason: "at least one operation that changes something".into(),
            });
        }
        if writing > CANVAS_OPS_MAX || self.ops.len() - writing > CANVAS_OPS_MAX {
            return Err(too_many());
        }
        if self.size() > CANVAS_PATCH_BYTES_MAX {
            let reason = format!("at most {CANVAS_PATCH_BYTES_MAX} bytes; send the change in smaller patches");
            return Err(Invalid { field: "ops".into(), reason });
        }
        Ok(())
    }

    /// Bytes of the operations as JSON.
    pub fn size(&self) -> usize {
        size(&self.ops)
    }
}

/// Bytes of a value as JSON.
pub(super) fn size(value: &impl Serialize) -> usize {
    // Serialisation fails only for maps whose keys are no text.
    serde_json::to_string(value).map_or(usize::MAX, |text| text.len())
}

fn too_many() -> Invalid {
    let reason = format!("at most {CANVAS_OPS_MAX} operations that write and as many tests");
    Invalid { field: "ops".into(), reason }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_operation_is_read_and_written_without_a_difference() {
        for operation in [
            json!({"op": "add", "path": "/a", "value": {"b": [1, null]}}),
            json!({"op": "replace", "path": "", "value": {}}),
            json!({"op": "remove", "path": "/a~1b"}),
            json!({"op": "test", "path": "/a", "value": null}),
        ] {
            assert_eq!(json!(Operation::read(&operation).unwrap()), operation);
        }
    }

    #[test]
    fn everything_outside_of_the_closed_set_is_refused_with_its_member() {
        for (operation, member) in [
            (json!({"op": "move", "from": "/a/b", "path": "/a"}), "op"),
            (json!({"op": "copy", "from": "/a", "path": "/b"}), "op"),
            (json!({"op": "Add", "path": "/a", "value": 1}), "op"),
            (json!({"path": "/a", "value": 1}), "op"),
            (json!([]), ""),
            (json!({"op": "add", "path": "/a", "value": 1, "from": "/b"}), ""),
            (json!({"op": "add", "path": 1, "value": 1}), "path"),
            (json!({"op": "add", "path": "/__proto__/x", "value": 1}), "path"),
            (json!({"op": "add", "path": "/a"}), "value"),
            (json!({"op": "remove", "path": "/a", "value": 1}), "value"),
            (json!({"op": "test", "path": "/a", "value": {"b": [{"constructor": 1}]}}), "value"),
        ] {
            assert_eq!(Operation::read(&operation).unwrap_err().0, member, "{operation}");
        }
    }

    #[test]
    fn a_patch_is_bounded() {
        let remove = Operation::Remove { path: Path::parse("/a").unwrap() };
        let test = Operation::Test { path: Path::parse("/a").unwrap(), value: json!(1) };
        let patch = |op_id: &str, ops: Vec<Operation>| Patch { op_id: op_id.into(), base: 1, ops, is_strict: false };
        let field = |patch: Patch| patch.check().unwrap_err().field;
        assert_eq!(field(patch("", vec![remove.clone()])), "opId");
        assert_eq!(field(patch("a\n", vec![remove.clone()])), "opId");
        assert_eq!(field(patch("a", vec![])), "ops");
        assert_eq!(field(patch("a", vec![test.clone()])), "ops");
        assert_eq!(field(patch("a", vec![remove.clone(); CANVAS_OPS_MAX + 1])), "ops");
        let most = [vec![remove; CANVAS_OPS_MAX], vec![test; CANVAS_OPS_MAX]].concat();
        patch("a", most).check().unwrap();
        let big = Operation::Add { path: Path::parse("/a").unwrap(), value: json!("x".repeat(CANVAS_PATCH_BYTES_MAX)) };
        assert_eq!(field(patch("a", vec![big])), "ops");
        assert_eq!(Patch::read_ops(&vec![json!({}); 1_000]).unwrap_err().field, "ops");
        assert_eq!(Patch::read_ops(&[json!({"op": "move"})]).unwrap_err().field, "ops[0].op");
    }
}
