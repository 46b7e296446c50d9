//! The initial values of the form of a tool: a draft, a recorded or saved input, or values in the address.

use crate::text::shorten::one_line;
use domain::{
    Timestamp,
    id::SessionId,
    tool::{
        Definition,
        form::{self, Fields, NodeKind, ROOT},
    },
};
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

/// The form with the defaults of the input schema and the values in an address that its fields can take, and a sentence
/// for each value that is ignored: those of private and of unknown fields, and those that a field cannot hold.
pub(super) fn prefilled(definition: &Definition, address: &[(String, String)]) -> (Fields, Vec<String>) {
    let schema = &definition.input_schema;
    let known = match form::draw(schema, &Fields::default()).kind {
        NodeKind::Object { members, .. } => members,
        _ => Vec::new(),
    };
    let (mut texts, mut notes) = (Vec::new(), Vec::new());
    for (name, text) in address {
        let Some(typed_key) = name.strip_prefix(ROOT).and_then(|rest| rest.strip_prefix('.')) else { continue };
        let member = known.iter().find(|member| member.name == *name);
        let key = member.map_or(typed_key, |member| &member.key);
        let shown = one_line(key, NAME_CHARS);
        if definition.has_private_part(key) {
            notes.push(format!("The value of “{shown}” in the address is ignored: the field is private."));
        } else if member.is_none() {
            notes.push(format!("The address names “{shown}”, which is no field of this tool."));
        } else if can_hold(schema, key, (name, text)) {
            texts.push((name.clone(), text.clone()));
        } else {
            notes.push(format!("The value of “{shown}” in the address is ignored: the field cannot hold it."));
        }
    }
    let defaults = form::begin(schema);
    let defaults = defaults.iter().map(|(name, text)| (name.to_owned(), text.to_owned()));
    (defaults.chain(texts).collect(), notes)
}

/// Whether a member that is one control reads as a value with this text. An empty text is no value.
fn can_hold(schema: &Value, key: &str, (name, text): (&str, &str)) -> bool {
    let typed = [(name.to_owned(), text.to_owned())].into_iter().collect();
    match form::read(schema, &typed) {
        Ok(Some(Value::Object(read))) => text.is_empty() || read.contains_key(key),
        Ok(_) => text.is_empty(),
        Err(issues) => issues.iter().all(|issue| issue.field != name),
    }
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
        assert_eq!(form::read(&definition().input_schema, &values), Ok(Some(json!({ "city": "Oslo" }))));
        assert_eq!(notes.len(), 3, "{notes:?}");
        assert!(notes.iter().all(|note| !note.contains("hunter2")), "{notes:?}");
        assert_eq!(prefilled(&definition(), &[]), (form::begin(&definition().input_schema), Vec::new()));
    }
}
