//! The initial values of the form of a tool: a draft, a recorded or saved input, or values in the address.

use crate::text::shorten::one_line;
use domain::{
    Timestamp,
    id::SessionId,
    schema_form::{self, Fields, Form, INPUT, NodeKind},
    tool::Definition,
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
    let form = Form::of_input(&definition.input_schema);
    let known = match schema_form::draw(form, &Fields::default()).kind {
        NodeKind::Object { members, .. } => members,
        _ => Vec::new(),
    };
    let (mut typed, mut notes) = (Vec::new(), Vec::new());
    for (name, text) in address {
        let Some(typed_key) = name.strip_prefix(INPUT).and_then(|rest| rest.strip_prefix('.')) else { continue };
        let member = known.iter().find(|member| member.name == *name);
        let key = member.map_or(typed_key, |member| member.key.as_str());
        let shown = one_line(key, NAME_CHARS);
        if definition.has_private_part(key) {
            notes.push(format!("The value of “{shown}” in the address is ignored: the field is private."));
        } else if member.is_none() {
            notes.push(format!("The address names “{shown}”, which is no field of this tool."));
        } else {
            typed.push(Typed { name, key, text });
        }
    }
    for key in take_unfit(form, &mut typed) {
        let shown = one_line(key, NAME_CHARS);
        notes.push(format!("The value of “{shown}” in the address is ignored: the field cannot hold it."));
    }
    let texts = typed.iter().map(|one| (one.name.to_owned(), one.text.to_owned()));
    let defaults = schema_form::begin(form);
    let defaults = defaults.iter().map(|(name, text)| (name.to_owned(), text.to_owned()));
    (defaults.chain(texts).collect(), notes)
}

/// A text in the address for a field of the form.
struct Typed<'a> {
    /// Name of the field.
    name: &'a str,
    /// Key of the member of the input.
    key: &'a str,
    text: &'a str,
}

/// Takes out the texts that do not read as a value of their field, and returns their keys. An empty text is no value.
/// The form is read as a whole, and once more without the texts that have errors: then it has a value for each of the
/// others that is one.
fn take_unfit<'a>(form: Form<'_>, typed: &mut Vec<Typed<'a>>) -> Vec<&'a str> {
    let read = |typed: &[Typed<'_>]| {
        let texts = typed.iter().map(|one| (one.name.to_owned(), one.text.to_owned()));
        schema_form::read(form, &texts.collect::<Fields>())
    };
    let mut unfit = Vec::new();
    let mut values = read(typed);
    if let Err(issues) = &values {
        let is_wrong = |one: &mut Typed<'a>| issues.iter().any(|issue| issue.field == one.name);
        unfit.extend(typed.extract_if(.., is_wrong).map(|one| one.key));
        values = read(typed);
    }
    if let Ok(values) = values {
        let is_missing = |one: &mut Typed<'a>| {
            !one.text.is_empty() && values.as_ref().is_none_or(|values| values.get(one.key).is_none())
        };
        unfit.extend(typed.extract_if(.., is_missing).map(|one| one.key));
    }
    unfit
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
        let own = definition();
        let form = Form::of_input(&own.input_schema);
        assert_eq!(schema_form::read(form, &values), Ok(Some(json!({ "city": "Oslo" }))));
        assert_eq!(notes.len(), 3, "{notes:?}");
        assert!(notes.iter().all(|note| !note.contains("hunter2")), "{notes:?}");
        let typed =
            |text: &str| [("input.days".to_owned(), text.to_owned()), ("input.city".to_owned(), "Oslo".to_owned())];
        let (values, notes) = prefilled(&definition(), &typed("3"));
        assert_eq!(schema_form::read(form, &values), Ok(Some(json!({ "city": "Oslo", "days": 3 }))));
        assert!(notes.is_empty(), "{notes:?}");
        assert!(prefilled(&definition(), &typed("")).1.is_empty(), "an empty text is no value");
        assert_eq!(prefilled(&definition(), &[]), (schema_form::begin(form), Vec::new()));
    }
}
