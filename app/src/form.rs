//! The state of a refused form: the values as typed, and the errors.

use std::collections::BTreeMap;

/// An error of a form, shown at its field if it has one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldError {
    /// Name of the form field; absent if the error concerns the whole form.
    pub field: Option<String>,
    /// What is wrong and what would be valid.
    pub message: String,
}

/// The row index in the name of a field in a list: 3 for `fields[3].slug`.
pub fn row_number(list: &str, name: &str) -> Option<usize> {
    name.strip_prefix(list)?.strip_prefix('[')?.split_once(']')?.0.parse().ok()
}

/// State of the forms of a page. Empty if no form was refused.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FormState {
    /// Name of the refused form, e.g. `trigger`; see the docs of the page. Empty if the page has one form.
    pub form: String,
    /// The typed values by field name. Never holds a password.
    pub values: BTreeMap<String, String>,
    /// The errors of the refused form.
    pub errors: Vec<FieldError>,
}

impl FormState {
    /// The state of the form with this name; empty if another form was refused.
    pub fn of(&self, form: &str) -> Self {
        if self.form == form { self.clone() } else { Self::default() }
    }

    /// The text typed into a field, if the form was refused.
    pub fn value(&self, field: &str) -> Option<&str> {
        self.values.get(field).map(String::as_str)
    }

    /// The typed text, or else the start value of the field.
    pub fn value_or(&self, field: &str, start: &str) -> String {
        self.value(field).unwrap_or(start).to_owned()
    }

    /// The message of the first error of a field.
    pub fn error(&self, field: &str) -> Option<&str> {
        self.errors.iter().find(|e| e.field.as_deref() == Some(field)).map(|e| e.message.as_str())
    }

    /// Messages about the whole form, and those of fields that are not in `shown`.
    pub fn general(&self, shown: &[&str]) -> Vec<String> {
        let hidden = |e: &&FieldError| e.field.as_deref().is_none_or(|f| !shown.contains(&f));
        self.errors.iter().filter(hidden).map(|e| e.message.clone()).collect()
    }

    /// Whether a form was refused.
    pub fn is_refused(&self) -> bool {
        !self.errors.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::row_number;

    #[test]
    fn a_row_is_known_by_its_fields_names() {
        assert_eq!(row_number("fields", "fields[12].slug"), Some(12));
        assert_eq!(row_number("fields", "name"), None);
        assert_eq!(row_number("fields", "dimensions[1].slug"), None);
        assert_eq!(row_number("fields", "fields[x].slug"), None);
    }
}
