//! Selects the memories that an agent is given at the start of its work.
//!
//! Every candidate keeps its features, so that what was not chosen can be learned from as well.

use super::{
    limit::RECENCY_HALF_LIFE_DAYS,
    section::headings,
    text::{says_something, tokens},
};
use crate::memory::{SearchWords, rank_worth, terms};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Name of the formula below. It is recorded with every block.
pub const RANKER: &str = "formula-1";
/// Its name where some candidates are near by their meaning.
pub const RANKER_WITH_VECTORS: &str = "formula-1-vectors";

/// Weights of the features, in the order text, recency, importance, person and channel.
const WEIGHTS: [f64; 4] = [0.5, 0.2, 0.1, 0.2];

/// A memory that can be given: one section of a document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Candidate {
    /// Id of the memory, stable for one section of one version.
    pub id: String,
    /// Path of its document.
    pub path: String,
    /// Version of the document.
    pub version: u64,
    /// The item as the block shows it.
    #[serde(skip)]
    pub text: String,
    /// Relevance of the text to the person's message, larger is better, in the engine's own scale.
    pub bm25: f64,
    /// How near its meaning is to that of the message, if vectors are compared and it is near: the cosine, up to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub similarity: Option<f64>,
    /// Age of the version, days.
    pub recency_d: f64,
    /// Importance, from 0 to 1.
    pub importance: f64,
    /// Whether it is about the person who speaks.
    pub same_person: bool,
    /// Whether it comes from the channel on which they speak.
    pub same_channel: bool,
    /// First part of the path: `people`, `topics`, `sessions` or `self`.
    pub kind: String,
    /// Estimated tokens of the item.
    pub tokens: u32,
}

/// A candidate after the selection.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Ranked {
    /// What was ranked.
    #[serde(flatten)]
    pub candidate: Candidate,
    /// Score, from 0 to 1.
    pub score: f64,
    /// Rank, from 1.
    pub rank: u32,
    /// Place in the block, from 1; `None` if it is not injected.
    pub slot: Option<u32>,
    /// Whether it is part of the block.
    pub injected: bool,
    /// Probability with which it was injected, or withheld, as it was; 1 where nothing was random.
    pub propensity: f64,
    /// Whether it was withheld at random. It keeps its room: the others are as if it were in the block.
    pub holdout: bool,
}

/// The random part of the choice of memories for a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Exploration {
    /// Share of the items that are withheld, thousandths.
    pub holdout_permille: u16,
    /// Whether the items are in random order.
    pub shuffle: bool,
    /// Where the random numbers come from. Equal seeds give equal blocks.
    pub seed: u64,
}

/// Ranks candidates and chooses those of the block: at most `items`, and at most `tokens_max` tokens together. A
/// candidate that does not fit is left out; a later one that fits is taken. Nothing is random.
pub fn select(candidates: Vec<Candidate>, items: usize, tokens_max: u32) -> Vec<Ranked> {
    explore(candidates, items, tokens_max, Exploration::default())
}

/// Like [`select`], with what is random: some items are withheld, and the others are in random order.
pub fn explore(candidates: Vec<Candidate>, items: usize, tokens_max: u32, with: Exploration) -> Vec<Ranked> {
    let scores = formula(&candidates.iter().map(Measured::from).collect::<Vec<_>>());
    explore_scored(candidates.into_iter().zip(scores).collect(), items, tokens_max, with)
}

/// The values of a candidate from which the formula computes its score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measured {
    /// Relevance of the text, in the engine's own scale.
    pub bm25: f64,
    /// Cosine of the vectors of message and text, if they are near.
    pub similarity: Option<f64>,
    /// Age of the version, days.
    pub recency_d: f64,
    /// Importance, from 0 to 1.
    pub importance: f64,
    /// Whether it is about the person who speaks.
    pub same_person: bool,
    /// Whether it comes from the channel on which they speak.
    pub same_channel: bool,
}

impl From<&Candidate> for Measured {
    fn from(candidate: &Candidate) -> Self {
        let Candidate { bm25, similarity, recency_d, importance, same_person, same_channel, .. } = *candidate;
        Self { bm25, similarity, recency_d, importance, same_person, same_channel }
    }
}

/// Returns the scores of the formula for all candidates of a prompt, in their order, from 0 to 1.
pub fn formula(candidates: &[Measured]) -> Vec<f64> {
    let text = scale(texts(candidates.iter().map(|c| (c.bm25, c.similarity))).into_iter());
    let recency = scale(candidates.iter().map(|c| half_life(c.recency_d)));
    let importance = scale(candidates.iter().map(|c| c.importance));
    let score = |(at, candidate): (usize, &Measured)| {
        let person = match (candidate.same_person, candidate.same_channel) {
            (true, _) => 1.0,
            (false, true) => 0.5,
            (false, false) => 0.0,
        };
        let features = [text[at], recency[at], importance[at], person];
        features.iter().zip(WEIGHTS).map(|(feature, weight)| feature * weight).sum()
    };
    candidates.iter().enumerate().map(score).collect()
}

/// What the texts of all candidates of a prompt are worth, from their relevance by words and by meaning. Without
/// vectors it is the relevance by words. With vectors both orders are joined by their ranks: their scales differ.
fn texts(of: impl Iterator<Item = (f64, Option<f64>)>) -> Vec<f64> {
    let (words, meaning): (Vec<f64>, Vec<Option<f64>>) = of.unzip();
    if meaning.iter().all(Option::is_none) {
        return words;
    }
    let words: Vec<Option<f64>> = words.into_iter().map(|words| Some(words).filter(|words| *words > 0.0)).collect();
    rank_worths(&words).into_iter().zip(rank_worths(&meaning)).map(|(words, meaning)| words + meaning).collect()
}

/// The worth of each value's rank; equal values have one rank. What has no value is worth 0.
fn rank_worths(values: &[Option<f64>]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).filter(|at| values[*at].is_some()).collect();
    order.sort_by(|one, other| values[*other].unwrap_or_default().total_cmp(&values[*one].unwrap_or_default()));
    let mut worths = vec![0.0; values.len()];
    let (mut rank, mut before) = (0, None);
    for (place, at) in (1..).zip(order) {
        if values[at] != before {
            (rank, before) = (place, values[at]);
        }
        worths[at] = rank_worth(rank);
    }
    worths
}

/// Orders candidates by what their texts are worth, best first, equal ones by their ids.
pub fn sort_by_text(candidates: &mut Vec<Candidate>) {
    let worths = texts(candidates.iter().map(|candidate| (candidate.bm25, candidate.similarity)));
    let mut all: Vec<(f64, Candidate)> = worths.into_iter().zip(candidates.drain(..)).collect();
    all.sort_by(|(one, a), (other, b)| other.total_cmp(one).then_with(|| a.id.cmp(&b.id)));
    candidates.extend(all.into_iter().map(|(_, candidate)| candidate));
}

/// Like [`explore`], by scores that another ranker gives, from 0 to 1.
pub fn explore_scored(
    candidates: Vec<(Candidate, f64)>,
    items: usize,
    tokens_max: u32,
    with: Exploration,
) -> Vec<Ranked> {
    let unranked = |(candidate, score)| Ranked {
        candidate,
        score,
        rank: 0,
        slot: None,
        injected: false,
        propensity: 1.0,
        holdout: false,
    };
    let mut ranked: Vec<Ranked> = candidates.into_iter().map(unranked).collect();
    // The speaker's own document comes first, whatever the message is.
    let key = |ranked: &Ranked| ranked.candidate.same_person && ranked.candidate.kind == "people";
    ranked.sort_by(|one, other| {
        let by_score = || other.score.total_cmp(&one.score);
        key(other).cmp(&key(one)).then_with(by_score).then_with(|| one.candidate.id.cmp(&other.candidate.id))
    });
    let mut random = Random(with.seed);
    let withheld = f64::from(with.holdout_permille.min(PERMILLE)) / f64::from(PERMILLE);
    let (mut taken, mut slots, mut used) = (0_usize, 0_u32, 0_u32);
    for (at, item) in ranked.iter_mut().enumerate() {
        item.rank = u32::try_from(at).unwrap_or(u32::MAX).saturating_add(1);
        let fits = used.saturating_add(item.candidate.tokens) <= tokens_max;
        if taken < items && fits {
            taken += 1;
            used += item.candidate.tokens;
            item.holdout =
                with.holdout_permille > 0 && random.below(u64::from(PERMILLE)) < u64::from(with.holdout_permille);
            item.propensity = if item.holdout { withheld } else { 1.0 - withheld };
            if !item.holdout {
                slots += 1;
                (item.slot, item.injected) = (Some(slots), true);
            }
        }
    }
    if with.shuffle {
        shuffle(&mut ranked, &mut random);
    }
    ranked
}

/// The whole of a share in thousandths.
const PERMILLE: u16 = 1_000;

/// Puts the injected items into random slots (Fisher and Yates).
fn shuffle(ranked: &mut [Ranked], random: &mut Random) {
    let mut order: Vec<u32> = ranked.iter().filter_map(|item| item.slot).collect();
    for last in (1..order.len()).rev() {
        let other = usize::try_from(random.below(last as u64 + 1)).unwrap_or(last);
        order.swap(last, other);
    }
    for (item, slot) in ranked.iter_mut().filter(|item| item.injected).zip(order) {
        item.slot = Some(slot);
    }
}

/// Random numbers from a seed (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below this one, which is not 0. The bias is at most one in 2^54.
    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }
}

fn half_life(days: f64) -> f64 {
    0.5_f64.powf(days.max(0.0) / RECENCY_HALF_LIFE_DAYS)
}

/// Scales values to 0 to 1 by their smallest and largest. Equal values become 1 if they are above 0, else 0. What is
/// not finite counts as the smallest.
fn scale(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let values: Vec<f64> = values.collect();
    let finite = || values.iter().copied().filter(|value| value.is_finite());
    let (least, most) = (finite().fold(f64::INFINITY, f64::min), finite().fold(f64::NEG_INFINITY, f64::max));
    let scaled = |value: &f64| match (value.is_finite(), most > least) {
        (true, true) => (value - least) / (most - least),
        (true, false) if most > 0.0 => 1.0,
        _ => 0.0,
    };
    values.iter().map(scaled).collect()
}

/// One part of a document that can be given alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    /// Number of the passage in its document, from 1.
    pub number: u32,
    /// Headings above it, joined by ` > `.
    pub headings: String,
    /// The text without headings.
    pub text: String,
    /// Index of its first line in the document's body, from 0.
    pub line: usize,
}

/// Longest passage, tokens. A longer section is divided at its lines.
const PASSAGE_TOKENS_MAX: u32 = 160;

/// Divides a document into passages: its sections, without those that say nothing.
pub fn passages(body: &str) -> Vec<Passage> {
    let (all, _) = headings(body);
    let lines: Vec<&str> = body.lines().collect();
    let starts: Vec<usize> = std::iter::once(0).chain(all.iter().map(|h| h.line)).collect();
    let mut found = Vec::new();
    let mut above: Vec<(u8, String)> = Vec::new();
    for (at, start) in starts.iter().enumerate() {
        let end = starts.get(at + 1).copied().unwrap_or(lines.len());
        let heading = all.iter().find(|h| at > 0 && h.line == *start);
        if let Some(heading) = heading {
            above.retain(|(level, _)| *level < heading.level);
            above.push((heading.level, heading.title.clone()));
        }
        let first = start + usize::from(heading.is_some());
        let titles = above.iter().map(|(_, title)| title.as_str()).collect::<Vec<_>>().join(" > ");
        divide(lines.get(first..end).unwrap_or_default(), (&titles, first), &mut found);
    }
    found
}

/// Divides the lines of a section, of which the first has this index.
fn divide(lines: &[&str], (headings, first): (&str, usize), found: &mut Vec<Passage>) {
    let mut text = String::new();
    let mut begins = first;
    let mut finish = |text: &mut String, begins: usize| {
        if text.lines().any(says_something) {
            let number = u32::try_from(found.len()).unwrap_or(u32::MAX).saturating_add(1);
            let line = begins + text.lines().take_while(|line| line.trim().is_empty()).count();
            found.push(Passage { number, headings: headings.to_owned(), text: text.trim().to_owned(), line });
        }
        text.clear();
    };
    for (at, line) in lines.iter().enumerate() {
        if !text.is_empty() && tokens(&text) + tokens(line) > PASSAGE_TOKENS_MAX {
            finish(&mut text, begins);
        }
        if text.is_empty() {
            begins = first + at;
        }
        text.push_str(line);
        text.push('\n');
    }
    finish(&mut text, begins);
}

/// Returns the importance of a document that names none, by its kind: `people`, `topics` or another.
pub fn importance_of_kind(kind: &str) -> f64 {
    match kind {
        "people" => 0.6,
        "topics" => 0.5,
        _ => 0.4,
    }
}

/// Returns the share of the words of a query that a text has, from 0 to 1. Other forms of a word count less.
pub fn coverage(query: &SearchWords<'_>, text: &str) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a handful of words")]
    let count = query.count().max(1) as f64;
    query.worth_in(text) / count
}

/// Returns the words of a text that can tell documents apart: those of [`terms`] for which [`tells_apart`] is true.
pub fn words(text: &str) -> BTreeSet<String> {
    terms(text).into_iter().filter(|word| tells_apart(word)).collect()
}

/// Whether a word of [`terms`] can tell documents apart: ASCII words of fewer than three letters cannot.
pub fn tells_apart(word: &str) -> bool {
    word.len() >= 3 || !word.is_ascii()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::SearchWord;
    use crate::memory_writer::limit::{BLOCK_ITEMS_DEFAULT, BLOCK_TOKENS_DEFAULT};
    use proptest::prelude::*;

    fn candidate(id: &str, bm25: f64, days: f64, tokens: u32) -> Candidate {
        Candidate {
            id: id.into(),
            path: format!("topics/{id}.md"),
            version: 1,
            text: String::new(),
            bm25,
            similarity: None,
            recency_d: days,
            importance: 0.5,
            same_person: false,
            same_channel: false,
            kind: "topics".into(),
            tokens,
        }
    }

    #[test]
    fn the_speakers_document_is_first_and_relevance_and_age_decide_then() {
        let mut own = candidate("own", 0.0, 300.0, 10);
        (own.same_person, own.kind) = (true, "people".into());
        let all = vec![
            candidate("old", 3.0, 300.0, 10),
            candidate("new", 3.0, 0.0, 10),
            candidate("other", 0.1, 0.0, 10),
            own,
        ];
        let order: Vec<_> =
            select(all, BLOCK_ITEMS_DEFAULT, BLOCK_TOKENS_DEFAULT).into_iter().map(|r| r.candidate.id).collect();
        assert_eq!(order, ["own", "new", "old", "other"]);
    }

    #[test]
    fn meaning_and_words_are_joined_by_rank() {
        let near = |id: &str, bm25: f64, similarity: f64| Candidate {
            similarity: Some(similarity),
            ..candidate(id, bm25, 0.0, 10)
        };
        let mut all = vec![candidate("words", 90.0, 0.0, 10), near("both", 0.1, 0.4), near("meaning", 0.0, 0.9)];
        let order: Vec<_> = select(all.clone(), 8, 800).into_iter().map(|r| r.candidate.id).collect();
        assert_eq!(order, ["both", "meaning", "words"]);
        sort_by_text(&mut all);
        assert_eq!(all.iter().map(|c| c.id.as_str()).collect::<Vec<_>>(), order);
    }

    #[test]
    fn what_does_not_fit_leaves_room_for_what_does() {
        let all = vec![candidate("a", 9.0, 0.0, 700), candidate("b", 8.0, 0.0, 200), candidate("c", 7.0, 0.0, 100)];
        let chosen = select(all, BLOCK_ITEMS_DEFAULT, BLOCK_TOKENS_DEFAULT);
        let injected: Vec<_> = chosen.iter().map(|r| (r.candidate.id.as_str(), r.slot)).collect();
        assert_eq!(injected, [("a", Some(1)), ("b", None), ("c", Some(2))]);
        assert_eq!(chosen.iter().map(|r| r.rank).collect::<Vec<_>>(), [1, 2, 3]);
    }

    #[test]
    fn a_document_is_divided_at_its_headings() {
        let found =
            passages("Intro\n\n# A\n\n## B\n\n- one\n- two\n\n## C\n\n```\n# no heading\nmake\n```\n\n## Empty\n");
        let named: Vec<_> = found.iter().map(|p| (p.number, p.headings.as_str(), p.text.as_str())).collect();
        assert_eq!(named[0], (1, "", "Intro"));
        assert_eq!(named[1], (2, "A > B", "- one\n- two"));
        assert_eq!(named[2].1, "A > C");
        assert_eq!(named.len(), 3);
        assert!(passages(&"A line of some words.\n".repeat(200)).iter().all(|p| tokens(&p.text) <= 200));
    }

    /// The share of the words of a query that a text has.
    fn covered(query: &str, text: &str) -> f64 {
        let query: Vec<SearchWord> = words(query).iter().map(|word| word.as_str().into()).collect();
        coverage(&SearchWords::of(&query), text)
    }

    #[test]
    fn coverage_is_the_share_of_words_that_are_found() {
        let query = "When is the Launch of Apollo?";
        assert!((covered(query, "The launch of Apollo is on Friday.") - 0.75).abs() < 0.01);
        assert!(covered(query, "Tea").abs() < f64::EPSILON);
    }

    #[test]
    fn words_are_covered_whatever_their_script_and_accents() {
        let query = "東京タワーの高さは?";
        assert!((covered(query, "- 東京タワーの高さは333メートル") - 1.0).abs() < f64::EPSILON);
        assert!(covered(query, "- Green tea").abs() < f64::EPSILON);
        assert!((covered("Ask Ines", "- Inés: tomatoes") - 0.5).abs() < f64::EPSILON);
        assert!((covered("Inés", "- Ines: tomatoes") - 1.0).abs() < f64::EPSILON);
    }

    #[test]
    fn what_is_withheld_keeps_its_room_and_the_log_has_the_propensity() {
        let all = || (0..8).map(|at| candidate(&at.to_string(), 9.0, 0.0, 10)).collect::<Vec<_>>();
        let with = |seed| Exploration { holdout_permille: 500, shuffle: true, seed };
        let mut withheld = 0;
        for seed in 0..40 {
            let chosen = explore(all(), 8, 80, with(seed));
            assert_eq!(chosen, explore(all(), 8, 80, with(seed)), "equal seeds, equal blocks");
            assert!(chosen.iter().all(|r| r.injected != r.holdout && (r.propensity - 0.5).abs() < f64::EPSILON));
            let mut slots: Vec<u32> = chosen.iter().filter_map(|r| r.slot).collect();
            slots.sort_unstable();
            assert!(slots.iter().zip(1..).all(|(slot, at)| *slot == at), "{slots:?}");
            withheld += chosen.iter().filter(|r| r.holdout).count();
        }
        assert!((100..220).contains(&withheld), "{withheld} of 320");
        let orders: BTreeSet<Vec<Option<u32>>> = (0..9)
            .map(|seed| explore(all(), 8, 80, Exploration { shuffle: true, seed, ..Exploration::default() }))
            .map(|chosen| chosen.iter().map(|r| r.slot).collect())
            .collect();
        assert!(orders.len() > 5);
        let plain = select(all(), 8, 20);
        assert!(plain.iter().all(|r| !r.holdout && (r.propensity - 1.0).abs() < f64::EPSILON));
    }

    proptest! {
        #[test]
        fn a_block_keeps_its_limits_and_ranks_everything_once(
            all in prop::collection::vec((0.0_f64..9.0, 0.0_f64..400.0, 1_u32..500), 0..40)
        ) {
            let all: Vec<_> = all.into_iter().enumerate().map(|(at, (b, d, t))| candidate(&at.to_string(), b, d, t)).collect();
            let count = all.len();
            let chosen = select(all, BLOCK_ITEMS_DEFAULT, BLOCK_TOKENS_DEFAULT);
            let injected: Vec<_> = chosen.iter().filter(|r| r.injected).collect();
            prop_assert_eq!(chosen.len(), count);
            prop_assert!(injected.len() <= BLOCK_ITEMS_DEFAULT);
            prop_assert!(injected.iter().map(|r| r.candidate.tokens).sum::<u32>() <= BLOCK_TOKENS_DEFAULT);
            prop_assert!(chosen.iter().all(|r| r.injected == r.slot.is_some() && (0.0..=1.0001).contains(&r.score)));
        }
    }
}
