//! The features of a candidate.

/// Number of features.
pub const FEATURES: usize = 14;
/// Place of the feature `slot`.
pub(crate) const SLOT: usize = 12;

/// Names of the features, in their order.
pub const FEATURE_NAMES: [&str; FEATURES] = [
    "bm25_share",
    "bm25_log",
    "recency",
    "age_log",
    "importance",
    "uses_log",
    "same_person",
    "same_channel",
    "people",
    "topics",
    "sessions",
    "tokens_log",
    "slot",
    // Last, so that models that were stored before it existed mean the same features.
    "similarity",
];

/// Days after which a memory counts half in the feature `recency`.
const HALF_LIFE_DAYS: f64 = 30.0;

/// Folder of the document of a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Folder {
    /// `people/`
    People,
    /// `topics/`
    Topics,
    /// `sessions/`
    Sessions,
    /// Any other folder.
    Other,
}

/// Values of a candidate at the time of ranking.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Facts {
    /// Relevance of the text, not below 0.
    pub bm25: f64,
    /// Cosine of the vectors of prompt and text; `None` if they were not near or not compared.
    pub similarity: Option<f64>,
    /// Age of the version, days.
    pub recency_d: f64,
    /// Importance, from 0 to 1.
    pub importance: f64,
    /// Uses in the 30 days before.
    pub uses_30d: u32,
    /// Whether it is about the person who speaks.
    pub same_person: bool,
    /// Whether it comes from the channel on which they speak.
    pub same_channel: bool,
    /// Folder of its document.
    pub folder: Folder,
    /// Estimated tokens.
    pub tokens: u32,
}

/// Returns the features of a candidate. `bm25_most` is the largest relevance among the candidates of its prompt. `slot`
/// is its place in the block, from 1, for training: raters look at the first places more. 0 when candidates are scored,
/// so that all have the same place. Values that are not finite become 0.
pub fn features(facts: &Facts, bm25_most: f64, slot: u32) -> [f32; FEATURES] {
    let log = |value: f64| value.max(0.0).ln_1p();
    let is = |flag: bool| f64::from(u8::from(flag));
    let share = if bm25_most > 0.0 { facts.bm25 / bm25_most } else { 0.0 };
    let values = [
        share,
        log(facts.bm25),
        0.5_f64.powf(facts.recency_d.max(0.0) / HALF_LIFE_DAYS),
        log(facts.recency_d),
        facts.importance,
        log(f64::from(facts.uses_30d)),
        is(facts.same_person),
        is(facts.same_channel),
        is(facts.folder == Folder::People),
        is(facts.folder == Folder::Topics),
        is(facts.folder == Folder::Sessions),
        log(f64::from(facts.tokens)),
        f64::from(slot),
        facts.similarity.unwrap_or_default(),
    ];
    #[expect(clippy::cast_possible_truncation, reason = "a feature needs no more digits")]
    values.map(|value| if value.is_finite() { value as f32 } else { 0.0 })
}

/// A candidate with its label.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// Number of the session, in the order of time.
    pub session: u64,
    /// Number of the prompt. Candidates of one prompt are ranked together.
    pub group: u64,
    /// As [`features`] returns them, with the slot.
    pub features: [f32; FEATURES],
    /// Score of the formula, from 0 to 1.
    pub formula: f32,
    /// Label, from -1 to 1.
    pub label: f32,
    /// Weight of the sample in training, above 0.
    pub weight: f32,
    /// Mean of the ratings; `None` if there are none.
    pub rating: Option<f32>,
    /// Whether it was used.
    pub used: bool,
}
