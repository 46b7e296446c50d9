//! The rule that is offered after many like decisions.

use super::{Condition, Definition, Limits, Subject, day_of, micros};
use crate::{
    Timestamp,
    gate::Gate,
    limit::{RULE_CANARY_PERCENT, RULE_DAYS_DEFAULT, RULE_PER_DAY_MAX, RULE_TEXT_CHARS_MAX},
};
use chrono::TimeDelta;
use serde_json::{Number, Value};
use std::collections::HashMap;

/// Most values that a suggested condition names. A value with more is a free text.
const VALUES_MAX: usize = 5;
/// Least gates for each value of a suggested condition.
const GATES_PER_VALUE: usize = 4;

/// Returns a rule that covers what was approved and little else: for each number its range, for each value with few
/// different ones these values, and as many decisions a day as on the busiest day. `approved` are gates of the subject.
pub fn suggest(subject: Subject, approved: &[&Gate], now: Timestamp) -> Definition {
    let conditions = subject.fields.iter().filter_map(|field| condition(field, approved)).collect();
    let mut days: HashMap<i64, u32> = HashMap::new();
    for gate in approved {
        *days.entry(day_of(gate.opened_at).number).or_default() += 1;
    }
    let busiest = days.into_values().max().unwrap_or(1);
    let limits = Limits {
        per_day: busiest.clamp(1, RULE_PER_DAY_MAX),
        amount: None,
        expires_at: now + TimeDelta::days(RULE_DAYS_DEFAULT),
        canary_percent: RULE_CANARY_PERCENT,
    };
    Definition { subject, conditions, limits }
}

fn condition(field: &str, approved: &[&Gate]) -> Option<Condition> {
    let values: Vec<&Value> = approved.iter().filter_map(|gate| gate.task.editable()?.get(field)).collect();
    let number = |value: &&Value| Some((micros(value)?, value.as_number()?.clone()));
    let numbers: Option<Vec<(i64, Number)>> = values.iter().map(number).collect();
    if let Some(numbers) = numbers {
        let least = numbers.iter().min_by_key(|(micros, _)| *micros).map(|(_, number)| number.clone());
        let most = numbers.iter().max_by_key(|(micros, _)| *micros).map(|(_, number)| number.clone());
        return least.is_some().then(|| Condition {
            at_least: least,
            at_most: most,
            ..Condition::one_of(field.into(), Vec::new())
        });
    }
    let mut different: Vec<Value> = Vec::new();
    for value in &values {
        let is_plain = match value {
            Value::String(text) => text.chars().count() <= RULE_TEXT_CHARS_MAX,
            Value::Bool(_) | Value::Number(_) => true,
            Value::Null | Value::Array(_) | Value::Object(_) => false,
        };
        if !is_plain {
            return None;
        }
        if !different.contains(value) {
            different.push((*value).clone());
        }
    }
    let few =
        !different.is_empty() && different.len() <= VALUES_MAX && values.len() >= different.len() * GATES_PER_VALUE;
    few.then(|| Condition::one_of(field.to_owned(), different))
}
