//! Checks the dimensions of a criteria set.

use super::{Dimension, DimensionKind};
use crate::{
    issue::Issue,
    limit::{
        CRITERIA_DESCRIPTION_CHARS_MAX, CRITERIA_DIMENSIONS_MAX, CRITERIA_NUMBER_MAX, CRITERIA_SCALE_STEPS_MAX,
        NAME_CHARS_MAX, SELECT_OPTIONS_MAX, SLUG_CHARS_MAX,
    },
    line::{name_problem, option_problem},
};
use std::collections::BTreeSet;

/// Returns every problem of a set's dimensions, with its path; none if they are valid.
pub fn check_dimensions(dimensions: &[Dimension]) -> Vec<Issue> {
    let mut issues = Vec::new();
    if dimensions.is_empty() || dimensions.len() > CRITERIA_DIMENSIONS_MAX {
        issues.push(Issue::new("dimensions", format!("1 to {CRITERIA_DIMENSIONS_MAX} dimensions")));
    }
    let mut slugs = BTreeSet::new();
    for (index, dimension) in dimensions.iter().enumerate() {
        let at = |part: &str| format!("dimensions[{index}].{part}");
        if !is_key(&dimension.slug) {
            let message =
                format!("lower-case letters, digits, single hyphens or underscores, at most {SLUG_CHARS_MAX}");
            issues.push(Issue::new(at("slug"), message));
        } else if !slugs.insert(&dimension.slug) {
            issues.push(Issue::new(at("slug"), format!("another dimension is called `{}`", dimension.slug)));
        }
        if let Some(problem) = name_problem(&dimension.name, NAME_CHARS_MAX) {
            issues.push(Issue::new(at("name"), problem));
        }
        let description = &dimension.description;
        if description.chars().count() > CRITERIA_DESCRIPTION_CHARS_MAX || description.contains('\0') {
            let message = format!("at most {CRITERIA_DESCRIPTION_CHARS_MAX} characters, none of them NUL");
            issues.push(Issue::new(at("description"), message));
        }
        check_options(dimension, &at("options"), &mut issues);
        check_range(dimension, &at, &mut issues);
    }
    issues
}

/// Whether `text` is a slug in which underscores are allowed too. Dimensions are keys of an agent's output, and
/// such keys often have underscores.
fn is_key(text: &str) -> bool {
    crate::slug::is_slug(&text.replace('_', "-"))
}

fn is_number(number: f64) -> bool {
    number.is_finite() && number.abs() <= CRITERIA_NUMBER_MAX
}

fn check_options(dimension: &Dimension, at: &str, issues: &mut Vec<Issue>) {
    if dimension.kind != DimensionKind::Select {
        if !dimension.options.is_empty() {
            issues.push(Issue::new(at, "only a select has options"));
        }
        return;
    }
    if dimension.options.is_empty() || dimension.options.len() > SELECT_OPTIONS_MAX {
        issues.push(Issue::new(at, format!("a select has 1 to {SELECT_OPTIONS_MAX} options")));
    }
    let mut seen = BTreeSet::new();
    for (index, option) in dimension.options.iter().enumerate() {
        let at = |part: &str| format!("{at}[{index}].{part}");
        if let Some(problem) = option_problem(&option.value, NAME_CHARS_MAX) {
            issues.push(Issue::new(at("value"), problem));
        } else if !seen.insert(&option.value) {
            issues.push(Issue::new(at("value"), format!("`{}` is listed twice", option.value)));
        }
        if let Some(problem) = option_problem(&option.label, NAME_CHARS_MAX) {
            issues.push(Issue::new(at("label"), problem));
        }
        if option.score.is_some_and(|score| !is_number(score)) {
            issues.push(Issue::new(
                at("score"),
                format!("a number from -{CRITERIA_NUMBER_MAX} to {CRITERIA_NUMBER_MAX}"),
            ));
        }
    }
}

fn check_range(dimension: &Dimension, at: &dyn Fn(&str) -> String, issues: &mut Vec<Issue>) {
    let ends = [("min", dimension.min), ("max", dimension.max)];
    let mut refuse = |part: &str, message: String| issues.push(Issue::new(at(part), message));
    for (part, end) in ends {
        match (dimension.kind, end) {
            (DimensionKind::Number, None) | (DimensionKind::Select | DimensionKind::Text, None) => {}
            (DimensionKind::Select | DimensionKind::Text, Some(_)) => {
                refuse(part, "only a number or a scale has one".into());
            }
            (DimensionKind::Scale, None) => refuse(part, "a scale needs both ends".into()),
            (_, Some(end)) if !is_number(end) => {
                refuse(part, format!("a number from -{CRITERIA_NUMBER_MAX} to {CRITERIA_NUMBER_MAX}"));
            }
            (DimensionKind::Scale, Some(end)) if end.fract() != 0.0 => refuse(part, "a whole number".into()),
            (DimensionKind::Number | DimensionKind::Scale, Some(_)) => {}
        }
    }
    if let (DimensionKind::Number | DimensionKind::Scale, Some(min), Some(max)) =
        (dimension.kind, dimension.min, dimension.max)
    {
        if min >= max {
            refuse("max", "greater than `min`".into());
        } else if dimension.kind == DimensionKind::Scale && max - min > CRITERIA_SCALE_STEPS_MAX {
            refuse("max", format!("at most {CRITERIA_SCALE_STEPS_MAX} steps from `min`"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::criteria_set::Choice;
    use serde_json::json;

    fn dimension(json: serde_json::Value) -> Dimension {
        serde_json::from_value(json).unwrap()
    }

    fn refused(dimensions: &[Dimension]) -> Vec<String> {
        check_dimensions(dimensions).into_iter().map(|issue| issue.field).collect()
    }

    #[test]
    fn one_dimension_of_each_kind_is_fine() {
        let dimensions = [
            dimension(json!({ "slug": "phi_safety", "type": "select", "options": ["pass", "fail"] })),
            dimension(json!({ "slug": "why", "type": "text", "description": "In a sentence." })),
            dimension(json!({ "slug": "share", "type": "number", "min": 0 })),
            dimension(json!({ "slug": "tone", "type": "scale", "min": 1, "max": 5 })),
        ];
        assert_eq!(check_dimensions(&dimensions), []);
        let json = serde_json::to_string(&dimensions).unwrap();
        assert_eq!(serde_json::from_str::<Vec<Dimension>>(&json).unwrap(), dimensions);
    }

    #[test]
    fn each_wrong_part_is_named_by_its_path() {
        let cases = [
            (json!({ "slug": "A b", "name": "n", "type": "text" }), "dimensions[0].slug"),
            (json!({ "slug": "a__b", "type": "text" }), "dimensions[0].slug"),
            (json!({ "slug": "a", "name": " ", "type": "text" }), "dimensions[0].name"),
            (json!({ "slug": "a", "type": "text", "description": "x".repeat(2_001) }), "dimensions[0].description"),
            (json!({ "slug": "a", "type": "text", "options": ["x"] }), "dimensions[0].options"),
            (json!({ "slug": "a", "type": "select" }), "dimensions[0].options"),
            (json!({ "slug": "a", "type": "select", "options": ["x", "x"] }), "dimensions[0].options[1].value"),
            (
                json!({ "slug": "a", "type": "select", "options": [{ "value": "x", "label": "" }] }),
                "dimensions[0].options[0].label",
            ),
            (
                json!({ "slug": "a", "type": "select", "options": [{ "value": "x", "label": "ok\u{202e}" }] }),
                "dimensions[0].options[0].label",
            ),
            (
                json!({ "slug": "a", "type": "select", "options": [{ "value": "x", "score": 1e300 }] }),
                "dimensions[0].options[0].score",
            ),
            (json!({ "slug": "a", "type": "text", "min": 1 }), "dimensions[0].min"),
            (json!({ "slug": "a", "type": "scale", "min": 1 }), "dimensions[0].max"),
            (json!({ "slug": "a", "type": "scale", "min": 0.5, "max": 2 }), "dimensions[0].min"),
            (json!({ "slug": "a", "type": "scale", "min": 5, "max": 1 }), "dimensions[0].max"),
            (json!({ "slug": "a", "type": "scale", "min": 0, "max": 5_000 }), "dimensions[0].max"),
            (json!({ "slug": "a", "type": "number", "max": 1e300 }), "dimensions[0].max"),
        ];
        for (wrong, path) in cases {
            assert_eq!(refused(&[dimension(wrong.clone())]), [path], "{wrong}");
        }
        let text = dimension(json!({ "slug": "a", "type": "text" }));
        assert_eq!(refused(&[text.clone(), text.clone()]), ["dimensions[1].slug"]);
        assert_eq!(refused(&[]), ["dimensions"]);
        assert_eq!(refused(&vec![text; CRITERIA_DIMENSIONS_MAX + 1])[0], "dimensions");
        let many = (0..=SELECT_OPTIONS_MAX).map(|n| Choice::plain(&n.to_string())).collect();
        let select = Dimension { options: many, ..dimension(json!({ "slug": "a", "type": "select" })) };
        assert_eq!(refused(&[select]), ["dimensions[0].options"]);
    }
}
