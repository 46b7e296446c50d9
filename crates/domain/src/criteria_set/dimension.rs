//! The dimensions of a criteria set. Bundles may use a short form of options: `"options": ["pass", "fail"]`,
//! with details of some options in `optionStyles`. Both forms are accepted. The full form is stored and sent.

use crate::names::names;
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{self, MapAccess, value::MapAccessDeserializer},
};
use std::{collections::BTreeMap, fmt};

/// The kind of value of a dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DimensionKind {
    /// One of the options. The safety gate evaluates only this kind.
    Select,
    /// Free text.
    Text,
    /// A number, within `min` and `max` if they are set.
    Number,
    /// A whole number from `min` to `max`.
    Scale,
}

names!(DimensionKind { Select = "select", Text = "text", Number = "number", Scale = "scale" });

/// What choosing an option means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChoiceStyle {
    /// No judgement.
    #[default]
    Neutral,
    /// A good result.
    Positive,
    /// A result that needs attention. It raises a flag.
    Caution,
    /// A bad result. It raises a flag.
    Negative,
}

names!(ChoiceStyle { Neutral = "neutral", Positive = "positive", Caution = "caution", Negative = "negative" });

/// One option of a select.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Choice {
    /// Value with which an output chooses the option.
    pub value: String,
    /// Label that people read. It is the value if no label is given.
    pub label: String,
    /// What choosing it means.
    pub style: ChoiceStyle,
    /// Score for the mean of the chosen options. An option without a score does not count in the mean.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// Whether choosing the option blocks the output.
    pub hard_block: bool,
}

impl Choice {
    /// Returns an option with a value and defaults for all other fields.
    pub fn plain(value: &str) -> Self {
        Self {
            value: value.to_owned(),
            label: value.to_owned(),
            style: ChoiceStyle::Neutral,
            score: None,
            hard_block: false,
        }
    }
}

/// One dimension of a criteria set.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Dimension {
    /// Key of the value in an output. It is unique in the set.
    pub slug: String,
    /// Name that pages show.
    pub name: String,
    /// Kind of value.
    #[serde(rename = "type")]
    pub kind: DimensionKind,
    /// Instructions for judging; may be empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Options of a select, in the order in which pages show them; empty for other kinds.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<Choice>,
    /// Least value of a number or scale.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    /// Greatest value of a number or scale.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
}

/// The full form of an option.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct FullChoice {
    value: String,
    label: Option<String>,
    #[serde(default)]
    style: ChoiceStyle,
    score: Option<f64>,
    #[serde(default)]
    hard_block: bool,
}

impl<'de> Deserialize<'de> for Choice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Form;

        impl<'de> de::Visitor<'de> for Form {
            type Value = Choice;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an option: its value, or an object with `value`, `label`, `style`, `score`, `hardBlock`")
            }

            fn visit_str<E: de::Error>(self, value: &str) -> Result<Choice, E> {
                Ok(Choice::plain(value))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Choice, A::Error> {
                let full = FullChoice::deserialize(MapAccessDeserializer::new(map))?;
                let label = full.label.unwrap_or_else(|| full.value.clone());
                let FullChoice { value, style, score, hard_block, .. } = full;
                Ok(Choice { value, label, style, score, hard_block })
            }
        }

        deserializer.deserialize_any(Form)
    }
}

/// The details of an option in the short form.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct OptionStyle {
    label: Option<String>,
    style: Option<ChoiceStyle>,
    score: Option<f64>,
    #[serde(default)]
    hard_block: bool,
}

/// A dimension in either form.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct AnyDimension {
    slug: String,
    name: Option<String>,
    #[serde(rename = "type", alias = "kind")]
    kind: DimensionKind,
    #[serde(default)]
    description: String,
    #[serde(default)]
    options: Vec<Choice>,
    #[serde(default)]
    option_styles: BTreeMap<String, OptionStyle>,
    min: Option<f64>,
    max: Option<f64>,
}

impl<'de> Deserialize<'de> for Dimension {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let AnyDimension { slug, name, kind, description, mut options, option_styles, min, max } =
            AnyDimension::deserialize(deserializer)?;
        for (value, said) in option_styles {
            let Some(option) = options.iter_mut().find(|option| option.value == value) else {
                return Err(de::Error::custom(format!("optionStyles names `{value}`, which is none of the options")));
            };
            // An option is described in one place only. Otherwise it would be unclear which description
            // applies.
            if *option != Choice::plain(&value) {
                return Err(de::Error::custom(format!("option `{value}` is described in full and in optionStyles")));
            }
            option.label = said.label.unwrap_or(value);
            option.style = said.style.unwrap_or_default();
            option.score = said.score;
            option.hard_block = said.hard_block;
        }
        let name = name.unwrap_or_else(|| slug.clone());
        Ok(Self { slug, name, kind, description, options, min, max })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(json: serde_json::Value) -> Result<Dimension, String> {
        serde_json::from_value(json).map_err(|error| error.to_string())
    }

    #[test]
    fn the_short_form_keeps_styles_scores_and_hard_blocks() {
        let short = read(json!({
            "slug": "phi_safety", "name": "PHI safety", "type": "select", "options": ["pass", "fail"],
            "optionStyles": { "fail": { "style": "negative", "score": 0, "hardBlock": true }, "pass": { "score": 1 } },
        }))
        .unwrap();
        let full = json!({
            "slug": "phi_safety", "name": "PHI safety", "type": "select",
            "options": [
                { "value": "pass", "label": "pass", "style": "neutral", "score": 1.0, "hardBlock": false },
                { "value": "fail", "label": "fail", "style": "negative", "score": 0.0, "hardBlock": true },
            ],
        });
        assert_eq!(serde_json::to_value(&short).unwrap(), full);
        assert_eq!(read(full).unwrap(), short);
    }

    #[test]
    fn a_dimension_may_say_kind_and_leave_its_name_to_the_slug() {
        let scale = read(json!({ "slug": "tone", "kind": "scale", "min": 1, "max": 5 })).unwrap();
        assert_eq!((scale.name.as_str(), scale.kind, scale.max), ("tone", DimensionKind::Scale, Some(5.0)));
    }

    #[test]
    fn what_cannot_be_meant_is_refused_by_name() {
        let select = |options: serde_json::Value, styles: serde_json::Value| {
            read(json!({ "slug": "s", "type": "select", "options": options, "optionStyles": styles })).unwrap_err()
        };
        assert_eq!(
            select(json!(["pass"]), json!({ "fial": { "hardBlock": true } })),
            "optionStyles names `fial`, which is none of the options"
        );
        assert_eq!(
            select(json!([{ "value": "fail", "hardBlock": true }]), json!({ "fail": { "score": 1 } })),
            "option `fail` is described in full and in optionStyles"
        );
        assert!(select(json!(["a"]), json!({ "a": { "hardblock": true } })).contains("unknown field `hardblock`"));
        assert!(select(json!([1]), json!({})).contains("expected an option: its value, or an object"));
        assert!(select(json!([{ "value": "a", "style": "red" }]), json!({})).contains("unknown variant `red`"));
        assert!(read(json!({ "slug": "s", "type": "multiselect" })).unwrap_err().contains("unknown variant"));
    }

    #[test]
    fn names_of_kinds_and_styles_read_back() {
        assert!(DimensionKind::ALL.into_iter().all(|kind| DimensionKind::parse(kind.as_str()) == Some(kind)));
        assert!(ChoiceStyle::ALL.into_iter().all(|style| ChoiceStyle::parse(style.as_str()) == Some(style)));
        assert!(ChoiceStyle::ALL.into_iter().all(|style| json!(style) == json!(style.as_str())));
    }
}
