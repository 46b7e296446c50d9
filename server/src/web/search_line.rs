//! Search lines of addresses, and how pages show those that are none.

use app::{FieldError, FormState, ui::list_search::ListSearch};
use axum::http::StatusCode;
use domain::{
    issue::Issue,
    search::{Field, Line},
};

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

/// The line of a list that has only these fields, and what is wrong with it. A refused one is none, so that the page
/// shows the list without it below the refusal.
pub fn list_line(typed: &str, fields: &'static [Field]) -> (Option<String>, FormState) {
    match Line::parse_for(typed, fields) {
        Ok(_) => (Some(typed.to_owned()), FormState::default()),
        Err(bad) => (None, refused_line(typed, &[Issue::new("q", bad.to_string())])),
    }
}

/// A list with no other filter than a search line: the line, the form as the page shows it, and the status of the page.
pub fn searched(typed: Option<&String>, fields: &'static [Field]) -> (Option<String>, ListSearch, StatusCode) {
    let q = non_empty(typed).unwrap_or_default().to_owned();
    let (line, form) = list_line(&q, fields);
    let status = if form.is_refused() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    (line, ListSearch { q, form, fields }, status)
}

/// The state of the form with a refused line.
pub fn refused_line(typed: &str, issues: &[Issue]) -> FormState {
    let error = |issue: &Issue| FieldError { field: Some(issue.field.clone()), message: issue.message.clone() };
    let values = [("q".to_owned(), typed.to_owned())].into();
    FormState { values, errors: issues.iter().map(error).collect(), ..FormState::default() }
}
