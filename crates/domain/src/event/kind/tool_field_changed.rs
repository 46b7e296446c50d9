//! `tool.field_changed`: a person changed a field of a tool's form.

use super::payload::{Members, Payload, about, json_text, text_content, text_of};
use serde::Serialize;
use serde_json::Value;

/// A person changed a field of a tool's form.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct FieldChanged {
    /// What the writer says about it.
    #[serde(skip)]
    pub text: Option<String>,
    /// Name of the field.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// The value before; `None` if there was none, or if the field is private.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<Value>,
    /// The value since; `None` if it was removed, or if the field is private.
    #[serde(skip_serializing_if = "Option::is_none")]
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
        json_text(self)
    }

    fn sentence(&self) -> Option<String> {
        Some(about("Changed", self.text.as_deref().or(self.field.as_deref())))
    }
}
