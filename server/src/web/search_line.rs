//! Search lines of addresses, and how pages show those that are none.

use app::{FieldError, FormState};
use domain::{issue::Issue, search::Line};

/// Returns the text of a field of an address. The choice "any" of a form arrives as an empty field.
pub fn non_empty(text: Option<&String>) -> Option<&str> {
    text.map(|text| text.trim()).filter(|text| !text.is_empty())
}

/// Reads a line, and what is wrong with it.
pub fn read_line(typed: &str) -> (Line, FormState) {
    match Line::parse(typed) {
        Ok(line) => (line, FormState::default()),
        Err(bad) => (Line::default(), refused_line(typed, &[Issue::new("q", bad.to_string())])),
    }
}

/// The state of the form with a refused line.
pub fn refused_line(typed: &str, issues: &[Issue]) -> FormState {
    let error = |issue: &Issue| FieldError { field: Some(issue.field.clone()), message: issue.message.clone() };
    let values = [("q".to_owned(), typed.to_owned())].into();
    FormState { values, errors: issues.iter().map(error).collect(), ..FormState::default() }
}
