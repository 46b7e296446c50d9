//! Measures an order of candidates by their labels.

use crate::sample::Sample;

/// Candidates of a prompt whose order NDCG looks at.
const NDCG_FIRST: usize = 5;
/// Candidates of a prompt among which useful ones are looked for.
const RECALL_FIRST: usize = 8;
/// Label from which on a candidate is useful.
const USEFUL_FROM: f32 = 0.3;
/// Parts of the scale in which predictions are compared with labels.
const BINS: usize = 10;
/// How often the sessions are drawn again for an interval.
pub(crate) const DRAWS: usize = 1_000;
/// Share of the draws below the interval, and above it.
const TAIL: f64 = 0.025;

/// Quality of an order of candidates, measured on the newer sessions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measures {
    /// NDCG of the first five candidates of a prompt, from 0 to 1: 1 is the best order. Mean of the prompts.
    pub ndcg5: f64,
    /// Share of the useful candidates of a prompt among its first eight, from 0 to 1. Mean of the prompts.
    pub recall8: f64,
    /// Mean difference of scores and labels, both from 0 to 1, in ten parts of the scale. 0 is the best.
    pub calibration: f64,
}

/// A difference with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Mean of the sessions.
    pub mean: f64,
    /// Lower bound.
    pub low: f64,
    /// Upper bound.
    pub high: f64,
}

/// Measurements of a model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Report {
    /// Samples of all sessions.
    pub samples: u64,
    /// Sessions with samples.
    pub sessions: u64,
    /// Sessions on which was measured: the newest fifth.
    pub sessions_measured: u64,
    /// Prompts of these sessions with two or more different labels.
    pub prompts_measured: u64,
    /// Share of the formula in the scores.
    pub alpha: f64,
    /// The formula alone.
    pub formula: Measures,
    /// The formula and the model; calibration is the model's alone.
    pub model: Measures,
    /// NDCG of the first five, the second less the first, with sessions drawn again.
    pub gain: Interval,
}

/// Samples of one prompt with two scores each: the formula's and the one that is compared with it.
pub(crate) struct Prompt<'s> {
    pub(crate) samples: &'s [Sample],
    pub(crate) formula: Vec<f64>,
    pub(crate) mixed: Vec<f64>,
}

impl Prompt<'_> {
    /// Whether an order can be right or wrong.
    pub(crate) fn can_be_measured(&self) -> bool {
        self.samples.windows(2).any(|pair| pair[0].label.total_cmp(&pair[1].label).is_ne())
    }

    fn order(&self, scores: &[f64]) -> Vec<f32> {
        let mut order: Vec<usize> = (0..self.samples.len()).collect();
        order.sort_by(|one, other| scores[*other].total_cmp(&scores[*one]));
        order.into_iter().map(|at| self.samples[at].label).collect()
    }

    /// Difference of the NDCG of both orders, the mixed one less the formula's.
    pub(crate) fn gain(&self) -> f64 {
        ndcg(&self.order(&self.mixed)) - ndcg(&self.order(&self.formula))
    }
}

/// Measures one order of all prompts. `scores` picks it. `predicted` has predictions from 0 to 1 with their labels.
pub(crate) fn measure<'p>(
    prompts: &'p [Prompt<'_>],
    scores: impl Fn(&'p Prompt<'_>) -> &'p [f64],
    predicted: impl Iterator<Item = (f64, f32)>,
) -> Measures {
    let orders: Vec<Vec<f32>> = prompts.iter().map(|prompt| prompt.order(scores(prompt))).collect();
    let recalls = orders.iter().filter_map(|order| recall(order));
    Measures {
        ndcg5: mean(orders.iter().map(|order| ndcg(order))),
        recall8: mean(recalls),
        calibration: calibration(predicted),
    }
}

/// NDCG of the first labels in this order. The gain of a label is 0 for -1 and 1 for 1.
fn ndcg(labels: &[f32]) -> f64 {
    let gain = |label: &f32| f64::midpoint(f64::from(*label), 1.0);
    let sum = |labels: &[f32]| -> f64 {
        labels.iter().take(NDCG_FIRST).zip(2_u32..).map(|(label, at)| gain(label) / f64::from(at).log2()).sum()
    };
    let mut best = labels.to_vec();
    best.sort_by(|one, other| other.total_cmp(one));
    let most = sum(&best);
    if most > 0.0 { sum(labels) / most } else { 1.0 }
}

/// `None` if no label is one of a useful candidate.
fn recall(labels: &[f32]) -> Option<f64> {
    let useful = |labels: &[f32]| labels.iter().filter(|label| **label >= USEFUL_FROM).count();
    let all = useful(labels);
    let first = useful(&labels[..labels.len().min(RECALL_FIRST)]);
    (all > 0).then(|| first as f64 / all as f64)
}

fn calibration(predicted: impl Iterator<Item = (f64, f32)>) -> f64 {
    let (mut bins, mut total) = ([(0.0, 0.0); BINS], 0.0);
    for (score, label) in predicted {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to the number of parts")]
        let bin = (score.clamp(0.0, 1.0) * BINS as f64) as usize;
        let (scores, labels) = &mut bins[bin.min(BINS - 1)];
        *scores += score;
        *labels += f64::midpoint(f64::from(label), 1.0);
        total += 1.0;
    }
    if total > 0.0 { bins.iter().map(|(scores, labels)| (scores - labels).abs()).sum::<f64>() / total } else { 0.0 }
}

/// The mean of the gains of sessions with its interval: as many sessions are drawn again and again, each as often as
/// chance will.
pub(crate) fn interval(gains: &[f64], seed: u64, mut drawn: impl FnMut(usize)) -> Interval {
    if gains.is_empty() {
        return Interval { mean: 0.0, low: 0.0, high: 0.0 };
    }
    let mut random = fastrand::Rng::with_seed(seed);
    let draw = |number: usize| {
        drawn(number);
        mean((0..gains.len()).map(|_| gains[random.usize(..gains.len())]))
    };
    let mut means: Vec<f64> = (0..DRAWS).map(draw).collect();
    means.sort_by(f64::total_cmp);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a thousand draws")]
    let tail = (DRAWS as f64 * TAIL) as usize;
    Interval { mean: mean(gains.iter().copied()), low: means[tail], high: means[DRAWS - 1 - tail] }
}

/// The mean of no values is 0.
pub(crate) fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    if count > 0.0 { sum / count } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_order_has_the_value_one_and_a_worse_one_less() {
        assert!((ndcg(&[1.0, 0.5, -1.0]) - 1.0).abs() < 1e-12);
        assert!(ndcg(&[-1.0, 0.5, 1.0]) < ndcg(&[0.5, 1.0, -1.0]));
        // (0.5 + 1 / log2(3)) / (1 + 0.5 / log2(3))
        assert!((ndcg(&[0.0, 1.0]) - (0.5 + 0.630_93) / (1.0 + 0.315_46)).abs() < 1e-4);
        assert_eq!(recall(&[1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.5]), Some(0.5));
        assert_eq!(recall(&[0.2, -1.0]), None);
    }

    #[test]
    fn predictions_are_compared_with_the_labels_of_their_part_of_the_scale() {
        assert!(calibration([(0.75, 1.0), (0.75, 0.0)].into_iter()) < 1e-12, "right in the mean");
        assert!((calibration([(0.9, -1.0), (0.1, 1.0)].into_iter()) - 0.9).abs() < 1e-12);
        assert!(calibration(std::iter::empty()) < 1e-12);
    }

    #[test]
    fn an_interval_is_wide_for_few_sessions_and_equal_for_one_seed() {
        let gains = |count: usize| -> Vec<f64> { (0..count).map(|at| if at % 2 == 0 { 0.3 } else { -0.1 }).collect() };
        let (few, many) = (interval(&gains(8), 1, |_| ()), interval(&gains(800), 1, |_| ()));
        assert!(few.low < 0.05 && many.low > 0.08 && many.high < 0.12, "{few:?} {many:?}");
        assert_eq!(interval(&gains(8), 1, |_| ()), few);
        assert_eq!(interval(&[], 1, |_| ()).low.to_bits(), 0.0_f64.to_bits());
    }
}
