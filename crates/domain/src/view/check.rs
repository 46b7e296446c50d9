//! Checks of a view's fields.

use super::{Answers, Choice, Field, Kind, Test, value::check_value};
use crate::{
    issue::Issue,
    limit::{
        CRITERIA_SCALE_STEPS_MAX, FIELD_TEXT_CHARS_MAX, FIELD_TEXTS_MAX, NAME_CHARS_MAX, SELECT_OPTIONS_MAX,
        TITLE_CHARS_MAX, VIEW_FIELDS_MAX, VIEW_HELP_CHARS_MAX, VIEW_KEY_CHARS_MAX,
    },
    line::{label_problem, option_problem},
    slug::is_slug,
};
use std::collections::BTreeSet;

/// Names that JavaScript objects give a meaning of their own. Agents and pages written in JavaScript read
/// answers, so no field has one of these keys.
const KEYS_REFUSED: [&str; 3] = ["__proto__", "constructor", "prototype"];

/// Returns every problem of a view's fields, with its path; none if they are valid. The caller checks whether
/// criteria sets and entity types exist.
pub fn check_fields(fields: &[Field]) -> Vec<Issue> {
    let mut issues = Vec::new();
    if fields.len() > VIEW_FIELDS_MAX {
        issues.push(Issue::new("fields", format!("at most {VIEW_FIELDS_MAX} fields")));
    }
    let mut keys = BTreeSet::new();
    for (index, field) in fields.iter().enumerate() {
        let at = |part: &str| format!("fields[{index}].{part}");
        if !is_key(&field.key) {
            let message = format!("a letter, then letters, digits, `_` or `-`, at most {VIEW_KEY_CHARS_MAX}");
            issues.push(Issue::new(at("key"), message));
        } else if !keys.insert(field.key.as_str()) {
            issues.push(Issue::new(at("key"), format!("another field has the key `{}`", field.key)));
        }
        if let Some(problem) = label_problem(&field.label, TITLE_CHARS_MAX) {
            issues.push(Issue::new(at("label"), problem));
        }
        if field.help.chars().count() > VIEW_HELP_CHARS_MAX || field.help.contains('\0') {
            issues.push(Issue::new(at("help"), format!("at most {VIEW_HELP_CHARS_MAX} characters, none of them NUL")));
        }
        check_kind(&field.kind, &at, &mut issues);
        if let Some(default) = &field.default {
            // The value of a rating depends on dimensions that are not known before publishing.
            let refused = match field.kind.dimensions() {
                Some(_) => vec![Issue::new("", "a rating has no default")],
                None => check_value(field, default).err().unwrap_or_default(),
            };
            issues.extend(refused.into_iter().map(|issue| Issue::new(at("default"), issue.message)));
        }
        check_condition(field, &fields[..index], &at, &mut issues);
        if field.hidden && field.required && field.default.is_none() && !field.prefill {
            let message = "no one can answer it: a hidden field that is required needs `prefill` or `default`";
            issues.push(Issue::new(at("required"), message));
        }
        if field.prefill && matches!(field.kind, Kind::YesNo | Kind::Rating { .. }) {
            issues.push(Issue::new(at("prefill"), "a link must not consent or judge for a person"));
        }
    }
    issues
}

/// Whether `text` can be the key of a field.
fn is_key(text: &str) -> bool {
    text.len() <= VIEW_KEY_CHARS_MAX
        && text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
        && !KEYS_REFUSED.contains(&text)
}

fn check_condition(field: &Field, earlier: &[Field], at: &impl Fn(&str) -> String, issues: &mut Vec<Issue>) {
    let Some(condition) = &field.show_if else { return };
    let Some(asked) = earlier.iter().find(|other| other.key == condition.field) else {
        issues.push(Issue::new(at("showIf.field"), "the key of an earlier field"));
        return;
    };
    let values = match &condition.test {
        Test::Equals(value) => std::slice::from_ref(value),
        Test::In(values) => values.as_slice(),
        Test::Filled(_) => return,
    };
    if asked.kind.dimensions().is_some() {
        issues.push(Issue::new(at("showIf"), "a rating can only be asked whether it is `filled`"));
        return;
    }
    if values.is_empty() || values.len() > SELECT_OPTIONS_MAX {
        issues.push(Issue::new(at("showIf.in"), format!("1 to {SELECT_OPTIONS_MAX} values")));
    }
    // A condition on a multiple choice asks for one of its options, and one on a list for one of its texts.
    let kind = match &asked.kind {
        Kind::MultipleChoice { options, .. } => Kind::SingleChoice { options: options.clone() },
        Kind::TextList { .. } => Kind::ShortText { min_length: None, max_length: None },
        kind => kind.clone(),
    };
    let one = Field { kind, ..asked.clone() };
    for value in values {
        for issue in check_value(&one, value).err().unwrap_or_default() {
            let message = format!("`{}` cannot have the value {value}: {}", asked.key, issue.message);
            issues.push(Issue::new(at("showIf"), message));
        }
    }
}

fn check_kind(kind: &Kind, at: &impl Fn(&str) -> String, issues: &mut Vec<Issue>) {
    let mut refuse = |part: &str, message: String| issues.push(Issue::new(at(part), message));
    match kind {
        Kind::ShortText { min_length, max_length } | Kind::LongText { min_length, max_length } => {
            let most = max_length.map_or(FIELD_TEXT_CHARS_MAX, |n| n as usize);
            if most == 0 || most > FIELD_TEXT_CHARS_MAX {
                refuse("maxLength", format!("1 to {FIELD_TEXT_CHARS_MAX}"));
            } else if min_length.is_some_and(|least| least as usize > most) {
                refuse("minLength", format!("at most maxLength, {most}"));
            }
        }
        Kind::Number { minimum: Some(least), maximum: Some(most) } if least > most => {
            refuse("minimum", format!("at most maximum, {most}"));
        }
        Kind::Integer { minimum: Some(least), maximum: Some(most) } if least > most => {
            refuse("minimum", format!("at most maximum, {most}"));
        }
        Kind::SingleChoice { options } => check_options(options, &mut refuse),
        Kind::MultipleChoice { options, min_items, max_items } => {
            check_options(options, &mut refuse);
            let most = max_items.map_or(options.len(), |n| n as usize);
            if most == 0 || most > options.len() {
                refuse("maxItems", format!("1 to the number of options, {}", options.len()));
            } else if min_items.is_some_and(|least| least as usize > most) {
                refuse("minItems", format!("at most {most}"));
            }
        }
        Kind::TextList { min_items, max_items } => {
            let most = max_items.map_or(FIELD_TEXTS_MAX, |n| n as usize);
            if most == 0 || most > FIELD_TEXTS_MAX {
                refuse("maxItems", format!("1 to {FIELD_TEXTS_MAX}"));
            } else if min_items.is_some_and(|least| least as usize > most) {
                refuse("minItems", format!("at most {most}"));
            }
        }
        Kind::Scale { minimum, maximum, low_label, high_label } => {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small positive constant")]
            let steps = CRITERIA_SCALE_STEPS_MAX as u64;
            if minimum >= maximum || minimum.abs_diff(*maximum) > steps {
                refuse("maximum", format!("1 to {steps} more than minimum"));
            }
            for (part, label) in [("lowLabel", low_label), ("highLabel", high_label)] {
                if let Some(problem) = label_problem(label, NAME_CHARS_MAX).filter(|_| !label.is_empty()) {
                    refuse(part, problem);
                }
            }
        }
        Kind::Rating { criteria_set, .. } if !is_slug(criteria_set) => {
            refuse("criteriaSet", "the slug of a criteria set".to_owned());
        }
        Kind::Entity { entity_type } if !is_slug(entity_type) => {
            refuse("entityType", "the slug of an entity type".to_owned());
        }
        Kind::Number { .. }
        | Kind::Integer { .. }
        | Kind::YesNo
        | Kind::Date
        | Kind::DateTime
        | Kind::Rating { .. }
        | Kind::Entity { .. }
        | Kind::Email
        | Kind::Url => {}
    }
}

fn check_options(options: &[Choice], refuse: &mut impl FnMut(&str, String)) {
    if options.is_empty() || options.len() > SELECT_OPTIONS_MAX {
        refuse("options", format!("1 to {SELECT_OPTIONS_MAX} options"));
    }
    let mut seen = BTreeSet::new();
    for (index, option) in options.iter().enumerate() {
        if let Some(problem) = option_problem(&option.value, NAME_CHARS_MAX) {
            refuse(&format!("options[{index}].value"), problem);
        } else if !seen.insert(&option.value) {
            refuse(&format!("options[{index}].value"), format!("`{}` is listed twice", option.value));
        } else if let Some(problem) = label_problem(&option.label, NAME_CHARS_MAX) {
            refuse(&format!("options[{index}].label"), problem);
        }
    }
}

/// The answers that a form shows at first: the defaults of its fields.
pub fn defaults(fields: &[Field]) -> Answers {
    fields.iter().filter_map(|field| Some((field.key.clone(), field.default.clone()?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn issues(fields: Value) -> Vec<String> {
        let fields: Vec<Field> = serde_json::from_value(fields).unwrap();
        check_fields(&fields).into_iter().map(|issue| issue.field).collect()
    }

    #[test]
    fn each_wrong_part_of_a_field_is_named_by_its_path() {
        for (field, path) in [
            (json!({ "key": "1a", "label": "?", "type": "yes_no" }), "fields[0].key"),
            (json!({ "key": "constructor", "label": "?", "type": "yes_no" }), "fields[0].key"),
            (json!({ "key": "a", "label": " ", "type": "yes_no" }), "fields[0].label"),
            (json!({ "key": "a", "label": "?", "type": "yes_no", "default": "yes" }), "fields[0].default"),
            (json!({ "key": "a", "label": "?", "type": "short_text", "maxLength": 0 }), "fields[0].maxLength"),
            (
                json!({ "key": "a", "label": "?", "type": "short_text", "minLength": 3, "maxLength": 2 }),
                "fields[0].minLength",
            ),
            (json!({ "key": "a", "label": "?", "type": "number", "minimum": 2, "maximum": 1 }), "fields[0].minimum"),
            (json!({ "key": "a", "label": "?", "type": "single_choice", "options": [] }), "fields[0].options"),
            (
                json!({ "key": "a", "label": "?", "type": "single_choice", "options": ["x", "x"] }),
                "fields[0].options[1].value",
            ),
            (
                json!({ "key": "a", "label": "?", "type": "multiple_choice", "options": ["x"], "maxItems": 2 }),
                "fields[0].maxItems",
            ),
            (json!({ "key": "a", "label": "?", "type": "scale", "minimum": 5, "maximum": 5 }), "fields[0].maximum"),
            (
                json!({ "key": "a", "label": "?", "type": "single_choice", "options": ["x", "y\u{202e}"] }),
                "fields[0].options[1].value",
            ),
            (
                json!({
                    "key": "a", "label": "?", "type": "scale", "minimum": 1, "maximum": 5, "lowLabel": "bad\u{2066}",
                }),
                "fields[0].lowLabel",
            ),
            (json!({ "key": "a", "label": "?", "type": "rating", "criteriaSet": "A b" }), "fields[0].criteriaSet"),
            (
                json!({ "key": "a", "label": "?", "type": "email", "hidden": true, "required": true }),
                "fields[0].required",
            ),
            (json!({ "key": "a", "label": "?", "type": "yes_no", "prefill": true }), "fields[0].prefill"),
            (
                json!({ "key": "a", "label": "?", "type": "yes_no", "showIf": { "field": "a", "filled": true } }),
                "fields[0].showIf.field",
            ),
        ] {
            assert_eq!(issues(json!([field])), [path], "{field}");
        }
        let yes = json!({ "key": "a", "label": "?", "type": "yes_no" });
        assert_eq!(issues(json!([yes, yes])), ["fields[1].key"]);
        let many: Vec<_> =
            (0..=VIEW_FIELDS_MAX).map(|n| json!({ "key": format!("k{n}"), "label": "?", "type": "yes_no" })).collect();
        assert_eq!(issues(Value::from(many)), ["fields"]);
    }

    #[test]
    fn a_condition_names_an_earlier_field_and_a_value_that_it_can_have() {
        let first = json!({ "key": "team", "label": "?", "type": "multiple_choice", "options": ["red", "blue"] });
        let second = |condition: Value| json!({ "key": "b", "label": "?", "type": "yes_no", "showIf": condition });
        assert!(issues(json!([first, second(json!({ "field": "team", "equals": "red" }))])).is_empty());
        assert_eq!(issues(json!([first, second(json!({ "field": "team", "equals": "green" }))])), ["fields[1].showIf"]);
        assert_eq!(
            issues(json!([second(json!({ "field": "team", "filled": true })), first])),
            ["fields[0].showIf.field"]
        );
        assert_eq!(issues(json!([first, second(json!({ "field": "team", "in": [] }))])), ["fields[1].showIf.in"]);
        let rating = json!({ "key": "team", "label": "?", "type": "rating", "criteriaSet": "safety" });
        assert!(issues(json!([rating, second(json!({ "field": "team", "filled": true }))])).is_empty());
        for asked in [json!({ "field": "team", "equals": {} }), json!({ "field": "team", "in": [1, 2] })] {
            assert_eq!(issues(json!([rating, second(asked)])), ["fields[1].showIf"]);
        }
    }
}
