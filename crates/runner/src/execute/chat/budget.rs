//! The budget of a session, and what the session has spent.

use super::super::adapter::Failure;
use domain::count::{counted, grouped};
use serde::Deserialize;

/// Limits on what one session may spend. An absent limit is unlimited.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Budget {
    /// Replies of the model, over all attempts.
    pub steps: Option<u32>,
    /// Input tokens, over all attempts.
    pub input_tokens: Option<u64>,
    /// Output tokens, over all attempts.
    pub output_tokens: Option<u64>,
    /// Duration of one attempt, seconds.
    pub seconds: Option<u64>,
    /// Cost in US dollars, over all attempts. Needs [`Prices`].
    pub cost_usd: Option<f64>,
}

/// Prices of a model, US dollars per million tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prices {
    /// Price of input tokens.
    pub input: f64,
    /// Price of input tokens read from a cache; [`Prices::input`] if absent.
    pub cached_input: Option<f64>,
    /// Price of output tokens.
    pub output: f64,
}

impl Prices {
    /// Cost of one reply, US dollars. `input_tokens` includes the cached ones.
    pub fn cost(&self, input_tokens: u64, cached_tokens: u64, output_tokens: u64) -> f64 {
        Spent { steps: 1, input_tokens, cached_tokens, output_tokens }.cost(self)
    }
}

/// Tokens and replies of a session.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Spent {
    /// Replies of the model.
    pub steps: u32,
    /// Input tokens, cached ones included.
    pub input_tokens: u64,
    /// Input tokens read from a cache.
    pub cached_tokens: u64,
    /// Tokens that the model wrote.
    pub output_tokens: u64,
}

impl Spent {
    /// Adds one reply.
    pub const fn add(&mut self, input_tokens: u64, cached_tokens: u64, output_tokens: u64) {
        self.steps = self.steps.saturating_add(1);
        self.input_tokens = self.input_tokens.saturating_add(input_tokens);
        self.cached_tokens = self.cached_tokens.saturating_add(cached_tokens);
        self.output_tokens = self.output_tokens.saturating_add(output_tokens);
    }

    /// Cost at these prices, US dollars.
    pub fn cost(&self, prices: &Prices) -> f64 {
        let fresh = self.input_tokens.saturating_sub(self.cached_tokens) as f64;
        let cached = self.cached_tokens as f64 * prices.cached_input.unwrap_or(prices.input);
        (fresh * prices.input + cached + self.output_tokens as f64 * prices.output) / 1_000_000.0
    }
}

impl Budget {
    /// Checks that the model may be asked once more.
    ///
    /// # Errors
    /// A failure with the code of the first limit that is reached.
    pub fn check(&self, spent: &Spent, prices: Option<&Prices>) -> Result<(), Failure> {
        let over = |code: &str, used: String, allowed: String| {
            Failure::new(code, format!("the budget of {allowed} is spent: {used} used, and the task is not done"))
        };
        if let Some(steps) = self.steps.filter(|steps| spent.steps >= *steps) {
            return Err(over("budget_steps", grouped(spent.steps.into()), counted(steps.into(), "step")));
        }
        for (name, code, used, allowed) in [
            ("input token", "budget_input_tokens", spent.input_tokens, self.input_tokens),
            ("output token", "budget_output_tokens", spent.output_tokens, self.output_tokens),
        ] {
            if let Some(allowed) = allowed.filter(|allowed| used >= *allowed) {
                return Err(over(code, grouped(used), counted(allowed, name)));
            }
        }
        let cost = prices.map_or(0.0, |prices| spent.cost(prices));
        match self.cost_usd {
            Some(allowed) if cost >= allowed => Err(over("budget_cost", format!("${cost:.4}"), format!("${allowed}"))),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPENT: Spent = Spent { steps: 3, input_tokens: 1_000_000, cached_tokens: 400_000, output_tokens: 100_000 };

    #[test]
    fn the_cost_counts_cached_input_at_its_own_price() {
        let prices = Prices { input: 3.0, cached_input: Some(0.3), output: 15.0 };
        assert!((SPENT.cost(&prices) - (1.8 + 0.12 + 1.5)).abs() < 1e-9);
        assert!((SPENT.cost(&Prices { cached_input: None, ..prices }) - 4.5).abs() < 1e-9);
    }

    #[test]
    fn each_limit_that_is_reached_has_its_own_code_and_says_how_much_was_used() {
        let prices = Prices { input: 3.0, cached_input: None, output: 15.0 };
        let none = Budget::default();
        for (budget, code) in [
            (Budget { steps: Some(3), ..none.clone() }, "budget_steps"),
            (Budget { input_tokens: Some(1_000_000), ..none.clone() }, "budget_input_tokens"),
            (Budget { output_tokens: Some(99_999), ..none.clone() }, "budget_output_tokens"),
            (Budget { cost_usd: Some(4.5), ..none.clone() }, "budget_cost"),
        ] {
            assert_eq!(budget.check(&SPENT, Some(&prices)).unwrap_err().code, code);
        }
        let one = Budget { steps: Some(1), ..none };
        assert_eq!(
            one.check(&SPENT, None).unwrap_err().message,
            "the budget of 1 step is spent: 3 used, and the task is not done"
        );
        let enough = Budget {
            steps: Some(4),
            input_tokens: Some(1_000_001),
            output_tokens: Some(100_001),
            cost_usd: Some(4.6),
            seconds: Some(0),
        };
        assert_eq!(enough.check(&SPENT, Some(&prices)), Ok(()));
    }
}
