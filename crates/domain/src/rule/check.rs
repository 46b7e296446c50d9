//! Checks of a rule's definition.

use super::{Condition, Definition, Limits, Subject, micros};
use crate::{
    Timestamp,
    gate::GateKind,
    issue::Issue,
    limit::{
        NAME_CHARS_MAX, RULE_CONDITIONS_MAX, RULE_DAYS_MAX, RULE_FIELDS_MAX, RULE_PER_DAY_MAX, RULE_TEXT_CHARS_MAX,
        RULE_VALUES_MAX,
    },
    tool::run::is_agent,
};
use chrono::TimeDelta;
use serde_json::{Number, Value};
use std::collections::HashSet;

/// End of the names of values that say in which currency an amount is.
const CURRENCY: &str = "currency";

impl Definition {
    /// Returns every problem, with its path. `now` is the time at which the version is made.
    pub fn check(&self, now: Timestamp) -> Vec<Issue> {
        let mut issues = Vec::new();
        check_subject(&mut issues, &self.subject);
        if self.conditions.len() > RULE_CONDITIONS_MAX {
            issues.push(Issue::new("conditions", format!("at most {RULE_CONDITIONS_MAX}")));
        }
        let mut seen = HashSet::new();
        for (at, condition) in self.conditions.iter().enumerate().take(RULE_CONDITIONS_MAX) {
            if !seen.insert(condition.field.as_str()) {
                issues.push(Issue::new(format!("conditions[{at}].field"), "this value has a condition already"));
            }
            check_condition(&mut issues, &self.subject, condition, &format!("conditions[{at}]"));
        }
        check_limits(&mut issues, &self.subject, &self.limits, now);
        self.check_currency(&mut issues);
        issues
    }

    /// Amounts can be compared and added only in one currency.
    fn check_currency(&self, issues: &mut Vec<Issue>) {
        let compares = self.limits.amount.is_some() || self.conditions.iter().any(Condition::is_range);
        let currencies = self.subject.fields.iter().filter(|field| field.to_lowercase().ends_with(CURRENCY));
        for field in currencies.filter(|_| compares) {
            if !self.conditions.iter().any(|condition| condition.field == *field && condition.one_of.len() == 1) {
                let message = format!("`{field}` needs a condition with one value, because numbers are compared");
                issues.push(Issue::new("conditions", message));
            }
        }
    }
}

fn check_subject(issues: &mut Vec<Issue>, subject: &Subject) {
    let is_name = |text: &str| !text.is_empty() && text.chars().count() <= NAME_CHARS_MAX && !text.contains('\0');
    if !is_agent(&subject.agent) {
        issues.push(Issue::new("subject.agent", "the slug of an agent"));
    }
    match (subject.kind, &subject.tool) {
        (GateKind::Question | GateKind::Memory, _) => {
            issues.push(Issue::new("subject.kind", "`tool`, `output` or `fields`: a person decides the others"));
        }
        (GateKind::Tool, Some(tool)) if is_name(tool) => {}
        (GateKind::Tool, _) => {
            issues.push(Issue::new("subject.tool", format!("the name of the tool, 1 to {NAME_CHARS_MAX} characters")));
        }
        (GateKind::Output | GateKind::Fields, None) => {}
        (GateKind::Output | GateKind::Fields, Some(_)) => {
            issues.push(Issue::new("subject.tool", "goes with the kind `tool`"));
        }
    }
    if subject.fields.len() > RULE_FIELDS_MAX {
        issues.push(Issue::new("subject.fields", format!("at most {RULE_FIELDS_MAX}")));
    }
    let too_long = |field: &String| field.chars().count() > RULE_TEXT_CHARS_MAX || field.contains('\0');
    if let Some(at) = subject.fields.iter().take(RULE_FIELDS_MAX).position(too_long) {
        let message = format!("at most {RULE_TEXT_CHARS_MAX} characters, no NUL characters");
        issues.push(Issue::new(format!("subject.fields[{at}]"), message));
    }
}

fn check_condition(issues: &mut Vec<Issue>, subject: &Subject, condition: &Condition, path: &str) {
    if !subject.fields.contains(&condition.field) {
        issues.push(Issue::new(format!("{path}.field"), "a value that `subject.fields` names"));
    }
    if condition.is_range() != condition.one_of.is_empty() {
        issues.push(Issue::new(path, "either `oneOf`, or `atLeast` and `atMost` or one of them"));
        return;
    }
    if condition.one_of.len() > RULE_VALUES_MAX {
        issues.push(Issue::new(format!("{path}.oneOf"), format!("at most {RULE_VALUES_MAX}")));
    }
    let is_plain = |value: &Value| match value {
        Value::String(text) => text.chars().count() <= RULE_TEXT_CHARS_MAX && !text.contains('\0'),
        Value::Number(_) | Value::Bool(_) => true,
        Value::Null | Value::Array(_) | Value::Object(_) => false,
    };
    if let Some(at) = condition.one_of.iter().take(RULE_VALUES_MAX).position(|value| !is_plain(value)) {
        let message = format!("a text of at most {RULE_TEXT_CHARS_MAX} characters, a number, true or false");
        issues.push(Issue::new(format!("{path}.oneOf[{at}]"), message));
    }
    let read = |number: &Option<Number>| number.clone().map(|number| micros(&Value::Number(number)));
    let (least, most) = (read(&condition.at_least), read(&condition.at_most));
    for (name, bound) in [("atLeast", least), ("atMost", most)] {
        if bound == Some(None) {
            issues.push(Issue::new(format!("{path}.{name}"), "a number between -1e12 and 1e12"));
        }
    }
    if let (Some(Some(least)), Some(Some(most))) = (least, most)
        && least > most
    {
        issues.push(Issue::new(format!("{path}.atMost"), "not less than `atLeast`"));
    }
}

fn check_limits(issues: &mut Vec<Issue>, subject: &Subject, limits: &Limits, now: Timestamp) {
    if !(1..=RULE_PER_DAY_MAX).contains(&limits.per_day) {
        issues.push(Issue::new("limits.perDay", format!("1 to {RULE_PER_DAY_MAX}")));
    }
    if limits.canary_percent > 100 {
        issues.push(Issue::new("limits.canaryPercent", "0 to 100"));
    }
    if limits.expires_at <= now || limits.expires_at > now + TimeDelta::days(RULE_DAYS_MAX) {
        issues.push(Issue::new("limits.expiresAt", format!("in the future, and within {RULE_DAYS_MAX} days")));
    }
    if let Some(amount) = &limits.amount {
        if !subject.fields.contains(&amount.field) {
            issues.push(Issue::new("limits.amount.field", "a value that `subject.fields` names"));
        }
        if micros(&Value::Number(amount.per_day.clone())).is_none_or(|most| most <= 0) {
            issues.push(Issue::new("limits.amount.perDay", "a number above 0, at most 1e12"));
        }
    }
}
