//! What a criteria set asks. Bundles may write options in short: `"options": ["pass", "fail"]`, with what there is to
//! say about some of them in `optionStyles`. Both forms are read; the full form is what is stored and shown.

use crate::names::names;
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{self, MapAccess, value::MapAccessDeserializer},
};
use std::{collections::BTreeMap, fmt};

/// What a dimension is answered with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DimensionKind {
    /// One of its options. The only kind that the safety gate looks at.
    Select,
    /// Free text.
    Text,
    /// A number, within `min` and `max` where they are given.
    Number,
    /// A whole number from `min` to `max`.
    Scale,
}

names!(DimensionKind { Select = "select", Text = "text", Number = "number", Scale = "scale" });

/// How an option reads: what choosing it means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChoiceStyle {
    /// Says nothing.
    #[default]
    Neutral,
    /// As wished.
    Positive,
    /// Worth a look; raises a flag.
    Caution,
    /// Not as wished; raises a flag.
    Negative,
}

names!(ChoiceStyle { Neutral = "neutral", Positive = "positive", Caution = "caution", Negative = "negative" });

/// One option of a select.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Choice {
    /// What an output says to choose it.
    pub value: String,
    /// What people read; the value where it is not given.
    pub label: String,
    /// What choosing it means.
    pub style: ChoiceStyle,
    /// What it counts in the mean; an option without one counts nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// Whether choosing it stops the output for good.
    pub hard_block: bool,
}

impl Choice {
    /// An option about which nothing is said but its value.
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

/// One question of a criteria set.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Dimension {
    /// The key of its value in an output; unique in the set.
    pub slug: String,
    /// What people call it.
    pub name: String,
    /// What it is answered with.
    #[serde(rename = "type")]
    pub kind: DimensionKind,
    /// What to look at; may be empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// What a select chooses from, in the order shown; empty for other kinds.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<Choice>,
    /// The least value of a number or scale.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    /// The greatest value of a number or scale.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
}

/// An option as it is written in full.
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

/// What the short form says about an option beside its value.
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
            // Two places that say different things about one option would be a matter of luck.
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
