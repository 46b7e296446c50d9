//! Adds entries to a JSON file of a host, as a text, or removes them. All other text stays as it is.

use crate::cli::hook::settings::parse;
use jsonc_parser::cst::{CstInputValue, CstNode, CstObject, CstObjectProp};
use serde_json::Value;
use std::path::Path;

/// Name of the entries that Shiftbook writes.
pub const NAME: &str = "shiftbook";

/// Sets the entry [`NAME`] of the object `parent`, or removes it if `wanted` is `None`. `is_ours` is true for an entry
/// that Shiftbook wrote.
///
/// # Errors
/// If the text is no JSON object, or if an entry of someone else would be replaced.
pub fn entry(
    text: &str,
    parent: &[&str],
    wanted: Option<&Value>,
    is_ours: impl Fn(&Value) -> bool,
) -> Result<String, String> {
    let root = parse(text)?;
    let place = parent.join(".");
    let present = find(root.object_value(), parent).and_then(|object| object.get(NAME));
    let value = present.as_ref().and_then(CstObjectProp::value).and_then(|node| value(&node));
    let is_ours = value.as_ref().is_some_and(is_ours);
    match (present, wanted) {
        (None, None) => return Ok(text.to_owned()),
        (Some(_), None) if !is_ours => return Ok(text.to_owned()),
        (Some(_), Some(wanted)) if value.as_ref() == Some(wanted) => return Ok(text.to_owned()),
        (Some(_), Some(_)) if !is_ours => {
            return Err(format!("`{place}.{NAME}` is not of Shiftbook; nothing was changed"));
        }
        (Some(present), Some(wanted)) => present.set_value(input(wanted)),
        (Some(present), None) => {
            present.remove();
            remove_empty(root.object_value(), parent);
        }
        (None, Some(wanted)) => {
            let mut object = root.object_value();
            for name in parent {
                object = object.and_then(|object| object.object_value_or_create(name));
            }
            let object = object.ok_or_else(|| format!("`{place}` is not an object; nothing was changed"))?;
            object.append(NAME, input(wanted));
        }
    }
    Ok(root.to_string())
}

/// Adds a text to the list `parent.list`, or removes it.
///
/// # Errors
/// If the text is no JSON object, or has another value there.
pub fn listed(text: &str, (parent, list): (&str, &str), item: &str, is_wanted: bool) -> Result<String, String> {
    let root = parse(text)?;
    let found = find(root.object_value(), &[parent]).and_then(|object| object.array_value(list));
    let items = found.as_ref().map(|found| found.elements()).unwrap_or_default();
    let present = items.into_iter().find(|node| value(node).is_some_and(|value| value == item));
    match (present, is_wanted) {
        (Some(_), true) | (None, false) => return Ok(text.to_owned()),
        (Some(present), false) => {
            present.remove();
            if found.is_some_and(|found| found.elements().is_empty()) {
                let object = find(root.object_value(), &[parent]);
                object.and_then(|object| object.get(list)).into_iter().for_each(CstObjectProp::remove);
                remove_empty(root.object_value(), &[parent]);
            }
        }
        (None, true) => {
            let object = root.object_value().and_then(|object| object.object_value_or_create(parent));
            let array = object.and_then(|object| object.array_value_or_create(list));
            let array = array.ok_or_else(|| format!("`{parent}.{list}` is not a list; nothing was changed"))?;
            array.append(CstInputValue::String(item.to_owned()));
        }
    }
    Ok(root.to_string())
}

/// Whether an entry starts Shiftbook's MCP server, whatever the path of the program is.
pub fn is_mcp(entry: &Value) -> bool {
    let program = entry["command"].as_str().and_then(|command| Path::new(command).file_name());
    program.is_some_and(|program| program == NAME) && entry["args"] == serde_json::json!(["mcp"])
}

fn find(root: Option<CstObject>, path: &[&str]) -> Option<CstObject> {
    path.iter().fold(root, |object, name| object?.object_value(name))
}

/// Removes the objects of a path that have no members, the innermost first.
fn remove_empty(root: Option<CstObject>, path: &[&str]) {
    let Some((last, before)) = path.split_last() else { return };
    let Some(object) = find(root.clone(), path) else { return };
    if object.properties().is_empty() {
        let holder = find(root.clone(), before);
        holder.and_then(|holder| holder.get(last)).into_iter().for_each(CstObjectProp::remove);
        remove_empty(root, before);
    }
}

fn value(node: &CstNode) -> Option<Value> {
    serde_json::from_str(&node.to_string()).ok()
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(value) => CstInputValue::Number(value.to_string()),
        Value::String(value) => CstInputValue::String(value.clone()),
        Value::Array(values) => CstInputValue::Array(values.iter().map(input).collect()),
        Value::Object(members) => {
            CstInputValue::Object(members.iter().map(|(name, value)| (name.clone(), input(value))).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const OTHERS: &str = "{\n  \"mcpServers\": {\n    \"mine\": { \"command\": \"mine\", \"timeout\": 1.10 }\n  }\n}\n";

    fn set(text: &str, program: &str) -> Result<String, String> {
        let wanted = json!({ "command": program, "args": ["mcp"] });
        entry(text, &["mcpServers"], Some(&wanted), is_mcp)
    }

    fn unset(text: &str) -> String {
        entry(text, &["mcpServers"], None, is_mcp).unwrap()
    }

    #[test]
    fn an_entry_is_added_once_follows_the_program_and_is_removed_again() {
        for before in [OTHERS, "{}\n", "{\n  \"a\": 1\n}\n"] {
            let made = set(before, "/usr/bin/shiftbook").unwrap();
            assert_eq!(set(&made, "/usr/bin/shiftbook").unwrap(), made);
            let moved = set(&made, "/opt/shiftbook").unwrap();
            let read: Value = serde_json::from_str(&moved).unwrap();
            assert_eq!(read["mcpServers"][NAME]["command"], "/opt/shiftbook");
            let left: Value = serde_json::from_str(&unset(&moved)).unwrap();
            assert_eq!(left, serde_json::from_str::<Value>(before).unwrap());
        }
        assert!(set(OTHERS, "/usr/bin/shiftbook").unwrap().contains("\"timeout\": 1.10 }"));
        assert_eq!(unset(OTHERS), OTHERS);
        assert_eq!(unset(""), "");
    }

    #[test]
    fn what_others_wrote_is_not_replaced_and_not_removed() {
        let other = r#"{"mcpServers":{"shiftbook":{"url":"http://a"}}}"#;
        assert!(set(other, "/usr/bin/shiftbook").unwrap_err().contains("nothing was changed"));
        assert_eq!(unset(other), other);
        for bad in ["[]", "{", r#"{"mcpServers":[]}"#] {
            assert!(set(bad, "shiftbook").unwrap_err().contains("nothing was changed"), "{bad}");
        }
    }

    #[test]
    fn an_item_of_a_list_is_added_once_and_removed_again() {
        for before in [r#"{"permissions":{"allow":["Bash(ls)"]}}"#, r#"{"model":"opus"}"#] {
            let made = listed(before, ("permissions", "allow"), "x", true).unwrap();
            assert_eq!(listed(&made, ("permissions", "allow"), "x", true).unwrap(), made);
            let left = listed(&made, ("permissions", "allow"), "x", false).unwrap();
            assert_eq!(serde_json::from_str::<Value>(&left).unwrap(), serde_json::from_str::<Value>(before).unwrap());
        }
        assert!(listed(r#"{"permissions":7}"#, ("permissions", "allow"), "x", true).is_err());
    }
}
