//! Responses as a table: a column for each field of the versions that they answer, and cells as text; and the same as
//! CSV (RFC 4180).

use crate::view::{Answers, Field, display_text};
use serde_json::Value;

/// The first character of a file for spreadsheet programs: some read UTF-8 as another encoding without it.
pub const BYTE_ORDER_MARK: char = '\u{feff}';

/// Separates the chosen options in one cell.
const SEPARATOR: &str = "|";

/// One column of answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Key of the field.
    pub key: String,
    /// Slug of the dimension, if the field is a rating.
    pub dimension: Option<String>,
    /// What people read above it: the question, and for a rating the name of the dimension.
    pub label: String,
}

impl Column {
    /// Returns the path of the answer below `answers`: the key, or `key.dimension`.
    pub fn path(&self) -> String {
        match &self.dimension {
            None => self.key.clone(),
            Some(slug) => format!("{}.{slug}", self.key),
        }
    }

    /// Returns the answer that the cell shows. `None` if the response has none.
    pub fn value<'a>(&self, answers: &'a Answers) -> Option<&'a Value> {
        let value = answers.get(&self.key)?;
        let value = match (&self.dimension, value) {
            (Some(slug), Value::Object(rating)) => rating.get(slug)?,
            (Some(_), _) | (None, Value::Object(_)) => return None,
            (None, value) => value,
        };
        (!value.is_null()).then_some(value)
    }

    /// Formats the answer for people, with the labels of the version that the response is for. Empty without an answer.
    pub fn display_text(&self, fields: &[Field], answers: &Answers) -> String {
        let Some(value) = self.value(answers) else { return String::new() };
        let Some(field) = fields.iter().find(|field| field.key == self.key) else { return stored_text(value) };
        match (field.kind.dimensions(), &self.dimension) {
            (Some(dimensions), Some(slug)) => {
                let dimension = dimensions.iter().find(|dimension| dimension.slug == *slug);
                let option = dimension.and_then(|of| of.options.iter().find(|option| value == option.value.as_str()));
                option.map_or_else(|| stored_text(value), |option| option.label.clone())
            }
            (Some(_), None) | (None, _) => display_text(field, value),
        }
    }
}

/// Adds the columns of a version. Those that are there already keep their place and label, so versions are added
/// newest first.
pub fn add_columns(columns: &mut Vec<Column>, fields: &[Field]) {
    let mut add = |column: Column| {
        if !columns.iter().any(|known| known.key == column.key && known.dimension == column.dimension) {
            columns.push(column);
        }
    };
    for field in fields {
        match field.kind.dimensions() {
            Some(dimensions) => {
                for dimension in dimensions {
                    let label = format!("{}: {}", field.label, dimension.name);
                    add(Column { key: field.key.clone(), dimension: Some(dimension.slug.clone()), label });
                }
            }
            None => add(Column { key: field.key.clone(), dimension: None, label: field.label.clone() }),
        }
    }
}

/// Formats an answer for a program: the stored value, and several chosen options separated by `|`. Inside one of them
/// `|` is `\|` and a backslash is `\\`, so that two options differ from one with the separator in it.
pub fn stored_text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(list) => {
            let escaped = |value: &Value| stored_text(value).replace('\\', "\\\\").replace(SEPARATOR, "\\|");
            list.iter().map(escaped).collect::<Vec<_>>().join(SEPARATOR)
        }
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => value.to_string(),
    }
}

/// Appends a cell with an answer to a line of CSV. Numbers are written as they are; a spreadsheet reads them as
/// numbers.
pub fn push_value(line: &mut String, value: Option<&Value>) {
    match value {
        Some(Value::Number(number)) => push_raw(line, &number.to_string()),
        Some(value) => push_text(line, &stored_text(value)),
        None => push_raw(line, ""),
    }
}

/// Appends a cell with a text to a line of CSV. A text that a spreadsheet would calculate gets an apostrophe before it.
pub fn push_text(line: &mut String, text: &str) {
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠']);
    let needs_quotes = is_formula || text.contains([',', '"', '\r', '\n']) || text.trim() != text;
    if !needs_quotes {
        return push_raw(line, text);
    }
    let apostrophe = if is_formula { "'" } else { "" };
    push_raw(line, &format!("\"{apostrophe}{}\"", text.replace('"', "\"\"")));
}

fn push_raw(line: &mut String, text: &str) {
    if !line.is_empty() && !line.ends_with("\r\n") {
        line.push(',');
    }
    line.push_str(text);
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn fields(value: Value) -> Vec<Field> {
        serde_json::from_value(value).unwrap()
    }

    fn csv(text: &str) -> String {
        let mut line = "x".to_owned();
        push_text(&mut line, text);
        line.split_off(2)
    }

    #[test]
    fn newer_versions_say_the_order_and_the_labels_and_removed_questions_come_last() {
        let mut columns = Vec::new();
        add_columns(
            &mut columns,
            &fields(json!([
                { "key": "why", "label": "Why now?", "type": "long_text" },
                { "key": "rate", "label": "Rate it", "type": "rating", "criteriaSet": "s", "dimensions": [
                    { "slug": "tone", "name": "Tone", "type": "select", "options": ["warm", "cold"] },
                    { "slug": "note", "name": "Note", "type": "text" } ] },
            ])),
        );
        add_columns(
            &mut columns,
            &fields(json!([
                { "key": "old", "label": "Old", "type": "yes_no" },
                { "key": "why", "label": "Why?", "type": "short_text" },
            ])),
        );
        let shown: Vec<_> = columns.iter().map(|column| format!("{} {}", column.path(), column.label)).collect();
        assert_eq!(shown, ["why Why now?", "rate.tone Rate it: Tone", "rate.note Rate it: Note", "old Old"]);
        let answers = json!({ "why": ["a", "b"], "rate": { "tone": "warm", "note": null }, "old": false });
        let answers = answers.as_object().unwrap();
        let cells: Vec<_> = columns.iter().map(|column| column.value(answers).map(stored_text)).collect();
        assert_eq!(cells, [Some("a|b".into()), Some("warm".into()), None, Some("false".to_owned())]);
    }

    #[test]
    fn several_options_differ_from_one_that_contains_the_separator() {
        let cell = |value: Value| stored_text(&value);
        assert_eq!([cell(json!(["a", "b"])), cell(json!(["a|b"]))], ["a|b", r"a\|b"]);
        assert_eq!([cell(json!([r"a\", "b"])), cell(json!([r"a\|b"]))], [r"a\\|b", r"a\\\|b"]);
        assert_eq!(cell(json!("a|b")), "a|b", "one choice has no separator");
    }

    #[test]
    fn a_text_that_a_spreadsheet_would_calculate_is_kept_a_text() {
        for text in ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1"] {
            assert!(csv(text).starts_with("\"'"), "{text:?}");
        }
        assert_eq!(csv("=HYPERLINK(\"http://evil\")"), "\"'=HYPERLINK(\"\"http://evil\"\")\"");
        assert_eq!(csv("1+1"), "1+1");
    }

    #[test]
    fn separators_quotes_and_line_ends_are_quoted_and_the_first_cell_has_no_comma() {
        assert_eq!([csv("a,b"), csv("a\"b"), csv("a\nb"), csv(" a")], ["\"a,b\"", "\"a\"\"b\"", "\"a\nb\"", "\" a\""]);
        let mut line = String::new();
        push_text(&mut line, "id");
        push_value(&mut line, Some(&json!(-1.5)));
        push_value(&mut line, None);
        push_value(&mut line, Some(&json!(true)));
        assert_eq!(line, "id,-1.5,,true");
    }
}
