//! What a session cost, out of whatever its worker reported.

use crate::text::{json, number};
use serde_json::value::RawValue;

/// Totals as shown.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Usage {
    /// Tokens read.
    pub input_tokens: Option<u64>,
    /// Tokens written.
    pub output_tokens: Option<u64>,
    /// Dollars.
    pub cost_usd: Option<f64>,
}

impl Usage {
    /// Reads a report leniently: other names, other types and other members are passed over.
    pub fn read(raw: Option<&RawValue>) -> Self {
        let members = raw.map(|raw| json::members(raw.get())).unwrap_or_default();
        let figure = |names: &[&str]| {
            let found = members.iter().find(|(key, _)| names.contains(&&**key))?;
            let figure = found.1.get().trim_matches('"').parse::<f64>().ok()?;
            (figure.is_finite() && figure >= 0.0).then_some(figure)
        };
        Self {
            input_tokens: figure(&["inputTokens", "input_tokens", "promptTokens", "prompt_tokens"]).map(|n| n as u64),
            output_tokens: figure(&["outputTokens", "output_tokens", "completionTokens", "completion_tokens"])
                .map(|n| n as u64),
            cost_usd: figure(&["costUsd", "cost_usd", "cost", "totalCostUsd", "total_cost_usd"]),
        }
    }

    /// `12,345 in · 678 out`
    pub fn tokens(&self) -> Option<String> {
        match (self.input_tokens, self.output_tokens) {
            (None, None) => None,
            (read, written) => {
                let side = |n: Option<u64>, word: &str| n.map(|n| format!("{} {word}", number::grouped(n)));
                Some([side(read, "in"), side(written, "out")].into_iter().flatten().collect::<Vec<_>>().join(" · "))
            }
        }
    }

    /// `$0.0123`
    pub fn cost(&self) -> Option<String> {
        self.cost_usd.map(number::dollars)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Usage {
        Usage::read(Some(&RawValue::from_string(json.to_owned()).unwrap()))
    }

    #[test]
    fn anything_is_tolerated() {
        let usage = read(r#"{"inputTokens": 1234, "output_tokens": "56", "costUsd": 0.0123, "models": ["x"]}"#);
        assert_eq!((usage.tokens().as_deref(), usage.cost().as_deref()), (Some("1,234 in · 56 out"), Some("$0.0123")));
        assert_eq!(read(r#"{"inputTokens": null, "costUsd": -1}"#), Usage::default());
        assert_eq!(read("[1]"), Usage::default());
        assert_eq!(Usage::read(None), Usage::default());
    }
}
