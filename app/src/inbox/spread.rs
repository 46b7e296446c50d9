//! Numbers of one field in a group of alike items: their range, and which of them are extreme.

use crate::text::number;

/// A number above this many times the median is extreme.
const MEDIANS_MAX: f64 = 3.0;
/// A number is extreme if it is further outside of the middle half of the numbers than this many times its width.
const WIDTHS_MAX: f64 = 1.5;
/// Where the middle half is one number, another one is extreme if it differs by more than this share of the median.
const SHARE_MAX: f64 = 0.5;

/// The numbers of one field.
#[derive(Debug, Clone, PartialEq)]
pub struct Spread {
    /// The smallest number.
    pub low: f64,
    /// The largest number.
    pub high: f64,
    /// The smallest and the largest number that are not extreme.
    pub usual: (f64, f64),
}

impl Spread {
    /// The spread of these numbers; `None` without numbers.
    pub fn of(mut numbers: Vec<f64>) -> Option<Self> {
        numbers.sort_by(f64::total_cmp);
        let (low, high) = (*numbers.first()?, *numbers.last()?);
        let median = quantile(&numbers, 0.5);
        let (from, to) = (quantile(&numbers, 0.25), quantile(&numbers, 0.75));
        let width = to - from;
        let margin = if width > 0.0 { width * WIDTHS_MAX } else { median.abs() * SHARE_MAX };
        // Where more than a third is that far above the median, it says nothing.
        let above = numbers.iter().filter(|number| **number > median * MEDIANS_MAX).count();
        let is_telling = median > 0.0 && above * 3 <= numbers.len();
        let most = if is_telling { (to + margin).min(median * MEDIANS_MAX) } else { to + margin };
        let mut usual = numbers.iter().copied().filter(|number| (from - margin..=most).contains(number));
        let first = usual.next().unwrap_or(median);
        Some(Self { low, high, usual: (first, usual.next_back().unwrap_or(first)) })
    }

    /// Whether a number of the field is extreme.
    pub fn is_extreme(&self, number: f64) -> bool {
        number < self.usual.0 || number > self.usual.1
    }

    /// Whether one of the numbers is extreme.
    pub fn has_extreme(&self) -> bool {
        self.is_extreme(self.low) || self.is_extreme(self.high)
    }

    /// Whether the numbers differ.
    pub fn differs(&self) -> bool {
        self.low < self.high
    }

    /// The whole range in words, such as `1,999 to 1,290,000`.
    pub fn range(&self) -> String {
        words((self.low, self.high))
    }

    /// The range of the numbers that are not extreme, in words.
    pub fn usual_range(&self) -> String {
        words(self.usual)
    }
}

fn words((from, to): (f64, f64)) -> String {
    let text = |number: f64| number::grouped_digits(&number.to_string());
    if from < to { format!("{} to {}", text(from), text(to)) } else { text(from) }
}

/// The number at this share of the sorted numbers, between two of them if it falls there.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len().saturating_sub(1)) as f64;
    let (before, part) = (place.floor() as usize, place.fract());
    let at = |index: usize| sorted.get(index).or(sorted.last()).copied().unwrap_or_default();
    at(before) + (at(before + 1) - at(before)) * part
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extremes(numbers: &[f64]) -> Vec<f64> {
        let spread = Spread::of(numbers.to_vec()).unwrap();
        numbers.iter().copied().filter(|number| spread.is_extreme(*number)).collect()
    }

    #[test]
    fn an_amount_far_above_the_others_is_extreme_without_a_majority() {
        let mut amounts: Vec<f64> = (0..79).map(|n| [1_999.0, 4_900.0, 12_900.0][n % 3]).collect();
        amounts.push(1_290_000.0);
        assert_eq!(extremes(&amounts), [1_290_000.0]);
        let spread = Spread::of(amounts).unwrap();
        assert_eq!((spread.range().as_str(), spread.usual_range().as_str()), ("1,999 to 1,290,000", "1,999 to 12,900"));
    }

    #[test]
    fn values_that_a_third_has_are_not_extreme() {
        let arr: Vec<f64> = (0..20).map(|n| if n < 9 { 52_000.0 } else { 61_000.0 }).collect();
        assert_eq!(extremes(&arr), [0.0; 0]);
        assert_eq!(extremes(&[52_000.0, 61_000.0, 61_000.0, 61_000.0, 61_000.0]), [0.0; 0]);
    }

    #[test]
    fn far_below_zero_or_beside_equal_numbers_is_extreme() {
        assert_eq!(extremes(&[5.0, 5.0, 5.0, 5.0, 500.0]), [500.0]);
        assert_eq!(extremes(&[10.0, 11.0, 12.0, 13.0, -900.0]), [-900.0]);
        assert_eq!(extremes(&[0.0, 0.0, 0.0, 7.0]), [7.0]);
        assert_eq!(extremes(&[-3.0, -2.0, -1.0]), [0.0; 0]);
        assert_eq!(extremes(&[1.0, 2.0, 100.0]), [100.0]);
        assert_eq!(extremes(&[1.0, 2.0, 2.0, 100.0]), [100.0]);
        let two_plans: Vec<f64> = (0..10).map(|n| if n < 6 { 1_999.0 } else { 12_900.0 }).collect();
        assert_eq!(extremes(&two_plans), [0.0; 0], "a usual price is not extreme");
    }

    #[test]
    fn no_number_is_lost() {
        assert_eq!(Spread::of(Vec::new()), None);
        let one = Spread::of(vec![7.5]).unwrap();
        assert!(!one.differs() && !one.is_extreme(7.5));
        assert_eq!(one.range(), "7.5");
    }
}
