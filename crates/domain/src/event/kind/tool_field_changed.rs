//! `tool.field_changed`: a person changed a field of a tool's form.

use super::payload::{Members, Payload, about, text_content, text_of};
use serde_json::json;

/// A person changed a field of a tool's form.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FieldChanged {
    /// What the worker says about it.
    pub text: Option<String>,
    /// Name of the field.
    pub field: Option<String>,
}

impl Payload for FieldChanged {
    fn read(content: &str, metadata: &str) -> Option<Self> {
        Some(Self { text: text_of(content), field: Members::read(metadata).text(&["field", "fieldName", "name"]) })
    }

    fn content(&self) -> String {
        text_content(self.text.as_deref())
    }

    fn metadata(&self) -> String {
        self.field.as_ref().map_or_else(|| "{}".into(), |field| json!({ "field": field }).to_string())
    }

    fn sentence(&self) -> Option<String> {
        Some(about("Changed", self.text.as_deref().or(self.field.as_deref())))
    }
}
