//! Search lines of lists: reading one, and the conditions of the store that it asks for.

use crate::{Error, Result};
use domain::search::{BadQuery, Condition, Field, Line, Test};
use store::session::{Among, Contains};

/// Name of the field that errors of a search line are reported by.
pub(crate) const FIELD: &str = "q";

/// Reads the search line of a list that has only these fields. No line asks for nothing.
///
/// # Errors
/// [`Error::Invalid`] with the place at which it is none.
pub(crate) fn list_line(text: Option<&str>, fields: &'static [Field]) -> Result<Line> {
    Line::parse_for(text.unwrap_or_default(), fields).map_err(|bad| refused(&bad))
}

/// The refusal of a search line.
pub(crate) fn refused(bad: &BadQuery) -> Error {
    Error::invalid(FIELD, bad.to_string())
}

/// Adds a condition on a column.
pub(crate) fn among(of: &mut Among, is_excluded: bool, mut values: Vec<String>) {
    if is_excluded {
        of.none_of.append(&mut values);
        return;
    }
    // Two conditions on one field must both hold.
    of.any_of = Some(match of.any_of.take() {
        Some(before) => before.into_iter().filter(|value| values.contains(value)).collect(),
        None => values,
    });
}

/// Adds a condition on a text.
pub(crate) fn contains(of: &mut Contains, is_excluded: bool, parts: &[String]) {
    if is_excluded { of.none_of.extend_from_slice(parts) } else { of.groups.push(parts.to_vec()) }
}

/// Whether a text has a part of each group and none of the others, whatever their case.
pub(crate) fn has(of: &Contains, text: &str) -> bool {
    let text = text.to_lowercase();
    let is_in = |part: &String| text.contains(&part.to_lowercase());
    of.groups.iter().all(|parts| parts.iter().any(is_in)) && !of.none_of.iter().any(is_in)
}

/// The parts of a text that the words of a line ask for. The beginning of a word is a part of it.
pub(crate) fn words(line: &Line) -> Contains {
    let mut texts = Contains::default();
    for word in &line.words {
        contains(&mut texts, word.is_excluded, &[word.text.trim_end_matches('*').to_owned()]);
    }
    texts
}

/// What a line asks for of records with a title alone: parts of the title, and parts of the whole text.
///
/// # Errors
/// As [`list_line`].
pub(crate) fn titled(text: Option<&str>, fields: &'static [Field]) -> Result<(Contains, Contains)> {
    let line = list_line(text, fields)?;
    let (mut titles, texts) = (Contains::default(), words(&line));
    for Condition { is_excluded, test } in line.conditions {
        // The line has no other fields.
        if let Test::Title(parts) = test {
            contains(&mut titles, is_excluded, &parts);
        }
    }
    Ok((titles, texts))
}
