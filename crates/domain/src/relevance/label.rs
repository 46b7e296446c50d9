//! The label of one memory of one prompt: one number made of ratings, uses and the score of the session.

/// Uses that one rating of exactly 0 is corrected by: the agent may not have noticed the influence.
const USES_CORRECT_FROM: u32 = 2;
/// Value of one use, and of a rating of 0 after its correction.
const USE_WORTH: f64 = 0.3;
/// Largest factor by which a rare decision counts more.
const RARITY_MAX: f64 = 10.0;

/// Weights of the three terms. A weight of 0 leaves its term out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weights {
    /// Mean of the ratings.
    pub feedback: f64,
    /// Number of uses.
    pub uses: f64,
    /// Score of the session.
    pub continuity: f64,
}

impl Default for Weights {
    fn default() -> Self {
        Self { feedback: 0.7, uses: 0.2, continuity: 0.1 }
    }
}

/// The known terms of the label of one memory of one prompt.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Signals {
    /// Mean of the ratings; `None` if there are none.
    pub agent_mean: Option<f64>,
    /// Uses in the answer and in the arguments of tools.
    pub use_hits: u32,
    /// Score of the session; `None` if no one scored it.
    pub continuity: Option<f64>,
}

/// Returns the label, from -1 to 1: the mean of the terms that are known, by their weights.
///
/// The terms are the mean of the ratings, `0.3` for each use up to 1, and the score of the session. All are clamped to
/// -1 to 1. No use is no term, because an agent can be guided by a memory without repeating it. A mean of 0 with two
/// or more uses counts as `0.3`, and the uses are no term then. `None` without a rating and without a use: the score of
/// the session alone says nothing about one memory.
pub fn label(signals: Signals, weights: Weights) -> Option<f64> {
    let rated = signals.agent_mean.map(unit);
    let is_corrected = rated == Some(0.0) && signals.use_hits >= USES_CORRECT_FROM;
    let uses = (signals.use_hits > 0 && !is_corrected).then(|| (USE_WORTH * f64::from(signals.use_hits)).min(1.0));
    let rated = if is_corrected { Some(USE_WORTH) } else { rated };
    if rated.is_none() && uses.is_none() {
        return None;
    }
    let terms = [(rated, weights.feedback), (uses, weights.uses), (signals.continuity.map(unit), weights.continuity)];
    let known = || terms.iter().filter_map(|(term, weight)| Some(((*term)?, *weight)));
    let total: f64 = known().map(|(_, weight)| weight).sum();
    let sum: f64 = known().map(|(term, weight)| term * weight).sum();
    (total > 0.0).then(|| unit(sum / total))
}

/// Returns the weight of a row in training: larger with more ratings (1/3 without one), and larger for decisions that
/// were unlikely, at most ten times. A propensity that is no probability counts as certain.
pub fn weight(ratings: u32, propensity: f64) -> f64 {
    let n = f64::from(ratings);
    let is_probability = propensity > 0.0 && propensity <= 1.0;
    let rarity = if is_probability { (1.0 / propensity).min(RARITY_MAX) } else { 1.0 };
    (n + 1.0) / (n + 3.0) * rarity
}

/// Clamps a value to -1 to 1. Negative zero becomes zero.
fn unit(value: f64) -> f64 {
    value.clamp(-1.0, 1.0) + 0.0
}

#[cfg(test)]
mod tests;
