//! How much the formula counts beside a model.

/// Rated sessions up to which the formula alone counts.
pub const SESSIONS_MIN: u64 = 50;
/// Rated sessions from which on its share is the least.
pub const SESSIONS_FULL: u64 = 500;
/// Least share of the formula.
pub const ALPHA_LEAST: f64 = 0.2;

/// Returns the share of the formula in a score, from 1 to [`ALPHA_LEAST`], after so many rated sessions: 1 up to
/// [`SESSIONS_MIN`], then evenly less up to [`SESSIONS_FULL`].
pub fn alpha(rated_sessions: u64) -> f64 {
    let span = (SESSIONS_FULL - SESSIONS_MIN) as f64;
    let passed = rated_sessions.clamp(SESSIONS_MIN, SESSIONS_FULL) - SESSIONS_MIN;
    1.0 - (1.0 - ALPHA_LEAST) * passed as f64 / span
}

/// Returns the scores that count, in the order of the candidates of one prompt: the formula's, which are from 0 to 1,
/// and the model's, scaled to 0 to 1 among these candidates. Equal scores of the model become 0.
pub fn mixed(alpha: f64, formula: &[f64], predicted: &[f64]) -> Vec<f64> {
    let least = predicted.iter().copied().fold(f64::INFINITY, f64::min);
    let most = predicted.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let scaled = |score: f64| if most > least { (score - least) / (most - least) } else { 0.0 };
    formula.iter().zip(predicted).map(|(own, other)| alpha * own + (1.0 - alpha) * scaled(*other)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_formula_counts_less_with_each_rated_session_between_the_bounds() {
        for (sessions, share) in [(0, 1.0), (50, 1.0), (275, 0.6), (500, 0.2), (9_000, 0.2)] {
            assert!((alpha(sessions) - share).abs() < 1e-9, "{sessions}");
        }
        assert!((0..600).all(|sessions| alpha(sessions + 1) <= alpha(sessions)));
    }

    #[test]
    fn scores_are_mixed_within_the_candidates_of_a_prompt() {
        let scores = mixed(0.5, &[1.0, 0.0, 0.5], &[2.0, 4.0, 3.0]);
        assert_eq!(scores, [0.5, 0.5, 0.5]);
        assert_eq!(mixed(1.0, &[0.3, 0.9], &[9.0, 1.0]), [0.3, 0.9], "the formula alone");
        assert_eq!(mixed(0.2, &[1.0, 0.0], &[7.0, 7.0]), [0.2, 0.0]);
        assert_eq!(mixed(0.2, &[], &[]), Vec::<f64>::new());
    }
}
