//! Fits a model to the older sessions and measures it on the newer ones.

use crate::{
    evaluate::{DRAWS, Prompt, Report, interval, mean, measure},
    fit::{ROUNDS, fit},
    model::Model,
    sample::Sample,
    schedule::{SESSIONS_MIN, alpha, mixed},
};

/// Share of the sessions on which the model is fitted, percent: the older ones.
const FITTED_PERCENT: usize = 80;
/// Rated samples with a use, and without one, from which on the ratings of both are compared.
const COMPARED_MIN: usize = 30;

/// The current step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// The model is fitted, tree by tree.
    Fit,
    /// The newer prompts are ranked.
    Measure,
    /// Sessions are drawn again for the interval.
    Interval,
}

/// Progress of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// The current step.
    pub step: Step,
    /// Parts that are done.
    pub done: usize,
    /// All parts of the step.
    pub total: usize,
}

/// Why a model should not be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// [`SESSIONS_MIN`] sessions or fewer have labels.
    TooFewSessions,
    /// All labels are equal, or nothing tells the samples apart.
    NothingToLearn,
    /// Memories that were used are rated lower than those that were not: the ratings are not to be trusted.
    RatingsContradictUses,
    /// The lower bound of the gain is not above 0.
    NotBetter,
}

impl Refusal {
    /// The name in stored rows and JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::TooFewSessions => "too_few_sessions",
            Self::NothingToLearn => "nothing_to_learn",
            Self::RatingsContradictUses => "ratings_contradict_uses",
            Self::NotBetter => "not_better",
        }
    }
}

/// The result of [`learn`].
#[derive(Debug, Clone, PartialEq)]
pub struct Learned {
    /// The model and its value; `None` if none could be fitted.
    pub fitted: Option<(Model, Report)>,
    /// Why the model should not be used; `None` if it should.
    pub refusal: Option<Refusal>,
}

impl Learned {
    fn none(refusal: Refusal) -> Self {
        Self { fitted: None, refusal: Some(refusal) }
    }
}

/// Fits a model to the samples of the older sessions, and measures it on the newest fifth of the sessions. The same
/// samples and seed give the same model to the last bit. `progress` is called as the work goes on.
pub fn learn(mut samples: Vec<Sample>, seed: u64, mut progress: impl FnMut(Progress) + Send) -> Learned {
    samples.sort_by_key(|sample| (sample.session, sample.group));
    let sessions = samples.chunk_by(|one, other| one.session == other.session).count();
    if sessions as u64 <= SESSIONS_MIN {
        return Learned::none(Refusal::TooFewSessions);
    }
    let older = samples.chunk_by(|one, other| one.session == other.session).take(sessions * FITTED_PERCENT / 100);
    let older: usize = older.map(<[Sample]>::len).sum();
    let fitted = fit(&samples[..older], seed, |done| progress(Progress { step: Step::Fit, done, total: ROUNDS }));
    let Some(model) = fitted else { return Learned::none(Refusal::NothingToLearn) };
    let report = report(&model, (&samples, older), seed, &mut progress);
    let refusal = if contradict(&samples) {
        Some(Refusal::RatingsContradictUses)
    } else if report.gain.low > 0.0 {
        None
    } else {
        Some(Refusal::NotBetter)
    };
    Learned { fitted: Some((model, report)), refusal }
}

/// Measures a model on the samples from a place on.
fn report(
    model: &Model,
    (samples, older): (&[Sample], usize),
    seed: u64,
    progress: &mut impl FnMut(Progress),
) -> Report {
    let newer = &samples[older..];
    let count = |samples: &[Sample]| samples.chunk_by(|one, other| one.session == other.session).count() as u64;
    let share = alpha(count(samples));
    let mut prompts: Vec<Prompt<'_>> = Vec::new();
    let mut predictions: Vec<(f64, f32)> = Vec::with_capacity(newer.len());
    for samples in newer.chunk_by(|one, other| (one.session, one.group) == (other.session, other.group)) {
        // What counts is the order at a place that is the same for all.
        let predicted: Vec<f64> = samples.iter().map(|sample| model.score(&unplaced(sample))).collect();
        let formula: Vec<f64> = samples.iter().map(|sample| f64::from(sample.formula)).collect();
        predictions.extend(samples.iter().map(|sample| (model.score(&sample.features), sample.label)));
        let mixed = mixed(share, &formula, &predicted);
        prompts.push(Prompt { samples, formula, mixed });
        if prompts.len().is_multiple_of(1_000) {
            progress(Progress { step: Step::Measure, done: predictions.len(), total: newer.len() });
        }
    }
    prompts.retain(Prompt::can_be_measured);
    let of_session = |one: &Prompt<'_>, other: &Prompt<'_>| one.samples[0].session == other.samples[0].session;
    let gains: Vec<f64> = prompts.chunk_by(of_session).map(|own| mean(own.iter().map(Prompt::gain))).collect();
    let formula = newer.iter().map(|sample| (f64::from(sample.formula), sample.label));
    Report {
        samples: samples.len() as u64,
        sessions: count(samples),
        sessions_measured: gains.len() as u64,
        prompts_measured: prompts.len() as u64,
        alpha: share,
        formula: measure(&prompts, |prompt| &prompt.formula, formula),
        model: measure(&prompts, |prompt| &prompt.mixed, predictions.into_iter()),
        gain: interval(&gains, seed, |done| {
            progress(Progress { step: Step::Interval, done: done + 1, total: DRAWS });
        }),
    }
}

/// The features without the place in the block.
fn unplaced(sample: &Sample) -> [f32; crate::FEATURES] {
    let mut features = sample.features;
    features[crate::sample::SLOT] = 0.0;
    features
}

/// Whether memories that were used are rated lower than those that were not.
fn contradict(samples: &[Sample]) -> bool {
    let ratings = |used: bool| samples.iter().filter(move |sample| sample.used == used).filter_map(|one| one.rating);
    let mean_of = |used: bool| mean(ratings(used).map(f64::from));
    let is_enough = |used: bool| ratings(used).take(COMPARED_MIN).count() == COMPARED_MIN;
    is_enough(true) && is_enough(false) && mean_of(true) < mean_of(false)
}
