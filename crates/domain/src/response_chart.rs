//! Counts of the answers to questions with a few possible answers: choices, yes and no, scales, and the dimensions of
//! ratings.

use crate::{
    criteria_set::{Dimension, DimensionKind},
    response_table::Column,
    view::{Answers, Field, Kind},
};
use serde_json::Value;

/// Most bars of a chart. A wider scale has no chart.
const BARS_MAX: i64 = 50;

/// One possible answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    /// The stored value.
    pub value: Value,
    /// What people read.
    pub label: String,
    /// Number of responses with this answer.
    pub count: u64,
}

/// The answers to one question.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// The question, or the dimension of a rating.
    pub column: Column,
    /// Every possible answer, in the order of the form.
    pub bars: Vec<Bar>,
    /// Number of responses that answer the question.
    pub answered: u64,
    /// Number of them with an answer that the version of the bars does not have.
    pub other: u64,
    /// Whether one response can have several of the answers.
    pub is_multiple: bool,
    /// Sum of the answers, if they are numbers.
    sum: Option<f64>,
}

impl Chart {
    fn of(column: Column, bars: Vec<(Value, String)>, is_multiple: bool, is_number: bool) -> Self {
        let bars = bars.into_iter().map(|(value, label)| Bar { value, label, count: 0 }).collect();
        Self { column, bars, answered: 0, other: 0, is_multiple, sum: is_number.then_some(0.0) }
    }

    /// Counts one response.
    pub fn count(&mut self, answers: &Answers) {
        let Some(value) = self.column.value(answers) else { return };
        let chosen = match value {
            Value::Array(chosen) => chosen.as_slice(),
            value => std::slice::from_ref(value),
        };
        if chosen.is_empty() {
            return;
        }
        self.answered += 1;
        let mut is_other = false;
        for value in chosen {
            match self.bars.iter_mut().find(|bar| bar.value == *value) {
                Some(bar) => bar.count += 1,
                None => is_other = true,
            }
            if let (Some(sum), Some(number)) = (&mut self.sum, value.as_f64()) {
                *sum += number;
            }
        }
        self.other += u64::from(is_other);
    }

    /// Returns the mean of the answers to a scale. `None` for other questions and without an answer.
    pub fn mean(&self) -> Option<f64> {
        let count = u32::try_from(self.answered).unwrap_or(u32::MAX);
        self.sum.filter(|_| count > 0).map(|sum| sum / f64::from(count))
    }
}

/// Adds the charts of a version. Those that are there already stay, so versions are added newest first.
pub fn add_charts(charts: &mut Vec<Chart>, fields: &[Field]) {
    let mut add = |chart: Option<Chart>| {
        let Some(chart) = chart else { return };
        let column = &chart.column;
        let is_known = |known: &Chart| known.column.key == column.key && known.column.dimension == column.dimension;
        if !charts.iter().any(is_known) {
            charts.push(chart);
        }
    };
    for field in fields {
        let column = || Column { key: field.key.clone(), dimension: None, label: field.label.clone() };
        match &field.kind {
            Kind::SingleChoice { options } => {
                let bars = options.iter().map(|option| (option.value.as_str().into(), option.label.clone())).collect();
                add(Some(Chart::of(column(), bars, false, false)));
            }
            Kind::MultipleChoice { options, .. } => {
                let bars = options.iter().map(|option| (option.value.as_str().into(), option.label.clone())).collect();
                add(Some(Chart::of(column(), bars, true, false)));
            }
            Kind::YesNo => {
                let bars = vec![(true.into(), "Yes".to_owned()), (false.into(), "No".to_owned())];
                add(Some(Chart::of(column(), bars, false, false)));
            }
            Kind::Scale { minimum, maximum, low_label, high_label } => {
                add(scale(column(), (*minimum, *maximum), (low_label, high_label)));
            }
            Kind::Rating { dimensions, .. } => {
                for dimension in dimensions {
                    add(of_dimension(field, dimension));
                }
            }
            Kind::ShortText { .. }
            | Kind::LongText { .. }
            | Kind::Number { .. }
            | Kind::Integer { .. }
            | Kind::TextList { .. }
            | Kind::Date
            | Kind::DateTime
            | Kind::Entity { .. }
            | Kind::Email
            | Kind::Url => {}
        }
    }
}

fn of_dimension(field: &Field, dimension: &Dimension) -> Option<Chart> {
    let label = format!("{}: {}", field.label, dimension.name);
    let column = Column { key: field.key.clone(), dimension: Some(dimension.slug.clone()), label };
    match dimension.kind {
        DimensionKind::Select => {
            let options = dimension.options.iter();
            let bars = options.map(|option| (option.value.as_str().into(), option.label.clone())).collect();
            Some(Chart::of(column, bars, false, false))
        }
        DimensionKind::Scale => {
            let whole = |bound: Option<f64>| bound.filter(|of| of.fract() == 0.0 && of.abs() < 1e9).map(|of| of as i64);
            scale(column, (whole(dimension.min)?, whole(dimension.max)?), ("", ""))
        }
        DimensionKind::Text | DimensionKind::Number => None,
    }
}

fn scale(column: Column, (least, most): (i64, i64), (low, high): (&str, &str)) -> Option<Chart> {
    if most < least || most - least >= BARS_MAX {
        return None;
    }
    let label = |value: i64| match value {
        value if value == least && !low.is_empty() => format!("{value} ({low})"),
        value if value == most && !high.is_empty() => format!("{value} ({high})"),
        value => value.to_string(),
    };
    Some(Chart::of(column, (least..=most).map(|value| (value.into(), label(value))).collect(), false, true))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn charts(versions: &[Value]) -> Vec<Chart> {
        let mut charts = Vec::new();
        for fields in versions {
            add_charts(&mut charts, &serde_json::from_value::<Vec<Field>>(fields.clone()).unwrap());
        }
        charts
    }

    fn counted(charts: &mut [Chart], answers: Value) {
        for chart in charts {
            chart.count(answers.as_object().unwrap());
        }
    }

    fn texts(chart: &Chart) -> Vec<String> {
        chart.bars.iter().map(|bar| format!("{} {}", bar.label, bar.count)).collect()
    }

    #[test]
    fn each_possible_answer_is_a_bar_even_if_no_one_gave_it() {
        let fields = json!([
            { "key": "team", "label": "Team", "type": "single_choice", "options": [{ "value": "r", "label": "Red" }, { "value": "b", "label": "Blue" }] },
            { "key": "tags", "label": "Tags", "type": "multiple_choice", "options": ["x", "y"] },
            { "key": "ok", "label": "OK?", "type": "yes_no" },
            { "key": "mood", "label": "Mood", "type": "scale", "minimum": 1, "maximum": 3, "lowLabel": "bad" },
            { "key": "why", "label": "Why", "type": "long_text" },
            { "key": "rate", "label": "Rate", "type": "rating", "criteriaSet": "s", "dimensions": [
                { "slug": "tone", "name": "Tone", "type": "select", "options": ["warm", "cold"] },
                { "slug": "note", "name": "Note", "type": "text" } ] },
        ]);
        let mut charts = charts(&[fields]);
        counted(
            &mut charts,
            json!({ "team": "r", "tags": ["x", "y"], "ok": false, "mood": 3, "rate": { "tone": "cold" } }),
        );
        counted(&mut charts, json!({ "team": "r", "tags": [], "mood": 2, "why": "x" }));
        let all: Vec<_> =
            charts.iter().map(|chart| (chart.column.path(), texts(chart).join(", "), chart.answered)).collect();
        let expected = [
            ("team", "Red 2, Blue 0", 2),
            ("tags", "x 1, y 1", 1),
            ("ok", "Yes 0, No 1", 1),
            ("mood", "1 (bad) 0, 2 1, 3 1", 2),
            ("rate.tone", "warm 0, cold 1", 1),
        ];
        assert_eq!(all, expected.map(|(path, bars, answered)| (path.to_owned(), bars.to_owned(), answered)));
        assert_eq!((charts[3].mean(), charts[0].mean()), (Some(2.5), None));
    }

    #[test]
    fn an_answer_to_an_older_version_is_counted_as_other() {
        let new = json!([{ "key": "team", "label": "Team", "type": "single_choice", "options": ["b"] }]);
        let old = json!([
            { "key": "team", "label": "Old", "type": "single_choice", "options": ["r"] },
            { "key": "gone", "label": "Gone", "type": "yes_no" },
        ]);
        let mut charts = charts(&[new, old]);
        counted(&mut charts, json!({ "team": "r", "gone": true }));
        counted(&mut charts, json!({ "team": "b" }));
        assert_eq!((texts(&charts[0]).join(", "), charts[0].answered, charts[0].other), ("b 1".to_owned(), 2, 1));
        assert_eq!(charts[1].column.label, "Gone");
    }

    #[test]
    fn a_wide_scale_has_no_chart() {
        let wide = json!([{ "key": "n", "label": "N", "type": "scale", "minimum": 0, "maximum": 50 }]);
        assert!(charts(&[wide]).is_empty());
    }
}
