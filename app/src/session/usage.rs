//! Token usage and cost of a session, as text.

use crate::text::number;
use domain::session::Usage;

/// Tokens as `12,345 in · 678 out`.
pub fn tokens(usage: &Usage) -> Option<String> {
    match (usage.input_tokens, usage.output_tokens) {
        (None, None) => None,
        (read, written) => {
            let side = |n: Option<u64>, word: &str| n.map(|n| format!("{} {word}", number::grouped(n)));
            Some([side(read, "in"), side(written, "out")].into_iter().flatten().collect::<Vec<_>>().join(" · "))
        }
    }
}

/// Cost as `$0.0123`.
pub fn cost(usage: &Usage) -> Option<String> {
    usage.cost_usd.map(number::dollars)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_read_well() {
        let usage = Usage { input_tokens: Some(1234), output_tokens: Some(56), cost_usd: Some(0.0123) };
        assert_eq!((tokens(&usage).as_deref(), cost(&usage).as_deref()), (Some("1,234 in · 56 out"), Some("$0.0123")));
        assert_eq!((tokens(&Usage::default()), cost(&Usage::default())), (None, None));
    }
}
