//! Reading fields. A property that the kind of a field does not have is refused by name.

use super::{Choice, Condition, Field, Kind, Test};
use crate::criteria_set::Dimension;
use serde::{Deserialize, Deserializer, de};
use serde_json::Value;
use std::fmt;

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
struct AnyChoice(Choice);

impl<'de> Deserialize<'de> for AnyChoice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ChoiceVisitor).map(Self)
    }
}

/// Reads each form of an option by itself, so that an error names the member that is wrong.
struct ChoiceVisitor;

impl<'de> de::Visitor<'de> for ChoiceVisitor {
    type Value = Choice;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text, or an object with `value` and `label`")
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Choice, E> {
        Ok(Choice { value: value.to_owned(), label: value.to_owned() })
    }

    fn visit_map<A: de::MapAccess<'de>>(self, members: A) -> Result<Choice, A::Error> {
        Choice::deserialize(de::value::MapAccessDeserializer::new(members))
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
            Ok(given.ok_or_else(|| missing("options"))?.into_iter().map(|AnyChoice(choice)| choice).collect())
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
            "text_list" => Kind::TextList { min_items: self.min_items.take(), max_items: self.max_items.take() },
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
