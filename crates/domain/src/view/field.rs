//! The fields of a view, in the form in which they are stored and sent.

use crate::criteria_set::Dimension;
use serde::{Deserialize, Deserializer, Serialize, de};
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
    /// What is asked of its answer.
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
            Self::Scale { .. } => "scale",
            Self::Rating { .. } => "rating",
            Self::Entity { .. } => "entity",
            Self::Email => "email",
            Self::Url => "url",
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

/// A field with every property that some kind has. Reading goes through this type so that a property that the
/// kind does not have is refused by name.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct AnyField {
    key: String,
    label: String,
    #[serde(default)]
    help: String,
    #[serde(default)]
    required: bool,
    default: Option<Value>,
    show_if: Option<AnyCondition>,
    #[serde(default)]
    hidden: bool,
    #[serde(default)]
    prefill: bool,
    r#type: String,
    min_length: Option<u32>,
    max_length: Option<u32>,
    minimum: Option<serde_json::Number>,
    maximum: Option<serde_json::Number>,
    options: Option<Vec<AnyChoice>>,
    min_items: Option<u32>,
    max_items: Option<u32>,
    low_label: Option<String>,
    high_label: Option<String>,
    criteria_set: Option<String>,
    dimensions: Option<Vec<Dimension>>,
    entity_type: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct AnyCondition {
    field: String,
    equals: Option<Value>,
    r#in: Option<Vec<Value>>,
    filled: Option<bool>,
}

/// An option: its value alone, or a value with a label.
#[derive(Deserialize)]
#[serde(untagged)]
enum AnyChoice {
    Value(String),
    Full(Choice),
}

impl From<AnyChoice> for Choice {
    fn from(choice: AnyChoice) -> Self {
        match choice {
            AnyChoice::Value(value) => Self { label: value.clone(), value },
            AnyChoice::Full(choice) => choice,
        }
    }
}

impl AnyCondition {
    fn read(self) -> Result<Condition, String> {
        let test = match (self.equals, self.r#in, self.filled) {
            (Some(value), None, None) => Test::Equals(value),
            (None, Some(values), None) => Test::In(values),
            (None, None, Some(filled)) => Test::Filled(filled),
            _ => return Err("showIf has exactly one of `equals`, `in` and `filled`".to_owned()),
        };
        Ok(Condition { field: self.field, test })
    }
}

impl AnyField {
    /// Returns the kind and takes the properties that belong to it.
    fn kind(&mut self) -> Result<Kind, String> {
        let key = self.key.clone();
        let missing = |name: &str| format!("field `{key}` needs `{name}`");
        let options = |given: Option<Vec<AnyChoice>>| -> Result<Vec<Choice>, String> {
            Ok(given.ok_or_else(|| missing("options"))?.into_iter().map(Choice::from).collect())
        };
        Ok(match self.r#type.as_str() {
            "short_text" => Kind::ShortText { min_length: self.min_length.take(), max_length: self.max_length.take() },
            "long_text" => Kind::LongText { min_length: self.min_length.take(), max_length: self.max_length.take() },
            "number" => Kind::Number {
                minimum: self.minimum.take().and_then(|n| n.as_f64()),
                maximum: self.maximum.take().and_then(|n| n.as_f64()),
            },
            "integer" => Kind::Integer { minimum: whole(self.minimum.take())?, maximum: whole(self.maximum.take())? },
            "yes_no" => Kind::YesNo,
            "date" => Kind::Date,
            "date_time" => Kind::DateTime,
            "single_choice" => Kind::SingleChoice { options: options(self.options.take())? },
            "multiple_choice" => Kind::MultipleChoice {
                options: options(self.options.take())?,
                min_items: self.min_items.take(),
                max_items: self.max_items.take(),
            },
            "scale" => Kind::Scale {
                minimum: whole(self.minimum.take())?.ok_or_else(|| missing("minimum"))?,
                maximum: whole(self.maximum.take())?.ok_or_else(|| missing("maximum"))?,
                low_label: self.low_label.take().unwrap_or_default(),
                high_label: self.high_label.take().unwrap_or_default(),
            },
            "rating" => Kind::Rating {
                criteria_set: self.criteria_set.take().ok_or_else(|| missing("criteriaSet"))?,
                dimensions: self.dimensions.take().unwrap_or_default(),
            },
            "entity" => Kind::Entity { entity_type: self.entity_type.take().ok_or_else(|| missing("entityType"))? },
            "email" => Kind::Email,
            "url" => Kind::Url,
            other => return Err(format!("field `{key}` has the unknown type `{other}`")),
        })
    }

    /// Returns the name of a property that the field's kind does not have.
    fn foreign(&self) -> Option<&'static str> {
        [
            ("minLength", self.min_length.is_some()),
            ("maxLength", self.max_length.is_some()),
            ("minimum", self.minimum.is_some()),
            ("maximum", self.maximum.is_some()),
            ("options", self.options.is_some()),
            ("minItems", self.min_items.is_some()),
            ("maxItems", self.max_items.is_some()),
            ("lowLabel", self.low_label.is_some()),
            ("highLabel", self.high_label.is_some()),
            ("criteriaSet", self.criteria_set.is_some()),
            ("dimensions", self.dimensions.is_some()),
            ("entityType", self.entity_type.is_some()),
        ]
        .into_iter()
        .find_map(|(name, given)| given.then_some(name))
    }
}

fn whole(number: Option<serde_json::Number>) -> Result<Option<i64>, String> {
    number.map(|n| n.as_i64().ok_or_else(|| not_whole(&n))).transpose()
}

/// A fraction of zero is refused in the words that all whole numbers of the API have.
fn not_whole(number: &serde_json::Number) -> String {
    match number.as_f64() {
        Some(value) if value.fract() == 0.0 => format!("invalid type: floating point `{number}`, expected i64"),
        _ => format!("`{number}` is not a whole number"),
    }
}

impl<'de> Deserialize<'de> for Field {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut any = AnyField::deserialize(deserializer)?;
        let kind = any.kind().map_err(de::Error::custom)?;
        if let Some(name) = any.foreign() {
            let message = format!("field `{}` of type `{}` cannot have `{name}`", any.key, any.r#type);
            return Err(de::Error::custom(message));
        }
        let show_if = any.show_if.map(AnyCondition::read).transpose().map_err(de::Error::custom)?;
        let AnyField { key, label, help, required, default, hidden, prefill, .. } = any;
        Ok(Self { key, label, help, required, default, show_if, hidden, prefill, kind })
    }
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
