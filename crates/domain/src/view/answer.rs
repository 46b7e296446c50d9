//! The answers to a view and their check. The server and the form in the browser use the same functions.

use super::{
    Condition, Field, Kind, Test,
    value::{check_text, check_value, is_filled},
};
use crate::{
    issue::Issue,
    limit::{FIELD_TEXT_CHARS_MAX, VIEW_ANSWERS_BYTES_MAX},
};
use serde_json::{Map, Value};

/// Answers by key of the field. A field without an answer is absent.
pub type Answers = Map<String, Value>;

/// Returns the fields that apply to these answers, in order: those without a condition, and those whose
/// condition holds. Fields that the form does not show (`hidden`) are among them.
pub fn applicable<'a>(fields: &'a [Field], answers: &Answers) -> Vec<&'a Field> {
    let mut applying: Vec<&Field> = Vec::with_capacity(fields.len());
    for field in fields {
        let holds = field.show_if.as_ref().is_none_or(|condition| {
            let applies = applying.iter().any(|earlier| earlier.key == condition.field);
            let answer = answers.get(&condition.field).filter(|value| applies && is_filled(value));
            holds(condition, answer)
        });
        if holds {
            applying.push(field);
        }
    }
    applying
}

fn holds(condition: &Condition, answer: Option<&Value>) -> bool {
    let is = |wanted: &Value| match answer {
        Some(Value::Array(chosen)) => chosen.contains(wanted),
        Some(value) => same(value, wanted),
        None => false,
    };
    match &condition.test {
        Test::Equals(value) => is(value),
        Test::In(values) => values.iter().any(is),
        Test::Filled(filled) => answer.is_some() == *filled,
    }
}

/// Whether two JSON values are equal; the numbers 1 and 1.0 are.
fn same(a: &Value, b: &Value) -> bool {
    a == b || matches!((a.as_f64(), b.as_f64()), (Some(a), Some(b)) if a.to_bits() == b.to_bits())
}

/// Checks the answers of a submitted form and returns the ones that count: answers of fields that do not apply
/// and blank answers are dropped before anything is required.
///
/// # Errors
/// One [`Issue`] for each wrong or missing answer: its field is the key, or `key.dimension` in a rating. Keys
/// that the view does not have are issues too, and so are answers above [`VIEW_ANSWERS_BYTES_MAX`].
pub fn check_answers(fields: &[Field], given: &Answers) -> Result<Answers, Vec<Issue>> {
    let mut issues = unknown_keys(fields, given);
    let mut answers = Answers::new();
    for field in applicable(fields, given) {
        match given.get(&field.key).filter(|value| is_filled(value)) {
            Some(value) => match check_value(field, value) {
                Ok(()) => {
                    answers.insert(field.key.clone(), value.clone());
                }
                Err(refused) => issues.extend(refused),
            },
            None if field.required => issues.push(Issue::new(field.key.as_str(), needs(field))),
            None => {}
        }
    }
    issues.extend(too_large(given));
    if issues.is_empty() { Ok(answers) } else { Err(issues) }
}

/// Checks the answers of a draft: only their keys, their sizes and that they are of a form that can be shown
/// again. Unfinished answers, such as half of an e-mail address, are kept.
///
/// # Errors
/// One [`Issue`] for each refused answer.
pub fn check_draft(fields: &[Field], given: &Answers) -> Result<(), Vec<Issue>> {
    let mut issues = unknown_keys(fields, given);
    for (key, value) in given {
        let plain = |value: &Value| match value {
            Value::String(text) => check_text(text).is_ok(),
            Value::Null | Value::Bool(_) | Value::Number(_) => true,
            Value::Array(_) | Value::Object(_) => false,
        };
        let kept = match value {
            Value::Array(list) => list.iter().all(plain),
            Value::Object(object) => object.values().all(plain),
            value => plain(value),
        };
        if !kept {
            let message =
                format!("a value, a list or an object of values; texts of at most {FIELD_TEXT_CHARS_MAX} characters");
            issues.push(Issue::new(key.as_str(), message));
        }
    }
    issues.extend(too_large(given));
    if issues.is_empty() { Ok(()) } else { Err(issues) }
}

fn unknown_keys(fields: &[Field], given: &Answers) -> Vec<Issue> {
    let unknown = given.keys().filter(|key| !fields.iter().any(|field| field.key == **key));
    unknown.map(|key| Issue::new(key.as_str(), "this form has no such field")).collect()
}

fn too_large(given: &Answers) -> Option<Issue> {
    let bytes = serde_json::to_string(given).map_or(usize::MAX, |text| text.len());
    (bytes > VIEW_ANSWERS_BYTES_MAX)
        .then(|| Issue::new("", format!("all answers together have at most {VIEW_ANSWERS_BYTES_MAX} bytes")))
}

/// What a person reads about a required field without an answer.
fn needs(field: &Field) -> &'static str {
    match field.kind {
        Kind::SingleChoice { .. } | Kind::Scale { .. } => "Choose one",
        Kind::MultipleChoice { .. } => "Choose at least one",
        Kind::TextList { .. } => "Enter at least one",
        Kind::YesNo => "Choose yes or no",
        Kind::Rating { .. } => "Give a rating",
        Kind::ShortText { .. }
        | Kind::LongText { .. }
        | Kind::Number { .. }
        | Kind::Integer { .. }
        | Kind::Date
        | Kind::DateTime
        | Kind::Entity { .. }
        | Kind::Email
        | Kind::Url => "Needs an answer",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn fields(json: Value) -> Vec<Field> {
        serde_json::from_value(json).unwrap()
    }

    fn one(kind: Value) -> Vec<Field> {
        let mut field = json!({ "key": "k", "label": "K?" });
        field.as_object_mut().unwrap().extend(kind.as_object().unwrap().clone());
        fields(json!([field]))
    }

    fn check(fields: &[Field], given: &Value) -> Result<Value, Vec<(String, String)>> {
        check_answers(fields, given.as_object().unwrap())
            .map(Value::from)
            .map_err(|issues| issues.into_iter().map(|issue| (issue.field, issue.message)).collect())
    }

    #[test]
    fn a_field_that_does_not_apply_is_neither_required_nor_kept() {
        let fields = fields(json!([
            { "key": "drink", "label": "?", "type": "single_choice", "options": ["tea", "coffee"] },
            { "key": "milk", "label": "?", "type": "yes_no", "required": true, "showIf": { "field": "drink", "equals": "coffee" } },
            { "key": "kind", "label": "?", "type": "short_text", "required": true, "showIf": { "field": "milk", "equals": true } },
        ]));
        assert_eq!(
            check(&fields, &json!({ "drink": "tea", "milk": true, "kind": "oat" })).unwrap(),
            json!({ "drink": "tea" })
        );
        let refused = check(&fields, &json!({ "drink": "coffee" })).unwrap_err();
        assert_eq!(refused, [("milk".to_owned(), "Choose yes or no".to_owned())]);
        let refused = check(&fields, &json!({ "drink": "coffee", "milk": true, "kind": "  " })).unwrap_err();
        assert_eq!(refused, [("kind".to_owned(), "Needs an answer".to_owned())]);
        assert!(check(&fields, &json!({ "drink": "coffee", "milk": false })).is_ok());
    }

    #[test]
    fn unknown_keys_and_too_many_bytes_are_refused() {
        let fields = one(json!({ "type": "long_text" }));
        assert_eq!(check(&fields, &json!({ "other": 1 })).unwrap_err()[0].0, "other");
        let draft = |value: Value| check_draft(&fields, value.as_object().unwrap()).map_err(|issues| issues.len());
        assert_eq!(draft(json!({ "k": "half an ans" })), Ok(()));
        assert_eq!(draft(json!({ "k": [["deep"]] })), Err(1));
        assert_eq!(draft(json!({ "other": 1 })), Err(1));
        assert_eq!(draft(json!({ "k": vec!["x".repeat(FIELD_TEXT_CHARS_MAX); 7] })), Err(1));
    }

    proptest! {
        #[test]
        fn what_is_accepted_is_accepted_again(text in any::<String>(), number in any::<f64>(), kind in 0..8_usize) {
            let kinds = ["short_text", "long_text", "number", "integer", "yes_no", "date", "email", "url"];
            let fields = one(json!({ "type": kinds[kind] }));
            for value in [json!(text), json!(number), json!([text])] {
                let given = json!({ "k": value });
                if let Ok(answers) = check_answers(&fields, given.as_object().unwrap()) {
                    prop_assert_eq!(check_answers(&fields, &answers), Ok(answers.clone()));
                    prop_assert!(check_draft(&fields, &answers).is_ok());
                }
            }
        }
    }
}
