//! What a session cost, out of whatever its worker reported.

use serde_json::{Map, Value};

/// Totals of a session.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Usage {
    /// Tokens read.
    pub input_tokens: Option<u64>,
    /// Tokens written.
    pub output_tokens: Option<u64>,
    /// Dollars.
    pub cost_usd: Option<f64>,
}

impl Usage {
    /// Reads a report leniently: other names, other types and other members are passed over, and so is a text that
    /// is no JSON object.
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
}
