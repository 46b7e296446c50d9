//! Values of fields: checked against the type, parsed from text, and formatted as text.

use super::{FieldDef, FieldType};
use crate::{
    id::EntityId,
    issue::Issue,
    limit::FIELD_TEXT_CHARS_MAX,
    typed_number::{two_meanings, written_number},
};
use chrono::NaiveDate;
use serde_json::{Map, Value};

/// Values by slug of the field. A field without a value is absent.
pub type Values = Map<String, Value>;

/// Returns the values after a change. `null` clears a field; absent fields keep their values.
///
/// Only changed values are checked, so that entities can still be written after their type has changed. After
/// the change every required field must have a value. Values of fields that the type no longer has are dropped.
///
/// # Errors
/// One [`Issue`] for each invalid field, with its slug.
pub fn apply(fields: &[FieldDef], before: &Values, change: &Values) -> Result<Values, Vec<Issue>> {
    let mut issues = Vec::new();
    for slug in change.keys().filter(|slug| !fields.iter().any(|f| f.slug == **slug)) {
        issues.push(Issue::new(slug.as_str(), "this entity type has no such field"));
    }
    let mut after = Values::new();
    for field in fields {
        let given = change.get(&field.slug);
        let kept = before.get(&field.slug);
        let value = match given {
            Some(Value::Null) => None,
            Some(value) if Some(value) == kept => kept.cloned(),
            Some(value) => match check(field, value) {
                Ok(()) => Some(value.clone()),
                Err(message) => {
                    issues.push(Issue::new(field.slug.as_str(), message));
                    continue;
                }
            },
            None => kept.cloned(),
        };
        match value {
            Some(value) => {
                after.insert(field.slug.clone(), value);
            }
            None if field.required => issues.push(Issue::new(field.slug.as_str(), "needs a value")),
            None => {}
        }
    }
    if issues.is_empty() { Ok(after) } else { Err(issues) }
}

/// Checks that a JSON value is valid for a field. The error says what a valid value is.
fn check(field: &FieldDef, value: &Value) -> Result<(), String> {
    match (field.kind, value) {
        (FieldType::Text, Value::String(text)) => check_text(text),
        (FieldType::Text, _) => Err("a string".into()),
        (FieldType::Number, Value::Number(number)) if number.as_f64().is_some_and(f64::is_finite) => Ok(()),
        (FieldType::Number, _) => Err("a number".into()),
        (FieldType::Select, Value::String(text)) if field.options.contains(text) => Ok(()),
        (FieldType::Select, _) => Err(format!("one of: {}", field.options.join(", "))),
        (FieldType::Date, Value::String(text)) => check_date(text),
        (FieldType::Date, _) => Err("a day as YYYY-MM-DD".into()),
        (FieldType::Relation, Value::String(text)) if text.parse::<EntityId>().is_ok() => Ok(()),
        (FieldType::Relation, _) => {
            Err(format!("the id of an entity of type `{}`", field.relation_type.as_deref().unwrap_or_default()))
        }
    }
}

fn check_text(text: &str) -> Result<(), String> {
    if text.chars().count() > FIELD_TEXT_CHARS_MAX {
        return Err(format!("at most {FIELD_TEXT_CHARS_MAX} characters"));
    }
    if text.contains('\0') {
        return Err("no NUL characters".into());
    }
    Ok(())
}

fn check_date(text: &str) -> Result<(), String> {
    // chrono also accepts signs, one-digit months and years beyond 9999. The exact form gives each day one
    // text.
    let shape = |(at, byte): (usize, u8)| if at == 4 || at == 7 { byte == b'-' } else { byte.is_ascii_digit() };
    let exact =
        text.len() == 10 && text.bytes().enumerate().all(shape) && NaiveDate::parse_from_str(text, "%Y-%m-%d").is_ok();
    if exact { Ok(()) } else { Err("a day as YYYY-MM-DD".into()) }
}

/// Parses the text of a form or a CSV cell; `None` for an empty text.
///
/// # Errors
/// What a valid value is, for people.
pub fn parse_text(field: &FieldDef, text: &str) -> Result<Option<Value>, String> {
    let trimmed = text.trim();
    if trimmed.is_empty() {
        return Ok(None);
    }
    let value = match field.kind {
        FieldType::Text => Value::from(text),
        FieldType::Select | FieldType::Date | FieldType::Relation => Value::from(trimmed),
        FieldType::Number => {
            let read = written_number(trimmed);
            Value::Number(read.ok_or_else(|| two_meanings(trimmed).unwrap_or_else(|| "a number".to_owned()))?)
        }
    };
    check(field, &value).map(|()| Some(value))
}

/// Formats a value for people.
pub fn display_text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Number(number) => figure(number),
        other => other.to_string(),
    }
}

/// Significant digits to which a number with rounding errors is rounded.
const FIGURE_DIGITS: usize = 12;
/// Significant digits from which a number is taken to have rounding errors. People type fewer digits; sums of
/// decimals have this many.
const TAIL_DIGITS_MIN: usize = 16;

/// Formats a number without the rounding errors of binary arithmetic: 3.6099999999999977, a sum of decimals,
/// becomes 3.61. Whole numbers stay exact.
fn figure(number: &serde_json::Number) -> String {
    let text = number.to_string();
    let mantissa = text.split(['e', 'E']).next().unwrap_or_default();
    let digits = mantissa.trim_start_matches(['-', '0', '.']).bytes().filter(u8::is_ascii_digit).count();
    let Some(value) = number.as_f64().filter(|_| number.is_f64() && digits >= TAIL_DIGITS_MIN) else { return text };
    let rounded = format!("{value:.*e}", FIGURE_DIGITS - 1).parse().ok().and_then(serde_json::Number::from_f64);
    rounded.map_or(text, |rounded| rounded.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn figures_are_shown_as_people_write_them() {
        let text = |json: &str| display_text(&serde_json::from_str(json).unwrap());
        for (given, expected) in [
            ("3.6099999999999977", "3.61"),
            ("-0.30000000000000004", "-0.3"),
            ("1234567.8900000001", "1234567.89"),
            ("3.6099999999999977e-8", "3.61e-8"),
            ("0.1234567890123", "0.1234567890123"),
            ("1.5", "1.5"),
            ("2.0", "2.0"),
            ("18446744073709551615", "18446744073709551615"),
            ("9007199254740993", "9007199254740993"),
        ] {
            assert_eq!(text(given), expected, "{given}");
        }
    }

    fn field(kind: FieldType) -> FieldDef {
        FieldDef {
            slug: "f".into(),
            name: "F".into(),
            kind,
            required: false,
            options: vec!["Lead".into(), "Won".into()],
            relation_type: Some("company".into()),
        }
    }

    fn values(json: Value) -> Values {
        json.as_object().unwrap().clone()
    }

    #[test]
    fn each_type_takes_its_values_and_says_what_it_wants_of_others() {
        let id = "018f0000-0000-7000-8000-000000000000";
        for (kind, good, bad, wanted) in [
            (FieldType::Text, vec![json!("x"), json!("")], vec![json!(1), json!(["x"])], "a string"),
            (FieldType::Number, vec![json!(1), json!(-2.5)], vec![json!("1"), json!(true)], "a number"),
            (FieldType::Select, vec![json!("Lead")], vec![json!("lead"), json!(0)], "one of: Lead, Won"),
            (
                FieldType::Date,
                vec![json!("2026-02-28")],
                vec![json!("2026-02-30"), json!("2026-2-3"), json!("+026-02-03"), json!(1)],
                "a day as YYYY-MM-DD",
            ),
            (
                FieldType::Relation,
                vec![json!(id)],
                vec![json!("acme"), json!(7)],
                "the id of an entity of type `company`",
            ),
        ] {
            for value in good {
                let after = apply(&[field(kind)], &Values::new(), &values(json!({ "f": value }))).unwrap();
                assert_eq!(after.get("f"), Some(&value));
            }
            for value in bad {
                let refused = apply(&[field(kind)], &Values::new(), &values(json!({ "f": value }))).unwrap_err();
                assert_eq!(refused, [Issue::new("f", wanted)], "{value}");
            }
        }
        let long = "x".repeat(FIELD_TEXT_CHARS_MAX + 1);
        assert!(apply(&[field(FieldType::Text)], &Values::new(), &values(json!({ "f": long }))).is_err());
    }

    #[test]
    fn every_wrong_field_is_named_at_once() {
        let fields = [
            FieldDef { required: true, ..field(FieldType::Text) },
            FieldDef { slug: "n".into(), ..field(FieldType::Number) },
        ];
        let refused = apply(&fields, &Values::new(), &values(json!({ "n": "x", "zzz": 1 }))).unwrap_err();
        let named: Vec<_> = refused.iter().map(|i| i.field.as_str()).collect();
        assert_eq!(named, ["zzz", "f", "n"]);
    }

    #[test]
    fn null_clears_a_field_unless_it_is_required() {
        let before = values(json!({ "f": "x" }));
        let clear = values(json!({ "f": null }));
        assert!(apply(&[field(FieldType::Text)], &before, &clear).unwrap().is_empty());
        let required = FieldDef { required: true, ..field(FieldType::Text) };
        assert_eq!(apply(&[required], &before, &clear).unwrap_err(), [Issue::new("f", "needs a value")]);
    }

    #[test]
    fn a_value_that_its_type_no_longer_allows_stays_until_it_is_changed() {
        let fields = [field(FieldType::Select), FieldDef { slug: "n".into(), ..field(FieldType::Number) }];
        let before = values(json!({ "f": "Old", "gone": 1 }));
        let after = apply(&fields, &before, &values(json!({ "n": 1, "f": "Old" }))).unwrap();
        assert_eq!(Value::from(after), json!({ "f": "Old", "n": 1 }));
        assert!(apply(&fields, &before, &values(json!({ "f": "Older" }))).is_err());
    }

    #[test]
    fn text_of_forms_and_files_becomes_values() {
        assert_eq!(parse_text(&field(FieldType::Number), " 1_000 "), Err("a number".into()));
        assert_eq!(parse_text(&field(FieldType::Number), "NaN"), Err("a number".into()));
        assert_eq!(parse_text(&field(FieldType::Number), "1e999"), Err("a number".into()));
        assert_eq!(parse_text(&field(FieldType::Number), " 12.50 "), Ok(Some(json!(12.5))));
        assert_eq!(parse_text(&field(FieldType::Number), "12.500"), Ok(Some(json!(12.5))));
        assert_eq!(
            parse_text(&field(FieldType::Number), "9007199254740993"),
            Ok(Some(json!(9_007_199_254_740_993_i64)))
        );
        assert_eq!(parse_text(&field(FieldType::Select), " Won "), Ok(Some(json!("Won"))));
        assert_eq!(parse_text(&field(FieldType::Text), "  "), Ok(None));
    }

    fn any_json() -> impl Strategy<Value = Value> {
        prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
            "[0-9]{4}-[0-9]{2}-[0-9]{2}".prop_map(Value::from),
            prop::collection::vec(any::<u8>(), 0..3).prop_map(Value::from),
        ]
    }

    proptest! {
        #[test]
        fn what_is_accepted_is_accepted_again_and_shown_as_text_that_reads_back(value in any_json(), kind in 0..5_usize) {
            let fields = [field(FieldType::ALL[kind])];
            let change = values(json!({ "f": value }));
            if let Ok(after) = apply(&fields, &Values::new(), &change) {
                prop_assert_eq!(apply(&fields, &Values::new(), &after).unwrap(), after.clone());
                prop_assert_eq!(apply(&fields, &after, &Values::new()).unwrap(), after.clone());
                if let Some(value) = after.get("f") {
                    let back = parse_text(&fields[0], &display_text(value));
                    let blank = display_text(value).trim().is_empty();
                    prop_assert!(blank || matches!(back, Ok(Some(_))), "{value} came back as {back:?}");
                }
            }
        }

        #[test]
        fn no_text_panics_and_what_it_gives_fits_the_field(text in any::<String>(), kind in 0..5_usize) {
            let fields = [field(FieldType::ALL[kind])];
            if let Ok(Some(value)) = parse_text(&fields[0], &text) {
                let change = values(json!({ "f": value }));
                prop_assert!(apply(&fields, &Values::new(), &change).is_ok());
            }
        }
    }
}
