//! What the figures of a memory say about it, as far as they say anything.

/// Prompts, uses or ratings from which on they say something: a single one can be chance.
pub const WORTH_FROM: u64 = 3;

/// What the figures of a memory say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Worth {
    /// No agent was given it.
    NotGiven,
    /// Its ratings are above 0 on average, or it is not rated enough and was used.
    Helpful,
    /// It was given, and neither used nor rated above 0.
    Unused,
    /// Its ratings are below 0 on average.
    Harmful,
    /// There are too few figures.
    Unknown,
}

/// Judges a memory by the prompts with which it was given, those for which it was used, and its ratings with their
/// mean, from -1 to 1. Fewer than [`WORTH_FROM`] of a kind count as none.
pub fn worth((given, used): (u64, u64), (ratings, mean): (u64, Option<f64>)) -> Worth {
    let is_rated = ratings >= WORTH_FROM;
    match mean.filter(|_| is_rated) {
        _ if given == 0 => Worth::NotGiven,
        Some(mean) if mean > 0.0 => Worth::Helpful,
        Some(mean) if mean < 0.0 => Worth::Harmful,
        None if used >= WORTH_FROM && mean.unwrap_or_default() >= 0.0 => Worth::Helpful,
        _ if given >= WORTH_FROM && used == 0 && mean.unwrap_or_default() <= 0.0 => Worth::Unused,
        _ => Worth::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_figures_say_nothing() {
        for (given, ratings, wanted) in [
            ((0, 0), (0, None), Worth::NotGiven),
            ((1, 0), (1, Some(-1.0)), Worth::Unknown),
            ((1, 1), (1, Some(1.0)), Worth::Unknown),
            ((2, 0), (0, None), Worth::Unknown),
            ((3, 0), (0, None), Worth::Unused),
            ((3, 0), (2, Some(-1.0)), Worth::Unused),
            ((3, 0), (2, Some(1.0)), Worth::Unknown),
            ((3, 1), (0, None), Worth::Unknown),
            ((3, 3), (0, None), Worth::Helpful),
            ((3, 3), (2, Some(-1.0)), Worth::Unknown),
            ((3, 0), (3, Some(0.1)), Worth::Helpful),
            ((3, 3), (3, Some(-0.1)), Worth::Harmful),
            ((40, 0), (3, Some(0.0)), Worth::Unused),
            ((40, 40), (3, Some(0.0)), Worth::Unknown),
        ] {
            assert_eq!(worth(given, ratings), wanted, "{given:?} {ratings:?}");
        }
    }
}
