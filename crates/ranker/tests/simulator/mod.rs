//! Agents whose memories have a known usefulness, and raters with faults.

use fastrand::Rng;
use ranker::{FEATURES, Facts, Folder, Sample, features};

/// Candidates of a prompt.
const CANDIDATES: usize = 14;
/// Candidates that the agent is given.
const GIVEN: usize = 8;
/// Prompts of a session.
const PROMPTS: u64 = 3;

/// What makes a memory useful.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum World {
    /// What the formula says.
    Formula,
    /// Memories that were used before, in short items, above all people where the person is known.
    Habits,
}

/// How a rater rates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rater {
    /// What is useful, with a little noise.
    Honest,
    /// Too well, and documents about people best.
    Biased,
    /// One memory of eight.
    Lazy,
    /// The opposite of what is useful.
    Lying,
    /// Whatever.
    Random,
    /// The first places well.
    PositionBound,
}

/// A prompt with the usefulness of each candidate.
pub struct Prompt {
    pub facts: Vec<Facts>,
    pub useful: Vec<f64>,
    pub formula: Vec<f64>,
}

impl Prompt {
    pub fn made(world: World, random: &mut Rng) -> Self {
        let facts: Vec<Facts> = (0..CANDIDATES).map(|_| facts(random)).collect();
        let formula = formula(&facts);
        let useful = facts.iter().zip(&formula).map(|(facts, formula)| match world {
            World::Formula => (formula + 0.1 * (random.f64() - 0.5)).clamp(0.0, 1.0),
            World::Habits => habits(facts, random),
        });
        Self { useful: useful.collect(), facts, formula }
    }

    /// Features of a candidate at a place.
    pub fn features(&self, at: usize, slot: u32) -> [f32; FEATURES] {
        let most = self.facts.iter().map(|facts| facts.bm25).fold(0.0, f64::max);
        features(&self.facts[at], most, slot)
    }
}

fn facts(random: &mut Rng) -> Facts {
    let folders = [Folder::People, Folder::Topics, Folder::Topics, Folder::Sessions, Folder::Sessions];
    let folder = folders[random.usize(..folders.len())];
    Facts {
        bm25: 12.0 * random.f64() * random.f64(),
        similarity: None,
        recency_d: 200.0 * random.f64() * random.f64(),
        importance: 0.4 + 0.2 * random.f64(),
        uses_30d: if random.f64() < 0.4 { random.u32(1..20) } else { 0 },
        same_person: folder == Folder::People && random.bool(),
        same_channel: random.f64() < 0.3,
        folder,
        tokens: random.u32(10..160),
    }
}

/// As `domain::memory_writer::select` weighs.
fn formula(facts: &[Facts]) -> Vec<f64> {
    let scaled = |of: &dyn Fn(&Facts) -> f64| -> Vec<f64> {
        let values: Vec<f64> = facts.iter().map(of).collect();
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        values.iter().map(|value| (value - least) / (most - least).max(1e-9)).collect()
    };
    let (text, importance) = (scaled(&|one| one.bm25), scaled(&|one| one.importance));
    let recency = scaled(&|one| 0.5_f64.powf(one.recency_d / 30.0));
    let person = |one: &Facts| if one.same_person { 1.0 } else { 0.5 * f64::from(u8::from(one.same_channel)) };
    let sum = |at: usize| 0.5 * text[at] + 0.2 * recency[at] + 0.1 * importance[at] + 0.2 * person(&facts[at]);
    (0..facts.len()).map(sum).collect()
}

fn habits(facts: &Facts, random: &mut Rng) -> f64 {
    let used = f64::from(facts.uses_30d.min(8)) / 8.0;
    let short = 1.0 - f64::from(facts.tokens) / 160.0;
    let person = f64::from(u8::from(facts.same_person));
    let text = (facts.bm25 / 12.0).min(1.0);
    (0.4 * used + 0.2 * short + 0.25 * person + 0.15 * text + 0.1 * (random.f64() - 0.5)).clamp(0.0, 1.0)
}

/// Samples of so many sessions. Each session has one of the raters.
pub fn samples(world: World, raters: &[Rater], sessions: u64, seed: u64) -> Vec<Sample> {
    let mut random = Rng::with_seed(seed);
    let mut samples = Vec::new();
    for session in 0..sessions {
        let rater = raters[random.usize(..raters.len())];
        for prompt in 0..PROMPTS {
            let made = Prompt::made(world, &mut random);
            let mut given: Vec<usize> = (0..CANDIDATES).collect();
            given.sort_by(|one, other| made.formula[*other].total_cmp(&made.formula[*one]));
            given.truncate(GIVEN);
            random.shuffle(&mut given);
            for (slot, at) in (1..).zip(given) {
                let rating = rated(rater, &made, (at, slot), &mut random);
                let used = random.f64() < 0.6 * made.useful[at];
                samples.extend(labelled((session, prompt), &made, (at, slot), (rating, used)));
            }
        }
    }
    samples
}

fn rated(rater: Rater, prompt: &Prompt, (at, slot): (usize, u32), random: &mut Rng) -> Option<f64> {
    let honest = 2.0 * prompt.useful[at] - 1.0 + 0.3 * (random.f64() - 0.5);
    let is_person = prompt.facts[at].folder == Folder::People;
    let raw = match rater {
        Rater::Honest => Some(honest),
        Rater::Biased => Some(0.5 * honest + if is_person { 0.6 } else { 0.4 }),
        Rater::Lazy => (random.f64() < 0.12).then_some(honest),
        Rater::Lying => Some(-honest),
        Rater::Random => Some(2.0 * random.f64() - 1.0),
        Rater::PositionBound => Some(0.5 * honest + if slot <= 2 { 0.6 } else { -0.2 }),
    };
    // One of the five values that are offered.
    raw.map(|raw| (2.0 * raw).round().clamp(-2.0, 2.0) / 2.0)
}

/// The label as `domain::relevance` makes it, without a score of the session.
fn labelled(
    (session, prompt): (u64, u64),
    made: &Prompt,
    (at, slot): (usize, u32),
    (rating, used): (Option<f64>, bool),
) -> Option<Sample> {
    let label = match (rating, used) {
        (Some(rating), true) => (0.7 * rating + 0.2 * 0.3) / 0.9,
        (Some(rating), false) => rating,
        (None, true) => 0.3,
        (None, false) => return None,
    };
    let ratings = f64::from(u8::from(rating.is_some()));
    Some(Sample {
        session,
        group: prompt,
        features: made.features(at, slot),
        formula: made.formula[at] as f32,
        label: label as f32,
        weight: ((ratings + 1.0) / (ratings + 3.0)) as f32,
        rating: rating.map(|rating| rating as f32),
        used,
    })
}

/// Mean usefulness of the five candidates that an order puts first, over so many new prompts.
pub fn worth(world: World, prompts: usize, seed: u64, scores: impl Fn(&Prompt) -> Vec<f64>) -> f64 {
    let mut random = Rng::with_seed(seed);
    let one = |_| {
        let prompt = Prompt::made(world, &mut random);
        let scores = scores(&prompt);
        let mut order: Vec<usize> = (0..prompt.facts.len()).collect();
        order.sort_by(|one, other| scores[*other].total_cmp(&scores[*one]));
        order.iter().take(5).map(|at| prompt.useful[*at]).sum::<f64>() / 5.0
    };
    (0..prompts).map(one).sum::<f64>() / prompts as f64
}
