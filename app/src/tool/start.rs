//! The initial values of the form of a tool: a draft, a recorded or saved input, or values in the address.

use super::input::fields;
use crate::{inbox::typed_value, text::shorten::one_line, trigger::INPUT};
use domain::{Timestamp, id::SessionId, tool::Definition};
use serde_json::{Map, Value};

/// Most characters of a field's name in a note.
const NAME_CHARS: usize = 60;

/// A draft that the form continues.
#[derive(Debug, Clone, PartialEq)]
pub struct Continued {
    /// The session of the draft.
    pub id: SessionId,
    /// Number of its saves.
    pub rev: u64,
    /// The fields so far, without private values.
    pub fields: Map<String, Value>,
    /// Time of the last save (UTC).
    pub saved_at: Timestamp,
}

/// The initial values.
#[derive(Debug, Clone, Default)]
pub struct Start {
    /// The draft that it continues.
    pub continued: Option<Continued>,
    /// The viewer's other drafts of the tool with the times of their last saves (UTC), the newest save first.
    pub drafts: Vec<(SessionId, Timestamp)>,
    /// The values of a saved input, with its name.
    pub chosen: Option<(String, Value)>,
    /// Names of the inputs that the viewer saved for the tool.
    pub saved: Vec<String>,
    /// Values of the fields in the address, by the names of the form fields.
    pub address: Vec<(String, String)>,
    /// Address of the script that saves drafts; empty if the site was not built.
    pub script: String,
}

/// The typed fields to keep as a draft: all that the form has, `null` for those that are empty. A text that cannot be
/// parsed is kept as a text.
pub fn draft_fields(definition: &Definition, typed: impl Fn(&str) -> Option<String>) -> Map<String, Value> {
    let mut kept = Map::new();
    for field in fields(definition) {
        let key = key_of(&field.name).map(str::to_owned);
        match (typed_value(std::slice::from_ref(&field), &typed), key) {
            (Ok(Some(Value::Object(value))), Some(key)) => {
                kept.insert(key.clone(), value.get(&key).cloned().unwrap_or_default());
            }
            (Ok(Some(Value::Object(whole))), None) => kept.extend(whole),
            (Err(_), Some(key)) => {
                kept.insert(key, Value::from(typed(&field.name).unwrap_or_default()));
            }
            (Ok(_) | Err(_), _) => {}
        }
    }
    kept
}

/// The key of the property for the name of a form field; `None` for the field of the whole input.
fn key_of(name: &str) -> Option<&str> {
    name.strip_prefix(INPUT)?.strip_prefix('.')
}

/// The values in an address that fields of the form can take, and a sentence for each that is ignored: those of private
/// and of unknown fields, and those that a field cannot hold.
pub(super) fn prefilled(definition: &Definition, address: &[(String, String)]) -> (Option<Value>, Vec<String>) {
    let known = fields(definition);
    let (mut values, mut notes) = (Map::new(), Vec::new());
    for (name, text) in address {
        let Some(key) = key_of(name) else { continue };
        let shown = one_line(key, NAME_CHARS);
        if definition.has_private_part(key) {
            notes.push(format!("The value of “{shown}” in the address is ignored: the field is private."));
            continue;
        }
        let Some(field) = known.iter().find(|field| field.name == *name) else {
            notes.push(format!("The address names “{shown}”, which is no field of this tool."));
            continue;
        };
        let typed = |asked: &str| (asked == name).then(|| text.clone());
        match typed_value(std::slice::from_ref(field), typed) {
            Ok(Some(Value::Object(value))) => values.extend(value),
            Ok(_) => {}
            Err(_) => {
                notes.push(format!("The value of “{shown}” in the address is ignored: the field cannot hold it."))
            }
        }
    }
    ((!values.is_empty()).then_some(Value::Object(values)), notes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn definition() -> Definition {
        serde_json::from_value(json!({
            "name": "Weather", "kind": "worker", "privateFields": ["key"],
            "inputSchema": { "type": "object", "properties": {
                "city": { "type": "string" }, "days": { "type": "integer" }, "key": { "type": "string" },
            } },
        }))
        .unwrap()
    }

    #[test]
    fn a_draft_keeps_what_is_typed_even_if_it_cannot_be_parsed() {
        let typed = |name: &str| match name {
            "input.days" => Some("soon".to_owned()),
            "input.key" => Some("x".to_owned()),
            _ => Some(String::new()),
        };
        let kept = draft_fields(&definition(), typed);
        assert_eq!(Value::from(kept), json!({ "city": null, "days": "soon", "key": "x" }));
    }

    #[test]
    fn an_address_fills_declared_fields_that_are_not_private_with_values_of_their_type() {
        let named = [
            ("input.city", "Oslo"),
            ("input.days", "many"),
            ("input.key", "hunter2"),
            ("input.other", "1"),
            ("version", "1"),
        ];
        let address = named.map(|(name, text)| (name.to_owned(), text.to_owned()));
        let (values, notes) = prefilled(&definition(), &address);
        assert_eq!(values, Some(json!({ "city": "Oslo" })));
        assert_eq!(notes.len(), 3, "{notes:?}");
        assert!(notes.iter().all(|note| !note.contains("hunter2")), "{notes:?}");
        assert_eq!(prefilled(&definition(), &[]), (None, Vec::new()));
    }
}
