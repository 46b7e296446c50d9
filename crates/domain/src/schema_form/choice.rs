//! Values to choose from.

use crate::{entity::display_text, limit::SELECT_OPTIONS_MAX, line::without_overrides};
use serde_json::{Map, Value};
use std::collections::HashSet;

/// Label of a value that has no text.
const EMPTY: &str = "Empty";

/// One value to choose.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// The value of the input if it is chosen.
    pub value: Value,
    /// The value as the text of a control. Each choice of a control has another.
    pub text: String,
    /// The text that people read.
    pub label: String,
}

/// The values and labels of an enumeration: `enum` with its names, or `oneOf` and `anyOf` of constants.
pub(super) fn choices(members: &Map<String, Value>) -> Option<Vec<(Value, String)>> {
    if let Some(values) = members.get("enum").and_then(Value::as_array) {
        let names = members.get("enumNames").and_then(Value::as_array);
        let label = |(index, value): (usize, &Value)| {
            let name = names.and_then(|names| names.get(index)?.as_str());
            (value.clone(), name.map_or_else(|| display_text(value), str::to_owned))
        };
        return Some(values.iter().enumerate().map(label).collect());
    }
    let list = members.get("oneOf").or_else(|| members.get("anyOf")).and_then(Value::as_array)?;
    let constant = |one: &Value| {
        let value = one.get("const").filter(|value| !value.is_object() && !value.is_array())?;
        let title = text(one, "title");
        Some((value.clone(), if title.is_empty() { display_text(value) } else { title }))
    };
    let all: Option<Vec<_>> = list.iter().map(constant).collect();
    all.filter(|all| !all.is_empty())
}

fn with_texts(choices: Vec<(Value, String)>) -> Vec<Choice> {
    let mut all: Vec<Choice> = Vec::new();
    // An enumeration can have thousands of values.
    let (mut values, mut texts) = (HashSet::new(), HashSet::new());
    for (value, label) in choices {
        if !values.insert(value.to_string()) {
            continue;
        }
        let text = match &value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        // `1` and "1" are two values with one text.
        let is_taken = text.is_empty() || texts.contains(&text);
        let text = if is_taken { value.to_string() } else { text };
        texts.insert(text.clone());
        let label = if label.trim().is_empty() { EMPTY.to_owned() } else { without_overrides(&label) };
        all.push(Choice { value, text, label });
    }
    all
}

/// The choices of a control that takes one; `None` without any.
pub(super) fn one_of(choices: Vec<(Value, String)>) -> Option<Vec<Choice>> {
    let all = with_texts(choices);
    (!all.is_empty()).then_some(all)
}

/// The options of a group of check boxes; `None` if there are too many, or one is no line of text.
pub(super) fn boxes(choices: Vec<(Value, String)>) -> Option<Vec<Choice>> {
    let all = with_texts(choices);
    let is_line = |one: &Choice| one.text.trim() == one.text && !one.text.contains(['\n', '\r']);
    ((1..=SELECT_OPTIONS_MAX).contains(&all.len()) && all.iter().all(is_line)).then_some(all)
}

/// How many options a list takes, in words; empty if it takes any number of them.
pub(super) fn how_many(members: &Map<String, Value>) -> String {
    let bound = |name: &str| members.get(name).and_then(Value::as_u64);
    match (bound("minItems").filter(|least| *least > 0), bound("maxItems")) {
        (Some(least), Some(most)) if least == most => format!("Choose {least}."),
        (Some(least), Some(most)) => format!("Choose {least} to {most}."),
        (Some(least), None) => format!("Choose at least {least}."),
        (None, Some(most)) => format!("Choose at most {most}."),
        (None, None) => String::new(),
    }
}

/// The text of a member for people; empty if there is none. Schemas come from programs and servers, so characters that
/// override the direction of text are replaced: a label could look like another one.
pub(super) fn text(of: &Value, name: &str) -> String {
    without_overrides(of.get(name).and_then(Value::as_str).unwrap_or_default().trim())
}
