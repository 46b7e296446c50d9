//! `tool.field_changed`: a person changed a field of a tool's form.

use super::payload::{Members, Payload, about, text_content, text_of};
use serde_json::{Map, Value};

/// A person changed a field of a tool's form.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FieldChanged {
    /// What the writer says about it.
    pub text: Option<String>,
    /// Name of the field.
    pub field: Option<String>,
    /// The value before; `None` if there was none, or if the field is private.
    pub old: Option<Value>,
    /// The value since; `None` if it was removed, or if the field is private.
    pub new: Option<Value>,
}

impl Payload for FieldChanged {
    fn read(content: &str, metadata: &str) -> Option<Self> {
        let members = Members::read(metadata);
        Some(Self {
            text: text_of(content),
            field: members.text(&["field", "fieldName", "name"]),
            old: members.value("old").cloned(),
            new: members.value("new").cloned(),
        })
    }

    fn content(&self) -> String {
        text_content(self.text.as_deref())
    }

    fn metadata(&self) -> String {
        let members = [("field", self.field.clone().map(Value::from)), ("old", self.old.clone())];
        let members = members.into_iter().chain([("new", self.new.clone())]);
        Value::Object(members.filter_map(|(name, value)| Some((name.to_owned(), value?))).collect::<Map<_, _>>())
            .to_string()
    }

    fn sentence(&self) -> Option<String> {
        Some(about("Changed", self.text.as_deref().or(self.field.as_deref())))
    }
}
