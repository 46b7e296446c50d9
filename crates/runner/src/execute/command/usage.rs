//! Adds up the usage of several runs of a command.

use super::super::adapter::Outcome;
use serde_json::{Map, Value, value::to_raw_value};

/// Figures of a usage whose sum is known only if every run reports them.
const COUNTED: [&str; 3] = ["inputTokens", "outputTokens", "costUsd"];

/// Adds the usage of earlier runs, of the turns of a conversation or of a refused output: a run reports only its own.
/// Where one of two reports lacks tokens or cost, their sum is not known and is left out.
pub fn with_earlier_usage(outcome: Outcome, earlier: Option<&wire::Json>) -> Outcome {
    let Some(earlier) = earlier else { return outcome };
    let read = |json: &wire::Json| serde_json::from_str::<Map<String, Value>>(json.get()).unwrap_or_default();
    let (own, earlier) = (outcome.usage().as_ref().map(read), read(earlier));
    let is_unknown = |name: &str| {
        let has = |usage: &Map<String, Value>| usage.contains_key(name);
        COUNTED.contains(&name) && own.as_ref().is_some_and(|own| has(own) != has(&earlier))
    };
    let mut sum = own.clone().unwrap_or_default();
    sum.retain(|name, _| !is_unknown(name));
    for (name, before) in earlier.iter().filter(|(name, _)| !is_unknown(name)) {
        let total = match (sum.get(name), before) {
            (None, before) => before.clone(),
            (Some(Value::Number(now)), Value::Number(before)) => match (now.as_u64(), before.as_u64()) {
                (Some(now), Some(before)) => now.saturating_add(before).into(),
                _ => (now.as_f64().unwrap_or_default() + before.as_f64().unwrap_or_default()).into(),
            },
            (Some(now), _) => now.clone(),
        };
        sum.insert(name.clone(), total);
    }
    let sum = to_raw_value(&sum).ok();
    match outcome {
        Outcome::Done { result, .. } => Outcome::Done { result, usage: sum },
        Outcome::Failed(failure) => Outcome::Failed(failure.with_usage(sum.as_ref())),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn figures_are_added_and_what_one_run_does_not_report_is_not_known_of_both() {
        let raw = |usage: &Value| to_raw_value(usage).unwrap();
        let sum = |own: Option<Value>, earlier: Value| {
            let done = Outcome::Done { result: None, usage: own.as_ref().map(raw) };
            let usage = with_earlier_usage(done, Some(&raw(&earlier))).usage().unwrap();
            serde_json::from_str::<Value>(usage.get()).unwrap()
        };
        let both = sum(
            Some(json!({ "inputTokens": 2, "outputTokens": 1, "costUsd": 0.5, "steps": 1 })),
            json!({ "inputTokens": 3, "outputTokens": 1, "costUsd": 0.25, "cachedInputTokens": 1, "steps": 2 }),
        );
        let expected =
            json!({ "inputTokens": 5, "outputTokens": 2, "costUsd": 0.75, "cachedInputTokens": 1, "steps": 3 });
        assert_eq!(both, expected);
        let known = json!({ "inputTokens": 3, "outputTokens": 1, "costUsd": 0.25, "steps": 2 });
        let unknown = json!({ "steps": 1, "unreportedSteps": 1 });
        let expected = json!({ "steps": 3, "unreportedSteps": 1 });
        assert_eq!(sum(Some(unknown.clone()), known.clone()), expected);
        assert_eq!(sum(Some(known.clone()), unknown), expected);
        // A run that reports nothing at all, such as one that failed at once, changes nothing.
        assert_eq!(sum(None, known.clone()), known);
        let without_cost = json!({ "inputTokens": 3, "outputTokens": 1 });
        assert_eq!(sum(Some(without_cost), known.clone())["costUsd"], Value::Null);
        let none = Outcome::Done { result: None, usage: None };
        assert!(with_earlier_usage(none, None).usage().is_none());
    }
}
