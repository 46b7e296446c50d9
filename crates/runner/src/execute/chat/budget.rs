//! The budget of a session, and what the session has spent.

use super::super::{adapter::Failure, tokens::Tokens};
use domain::count::{counted, grouped};
use serde::{Deserialize, Serialize};

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
    /// Price of input tokens written to a cache; [`Prices::input`] if absent.
    pub cache_write: Option<f64>,
    /// Price of output tokens.
    pub output: f64,
}

impl Prices {
    /// The prices that are set.
    pub fn amounts(self) -> impl Iterator<Item = f64> {
        [Some(self.input), self.cached_input, self.cache_write, Some(self.output)].into_iter().flatten()
    }

    /// Cost of one reply, US dollars.
    pub fn cost(&self, tokens: Tokens) -> f64 {
        let of = |tokens: u64, price: Option<f64>| tokens as f64 * price.unwrap_or(self.input);
        let fresh = tokens.input.saturating_sub(tokens.cached).saturating_sub(tokens.cache_written);
        let input = of(fresh, None) + of(tokens.cached, self.cached_input) + of(tokens.cache_written, self.cache_write);
        (input + of(tokens.output, Some(self.output))) / 1_000_000.0
    }
}

/// Tokens and replies of a session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spent {
    /// Replies of the model.
    pub steps: u32,
    /// Replies for which the service reported no tokens.
    pub unreported_steps: u32,
    /// Tokens of the other replies.
    pub(super) reported: Tokens,
}

impl Spent {
    /// Adds one reply. `None` for `tokens` if the service did not report them.
    pub const fn add(&mut self, tokens: Option<Tokens>) {
        self.steps = self.steps.saturating_add(1);
        match tokens {
            Some(tokens) => self.reported.add(tokens),
            None => self.unreported_steps = self.unreported_steps.saturating_add(1),
        }
    }

    /// All tokens; `None` if those of a reply are not known.
    pub fn tokens(&self) -> Option<Tokens> {
        (self.unreported_steps == 0).then_some(self.reported)
    }

    /// What was spent with this model. Tokens and cost that are not known are left out.
    pub fn usage<'a>(&self, model: &'a str, prices: Option<&Prices>) -> Usage<'a> {
        let tokens = self.tokens();
        Usage {
            steps: self.steps,
            model,
            tokens,
            unreported_steps: tokens.is_none().then_some(self.unreported_steps),
            cost_usd: prices.and_then(|prices| self.cost(prices)),
        }
    }

    /// Cost at these prices, US dollars; `None` if the tokens are not known.
    pub fn cost(&self, prices: &Prices) -> Option<f64> {
        self.tokens().map(|tokens| prices.cost(tokens))
    }
}

/// The usage of a session, in the form that its row keeps.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Usage<'a> {
    steps: u32,
    model: &'a str,
    #[serde(flatten)]
    tokens: Option<Tokens>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unreported_steps: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost_usd: Option<f64>,
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
        let Some(tokens) = spent.tokens() else { return self.held_without_usage() };
        for (name, code, used, allowed) in [
            ("input token", "budget_input_tokens", tokens.input, self.input_tokens),
            ("output token", "budget_output_tokens", tokens.output, self.output_tokens),
        ] {
            if let Some(allowed) = allowed.filter(|allowed| used >= *allowed) {
                return Err(over(code, grouped(used), counted(allowed, name)));
            }
        }
        let cost = prices.map_or(0.0, |prices| prices.cost(tokens));
        match self.cost_usd {
            Some(allowed) if cost >= allowed => Err(over("budget_cost", format!("${cost:.4}"), format!("${allowed}"))),
            _ => Ok(()),
        }
    }

    /// Checks that the budget can be held with a service that does not report tokens.
    ///
    /// # Errors
    /// A failure with the code `budget_unknown` if tokens or cost are limited.
    pub fn held_without_usage(&self) -> Result<(), Failure> {
        let limits = [
            self.input_tokens.map(|allowed| counted(allowed, "input token")),
            self.output_tokens.map(|allowed| counted(allowed, "output token")),
            self.cost_usd.map(|allowed| format!("${allowed}")),
        ];
        let limits: Vec<_> = limits.into_iter().flatten().collect();
        if limits.is_empty() {
            return Ok(());
        }
        let why = "cannot be held: the model's service does not report the tokens of its replies";
        Err(Failure::new("budget_unknown", format!("the budget of {} {why}", limits.join(" and "))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKENS: Tokens = Tokens { input: 1_000_000, cached: 400_000, cache_written: 0, output: 100_000 };
    const SPENT: Spent = Spent { steps: 3, unreported_steps: 0, reported: TOKENS };
    const PRICES: Prices = Prices { input: 3.0, cached_input: Some(0.3), cache_write: Some(3.75), output: 15.0 };

    #[test]
    fn the_cost_counts_reads_and_writes_of_a_cache_at_their_own_prices() {
        let cost = |tokens, prices: Prices| prices.cost(tokens);
        assert!((cost(TOKENS, PRICES) - (1.8 + 0.12 + 1.5)).abs() < 1e-9);
        assert!((cost(TOKENS, Prices { cached_input: None, ..PRICES }) - 4.5).abs() < 1e-9);
        let written = Tokens { cache_written: 200_000, ..TOKENS };
        assert!((cost(written, PRICES) - (1.2 + 0.12 + 0.75 + 1.5)).abs() < 1e-9);
        assert!((cost(written, Prices { cache_write: None, ..PRICES }) - (1.8 + 0.12 + 1.5)).abs() < 1e-9);
    }

    #[test]
    fn what_is_not_reported_is_not_known_and_no_budget_of_tokens_or_cost_can_be_held() {
        let mut spent = SPENT;
        assert_eq!((spent.tokens(), spent.cost(&PRICES).is_some()), (Some(TOKENS), true));
        spent.add(None);
        assert_eq!((spent.steps, spent.unreported_steps, spent.tokens(), spent.cost(&PRICES)), (4, 1, None, None));
        let none = Budget::default();
        for limited in [
            Budget { input_tokens: Some(9_000_000), ..none.clone() },
            Budget { output_tokens: Some(9_000_000), ..none.clone() },
            Budget { cost_usd: Some(900.0), ..none.clone() },
        ] {
            let failure = limited.check(&spent, Some(&PRICES)).unwrap_err();
            assert_eq!(failure.code, "budget_unknown");
            assert!(failure.message.contains("cannot be held"), "{}", failure.message);
            assert_eq!(limited.check(&SPENT, Some(&PRICES)), Ok(()));
        }
        let steps = Budget { steps: Some(5), seconds: Some(1), ..none };
        assert_eq!(steps.check(&spent, Some(&PRICES)), Ok(()));
        spent.add(None);
        assert_eq!(steps.check(&spent, None).unwrap_err().code, "budget_steps");
    }

    #[test]
    fn each_limit_that_is_reached_has_its_own_code_and_says_how_much_was_used() {
        let prices = Prices { cached_input: None, ..PRICES };
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
