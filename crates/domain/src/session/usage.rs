//! Reads tokens and cost from the usage that a worker reported.

use serde_json::{Map, Value};

/// US dollars from which a cost is no cost of a session.
const COST_USD_END: f64 = 1e9;

/// Tokens and cost of a session. `None` means that the worker did not report the figure.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Usage {
    /// Number of input tokens.
    pub input_tokens: Option<u64>,
    /// Number of output tokens.
    pub output_tokens: Option<u64>,
    /// Cost in US dollars.
    pub cost_usd: Option<f64>,
}

impl Usage {
    /// Reads the text of a JSON object leniently. Several spellings of each name are accepted, and numbers may
    /// be strings. Unknown names, other types and negative numbers are ignored. A text that is not a JSON
    /// object has no figures.
    pub fn read(report: Option<&str>) -> Self {
        let members: Map<String, Value> = report.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
        let figure = |names: &[&str]| {
            let found = names.iter().find_map(|name| members.get(*name))?;
            let figure = found.as_f64().or_else(|| found.as_str()?.parse().ok())?;
            (figure.is_finite() && figure >= 0.0).then_some(figure)
        };
        Self {
            input_tokens: figure(&["inputTokens", "input_tokens", "promptTokens", "prompt_tokens"]).map(|n| n as u64),
            output_tokens: figure(&["outputTokens", "output_tokens", "completionTokens", "completion_tokens"])
                .map(|n| n as u64),
            cost_usd: figure(&["costUsd", "cost_usd", "cost", "totalCostUsd", "total_cost_usd"]),
        }
    }

    /// The cost in millionths of a US dollar, rounded, as searches compare it. `None` from a billion dollars on.
    pub fn cost_micros(&self) -> Option<i64> {
        let cost = self.cost_usd.filter(|cost| *cost < COST_USD_END)?;
        Some((cost * 1e6).round() as i64)
    }
}

#[cfg(test)]
mod tests {
    use super::Usage;

    #[test]
    fn anything_is_tolerated() {
        let read =
            Usage::read(Some(r#"{"inputTokens": 1234, "output_tokens": "56", "costUsd": 0.5, "models": ["x"]}"#));
        assert_eq!(read, Usage { input_tokens: Some(1234), output_tokens: Some(56), cost_usd: Some(0.5) });
        for nothing in [Some(r#"{"inputTokens": null, "costUsd": -1}"#), Some("[1]"), Some("{"), None] {
            assert_eq!(Usage::read(nothing), Usage::default(), "{nothing:?}");
        }
    }

    #[test]
    fn a_cost_is_compared_in_millionths() {
        let micros = |usage: &str| Usage::read(Some(usage)).cost_micros();
        assert_eq!(micros(r#"{"cost": "0.1"}"#), Some(100_000));
        assert_eq!(micros(r#"{"cost": 0.0000014}"#), Some(1));
        assert_eq!((micros(r#"{"cost": 1e9}"#), micros("{}")), (None, None));
    }
}
