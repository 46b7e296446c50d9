//! Settings of ratings and labels.

use super::label::Weights;

/// How ratings are requested and what they cause, as the settings say.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// Whether agents are asked for ratings, and ratings by agents are stored.
    pub agent_feedback: bool,
    /// The request comes with every so many prompts that have memories, from 1.
    pub every_nth: u32,
    /// Weights of the terms of a label.
    pub weights: Weights,
    /// Mean at or below which a memory is harmful, from -1 to 0.
    pub harmful_mean: f64,
    /// Ratings that it takes at least, from 1.
    pub harmful_ratings: u32,
    /// Whether the items of a block are in random order.
    pub shuffle: bool,
    /// Share of items that are withheld at random, thousandths; 0 withholds none.
    pub holdout_permille: u16,
    /// Whether workspaces may share numbers for training.
    pub telemetry: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            agent_feedback: true,
            every_nth: 1,
            weights: Weights::default(),
            harmful_mean: -0.5,
            harmful_ratings: 3,
            shuffle: false,
            holdout_permille: 0,
            telemetry: true,
        }
    }
}

impl Settings {
    /// Whether the request comes with a prompt that has memories. `before` is the number of such prompts before it.
    pub fn asks(&self, before: u64) -> bool {
        self.agent_feedback && before.is_multiple_of(u64::from(self.every_nth.max(1)))
    }
}

/// Whether a memory with these ratings is harmful: it is not given again in the session.
pub fn is_harmful(settings: &Settings, mean: f64, ratings: u32) -> bool {
    ratings >= settings.harmful_ratings.max(1) && mean <= settings.harmful_mean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_request_comes_with_every_nth_prompt_from_the_first() {
        let asked = |every_nth: u32| {
            let settings = Settings { every_nth, ..Settings::default() };
            (0..7).filter(|before| settings.asks(*before)).collect::<Vec<u64>>()
        };
        assert_eq!(asked(1), [0, 1, 2, 3, 4, 5, 6]);
        assert_eq!(asked(3), [0, 3, 6]);
        assert_eq!(asked(0), asked(1));
        assert!(!Settings { agent_feedback: false, ..Settings::default() }.asks(0));
    }

    #[test]
    fn three_ratings_of_a_half_below_zero_are_harmful() {
        let is_harmful = |mean, ratings| is_harmful(&Settings::default(), mean, ratings);
        assert!(is_harmful(-0.5, 3) && is_harmful(-1.0, 40));
        assert!(!is_harmful(-0.49, 3) && !is_harmful(-1.0, 2) && !is_harmful(0.0, 0));
    }
}
