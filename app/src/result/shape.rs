//! The form in which a value is shown.

use super::picture::Picture;
use crate::text::{json, terminal};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// Larger values are shown as text, bytes.
const LOOK_INTO_BYTES_MAX: usize = 256 * 1024;
/// Most columns of a table.
const COLUMNS_MAX: usize = 12;
/// Most members of an object that is a list of keys and values.
const FACTS_MAX: usize = 40;
/// Longest text that is a cell of a table or beside its key, bytes.
const CELL_BYTES_MAX: usize = 400;
/// Longest address that is a link, bytes.
const LINK_BYTES_MAX: usize = 2_048;
/// Largest base64 of a picture in a page, bytes.
const PICTURE_BYTES_MAX: usize = 256 * 1024;
/// Members of an error.
const ERROR_KEYS: [&str; 7] = ["code", "message", "cause", "hint", "name", "status", "retryable"];

/// The form of a value.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Shape<'a> {
    /// Objects with like members and without parts: a row for each.
    Table(Vec<Cow<'a, str>>),
    /// An object without parts.
    Facts,
    /// `{code, message, cause}`.
    Error,
    /// An object or a list with parts.
    Tree,
    /// A text in Markdown.
    Markdown(Cow<'a, str>),
    /// An address that can be opened.
    Link(Cow<'a, str>),
    /// A picture as a data URL.
    Picture(Cow<'a, str>),
}

impl<'a> Shape<'a> {
    /// The form of a value; `None` for one that reads best as text.
    pub fn of(raw: &'a RawValue) -> Option<Self> {
        let text = raw.get();
        if let Some(string) = json::string(raw) {
            return of_text(string);
        }
        if text.len() > LOOK_INTO_BYTES_MAX {
            return None;
        }
        match text.as_bytes().first()? {
            b'[' => {
                let items: Vec<&RawValue> = serde_json::from_str(text).ok()?;
                let has_parts = items.iter().any(|item| is_part(item));
                columns(&items).map(Self::Table).or_else(|| has_parts.then_some(Self::Tree))
            }
            b'{' => of_members(&json::members(text)),
            _ => None,
        }
    }
}

fn of_members<'a>(members: &[(Cow<'_, str>, &RawValue)]) -> Option<Shape<'a>> {
    let has = |name: &str| members.iter().any(|(key, _)| key == name);
    let is_error = has("message") && (has("code") || has("cause"));
    if is_error && members.iter().all(|(key, _)| ERROR_KEYS.contains(&key.as_ref())) {
        return Some(Shape::Error);
    }
    // Texts of several lines, output of programs and pictures are shown one by one.
    if members.is_empty() || members.iter().any(|(_, value)| json::string(value).is_some_and(|text| !is_cell(&text))) {
        return None;
    }
    match members.iter().any(|(_, value)| is_part(value)) {
        true => Some(Shape::Tree),
        false => (members.len() <= FACTS_MAX).then_some(Shape::Facts),
    }
}

/// Whether a value has parts.
pub(super) fn is_part(raw: &RawValue) -> bool {
    let text = raw.get();
    text.starts_with(['{', '[']) && !matches!(text, "{}" | "[]")
}

fn is_cell(text: &str) -> bool {
    text.len() <= CELL_BYTES_MAX && !text.contains('\n') && !terminal::is_terminal(text) && Picture::of(text).is_none()
}

/// The columns of a table; `None` if the items are no rows of one.
fn columns<'a>(items: &[&'a RawValue]) -> Option<Vec<Cow<'a, str>>> {
    if items.len() < 2 {
        return None;
    }
    let (mut columns, mut filled) = (Vec::<Cow<'a, str>>::new(), 0);
    for item in items {
        let members = json::members(item.get());
        let is_row = |(_, value): &(Cow<'_, str>, &RawValue)| {
            !is_part(value) && json::string(value).is_none_or(|text| is_cell(&text))
        };
        if members.is_empty() || !members.iter().all(is_row) {
            return None;
        }
        filled += members.len();
        for (key, _) in members {
            if !columns.contains(&key) {
                columns.push(key);
            }
            // At once: one item can have thousands of members.
            if columns.len() > COLUMNS_MAX {
                return None;
            }
        }
    }
    // Objects that have little in common are no rows.
    (filled * 2 >= columns.len() * items.len()).then_some(columns)
}

fn of_text(text: Cow<'_, str>) -> Option<Shape<'_>> {
    if is_link(&text) {
        return Some(Shape::Link(text));
    }
    if text.starts_with("data:image/") && text.len() <= PICTURE_BYTES_MAX && Picture::of(&text).is_some() {
        return Some(Shape::Picture(text));
    }
    (!terminal::is_terminal(&text) && is_markdown(&text)).then_some(Shape::Markdown(text))
}

/// Whether a text is an address that a page links to: `https` alone.
pub(super) fn is_link(text: &str) -> bool {
    let host = text.strip_prefix("https://").unwrap_or_default();
    let is_plain = |c: char| !c.is_whitespace() && !c.is_control() && !matches!(c, '"' | '<' | '>' | '\\');
    text.len() <= LINK_BYTES_MAX && host.starts_with(|c: char| c.is_ascii_alphanumeric()) && host.chars().all(is_plain)
}

/// Whether a text has a heading and another mark of Markdown. A change of files is none.
fn is_markdown(text: &str) -> bool {
    let lines = || text.lines().take(400);
    let has_heading = lines().any(|line| {
        let rest = line.trim_start_matches('#');
        rest.len() < line.len() && line.len() - rest.len() <= 6 && rest.starts_with(' ')
    });
    let has_mark = lines().any(|line| {
        let line = line.trim_start();
        line.starts_with("- ")
            || line.starts_with("* ")
            || line.starts_with("1. ")
            || line.starts_with('|')
            || line.contains("](")
            || line.contains("**")
    });
    has_heading && has_mark && !text.contains("\n@@ -") && !text.starts_with("#!")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(json: &str) -> String {
        let raw = RawValue::from_string(json.to_owned()).unwrap();
        let shape = format!("{:?}", Shape::of(&raw));
        shape.split(['(', ')']).nth(1).unwrap_or("None").to_owned()
    }

    #[test]
    fn each_form_is_recognised_and_everything_else_is_text() {
        for (json, wanted) in [
            (r#"[{"a":1,"b":"x"},{"a":2}]"#, "Table"),
            (r#"[{"a":1},{"b":2},{"c":3}]"#, "Tree"),
            (r#"[{"a":{"b":1}},{"a":{"b":2}}]"#, "Tree"),
            ("[1,2]", "None"),
            ("[]", "None"),
            (r#"{"a":1,"b":null}"#, "Facts"),
            (r#"{"a":{"b":1}}"#, "Tree"),
            (r#"{"a":"two\nlines"}"#, "None"),
            (r#"{"code":"x","message":"y","cause":{"message":"z"}}"#, "Error"),
            (r#"{"message":"y"}"#, "Facts"),
            (r#""https://example.org/a?b=1""#, "Link"),
            (r#""javascript:alert(1)""#, "None"),
            (r#""https://a\" onclick=x""#, "None"),
            (r#""http://example.org""#, "None"),
            (r##""# Title\n\n- one""##, "Markdown"),
            (r#""plain text""#, "None"),
            (r#""data:image/svg+xml,<svg onload=alert(1)>""#, "None"),
            ("7", "None"),
        ] {
            assert_eq!(shape(json), wanted, "{json}");
        }
        assert_eq!(shape(&format!("\"data:image/png;base64,{}\"", super::super::picture::tests::PIXEL)), "Picture");
        let large = format!("[{}]", vec![r#"{"a":1}"#; 60_000].join(","));
        assert_eq!(shape(&large), "None");
    }
}
