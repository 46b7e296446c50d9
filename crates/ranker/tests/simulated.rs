//! A model is adopted where it is better than the formula, and only there: with raters that are biased, lazy, lying or
//! bound to the places of a block.

mod simulator;

use ranker::{Learned, Model, Refusal, learn, mixed};
use simulator::{Prompt, Rater, World, samples, worth};

const SEED: u64 = 7;

fn learned(world: World, raters: &[Rater], sessions: u64) -> Learned {
    learn(samples(world, raters, sessions, 3), SEED, |_| ())
}

/// Scores as the claim path mixes them.
fn scores(model: &Model, alpha: f64, prompt: &Prompt) -> Vec<f64> {
    let predicted: Vec<f64> = (0..prompt.facts.len()).map(|at| model.score(&prompt.features(at, 0))).collect();
    mixed(alpha, &prompt.formula, &predicted)
}

/// Usefulness of what the formula puts first, and of what the model does, on new prompts.
fn worths(learned: &Learned, world: World) -> (f64, f64) {
    let Some((model, report)) = &learned.fitted else { panic!("no model was fitted") };
    let formula = worth(world, 400, 11, |prompt| prompt.formula.clone());
    (formula, worth(world, 400, 11, |prompt| scores(model, report.alpha, prompt)))
}

#[test]
fn a_model_of_honest_ratings_is_adopted_and_puts_more_useful_memories_first() {
    let learned = learned(World::Habits, &[Rater::Honest], 600);
    assert_eq!(learned.refusal, None, "{learned:?}");
    let (_, report) = learned.fitted.as_ref().unwrap();
    assert!(report.model.ndcg5 > report.formula.ndcg5 + 0.02 && report.gain.low > 0.0, "{report:?}");
    assert!(report.model.calibration < report.formula.calibration, "{report:?}");
    assert!(report.model.recall8 >= report.formula.recall8, "{report:?}");
    let (formula, model) = worths(&learned, World::Habits);
    assert!(model > formula + 0.05, "{model} {formula}");
}

#[test]
fn biased_lazy_lying_and_position_bound_raters_among_honest_ones_do_not_spoil_it() {
    use Rater::{Biased, Honest, Lazy, Lying, PositionBound};
    for raters in [&[Biased][..], &[Lazy], &[PositionBound], &[Honest, Honest, Biased, Lazy, PositionBound, Lying]] {
        let learned = learned(World::Habits, raters, 900);
        assert_eq!(learned.refusal, None, "{raters:?} {:?}", learned.fitted.map(|(_, report)| report));
        let (formula, model) = worths(&learned, World::Habits);
        assert!(model > formula + 0.03, "{raters:?} {model} {formula}");
    }
}

#[test]
fn a_model_is_not_adopted_where_the_formula_is_right_or_the_ratings_say_nothing() {
    for (world, raters) in [(World::Formula, [Rater::Honest]), (World::Habits, [Rater::Random])] {
        let learned = learned(world, &raters, 400);
        assert_eq!(
            learned.refusal,
            Some(Refusal::NotBetter),
            "{world:?} {:?}",
            learned.fitted.map(|(_, report)| report)
        );
    }
}

#[test]
fn a_model_of_liars_is_not_adopted_because_uses_contradict_them() {
    let learned = learned(World::Habits, &[Rater::Lying], 600);
    assert_eq!(learned.refusal, Some(Refusal::RatingsContradictUses));
}

#[test]
fn few_sessions_and_equal_labels_teach_nothing() {
    assert_eq!(learned(World::Habits, &[Rater::Honest], 50).refusal, Some(Refusal::TooFewSessions));
    assert_eq!(learn(Vec::new(), SEED, |_| ()).refusal, Some(Refusal::TooFewSessions));
    let mut equal = samples(World::Habits, &[Rater::Honest], 60, 3);
    equal.iter_mut().for_each(|sample| sample.label = 0.5);
    assert_eq!(learn(equal, SEED, |_| ()).refusal, Some(Refusal::NothingToLearn));
}

#[test]
fn the_same_samples_and_seed_give_the_same_model_in_any_order() {
    let mut all = samples(World::Habits, &[Rater::Honest, Rater::Lazy], 200, 5);
    let first = learn(all.clone(), SEED, |_| ());
    assert_eq!(learn(all.clone(), SEED, |_| ()), first);
    let bytes = first.fitted.as_ref().unwrap().0.to_bytes();
    assert_eq!(Model::from_bytes(&bytes).unwrap(), first.fitted.as_ref().unwrap().0);
    // Whole prompts in another order: rows come from a database.
    all.reverse();
    let again = learn(all, SEED, |_| ()).fitted.unwrap().1;
    assert_eq!(again.samples, first.fitted.unwrap().1.samples);
}
