//! A rule as one sentence for people.

use super::{Condition, Definition};
use crate::{count::counted, gate::GateKind, limit::RULE_SENTENCE_CHARS_MAX};
use chrono::TimeDelta;
use serde_json::Value;

impl Definition {
    /// Says what the rule approves, and how much of it.
    pub fn sentence(&self) -> String {
        let what = match (self.subject.kind, &self.subject.tool) {
            (_, Some(tool)) => format!("{tool} calls"),
            (GateKind::Fields, None) => "changes of fields".to_owned(),
            (_, None) => "outputs".to_owned(),
        };
        let mut text = format!("Approve {what} of {}", self.subject.agent);
        let conditions: Vec<_> = self.conditions.iter().map(Condition::words).collect();
        if !conditions.is_empty() {
            text = format!("{text} if {}", conditions.join(" and "));
        }
        let limits = &self.limits;
        text = format!("{text}. At most {} a day", counted(limits.per_day.into(), "decision"));
        if let Some(amount) = &limits.amount {
            text = format!("{text}, and {} {} a day", amount.per_day, amount.field);
        }
        let asks = match limits.canary_percent {
            0 => String::new(),
            percent => format!(" {percent} % still ask."),
        };
        // A rule that ends at midnight decides until the day before.
        let last = limits.expires_at - TimeDelta::microseconds(1);
        text = format!("{text}, until {}.{asks}", last.format("%-d %b %Y"));
        if text.chars().count() > RULE_SENTENCE_CHARS_MAX {
            text = text.chars().take(RULE_SENTENCE_CHARS_MAX - 1).chain(['…']).collect();
        }
        text
    }
}

impl Condition {
    fn words(&self) -> String {
        let field = &self.field;
        match (&self.at_least, &self.at_most) {
            (Some(least), Some(most)) if least == most => format!("{field} is {least}"),
            (Some(least), Some(most)) => format!("{field} is {least} to {most}"),
            (Some(least), None) => format!("{field} is at least {least}"),
            (None, Some(most)) => format!("{field} is at most {most}"),
            (None, None) => {
                let values = self.one_of.iter().map(|value| match value {
                    Value::String(text) if !text.trim().is_empty() => text.clone(),
                    other => other.to_string(),
                });
                format!("{field} is {}", values.collect::<Vec<_>>().join(" or "))
            }
        }
    }
}
