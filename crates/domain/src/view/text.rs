//! Answers as text: read from a form's fields and from a link, and shown to people.

use super::{Answers, Field, Kind, ZONE, join_instant, value::check_value};
use crate::{
    criteria_set::{Dimension, DimensionKind},
    typed_number::typed_number,
};
use serde_json::{Map, Value};

/// Reads the answers of a posted form. The name of a control is the field's key, for a rating `key.dimension`;
/// a multiple choice has one pair for each chosen option, a list of texts has one on each line, and a date and time
/// has its offset as `key.zone`. Names
/// that the view does not have are ignored, since forms have controls of their own. A text that is no valid answer
/// stays a text, so that the form can show it again beside the error.
pub fn from_form<'a>(fields: &[Field], pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Answers {
    let mut answers = Answers::new();
    let mut zones = Vec::new();
    for (name, text) in pairs {
        let (key, dimension) = name.split_once('.').map_or((name, None), |(key, slug)| (key, Some(slug)));
        let Some(field) = fields.iter().find(|field| field.key == key) else { continue };
        match (&field.kind, dimension) {
            (Kind::Rating { dimensions, .. }, Some(slug)) => {
                let Some(dimension) = dimensions.iter().find(|dimension| dimension.slug == slug) else { continue };
                let rating = answers.entry(key).or_insert_with(|| Value::Object(Map::new()));
                if let (Some(rating), false) = (rating.as_object_mut(), text.trim().is_empty()) {
                    rating.insert(slug.to_owned(), dimension_value(dimension, text));
                }
            }
            (Kind::DateTime, Some(ZONE)) => zones.push((key, text)),
            (Kind::Rating { .. }, None) | (_, Some(_)) => {}
            (Kind::MultipleChoice { .. }, None) => {
                let chosen = answers.entry(key).or_insert_with(|| Value::Array(Vec::new()));
                if let (Some(chosen), false) = (chosen.as_array_mut(), text.is_empty()) {
                    chosen.push(Value::from(text));
                }
            }
            (Kind::TextList { .. }, None) => {
                let typed = answers.entry(key).or_insert_with(|| Value::Array(Vec::new()));
                let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
                if let Some(typed) = typed.as_array_mut() {
                    typed.extend(lines.map(Value::from));
                }
            }
            (kind, None) => {
                if !text.trim().is_empty() {
                    answers.insert(key.to_owned(), value(kind, text));
                }
            }
        }
    }
    for (key, offset) in zones {
        if let Some(Value::String(text)) = answers.get_mut(key)
            && let Some(instant) = join_instant(text, offset)
        {
            *text = instant;
        }
    }
    answers
}

fn dimension_value(dimension: &Dimension, text: &str) -> Value {
    match dimension.kind {
        DimensionKind::Select | DimensionKind::Text => Value::from(text),
        DimensionKind::Number | DimensionKind::Scale => typed_number(text).map_or_else(|| text.into(), Value::Number),
    }
}

fn value(kind: &Kind, text: &str) -> Value {
    match kind {
        // Browsers send line ends as CR LF.
        Kind::LongText { .. } => Value::from(text.replace("\r\n", "\n")),
        Kind::ShortText { .. }
        | Kind::SingleChoice { .. }
        | Kind::MultipleChoice { .. }
        | Kind::TextList { .. }
        | Kind::Rating { .. } => Value::from(text),
        Kind::Number { .. } => typed_number(text).map_or_else(|| text.into(), Value::Number),
        Kind::Integer { .. } | Kind::Scale { .. } => {
            text.trim().parse::<i64>().map_or_else(|_| text.into(), Value::from)
        }
        Kind::YesNo => match text {
            "true" | "yes" => Value::Bool(true),
            "false" | "no" => Value::Bool(false),
            _ => Value::from(text),
        },
        Kind::Date | Kind::DateTime | Kind::Entity { .. } | Kind::Email | Kind::Url => Value::from(text.trim()),
    }
}

/// Reads answers from the query of a link. Only fields with `prefill` take one, each at most once and only if it
/// is valid; everything else in the link is ignored.
pub fn prefill<'a>(fields: &[Field], pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Answers {
    let open: Vec<Field> = fields.iter().filter(|field| field.prefill).cloned().collect();
    let mut answers = from_form(&open, pairs);
    answers.retain(|key, value| open.iter().any(|field| field.key == *key && check_value(field, value).is_ok()));
    answers
}

/// Formats an answer for people: labels of options instead of their values, yes and no. A rating is one
/// `name: value` for each dimension.
pub fn display_text(field: &Field, value: &Value) -> String {
    let plain = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    match (&field.kind, value) {
        (_, Value::Null) => String::new(),
        (Kind::YesNo, Value::Bool(yes)) => if *yes { "Yes" } else { "No" }.to_owned(),
        (Kind::SingleChoice { options }, value) => {
            let label = options.iter().find(|option| value == option.value.as_str());
            label.map_or_else(|| plain(value), |option| option.label.clone())
        }
        (Kind::MultipleChoice { options, .. }, Value::Array(chosen)) => {
            let label = |value: &Value| {
                let option = options.iter().find(|option| value == option.value.as_str());
                option.map_or_else(|| plain(value), |option| option.label.clone())
            };
            chosen.iter().map(label).collect::<Vec<_>>().join(", ")
        }
        (Kind::TextList { .. }, Value::Array(texts)) => texts.iter().map(plain).collect::<Vec<_>>().join(", "),
        (Kind::Rating { dimensions, .. }, Value::Object(rating)) => {
            let given = dimensions.iter().filter_map(|dimension| Some((dimension, rating.get(&dimension.slug)?)));
            let one = |(dimension, value): (&Dimension, &Value)| {
                let option = dimension.options.iter().find(|option| value == option.value.as_str());
                format!("{}: {}", dimension.name, option.map_or_else(|| plain(value), |option| option.label.clone()))
            };
            given.map(one).collect::<Vec<_>>().join("; ")
        }
        (_, value) => plain(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::check_answers;
    use serde_json::json;

    fn fields() -> Vec<Field> {
        serde_json::from_value(json!([
            { "key": "name", "label": "?", "type": "short_text", "prefill": true },
            { "key": "text", "label": "?", "type": "long_text" },
            { "key": "age", "label": "?", "type": "integer", "prefill": true },
            { "key": "ok", "label": "?", "type": "yes_no" },
            { "key": "team", "label": "?", "type": "multiple_choice", "options": [
                { "value": "r", "label": "Red" }, { "value": "b", "label": "Blue" } ] },
            { "key": "rate", "label": "?", "type": "rating", "criteriaSet": "tone", "dimensions": [
                { "slug": "safe", "name": "Safe", "type": "select", "options": ["pass"] },
                { "slug": "tone", "name": "Tone", "type": "scale", "min": 1, "max": 5 } ] },
        ]))
        .unwrap()
    }

    #[test]
    fn a_posted_form_becomes_answers_that_are_valid() {
        let posted = [
            ("name", "Ada"),
            ("text", "a\r\nb"),
            ("age", " 36 "),
            ("ok", "true"),
            ("team", "r"),
            ("team", "b"),
            ("rate.safe", "pass"),
            ("rate.tone", "4"),
            ("rate.other", "1"),
            ("csrf", "x"),
            ("name.x", "y"),
        ];
        let answers = from_form(&fields(), posted);
        let expected = json!({
            "name": "Ada", "text": "a\nb", "age": 36, "ok": true, "team": ["r", "b"],
            "rate": { "safe": "pass", "tone": 4 },
        });
        assert_eq!(Value::from(answers.clone()), expected);
        assert!(check_answers(&fields(), &answers).is_ok());
    }

    #[test]
    fn each_line_that_is_not_blank_is_a_text_of_a_list() {
        let stops: Vec<Field> =
            serde_json::from_value(json!([{ "key": "stops", "label": "?", "type": "text_list" }])).unwrap();
        let answers = from_form(&stops, [("stops", "Kyoto\r\n Nara \r\n\r\nOsaka, Japan")]);
        assert_eq!(Value::from(answers.clone()), json!({ "stops": ["Kyoto", "Nara", "Osaka, Japan"] }));
        assert!(check_answers(&stops, &answers).is_ok());
        assert_eq!(display_text(&stops[0], &answers["stops"]), "Kyoto, Nara, Osaka, Japan");
        assert_eq!(Value::from(from_form(&stops, [("stops", " \n")])), json!({ "stops": [] }));
    }

    #[test]
    fn a_time_and_its_offset_are_one_answer_whatever_their_order() {
        let when: Vec<Field> =
            serde_json::from_value(json!([{ "key": "when", "label": "?", "type": "date_time" }])).unwrap();
        let read = |pairs: [(&str, &str); 2]| Value::from(from_form(&when, pairs));
        let expected = json!({ "when": "2026-03-01T09:30:00+02:00" });
        assert_eq!(read([("when", "2026-03-01T09:30"), ("when.zone", "+02:00")]), expected);
        assert_eq!(read([("when.zone", "+02:00"), ("when", "2026-03-01T09:30")]), expected);
        let utc = json!({ "when": "2026-03-01T09:30:00Z" });
        assert_eq!(read([("when", "2026-03-01T09:30:00Z"), ("when.zone", "+02:00")]), utc, "it has an offset");
        assert_eq!(read([("when", "soon"), ("when.zone", "+02:00")]), json!({ "when": "soon" }));
        assert_eq!(read([("when", ""), ("when.zone", "+02:00")]), json!({}));
    }

    #[test]
    fn a_number_can_have_a_decimal_comma() {
        let share: Vec<Field> =
            serde_json::from_value(json!([{ "key": "share", "label": "?", "type": "number" }])).unwrap();
        assert_eq!(Value::from(from_form(&share, [("share", "1,5")])), json!({ "share": 1.5 }));
        let unclear = from_form(&share, [("share", "1,500")]);
        assert_eq!(Value::from(unclear.clone()), json!({ "share": "1,500" }));
        let issues = check_answers(&share, &unclear).unwrap_err();
        assert_eq!(issues[0].message, "1500 or 1.5; 1,500 can mean either");
    }

    #[test]
    fn a_text_that_is_no_answer_stays_as_it_was_typed() {
        let answers = from_form(&fields(), [("age", "many"), ("ok", "perhaps"), ("rate.tone", "high")]);
        let expected = json!({ "age": "many", "ok": "perhaps", "rate": { "tone": "high" } });
        assert_eq!(Value::from(answers.clone()), expected);
        assert_eq!(check_answers(&fields(), &answers).unwrap_err().len(), 4);
        assert!(from_form(&fields(), [("age", " "), ("name", "")]).is_empty());
    }

    #[test]
    fn a_link_gives_only_valid_answers_to_fields_that_take_them() {
        let link = [("name", "Ada"), ("age", "old"), ("text", "x"), ("ok", "true")];
        assert_eq!(Value::from(prefill(&fields(), link)), json!({ "name": "Ada" }));
        assert!(prefill(&fields(), [("name", "a\nb")]).is_empty());
    }

    #[test]
    fn answers_are_shown_with_labels() {
        let fields = fields();
        assert_eq!(display_text(&fields[3], &json!(false)), "No");
        assert_eq!(display_text(&fields[4], &json!(["r", "b"])), "Red, Blue");
        assert_eq!(display_text(&fields[5], &json!({ "safe": "pass", "tone": 4 })), "Safe: pass; Tone: 4");
        assert_eq!(display_text(&fields[2], &json!(36)), "36");
    }
}
