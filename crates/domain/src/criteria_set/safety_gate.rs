//! The safety gate: decides from an output's choices whether people may review it. It fails closed: if a
//! dimension has an option that blocks, a missing choice and an unknown choice block too.

use super::{Choice, ChoiceStyle, Dimension, DimensionKind};
use crate::limit::NAME_CHARS_MAX;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The reason for which a dimension blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BlockReason {
    /// The chosen option is a hard block.
    HardBlock,
    /// No option was chosen, and one of the options is a hard block.
    Missing,
    /// The choice is none of the options, and one of the options is a hard block.
    Unknown,
}

/// The result of the safety gate for an output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum SafetyGate {
    /// The output is blocked.
    Blocked {
        /// Slug of the first dimension that blocks.
        dimension: String,
        /// Choice for that dimension, truncated to [`NAME_CHARS_MAX`] characters; `None` without one.
        option: Option<String>,
        /// Reason for which the dimension blocks.
        reason: BlockReason,
    },
    /// The output may be reviewed.
    Passed {
        /// Mean of the scores of the chosen options; `None` if none has a score.
        score: Option<f64>,
        /// `slug: option` for each chosen option with style caution or negative, in the order of the
        /// dimensions.
        flags: Vec<String>,
    },
}

impl SafetyGate {
    /// Returns the reason for a block as a sentence; `None` if the output passed.
    pub fn refusal(&self) -> Option<String> {
        let Self::Blocked { dimension, option, reason } = self else { return None };
        let option = option.as_deref().unwrap_or_default();
        Some(match reason {
            BlockReason::HardBlock => format!("`{dimension}` is `{option}`, which is a hard block"),
            BlockReason::Missing => format!("`{dimension}` has no value, and one of its options is a hard block"),
            BlockReason::Unknown => {
                format!("`{dimension}` is `{option}`, which is none of its options, and one of them is a hard block")
            }
        })
    }
}

/// Evaluates the select dimensions in order. `staged` holds the output's values by slug. The first dimension
/// that blocks decides. Dimensions of other kinds never block.
pub fn evaluate_safety_gate(staged: &Map<String, Value>, dimensions: &[Dimension]) -> SafetyGate {
    let (mut scores, mut flags) = (Vec::new(), Vec::new());
    for dimension in dimensions.iter().filter(|d| d.kind == DimensionKind::Select) {
        let value = staged.get(&dimension.slug).filter(|value| !value.is_null());
        let blocked =
            |reason| SafetyGate::Blocked { dimension: dimension.slug.clone(), option: value.map(display_text), reason };
        let can_block = dimension.options.iter().any(|option| option.hard_block);
        match (value, chosen(dimension, value)) {
            (_, Some(option)) if option.hard_block => return blocked(BlockReason::HardBlock),
            (_, Some(option)) => {
                scores.extend(option.score);
                if matches!(option.style, ChoiceStyle::Caution | ChoiceStyle::Negative) {
                    flags.push(format!("{}: {}", dimension.slug, option.value));
                }
            }
            (None, None) if can_block => return blocked(BlockReason::Missing),
            (Some(_), None) if can_block => return blocked(BlockReason::Unknown),
            (_, None) => {}
        }
    }
    let count = u32::try_from(scores.len()).unwrap_or(u32::MAX);
    let score = (count > 0).then(|| scores.iter().sum::<f64>() / f64::from(count));
    SafetyGate::Passed { score, flags }
}

fn chosen<'a>(dimension: &'a Dimension, value: Option<&Value>) -> Option<&'a Choice> {
    let value = value?.as_str()?;
    dimension.options.iter().find(|option| option.value == value)
}

/// Returns the agent's value as text, truncated to the longest length of an option, because it is quoted in
/// messages.
fn display_text(value: &Value) -> String {
    crate::entity::display_text(value).chars().take(NAME_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn dimensions() -> Vec<Dimension> {
        serde_json::from_value(json!([
            { "slug": "why", "type": "text" },
            { "slug": "phi_safety", "type": "select", "options": ["pass", "review", "fail"], "optionStyles": {
                "pass": { "style": "positive", "score": 1 }, "review": { "style": "caution", "score": 0.5 },
                "fail": { "style": "negative", "hardBlock": true } } },
            { "slug": "claim_safety", "type": "select", "options": ["pass", "fail"], "optionStyles": {
                "fail": { "hardBlock": true } } },
            { "slug": "tone", "type": "select", "options": ["warm", "cold"], "optionStyles": {
                "warm": { "score": 0.75 }, "cold": { "style": "negative", "score": 0.25 } } },
        ]))
        .unwrap()
    }

    fn gate(staged: Value) -> SafetyGate {
        evaluate_safety_gate(staged.as_object().unwrap(), &dimensions())
    }

    fn blocked(dimension: &str, option: Option<&str>, reason: BlockReason) -> SafetyGate {
        SafetyGate::Blocked { dimension: dimension.into(), option: option.map(str::to_owned), reason }
    }

    #[test]
    fn the_first_hard_block_decides() {
        let both = gate(json!({ "phi_safety": "fail", "claim_safety": "fail" }));
        assert_eq!(both, blocked("phi_safety", Some("fail"), BlockReason::HardBlock));
        assert_eq!(both.refusal().unwrap(), "`phi_safety` is `fail`, which is a hard block");
        let second = gate(json!({ "phi_safety": "pass", "claim_safety": "fail" }));
        assert_eq!(second, blocked("claim_safety", Some("fail"), BlockReason::HardBlock));
    }

    #[test]
    fn score_is_the_mean_and_flags_name_what_wants_a_look() {
        let passed = gate(json!({ "phi_safety": "review", "claim_safety": "pass", "tone": "cold", "why": "fail" }));
        let flags = vec!["phi_safety: review".to_owned(), "tone: cold".to_owned()];
        assert_eq!(passed, SafetyGate::Passed { score: Some(0.375), flags });
        assert_eq!(passed.refusal(), None);
    }

    #[test]
    fn without_scores_there_is_no_mean() {
        let none = SafetyGate::Passed { score: None, flags: Vec::new() };
        assert_eq!(evaluate_safety_gate(&Map::new(), &[]), none);
        let claim: Vec<_> = dimensions().into_iter().filter(|d| d.slug == "claim_safety").collect();
        assert_eq!(evaluate_safety_gate(json!({ "claim_safety": "pass" }).as_object().unwrap(), &claim), none);
    }

    #[test]
    fn a_missing_or_unknown_value_blocks_where_a_hard_block_is_possible() {
        assert_eq!(gate(json!({})), blocked("phi_safety", None, BlockReason::Missing));
        assert_eq!(gate(json!({ "phi_safety": null })), blocked("phi_safety", None, BlockReason::Missing));
        for (value, text) in [
            (json!("FAIL"), "FAIL"),
            (json!(" pass"), " pass"),
            (json!(""), ""),
            (json!(true), "true"),
            (json!(["pass"]), r#"["pass"]"#),
            (json!({ "value": "pass" }), r#"{"value":"pass"}"#),
        ] {
            let verdict = gate(json!({ "phi_safety": value }));
            assert_eq!(verdict, blocked("phi_safety", Some(text), BlockReason::Unknown));
        }
        let long = gate(json!({ "phi_safety": "x".repeat(NAME_CHARS_MAX + 1) }));
        assert_eq!(long, blocked("phi_safety", Some(&"x".repeat(NAME_CHARS_MAX)), BlockReason::Unknown));
    }

    #[test]
    fn a_missing_or_unknown_value_elsewhere_counts_nothing() {
        let passed = SafetyGate::Passed { score: Some(1.0), flags: Vec::new() };
        for tone in [json!(null), json!("lukewarm"), json!(7)] {
            assert_eq!(gate(json!({ "phi_safety": "pass", "claim_safety": "pass", "tone": tone })), passed);
        }
    }

    fn any_choice() -> impl Strategy<Value = Choice> {
        let style = prop::sample::select(ChoiceStyle::ALL.to_vec());
        (
            prop::sample::select(vec!["a", "b", "c", "d"]),
            style,
            prop::option::of(-100.0..100.0_f64),
            prop::bool::weighted(0.2),
        )
            .prop_map(|(value, style, score, hard_block)| Choice {
                style,
                score,
                hard_block,
                ..Choice::plain(value)
            })
    }

    fn any_dimension() -> impl Strategy<Value = Dimension> {
        let kind =
            prop_oneof![4 => Just(DimensionKind::Select), 1 => prop::sample::select(DimensionKind::ALL.to_vec())];
        (kind, prop::collection::vec(any_choice(), 0..4)).prop_map(|(kind, options)| Dimension {
            slug: String::new(),
            name: "n".into(),
            kind,
            description: String::new(),
            options,
            min: None,
            max: None,
        })
    }

    fn any_set() -> impl Strategy<Value = Vec<Dimension>> {
        prop::collection::vec(any_dimension(), 0..6).prop_map(|mut set| {
            for (index, dimension) in set.iter_mut().enumerate() {
                dimension.slug = format!("d{index}");
                let mut seen = Vec::new();
                dimension.options.retain(|o| {
                    !seen.contains(&o.value) && {
                        seen.push(o.value.clone());
                        true
                    }
                });
            }
            set
        })
    }

    fn any_staged() -> impl Strategy<Value = Map<String, Value>> {
        let value = prop_oneof![
            6 => prop::sample::select(vec!["a", "b", "c", "d"]).prop_map(Value::from),
            1 => Just(Value::Null),
            1 => any::<bool>().prop_map(Value::from),
            1 => any::<String>().prop_map(Value::from),
            1 => prop::collection::vec(any::<i32>(), 0..3).prop_map(Value::from),
        ];
        prop::collection::btree_map("d[0-6]", value, 0..8).prop_map(|map| map.into_iter().collect())
    }

    /// A second implementation for comparison: finds the chosen option by counting equal values.
    fn picks(dimension: &Dimension, staged: &Map<String, Value>) -> Option<Choice> {
        dimension.options.iter().find(|o| staged.get(&dimension.slug) == Some(&json!(o.value))).cloned()
    }

    proptest! {
        #[test]
        fn passing_means_that_every_dimension_that_can_block_was_answered_harmlessly(set in any_set(), staged in any_staged()) {
            let selects: Vec<_> = set.iter().filter(|d| d.kind == DimensionKind::Select).collect();
            let blocks = |d: &&&Dimension| {
                d.options.iter().any(|o| o.hard_block) && picks(d, &staged).is_none_or(|o| o.hard_block)
            };
            let first = selects.iter().find(blocks).map(|d| d.slug.clone());
            match evaluate_safety_gate(&staged, &set) {
                SafetyGate::Blocked { dimension, option, reason } => {
                    prop_assert_eq!(Some(&dimension), first.as_ref());
                    let given = staged.get(&dimension).is_some_and(|value| !value.is_null());
                    prop_assert_eq!(option.is_some(), given);
                    prop_assert_eq!(reason == BlockReason::Missing, !given);
                }
                SafetyGate::Passed { score, flags } => {
                    prop_assert_eq!(first, None);
                    let picked: Vec<_> = selects.iter().filter_map(|d| picks(d, &staged)).collect();
                    let scores: Vec<f64> = picked.iter().filter_map(|o| o.score).collect();
                    let loud = |o: &&Choice| matches!(o.style, ChoiceStyle::Caution | ChoiceStyle::Negative);
                    prop_assert_eq!(flags.len(), picked.iter().filter(loud).count());
                    prop_assert_eq!(score.is_some(), !scores.is_empty());
                    if let Some(score) = score {
                        let least = scores.iter().copied().fold(f64::INFINITY, f64::min);
                        let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                        prop_assert!(score >= least - 1e-9 && score <= most + 1e-9);
                    }
                }
            }
        }

        #[test]
        fn other_kinds_of_dimensions_change_nothing(set in any_set(), staged in any_staged()) {
            let selects: Vec<_> = set.iter().filter(|d| d.kind == DimensionKind::Select).cloned().collect();
            prop_assert_eq!(evaluate_safety_gate(&staged, &set), evaluate_safety_gate(&staged, &selects));
        }

        #[test]
        fn taking_an_answer_away_never_opens_the_gate(set in any_set(), staged in any_staged(), slug in "d[0-6]") {
            let mut less = staged.clone();
            less.remove(&slug);
            let closed = |staged| matches!(evaluate_safety_gate(staged, &set), SafetyGate::Blocked { .. });
            prop_assert!(!closed(&staged) || closed(&less));
        }

        #[test]
        fn a_verdict_reads_back_from_json(set in any_set(), staged in any_staged()) {
            let verdict = evaluate_safety_gate(&staged, &set);
            let json = serde_json::to_value(&verdict).unwrap();
            prop_assert_eq!(serde_json::from_value::<SafetyGate>(json).unwrap(), verdict);
        }
    }
}
