//! The check of one answer against its field.

use super::{Choice, Field, Kind};
use crate::{
    count::counted,
    criteria_set::{Dimension, DimensionKind},
    id::EntityId,
    issue::Issue,
    limit::{EMAIL_BYTES_MAX, FIELD_TEXT_CHARS_MAX, FIELD_TEXTS_MAX, VIEW_URL_BYTES_MAX},
    typed_number::two_meanings,
};
use chrono::{DateTime, NaiveDate};
use serde_json::Value;
use std::collections::BTreeSet;

/// Whether a value is an answer: not `null`, not blank, not an empty list or object.
pub(super) fn is_filled(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::String(text) => !text.trim().is_empty(),
        Value::Array(list) => !list.is_empty(),
        Value::Object(object) => object.values().any(is_filled),
        Value::Bool(_) | Value::Number(_) => true,
    }
}

/// Checks that a JSON value is an answer to a field. Blank values are refused here too.
///
/// # Errors
/// What a valid answer is, with the field's key, or `key.dimension` in a rating.
pub(super) fn check_value(field: &Field, value: &Value) -> Result<(), Vec<Issue>> {
    let checked = match (&field.kind, value) {
        (Kind::Rating { dimensions, .. }, value) => return check_rating(&field.key, dimensions, value),
        (Kind::ShortText { min_length, max_length }, Value::String(text)) => match check_text(text) {
            Ok(()) if text.chars().any(char::is_control) => Err("a text on one line".to_owned()),
            checked => checked.and_then(|()| check_length(text, *min_length, *max_length)),
        },
        (Kind::LongText { min_length, max_length }, Value::String(text)) => {
            check_text(text).and_then(|()| check_length(text, *min_length, *max_length))
        }
        (Kind::ShortText { .. } | Kind::LongText { .. }, _) => Err("a text".to_owned()),
        (Kind::Number { minimum, maximum }, value) => match value.as_f64().filter(|n| n.is_finite()) {
            Some(number) => check_range(number, *minimum, *maximum),
            None => Err(wanted_number(value)),
        },
        (Kind::Integer { minimum, maximum }, value) => match value.as_i64() {
            Some(number) => check_range(number, *minimum, *maximum),
            None => Err("a whole number".to_owned()),
        },
        (Kind::Scale { minimum, maximum, .. }, value) => match value.as_i64() {
            Some(number) if (*minimum..=*maximum).contains(&number) => Ok(()),
            _ => Err(format!("a whole number from {minimum} to {maximum}")),
        },
        (Kind::YesNo, Value::Bool(_)) => Ok(()),
        (Kind::YesNo, _) => Err("yes or no".to_owned()),
        (Kind::Date, value) => check_with(value, "a day as YYYY-MM-DD", is_day),
        (Kind::DateTime, value) => {
            check_with(value, "a date and time with its offset, as 2026-03-01T09:30:00Z", |text| {
                DateTime::parse_from_rfc3339(text).is_ok()
            })
        }
        (Kind::SingleChoice { options }, value) => {
            check_with(value, &one_of(options), |text| options.iter().any(|option| option.value == text))
        }
        (Kind::MultipleChoice { options, min_items, max_items }, value) => {
            check_chosen(options, *min_items, *max_items, value)
        }
        (Kind::TextList { min_items, max_items }, value) => check_texts(*min_items, *max_items, value),
        (Kind::Entity { entity_type }, value) => {
            check_with(value, &format!("the id of an entity of type `{entity_type}`"), |text| {
                text.parse::<EntityId>().is_ok()
            })
        }
        (Kind::Email, value) => check_with(value, "an e-mail address, as ada@example.org", is_email),
        (Kind::Url, value) => check_with(value, "a URL that begins with https:// or http://", is_url),
    };
    checked.map_err(|message| vec![Issue::new(field.key.as_str(), message)])
}

/// The message about a value that is no number, such as a text that can be read in two ways.
fn wanted_number(value: &Value) -> String {
    value.as_str().and_then(two_meanings).unwrap_or_else(|| "a number".to_owned())
}

fn check_with(value: &Value, wanted: &str, valid: impl Fn(&str) -> bool) -> Result<(), String> {
    if value.as_str().is_some_and(valid) { Ok(()) } else { Err(wanted.to_owned()) }
}

pub(super) fn check_text(text: &str) -> Result<(), String> {
    if text.chars().count() > FIELD_TEXT_CHARS_MAX {
        return Err(format!("at most {FIELD_TEXT_CHARS_MAX} characters"));
    }
    if text.contains('\0') { Err("no NUL characters".to_owned()) } else { Ok(()) }
}

fn check_length(text: &str, least: Option<u32>, most: Option<u32>) -> Result<(), String> {
    let count = text.chars().count();
    if let Some(least) = least.filter(|least| count < *least as usize) {
        return Err(format!("at least {}", counted(least.into(), "character")));
    }
    match most.filter(|most| count > *most as usize) {
        Some(most) => Err(format!("at most {}", counted(most.into(), "character"))),
        None => Ok(()),
    }
}

fn check_range<N: PartialOrd + std::fmt::Display>(number: N, least: Option<N>, most: Option<N>) -> Result<(), String> {
    if let Some(least) = least.filter(|least| number < *least) {
        return Err(format!("at least {least}"));
    }
    match most.filter(|most| number > *most) {
        Some(most) => Err(format!("at most {most}")),
        None => Ok(()),
    }
}

fn check_chosen(options: &[Choice], least: Option<u32>, most: Option<u32>, value: &Value) -> Result<(), String> {
    let Some(list) = value.as_array() else { return Err("a list of options".to_owned()) };
    let chosen: BTreeSet<&str> = list.iter().filter_map(Value::as_str).collect();
    if chosen.len() != list.len() || !chosen.iter().all(|text| options.iter().any(|option| option.value == *text)) {
        return Err(format!("each at most once, {}", one_of(options)));
    }
    if let Some(least) = least.filter(|least| chosen.len() < *least as usize) {
        return Err(format!("Choose at least {least}"));
    }
    match most.filter(|most| chosen.len() > *most as usize) {
        Some(most) => Err(format!("Choose at most {most}")),
        None => Ok(()),
    }
}

fn check_texts(least: Option<u32>, most: Option<u32>, value: &Value) -> Result<(), String> {
    let Some(list) = value.as_array() else { return Err("a list of texts".to_owned()) };
    let texts: Option<Vec<&str>> = list.iter().map(Value::as_str).collect();
    let Some(texts) = texts else { return Err("a list of texts".to_owned()) };
    if texts.iter().any(|text| text.trim().is_empty() || text.chars().any(char::is_control)) {
        return Err("one text on each line".to_owned());
    }
    texts.iter().try_for_each(|text| check_text(text))?;
    let most = most.map_or(FIELD_TEXTS_MAX, |most| most as usize);
    if let Some(least) = least.filter(|least| texts.len() < *least as usize) {
        return Err(format!("Enter at least {least}, one on each line"));
    }
    if texts.len() > most { Err(format!("Enter at most {most}, one on each line")) } else { Ok(()) }
}

/// A few options are listed in a message; more are not.
fn one_of(options: &[Choice]) -> String {
    const LISTED_MAX: usize = 10;
    if options.len() > LISTED_MAX {
        return "one of the options".to_owned();
    }
    let values: Vec<_> = options.iter().map(|option| option.value.as_str()).collect();
    format!("one of: {}", values.join(", "))
}

/// Checks a rating: an object with a value for each dimension that is not a text.
fn check_rating(key: &str, dimensions: &[Dimension], value: &Value) -> Result<(), Vec<Issue>> {
    let Some(given) = value.as_object() else {
        return Err(vec![Issue::new(key, "an object with a value for each dimension")]);
    };
    let mut issues = Vec::new();
    for name in given.keys().filter(|name| !dimensions.iter().any(|dimension| dimension.slug == **name)) {
        issues.push(Issue::new(format!("{key}.{name}"), "the criteria set has no such dimension"));
    }
    for dimension in dimensions {
        let at = format!("{key}.{}", dimension.slug);
        match given.get(&dimension.slug).filter(|value| is_filled(value)) {
            Some(value) => {
                if let Err(message) = check_dimension(dimension, value) {
                    issues.push(Issue::new(at, message));
                }
            }
            None if dimension.kind == DimensionKind::Text => {}
            None => issues.push(Issue::new(at, "Choose one")),
        }
    }
    if issues.is_empty() { Ok(()) } else { Err(issues) }
}

fn check_dimension(dimension: &Dimension, value: &Value) -> Result<(), String> {
    match (dimension.kind, value) {
        (DimensionKind::Select, value) => {
            let known = value.as_str().is_some_and(|text| dimension.options.iter().any(|option| option.value == text));
            if known { Ok(()) } else { Err("one of the options".to_owned()) }
        }
        (DimensionKind::Text, Value::String(text)) => check_text(text),
        (DimensionKind::Text, _) => Err("a text".to_owned()),
        (DimensionKind::Number, value) => match value.as_f64().filter(|n| n.is_finite()) {
            Some(number) => check_range(number, dimension.min, dimension.max),
            None => Err(wanted_number(value)),
        },
        (DimensionKind::Scale, value) => match value.as_f64().filter(|n| n.fract() == 0.0) {
            Some(number) => check_range(number, dimension.min, dimension.max),
            None => Err("a whole number".to_owned()),
        },
    }
}

/// Whether `text` is a day in the one form `YYYY-MM-DD`. chrono alone also accepts signs and missing zeros.
pub fn is_day(text: &str) -> bool {
    let shape = |(at, byte): (usize, u8)| if at == 4 || at == 7 { byte == b'-' } else { byte.is_ascii_digit() };
    text.len() == 10 && text.bytes().enumerate().all(shape) && NaiveDate::parse_from_str(text, "%Y-%m-%d").is_ok()
}

/// Whether `text` has the form of an e-mail address. Only a delivered message proves one.
fn is_email(text: &str) -> bool {
    let Some((local, host)) = text.rsplit_once('@') else { return false };
    let plain = |c: char| !c.is_whitespace() && !c.is_control() && !matches!(c, '<' | '>' | '"' | ',' | ';' | '@');
    text.len() <= EMAIL_BYTES_MAX
        && !local.is_empty()
        && text.chars().filter(|c| *c != '@').all(plain)
        && !local.contains('@')
        && host.contains('.')
        && host.split('.').all(|label| !label.is_empty() && !label.starts_with('-') && !label.ends_with('-'))
}

/// Whether `text` is an absolute `http` or `https` URL with a host and no white space. Links to other schemes,
/// such as `javascript:`, are refused.
fn is_url(text: &str) -> bool {
    let lower = text.get(..8).unwrap_or(text).to_ascii_lowercase();
    let rest = lower.starts_with("https://").then(|| &text[8..]);
    let rest = rest.or_else(|| lower.starts_with("http://").then(|| &text[7..]));
    let Some(rest) = rest else { return false };
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    text.len() <= VIEW_URL_BYTES_MAX
        && !host.is_empty()
        && !host.starts_with(':')
        && !host.contains('@')
        && !text.chars().any(|c| c.is_whitespace() || c.is_control() || matches!(c, '<' | '>' | '"' | '\\'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::check_answers;
    use serde_json::json;

    fn one(kind: Value) -> Vec<Field> {
        let mut field = json!({ "key": "k", "label": "K?" });
        field.as_object_mut().unwrap().extend(kind.as_object().unwrap().clone());
        serde_json::from_value(json!([field])).unwrap()
    }

    fn check(fields: &[Field], given: &Value) -> Result<Value, Vec<(String, String)>> {
        check_answers(fields, given.as_object().unwrap())
            .map(Value::from)
            .map_err(|issues| issues.into_iter().map(|issue| (issue.field, issue.message)).collect())
    }

    #[test]
    fn each_kind_takes_its_answers_and_says_what_it_wants_of_others() {
        let options = json!(["red", "blue"]);
        let id = "018f0000-0000-7000-8000-000000000000";
        for (kind, good, bad, wanted) in [
            (
                json!({ "type": "short_text", "minLength": 2 }),
                vec![json!("ab"), json!("äö")],
                vec![json!("a")],
                "at least 2 characters",
            ),
            (
                json!({ "type": "short_text", "maxLength": 1 }),
                vec![json!("a")],
                vec![json!("ab")],
                "at most 1 character",
            ),
            (json!({ "type": "short_text" }), vec![json!("x")], vec![json!("a\nb")], "a text on one line"),
            (
                json!({ "type": "long_text", "maxLength": 3 }),
                vec![json!("a\nb")],
                vec![json!("abcd")],
                "at most 3 characters",
            ),
            (json!({ "type": "number", "minimum": 1.5 }), vec![json!(1.5), json!(2)], vec![json!(1)], "at least 1.5"),
            (json!({ "type": "number" }), vec![json!(-1)], vec![json!("1"), json!(true)], "a number"),
            (json!({ "type": "integer", "maximum": 3 }), vec![json!(3)], vec![json!(4)], "at most 3"),
            (json!({ "type": "integer" }), vec![json!(0)], vec![json!(1.5), json!("1")], "a whole number"),
            (json!({ "type": "yes_no" }), vec![json!(true), json!(false)], vec![json!("true"), json!(1)], "yes or no"),
            (
                json!({ "type": "date" }),
                vec![json!("2026-02-28")],
                vec![json!("2026-02-30"), json!("2026-2-3")],
                "a day as YYYY-MM-DD",
            ),
            (
                json!({ "type": "date_time" }),
                vec![json!("2026-02-28T10:00:00+01:00")],
                vec![json!("2026-02-28T10:00:00"), json!("now")],
                "a date and time with its offset, as 2026-03-01T09:30:00Z",
            ),
            (
                json!({ "type": "single_choice", "options": options }),
                vec![json!("red")],
                vec![json!("Red"), json!(["red"])],
                "one of: red, blue",
            ),
            (
                json!({ "type": "multiple_choice", "options": options }),
                vec![json!(["red"]), json!(["blue", "red"])],
                vec![json!(["green"]), json!(["red", "red"]), json!(["red", 1])],
                "each at most once, one of: red, blue",
            ),
            (
                json!({ "type": "multiple_choice", "options": options, "maxItems": 1 }),
                vec![json!(["red"])],
                vec![json!(["red", "blue"])],
                "Choose at most 1",
            ),
            (
                json!({ "type": "text_list" }),
                vec![json!(["Kyoto", "Nara, Japan"]), json!(["a", "a"]), json!(vec!["x"; FIELD_TEXTS_MAX])],
                vec![json!(["a\nb"]), json!(["a", " "])],
                "one text on each line",
            ),
            (json!({ "type": "text_list" }), vec![], vec![json!("a"), json!([1])], "a list of texts"),
            (
                json!({ "type": "text_list", "minItems": 2 }),
                vec![json!(["a", "b"])],
                vec![json!(["a"])],
                "Enter at least 2, one on each line",
            ),
            (
                json!({ "type": "text_list", "maxItems": 2 }),
                vec![json!(["a", "b"])],
                vec![json!(["a", "b", "c"])],
                "Enter at most 2, one on each line",
            ),
            (
                json!({ "type": "text_list" }),
                vec![],
                vec![json!(vec!["x"; FIELD_TEXTS_MAX + 1])],
                "Enter at most 200, one on each line",
            ),
            (
                json!({ "type": "scale", "minimum": 1, "maximum": 5 }),
                vec![json!(1), json!(5)],
                vec![json!(0), json!(2.5)],
                "a whole number from 1 to 5",
            ),
            (
                json!({ "type": "entity", "entityType": "company" }),
                vec![json!(id)],
                vec![json!("acme")],
                "the id of an entity of type `company`",
            ),
            (
                json!({ "type": "email" }),
                vec![json!("ada@example.org"), json!("a.b+c@x.example.org")],
                vec![
                    json!("ada"),
                    json!("ada@host"),
                    json!("a b@x.org"),
                    json!("a@b@x.org"),
                    json!("a@-x.org"),
                    json!("<a@x.org>"),
                ],
                "an e-mail address, as ada@example.org",
            ),
            (
                json!({ "type": "url" }),
                vec![json!("https://example.org/a?b#c"), json!("HTTP://x")],
                vec![
                    json!("javascript:alert(1)"),
                    json!("https://"),
                    json!("https://a b"),
                    json!("//x"),
                    json!("https://user@x"),
                    json!("é"),
                ],
                "a URL that begins with https:// or http://",
            ),
        ] {
            let fields = one(kind.clone());
            for value in good {
                assert_eq!(check(&fields, &json!({ "k": value })).unwrap(), json!({ "k": value }), "{kind}");
            }
            for value in bad {
                let refused = check(&fields, &json!({ "k": value })).unwrap_err();
                assert_eq!(refused, [("k".to_owned(), wanted.to_owned())], "{kind} {value}");
            }
        }
    }

    #[test]
    fn a_rating_needs_a_value_for_each_dimension_but_texts() {
        let fields = one(json!({ "type": "rating", "criteriaSet": "tone", "dimensions": [
            { "slug": "safe", "type": "select", "options": ["pass", "fail"] },
            { "slug": "tone", "type": "scale", "min": 1, "max": 5 },
            { "slug": "note", "type": "text" },
        ] }));
        assert!(check(&fields, &json!({ "k": { "safe": "pass", "tone": 4 } })).is_ok());
        let refused = check(&fields, &json!({ "k": { "safe": "maybe", "tone": 6, "x": 1 } })).unwrap_err();
        let named: Vec<_> = refused.iter().map(|(field, _)| field.as_str()).collect();
        assert_eq!(named, ["k.x", "k.safe", "k.tone"]);
    }
}
