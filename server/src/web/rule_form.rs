//! Reads the form of a rule's editor.

use super::form::Form;
use crate::problem::Problem;
use app::{
    FormState,
    rule::{ConditionRow, Draft, Test},
};
use chrono::{Days, NaiveDate, NaiveTime, TimeDelta};
use domain::{
    Timestamp,
    gate::GateKind,
    issue::Issue,
    limit::RULE_FIELDS_MAX,
    rule::{AmountLimit, Condition, Definition, Limits, Subject},
    typed_number::{two_meanings, typed_number},
};
use ledger::RuleRecord;
use serde_json::{Number, Value};

/// What a rule is about, in words.
pub fn what(subject: &Subject) -> String {
    match (subject.kind, &subject.tool) {
        (_, Some(tool)) => format!("{tool} calls of {}", subject.agent),
        (GateKind::Fields, None) => format!("changes of fields by {}", subject.agent),
        (_, None) => format!("outputs of {}", subject.agent),
    }
}

/// What the editor holds of a definition.
pub fn draft_of(definition: &Definition) -> Draft {
    let limits = &definition.limits;
    // A rule ends at a midnight, so its last day is the one before.
    let last_day = (limits.expires_at - TimeDelta::microseconds(1)).date_naive();
    Draft {
        rows: definition.subject.fields.iter().map(|field| row(field, &definition.conditions)).collect(),
        per_day: limits.per_day.to_string(),
        amount_field: limits.amount.as_ref().map(|amount| amount.field.clone()).unwrap_or_default(),
        amount_per_day: limits.amount.as_ref().map(|amount| amount.per_day.to_string()).unwrap_or_default(),
        until: last_day.to_string(),
        canary_percent: limits.canary_percent.to_string(),
        ..about(&definition.subject)
    }
}

/// A draft without conditions and limits.
fn about(subject: &Subject) -> Draft {
    Draft {
        subject: serde_json::to_string(subject).unwrap_or_default(),
        what: what(subject),
        rows: subject.fields.iter().map(|field| row(field, &[])).collect(),
        ..Draft::default()
    }
}

fn row(field: &str, conditions: &[Condition]) -> ConditionRow {
    let field = field.to_owned();
    let Some(condition) = conditions.iter().find(|condition| condition.field == field) else {
        return ConditionRow { field, ..ConditionRow::default() };
    };
    let number = |number: &Option<Number>| number.as_ref().map(Number::to_string).unwrap_or_default();
    ConditionRow {
        field,
        test: if condition.is_range() { Test::Range } else { Test::OneOf },
        values: condition.one_of.iter().map(line).collect::<Vec<_>>().join("\n"),
        least: number(&condition.at_least),
        most: number(&condition.at_most),
    }
}

/// A value as one line. A text is in quotes only if it could be read as something else.
fn line(value: &Value) -> String {
    match value {
        Value::String(text) if value_of(text) == *value && text.trim() == text && !text.contains('\n') => text.clone(),
        other => other.to_string(),
    }
}

/// The value of a line: JSON of a number, a text, true or false, or else the line itself as a text.
fn value_of(line: &str) -> Value {
    match serde_json::from_str(line) {
        Ok(value @ (Value::Number(_) | Value::Bool(_) | Value::String(_))) => value,
        Ok(Value::Null | Value::Array(_) | Value::Object(_)) | Err(_) => Value::String(line.to_owned()),
    }
}

/// What a form holds: what the editor shows again, and the definition or what is wrong with it.
pub type Typed = (Draft, Result<Definition, Vec<Issue>>);

/// Reads the form. The subject is that of the stored rule, or else the one that the page sent along.
///
/// # Errors
/// A problem if there is no subject to read.
pub fn read(form: &Form, stored: Option<&RuleRecord>) -> Result<Typed, Problem> {
    let subject = match stored {
        Some(stored) => stored.definition.subject.clone(),
        None => {
            let sent: Result<Subject, _> = serde_json::from_str(&form.text("subject"));
            let wrong = |_| ledger::Error::invalid("subject", "open the page from a suggestion again");
            let subject = sent.map_err(wrong)?.sorted();
            if subject.fields.len() > RULE_FIELDS_MAX {
                return Err(ledger::Error::invalid("subject.fields", format!("at most {RULE_FIELDS_MAX}")).into());
            }
            subject
        }
    };
    let draft = Draft {
        id: stored.map(|stored| stored.id),
        version: form.text("version").parse().unwrap_or_default(),
        ..about(&subject)
    };
    let mut issues = Vec::new();
    let conditions: Vec<Condition> =
        subject.fields.iter().enumerate().filter_map(|(at, field)| condition(form, at, field, &mut issues)).collect();
    let limits = limits(form, &mut issues);
    let definition = match limits {
        Some(limits) if issues.is_empty() => Ok(Definition { subject, conditions, limits }),
        _ => Err(issues),
    };
    Ok((draft, definition))
}

fn test_of(form: &Form, at: usize) -> Test {
    let typed = form.text(&format!("condition.{at}.test"));
    Test::ALL.into_iter().find(|test| test.as_str() == typed).unwrap_or_default()
}

fn condition(form: &Form, at: usize, field: &str, issues: &mut Vec<Issue>) -> Option<Condition> {
    let name = |part: &str| format!("condition.{at}.{part}");
    let condition = Condition::one_of(field.to_owned(), Vec::new());
    match test_of(form, at) {
        Test::Any => None,
        Test::OneOf => {
            let text = form.text(&name("values"));
            let one_of: Vec<Value> =
                text.lines().map(str::trim).filter(|line| !line.is_empty()).map(value_of).collect();
            if one_of.is_empty() {
                issues.push(Issue::new(name("values"), "Enter at least one value."));
            }
            Some(Condition { one_of, ..condition })
        }
        Test::Range => {
            let at_least = number(form, &name("least"), issues);
            let at_most = number(form, &name("most"), issues);
            if form.optional(&name("least")).is_none() && form.optional(&name("most")).is_none() {
                issues.push(Issue::new(name("most"), "Enter one of the two numbers, or both."));
            }
            Some(Condition { at_least, at_most, ..condition })
        }
    }
}

/// The number that was typed into a field; `None` if it is empty or no number, which is an issue.
fn number(form: &Form, name: &str, issues: &mut Vec<Issue>) -> Option<Number> {
    let text = form.optional(name)?;
    let number = typed_number(&text);
    if number.is_none() {
        let message = match two_meanings(&text) {
            Some(meanings) => format!("Enter {meanings}."),
            None => "Enter a number.".to_owned(),
        };
        issues.push(Issue::new(name, message));
    }
    number
}

fn limits(form: &Form, issues: &mut Vec<Issue>) -> Option<Limits> {
    let mut whole = |name: &str| {
        let number = form.text(name).trim().parse::<u32>();
        if number.is_err() {
            issues.push(Issue::new(name, "Enter a whole number."));
        }
        number.ok()
    };
    let (per_day, canary_percent) = (whole("per_day"), whole("canary_percent"));
    let until = form.text("until").trim().parse::<NaiveDate>().ok().and_then(|day| day.checked_add_days(Days::new(1)));
    if until.is_none() {
        issues.push(Issue::new("until", "Enter a day."));
    }
    let amount = match (form.optional("amount_field"), number(form, "amount_per_day", issues)) {
        (Some(field), Some(per_day)) => Some(AmountLimit { field, per_day }),
        (Some(_), None) if form.optional("amount_per_day").is_none() => {
            issues.push(Issue::new("amount_per_day", "Enter the largest sum of a day."));
            None
        }
        (None, Some(_)) => {
            issues.push(Issue::new("amount_field", "Choose what is added up."));
            None
        }
        (_, None) => None,
    };
    let expires_at: Timestamp = until?.and_time(NaiveTime::MIN).and_utc();
    Some(Limits { per_day: per_day?, amount, expires_at, canary_percent: canary_percent? })
}

/// The state of the refused form: each message at its control.
pub fn placed(form: &Form, draft: &Draft, problem: &Problem) -> FormState {
    let mut state = form.refused("rule", problem);
    // The rows that have a condition, in the order of the definition.
    let rows: Vec<usize> = (0..draft.rows.len()).filter(|at| test_of(form, *at) != Test::Any).collect();
    for error in &mut state.errors {
        error.field = error.field.take().map(|field| control(&field, form, &rows));
    }
    state
}

/// The control for a place of the definition.
fn control(field: &str, form: &Form, rows: &[usize]) -> String {
    let limit = match field {
        "limits.perDay" => "per_day",
        "limits.canaryPercent" => "canary_percent",
        "limits.expiresAt" => "until",
        "limits.amount.field" => "amount_field",
        "limits.amount.perDay" => "amount_per_day",
        _ => "",
    };
    if !limit.is_empty() {
        return limit.to_owned();
    }
    let place = field.strip_prefix("conditions[").and_then(|rest| rest.split_once(']'));
    let row = place.and_then(|(at, part)| Some((*rows.get(at.parse::<usize>().ok()?)?, part)));
    match row {
        Some((row, part)) if part.starts_with(".atLeast") => format!("condition.{row}.least"),
        Some((row, part)) if part.starts_with(".atMost") => format!("condition.{row}.most"),
        Some((row, _)) if test_of(form, row) == Test::OneOf => format!("condition.{row}.values"),
        Some((row, _)) => format!("condition.{row}.test"),
        None => field.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_value_is_one_line_and_reads_back() {
        for (value, text) in [
            (json!("EUR"), "EUR"),
            (json!("5"), "\"5\""),
            (json!(5), "5"),
            (json!(true), "true"),
            (json!("true"), "\"true\""),
            (json!(" x"), "\" x\""),
            (json!("a\nb"), r#""a\nb""#),
            (json!("null"), "null"),
            (json!("\"q\""), r#""\"q\"""#),
        ] {
            assert_eq!(line(&value), text);
            assert_eq!(value_of(text), value);
        }
    }
}
