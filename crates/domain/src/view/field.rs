//! The fields of a view, in the form in which they are stored and sent.

use crate::criteria_set::Dimension;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One option of a choice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    /// Value that an answer holds.
    pub value: String,
    /// Label that people read.
    pub label: String,
}

/// What a condition asks of an earlier answer. Exactly one test is in a condition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Test {
    /// The answer is this value. For a multiple choice: this value is one of the chosen ones.
    Equals(Value),
    /// The answer is one of these values. For a multiple choice: one of the chosen ones is.
    In(Vec<Value>),
    /// Whether there is an answer.
    Filled(bool),
}

/// A condition under which a field applies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Condition {
    /// Key of an earlier field. If that field does not apply itself, it counts as not answered.
    pub field: String,
    /// The conditions on its answer.
    #[serde(flatten)]
    pub test: Test,
}

/// The kind of a field with the limits of its answers.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Kind {
    /// A text on one line.
    ShortText {
        /// Fewest characters.
        #[serde(skip_serializing_if = "Option::is_none")]
        min_length: Option<u32>,
        /// Most characters.
        #[serde(skip_serializing_if = "Option::is_none")]
        max_length: Option<u32>,
    },
    /// A text of several lines.
    LongText {
        /// Fewest characters.
        #[serde(skip_serializing_if = "Option::is_none")]
        min_length: Option<u32>,
        /// Most characters.
        #[serde(skip_serializing_if = "Option::is_none")]
        max_length: Option<u32>,
    },
    /// A finite number.
    Number {
        /// Least value.
        #[serde(skip_serializing_if = "Option::is_none")]
        minimum: Option<f64>,
        /// Greatest value.
        #[serde(skip_serializing_if = "Option::is_none")]
        maximum: Option<f64>,
    },
    /// A whole number.
    Integer {
        /// Least value.
        #[serde(skip_serializing_if = "Option::is_none")]
        minimum: Option<i64>,
        /// Greatest value.
        #[serde(skip_serializing_if = "Option::is_none")]
        maximum: Option<i64>,
    },
    /// `true` or `false`.
    YesNo,
    /// A day, `YYYY-MM-DD`.
    Date,
    /// An instant with its offset (RFC 3339).
    DateTime,
    /// One of the options.
    SingleChoice {
        /// Options in the order in which pages show them.
        options: Vec<Choice>,
    },
    /// Any number of the options, each at most once.
    MultipleChoice {
        /// Options in the order in which pages show them.
        options: Vec<Choice>,
        /// Fewest options to choose.
        #[serde(skip_serializing_if = "Option::is_none")]
        min_items: Option<u32>,
        /// Most options to choose.
        #[serde(skip_serializing_if = "Option::is_none")]
        max_items: Option<u32>,
    },
    /// A list of texts of one line each, in the order in which they were typed.
    TextList {
        /// Fewest texts.
        #[serde(skip_serializing_if = "Option::is_none")]
        min_items: Option<u32>,
        /// Most texts.
        #[serde(skip_serializing_if = "Option::is_none")]
        max_items: Option<u32>,
    },
    /// A whole number from `minimum` to `maximum`, shown as a row of buttons.
    Scale {
        /// Least value.
        minimum: i64,
        /// Greatest value.
        maximum: i64,
        /// Meaning of the least value; may be empty.
        #[serde(skip_serializing_if = "String::is_empty")]
        low_label: String,
        /// Meaning of the greatest value; may be empty.
        #[serde(skip_serializing_if = "String::is_empty")]
        high_label: String,
    },
    /// A judgement by the dimensions of a criteria set: an object with a value for each dimension's slug.
    Rating {
        /// Slug of the criteria set.
        criteria_set: String,
        /// The set's dimensions, copied when the version is published, so that the version never changes. Empty
        /// before.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        dimensions: Vec<Dimension>,
    },
    /// The id of an entity.
    Entity {
        /// Slug of the entity's type.
        entity_type: String,
    },
    /// An e-mail address.
    Email,
    /// An absolute `http` or `https` URL.
    Url,
}

impl Kind {
    /// The stored and wire name of the kind, without its limits.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::ShortText { .. } => "short_text",
            Self::LongText { .. } => "long_text",
            Self::Number { .. } => "number",
            Self::Integer { .. } => "integer",
            Self::YesNo => "yes_no",
            Self::Date => "date",
            Self::DateTime => "date_time",
            Self::SingleChoice { .. } => "single_choice",
            Self::MultipleChoice { .. } => "multiple_choice",
            Self::TextList { .. } => "text_list",
            Self::Scale { .. } => "scale",
            Self::Rating { .. } => "rating",
            Self::Entity { .. } => "entity",
            Self::Email => "email",
            Self::Url => "url",
        }
    }

    /// Dimensions by which a rating judges; empty before its version is published. `None` for other kinds.
    pub fn dimensions(&self) -> Option<&[Dimension]> {
        match self {
            Self::Rating { dimensions, .. } => Some(dimensions),
            Self::ShortText { .. }
            | Self::LongText { .. }
            | Self::Number { .. }
            | Self::Integer { .. }
            | Self::YesNo
            | Self::Date
            | Self::DateTime
            | Self::SingleChoice { .. }
            | Self::MultipleChoice { .. }
            | Self::TextList { .. }
            | Self::Scale { .. }
            | Self::Entity { .. }
            | Self::Email
            | Self::Url => None,
        }
    }

    /// Slug of the type of the entity that is asked for. `None` for kinds that ask for no entity.
    pub fn entity_type(&self) -> Option<&str> {
        match self {
            Self::Entity { entity_type } => Some(entity_type),
            Self::ShortText { .. }
            | Self::LongText { .. }
            | Self::Number { .. }
            | Self::Integer { .. }
            | Self::YesNo
            | Self::Date
            | Self::DateTime
            | Self::SingleChoice { .. }
            | Self::MultipleChoice { .. }
            | Self::TextList { .. }
            | Self::Scale { .. }
            | Self::Rating { .. }
            | Self::Email
            | Self::Url => None,
        }
    }
}

/// One field of a view.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Field {
    /// Key of the answer. It is unique in the view.
    pub key: String,
    /// Question that people read.
    pub label: String,
    /// Explanation below the question; may be empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub help: String,
    /// Whether a submitted form must have an answer if the field applies.
    pub required: bool,
    /// Answer that the form shows at first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
    /// Condition under which the field applies; always without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub show_if: Option<Condition>,
    /// Whether the form does not show the field. Its answer comes from the link.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub hidden: bool,
    /// Whether the link can give the answer that the form shows at first.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub prefill: bool,
    /// Kind of the answers.
    #[serde(flatten)]
    pub kind: Kind,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(value: Value) -> Result<Field, String> {
        serde_json::from_value(value).map_err(|error| error.to_string())
    }

    #[test]
    fn a_field_of_each_kind_reads_back_as_it_was_written() {
        for kind in [
            json!({ "type": "short_text", "minLength": 1, "maxLength": 20 }),
            json!({ "type": "long_text" }),
            json!({ "type": "number", "minimum": -1.5, "maximum": 2.5 }),
            json!({ "type": "integer", "minimum": 1 }),
            json!({ "type": "yes_no" }),
            json!({ "type": "date" }),
            json!({ "type": "date_time" }),
            json!({ "type": "single_choice", "options": [{ "value": "a", "label": "A" }] }),
            json!({ "type": "multiple_choice", "options": [{ "value": "a", "label": "A" }], "maxItems": 1 }),
            json!({ "type": "text_list", "minItems": 1, "maxItems": 3 }),
            json!({ "type": "scale", "minimum": 1, "maximum": 5, "lowLabel": "bad" }),
            json!({ "type": "rating", "criteriaSet": "tone" }),
            json!({ "type": "entity", "entityType": "company" }),
            json!({ "type": "email" }),
            json!({ "type": "url" }),
        ] {
            let mut whole = json!({
                "key": "k", "label": "K?", "required": true,
                "showIf": { "field": "before", "in": ["a", "b"] },
            });
            whole.as_object_mut().unwrap().extend(kind.as_object().unwrap().clone());
            let field = read(whole.clone()).unwrap();
            assert_eq!(serde_json::to_value(&field).unwrap(), whole);
            assert_eq!(field.kind.name(), kind["type"]);
        }
    }

    #[test]
    fn a_property_of_another_kind_and_an_unknown_one_are_refused_by_name() {
        let refused = |extra: Value| {
            let mut whole = json!({ "key": "k", "label": "K?", "type": "yes_no" });
            whole.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
            read(whole).unwrap_err()
        };
        assert_eq!(refused(json!({ "minLength": 2 })), "field `k` of type `yes_no` cannot have `minLength`");
        assert!(refused(json!({ "requird": true })).contains("unknown field `requird`"));
        assert_eq!(refused(json!({ "type": "file" })), "field `k` has the unknown type `file`");
        assert_eq!(refused(json!({ "type": "scale", "minimum": 1 })), "field `k` needs `maximum`");
        assert_eq!(refused(json!({ "type": "integer", "minimum": 1.5 })), "`1.5` is not a whole number");
        let two = json!({ "showIf": { "field": "a", "equals": 1, "filled": true } });
        assert_eq!(refused(two), "showIf has exactly one of `equals`, `in` and `filled`");
    }

    #[test]
    fn an_option_can_be_its_value_alone() {
        let field = read(json!({ "key": "k", "label": "K?", "type": "single_choice", "options": ["yes"] })).unwrap();
        let options = vec![Choice { value: "yes".into(), label: "yes".into() }];
        assert_eq!(field.kind, Kind::SingleChoice { options });
    }
}
