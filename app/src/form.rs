//! What a refused form brings back: the values as typed, and what is wrong with them.

use std::collections::BTreeMap;

/// A message, beside its field where it has one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldError {
    /// The form field's name; absent where the whole form is meant.
    pub field: Option<String>,
    /// What is wrong and what would be right.
    pub message: String,
}

/// The row of a form field's name in a list: 3 of `fields[3].slug`.
pub fn row_number(list: &str, name: &str) -> Option<usize> {
    name.strip_prefix(list)?.strip_prefix('[')?.split_once(']')?.0.parse().ok()
}

/// State of the forms of a page. Empty on a first visit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FormState {
    /// Which form of the page was refused, e.g. `trigger`; see the page's docs. Empty where it has one form.
    pub form: String,
    /// What was typed, by field name. Never a password.
    pub values: BTreeMap<String, String>,
    /// What is wrong.
    pub errors: Vec<FieldError>,
}

impl FormState {
    /// The part of the state that concerns `form`; empty when another one was refused.
    pub fn of(&self, form: &str) -> Self {
        if self.form == form { self.clone() } else { Self::default() }
    }

    /// What was typed into a field, if the form comes back.
    pub fn value(&self, field: &str) -> Option<&str> {
        self.values.get(field).map(String::as_str)
    }

    /// What was typed, or the value the field starts with.
    pub fn value_or(&self, field: &str, start: &str) -> String {
        self.value(field).unwrap_or(start).to_owned()
    }

    /// The first message of a field.
    pub fn error(&self, field: &str) -> Option<&str> {
        self.errors.iter().find(|e| e.field.as_deref() == Some(field)).map(|e| e.message.as_str())
    }

    /// Messages about the form as a whole, and those of fields the form does not show.
    pub fn general(&self, shown: &[&str]) -> Vec<String> {
        let hidden = |e: &&FieldError| e.field.as_deref().is_none_or(|f| !shown.contains(&f));
        self.errors.iter().filter(hidden).map(|e| e.message.clone()).collect()
    }

    /// Whether anything was refused.
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
