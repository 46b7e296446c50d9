//! The words by which documents are found, and the order of what was found. Both engines index the words that
//! [`terms`] returns, and [`rank`] orders the candidates of both, so the same documents give the same order.

use crate::limit::{MEMORY_QUERY_TERMS_MAX, MEMORY_TERM_CHARS_MAX};
use std::collections::{BTreeSet, HashMap};
use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};
use unicode_segmentation::UnicodeSegmentation;

/// How soon further occurrences of a word stop to count (the k1 of BM25).
const SATURATION: f64 = 1.2;
/// How much long documents are held back (the b of BM25).
const LENGTH: f64 = 0.75;
/// How many occurrences in the body one in the path is worth.
const PATH_WORTH: f64 = 3.0;

/// Returns the words of a text: in lower case, without accents, letters and digits only. Characters of scripts
/// without spaces are words of their own.
pub fn terms(text: &str) -> Vec<String> {
    if text.is_ascii() {
        return ascii_terms(text);
    }
    unicode_terms(text)
}

/// [`unicode_terms`] of a text of ASCII characters, several times faster.
fn ascii_terms(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.map(|word| word[..word.len().min(MEMORY_TERM_CHARS_MAX)].to_ascii_lowercase()).collect()
}

fn unicode_terms(text: &str) -> Vec<String> {
    let plain: String = text.nfkd().filter(|c| !is_combining_mark(*c)).flat_map(char::to_lowercase).collect();
    let mut found = Vec::new();
    for word in plain.unicode_words() {
        // `user_id`, `v1.2` and `don't` are one word to Unicode; people look for their parts too.
        for part in word.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty()) {
            found.push(part.chars().take(MEMORY_TERM_CHARS_MAX).collect());
        }
    }
    found
}

/// A document that was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ranked {
    /// Place of the document in the list of candidates.
    pub at: usize,
    /// Its score. Scores of one search can be compared with each other only.
    pub score: f64,
}

/// Orders candidates, given as path and text, for a query: BM25 over the candidates, with the path counted three
/// times. Candidates without any of the words are left out. Equal scores are ordered by path.
pub fn rank(query: &str, candidates: &[(&str, &str)]) -> Vec<Ranked> {
    let wanted: BTreeSet<String> = terms(query).into_iter().take(MEMORY_QUERY_TERMS_MAX).collect();
    let counted: Vec<(HashMap<String, f64>, f64)> =
        candidates.iter().map(|(path, text)| count(path, text, &wanted)).collect();
    let total = counted.len() as f64;
    let average = counted.iter().map(|(_, length)| length).sum::<f64>() / total.max(1.0);
    let weight = |term: &String| {
        let with = counted.iter().filter(|(counts, _)| counts.contains_key(term)).count() as f64;
        (1.0 + (total - with + 0.5) / (with + 0.5)).ln()
    };
    let weights: HashMap<&String, f64> = wanted.iter().map(|term| (term, weight(term))).collect();
    let score = |(counts, length): &(HashMap<String, f64>, f64)| {
        let norm = SATURATION * (1.0 - LENGTH + LENGTH * length / average.max(1.0));
        // Summed in the order of the words, so that equal documents have equal scores to the last bit.
        let parts = wanted.iter().filter_map(|term| Some((counts.get(term)?, weights.get(term)?)));
        parts.map(|(count, weight)| weight * count * (SATURATION + 1.0) / (count + norm)).sum::<f64>()
    };
    let mut ranked: Vec<Ranked> =
        counted.iter().enumerate().map(|(at, one)| Ranked { at, score: score(one) }).collect();
    ranked.retain(|one| one.score > 0.0);
    ranked.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| candidates[a.at].0.cmp(candidates[b.at].0)));
    ranked
}

/// Occurrences of the wanted words, and the length of the document in words.
fn count(path: &str, text: &str, wanted: &BTreeSet<String>) -> (HashMap<String, f64>, f64) {
    let mut counts = HashMap::new();
    let mut length = 0.0;
    for (words, worth) in [(terms(path), PATH_WORTH), (terms(text), 1.0)] {
        for word in words {
            length += 1.0;
            if wanted.contains(&word) {
                *counts.entry(word).or_insert(0.0) += worth;
            }
        }
    }
    (counts, length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_compared_without_case_accents_and_punctuation() {
        assert_eq!(
            terms("Don’t ask Inés: user_id=42, v1.2!"),
            ["don", "t", "ask", "ines", "user", "id", "42", "v1", "2"]
        );
        assert_eq!(terms("東京 ｆｕｌｌ"), ["東", "京", "full"]);
        assert!(terms("— … \"' OR *").iter().eq(["or"]));
    }

    proptest::proptest! {
        #[test]
        fn ascii_texts_have_the_same_words_either_way(text in "[ -~\n\t\r]{0,200}") {
            proptest::prop_assert_eq!(ascii_terms(&text), unicode_terms(&text));
        }
    }

    #[test]
    fn rare_words_and_paths_weigh_more() {
        let long = format!("garden {}", "filler ".repeat(500));
        let candidates = [
            ("topics/a.md", "the garden and the tomato"),
            ("topics/b.md", long.as_str()),
            ("topics/garden.md", "plans"),
            ("topics/c.md", "nothing of it"),
            ("topics/d.md", "the garden and the cucumber"),
        ];
        let order = |query: &str| rank(query, &candidates).into_iter().map(|one| one.at).collect::<Vec<_>>();
        assert_eq!(order("garden"), [2, 0, 4, 1]);
        assert_eq!(order("tomato garden")[0], 0);
        assert_eq!(order("absent"), Vec::<usize>::new());
        assert_eq!(order("  "), Vec::<usize>::new());
    }
}
