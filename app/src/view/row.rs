//! One field in the editor: the texts of its controls, and how they become a field. Several values in one control are
//! separated by `|`; a backslash escapes `|` and `\` inside a value.

use crate::text::parts::{escaped, split};
use domain::{
    slug::slugify,
    typed_number::{two_meanings, typed_number},
    view::{Choice, Condition, Field, Kind, Test, from_form},
};
use serde_json::Value;

/// The controls of one field, as text. Each is named `fields[N].PART`, where PART is the name of the member here in
/// camelCase.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Row {
    /// Key of the answer; derived from the question if empty.
    pub key: String,
    /// The question.
    pub label: String,
    /// Name of the kind, such as `short_text`.
    pub kind: String,
    /// Explanation below the question.
    pub help: String,
    /// Whether an answer is required.
    pub required: bool,
    /// Whether the form does not show the field.
    pub hidden: bool,
    /// Whether the link can give the answer.
    pub prefill: bool,
    /// Starting value; several chosen options are separated by `|`.
    pub default: String,
    /// Options, one per line: `value | label`, or the value alone.
    pub options: String,
    /// Fewest characters or options, or the least value.
    pub minimum: String,
    /// Most characters or options, or the greatest value.
    pub maximum: String,
    /// Meaning of the least value of a scale.
    pub low_label: String,
    /// Meaning of the greatest value of a scale.
    pub high_label: String,
    /// Slug of the criteria set of a rating, or of the type of a reference.
    pub of: String,
    /// Key of the earlier field on which this one depends; empty if it always applies.
    pub if_field: String,
    /// Name of the test: `equals`, `in`, `filled` or `empty`.
    pub if_test: String,
    /// What the earlier answer is compared with; several values are separated by `|`.
    pub if_value: String,
}

/// A part of a row that cannot be read, and what would be right.
pub type Unreadable = (&'static str, String);

impl Row {
    /// The controls of a stored field.
    pub fn of(field: &Field) -> Self {
        let mut row = Self {
            key: field.key.clone(),
            label: field.label.clone(),
            kind: field.kind.name().to_owned(),
            help: field.help.clone(),
            required: field.required,
            hidden: field.hidden,
            prefill: field.prefill,
            default: field.default.as_ref().map(written).unwrap_or_default(),
            ..Self::default()
        };
        row.fill_kind(&field.kind);
        if let Some(condition) = &field.show_if {
            row.if_field.clone_from(&condition.field);
            let (test, value) = match &condition.test {
                Test::Equals(value) => ("equals", written(value)),
                Test::In(values) => ("in", joined(values)),
                Test::Filled(true) => ("filled", String::new()),
                Test::Filled(false) => ("empty", String::new()),
            };
            (row.if_test, row.if_value) = (test.to_owned(), value);
        }
        row
    }

    fn fill_kind(&mut self, kind: &Kind) {
        let text = |bound: Option<String>| bound.unwrap_or_default();
        match kind {
            Kind::ShortText { min_length: least, max_length: most }
            | Kind::LongText { min_length: least, max_length: most } => {
                (self.minimum, self.maximum) = (text(least.map(|n| n.to_string())), text(most.map(|n| n.to_string())));
            }
            Kind::Number { minimum, maximum } => {
                self.minimum = text(minimum.map(|n| n.to_string()));
                self.maximum = text(maximum.map(|n| n.to_string()));
            }
            Kind::Integer { minimum, maximum } => {
                self.minimum = text(minimum.map(|n| n.to_string()));
                self.maximum = text(maximum.map(|n| n.to_string()));
            }
            Kind::SingleChoice { options } => self.options = lines(options),
            Kind::MultipleChoice { options, min_items, max_items } => {
                self.options = lines(options);
                self.minimum = text(min_items.map(|n| n.to_string()));
                self.maximum = text(max_items.map(|n| n.to_string()));
            }
            Kind::TextList { min_items: least, max_items: most } => {
                (self.minimum, self.maximum) = (text(least.map(|n| n.to_string())), text(most.map(|n| n.to_string())));
            }
            Kind::Scale { minimum, maximum, low_label, high_label } => {
                (self.minimum, self.maximum) = (minimum.to_string(), maximum.to_string());
                (self.low_label, self.high_label) = (low_label.clone(), high_label.clone());
            }
            Kind::Rating { criteria_set: of, .. } | Kind::Entity { entity_type: of } => self.of.clone_from(of),
            Kind::YesNo | Kind::Date | Kind::DateTime | Kind::Email | Kind::Url => {}
        }
    }

    /// Reads the field. `earlier` are the fields before it, on which its condition may depend. Parts that cannot be
    /// read are left out of the field and named.
    pub fn field(&self, earlier: &[Field]) -> (Field, Vec<Unreadable>) {
        let mut wrong = Vec::new();
        let key = if self.key.trim().is_empty() { key_of(&self.label) } else { self.key.trim().to_owned() };
        let mut field = Field {
            key,
            label: self.label.trim().to_owned(),
            help: self.help.trim().to_owned(),
            required: self.required,
            default: None,
            show_if: None,
            hidden: self.hidden,
            prefill: self.prefill,
            kind: self.kind(&mut wrong),
        };
        if !self.default.trim().is_empty() {
            field.default = answer(&field, &self.default);
        }
        if !self.if_field.trim().is_empty() {
            field.show_if = Some(self.condition(earlier));
        }
        (field, wrong)
    }

    fn condition(&self, earlier: &[Field]) -> Condition {
        let field = self.if_field.trim().to_owned();
        let asked = earlier.iter().find(|other| other.key == field);
        let value = |text: &str| asked.and_then(|asked| one(asked, text)).unwrap_or_else(|| Value::from(text.trim()));
        let test = match self.if_test.as_str() {
            "in" => Test::In(parts(&self.if_value).iter().map(|text| value(text.as_str())).collect()),
            "filled" => Test::Filled(true),
            "empty" => Test::Filled(false),
            _ => Test::Equals(value(&self.if_value)),
        };
        Condition { field, test }
    }

    fn kind(&self, wrong: &mut Vec<Unreadable>) -> Kind {
        match self.kind.as_str() {
            "long_text" => Kind::LongText {
                min_length: bound(&self.minimum, "minimum", wrong),
                max_length: bound(&self.maximum, "maximum", wrong),
            },
            "number" => Kind::Number {
                minimum: decimal(&self.minimum, "minimum", wrong),
                maximum: decimal(&self.maximum, "maximum", wrong),
            },
            "integer" => Kind::Integer {
                minimum: bound(&self.minimum, "minimum", wrong),
                maximum: bound(&self.maximum, "maximum", wrong),
            },
            "yes_no" => Kind::YesNo,
            "date" => Kind::Date,
            "date_time" => Kind::DateTime,
            "single_choice" => Kind::SingleChoice { options: read_lines(&self.options) },
            "multiple_choice" => Kind::MultipleChoice {
                options: read_lines(&self.options),
                min_items: bound(&self.minimum, "minimum", wrong),
                max_items: bound(&self.maximum, "maximum", wrong),
            },
            "text_list" => Kind::TextList {
                min_items: bound(&self.minimum, "minimum", wrong),
                max_items: bound(&self.maximum, "maximum", wrong),
            },
            "scale" => Kind::Scale {
                minimum: bound(&self.minimum, "minimum", wrong).unwrap_or(1),
                maximum: bound(&self.maximum, "maximum", wrong).unwrap_or(5),
                low_label: self.low_label.trim().to_owned(),
                high_label: self.high_label.trim().to_owned(),
            },
            "rating" => Kind::Rating { criteria_set: self.of.trim().to_owned(), dimensions: Vec::new() },
            "entity" => Kind::Entity { entity_type: self.of.trim().to_owned() },
            "email" => Kind::Email,
            "url" => Kind::Url,
            _ => Kind::ShortText {
                min_length: bound(&self.minimum, "minimum", wrong),
                max_length: bound(&self.maximum, "maximum", wrong),
            },
        }
    }
}

/// The name of the control in a row that a part of a field's path is about.
pub fn control_of(part: &str) -> &str {
    match part {
        "minLength" | "minItems" => "minimum",
        "maxLength" | "maxItems" => "maximum",
        "criteriaSet" | "entityType" => "of",
        "showIf" | "showIf.in" => "ifValue",
        "showIf.field" => "ifField",
        part if part.starts_with("options") => "options",
        part => part,
    }
}

fn bound<T: std::str::FromStr>(text: &str, part: &'static str, wrong: &mut Vec<Unreadable>) -> Option<T> {
    let text = text.trim();
    if text.is_empty() {
        return None;
    }
    let read = text.parse().ok();
    if read.is_none() {
        wrong.push((part, "a number".to_owned()));
    }
    read
}

/// A bound that can have decimals.
fn decimal(text: &str, part: &'static str, wrong: &mut Vec<Unreadable>) -> Option<f64> {
    if text.trim().is_empty() {
        return None;
    }
    let read = typed_number(text).and_then(|number| number.as_f64());
    if read.is_none() {
        wrong.push((part, two_meanings(text).unwrap_or_else(|| "a number".to_owned())));
    }
    read
}

/// The answer that a text means for this field.
fn answer(field: &Field, text: &str) -> Option<Value> {
    match field.kind {
        Kind::MultipleChoice { .. } | Kind::TextList { .. } => read(field, parts(text).iter().map(String::as_str)),
        _ => read(field, [text]),
    }
}

/// The single value that a text means for this field: for a multiple choice, one option; for a list, one text.
fn one(field: &Field, text: &str) -> Option<Value> {
    let text = if matches!(field.kind, Kind::MultipleChoice { .. }) { text.trim() } else { text };
    match read(field, [text])? {
        Value::Array(chosen) => chosen.into_iter().next(),
        value => Some(value),
    }
}

fn read<'a>(field: &'a Field, texts: impl IntoIterator<Item = &'a str>) -> Option<Value> {
    let pairs = texts.into_iter().map(|text| (field.key.as_str(), text));
    from_form(std::slice::from_ref(field), pairs).remove(&field.key)
}

fn parts(text: &str) -> Vec<String> {
    split(text).into_iter().filter(|part| !part.is_empty()).collect()
}

fn written(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(values) => joined(values),
        value => value.to_string(),
    }
}

fn joined(values: &[Value]) -> String {
    values.iter().map(|value| escaped(&written(value))).collect::<Vec<_>>().join(" | ")
}

fn lines(options: &[Choice]) -> String {
    let line = |option: &Choice| {
        let value = escaped(&option.value);
        if option.label == option.value { value } else { format!("{value} | {}", escaped(&option.label)) }
    };
    options.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn read_lines(text: &str) -> Vec<Choice> {
    let option = |line: &str| {
        let mut parts = split(line);
        let value = parts.remove(0);
        // Any further `|` belongs to the label.
        let label = if parts.is_empty() { value.clone() } else { parts.join(" | ") };
        Choice { value, label }
    };
    text.lines().filter(|line| !line.trim().is_empty()).map(option).collect()
}

/// A key made of the question's first words.
fn key_of(label: &str) -> String {
    let short: String = label.chars().take(40).collect();
    let key = slugify(&short).unwrap_or_default().replace('-', "_");
    if key.starts_with(|c: char| c.is_ascii_digit()) { format!("q_{key}") } else { key }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_field_of_each_kind_survives_the_editor() {
        let fields: Vec<Field> = serde_json::from_value(json!([
            { "key": "a", "label": "A?", "type": "short_text", "minLength": 1, "maxLength": 20, "prefill": true },
            { "key": "b", "label": "B?", "type": "number", "minimum": -1.5, "default": 2.5 },
            { "key": "c", "label": "C?", "type": "integer", "maximum": 9, "default": 3 },
            { "key": "d", "label": "D?", "type": "yes_no", "default": true },
            { "key": "e", "label": "E?", "type": "single_choice", "options": [{ "value": "x", "label": "Ex" }, "y"],
              "showIf": { "field": "d", "equals": true } },
            { "key": "f", "label": "F?", "type": "multiple_choice", "options": ["x", "y"], "minItems": 1,
              "default": ["x", "y"], "showIf": { "field": "c", "in": [1, 2] } },
            { "key": "g", "label": "G?", "type": "scale", "minimum": 1, "maximum": 7, "lowLabel": "bad",
              "showIf": { "field": "f", "equals": "x" } },
            { "key": "h", "label": "H?", "type": "rating", "criteriaSet": "tone" },
            { "key": "i", "label": "I?", "type": "entity", "entityType": "company", "hidden": true },
            { "key": "j", "label": "J?", "type": "date_time", "showIf": { "field": "a", "filled": false } },
            { "key": "k", "label": "K?", "type": "multiple_choice", "default": ["a|b", r"c\d"],
              "options": [{ "value": "a|b", "label": "A | B" }, r"c\d", { "value": "e", "label": r"\|" }] },
            { "key": "l", "label": "L?", "type": "single_choice", "options": ["f|g", "h"], "default": "f|g",
              "showIf": { "field": "k", "equals": "a|b" } },
            { "key": "m", "label": "M?", "type": "long_text", "default": "one | two\n\\three",
              "showIf": { "field": "l", "in": ["f|g", "h"] } },
        ]))
        .unwrap();
        let mut read = Vec::new();
        for field in &fields {
            let (again, wrong) = Row::of(field).field(&read);
            assert!(wrong.is_empty(), "{wrong:?}");
            read.push(again);
        }
        assert_eq!(read, fields);
    }

    #[test]
    fn what_is_no_number_is_named_and_a_key_comes_from_the_question() {
        let row = Row { label: "How was it?".into(), kind: "integer".into(), minimum: "few".into(), ..Row::default() };
        let (field, wrong) = row.field(&[]);
        assert_eq!((field.key.as_str(), wrong[0].0), ("how_was_it", "minimum"));
        assert_eq!(key_of("2 things"), "q_2_things");
    }

    #[test]
    fn the_path_of_an_error_leads_to_its_control() {
        assert_eq!(control_of("options[2].value"), "options");
        assert_eq!(control_of("maxItems"), "maximum");
        assert_eq!(control_of("showIf.field"), "ifField");
        assert_eq!(control_of("label"), "label");
    }
}
