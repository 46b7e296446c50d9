//! The words by which documents are found, and the order of what was found. Both engines index the words that
//! [`terms`] returns, and [`rank`] orders the candidates of both, so the same documents give the same order.
//! [`query_words`] and [`rarest`] choose the words that are looked for, for the engines and for [`rank`].

use crate::limit::{MEMORY_QUERY_TERMS_MAX, MEMORY_QUERY_WORDS_MAX, MEMORY_TERM_CHARS_MAX};
use std::{
    cmp::Reverse,
    collections::{BTreeSet, HashMap},
};
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
    let mut found = Vec::new();
    for_each_term(text, |term| found.push(term.to_owned()));
    found
}

/// Calls `with` for each word of [`terms`], in the order of the text. A search counts the words of whole documents:
/// with a string for each of them, this took twice as long.
pub(crate) fn for_each_term(text: &str, with: impl FnMut(&str)) {
    if text.is_ascii() { for_each_ascii_term(text, with) } else { for_each_unicode_term(text, with) }
}

/// [`for_each_unicode_term`] for a text of ASCII characters, several times faster.
fn for_each_ascii_term(text: &str, mut with: impl FnMut(&str)) {
    let mut term = String::new();
    for word in text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()) {
        term.clear();
        term.push_str(&word[..word.len().min(MEMORY_TERM_CHARS_MAX)]);
        term.make_ascii_lowercase();
        with(&term);
    }
}

fn for_each_unicode_term(text: &str, mut with: impl FnMut(&str)) {
    let plain: String = text.nfkd().filter(|c| !is_combining_mark(*c)).flat_map(char::to_lowercase).collect();
    for word in plain.unicode_words() {
        // `user_id`, `v1.2` and `don't` are one word to Unicode; people look for their parts too.
        for part in word.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty()) {
            let end = part.char_indices().nth(MEMORY_TERM_CHARS_MAX).map_or(part.len(), |(at, _)| at);
            with(&part[..end]);
        }
    }
}

/// Returns the words of a text that a search can look for, each once. If there are more than
/// [`MEMORY_QUERY_TERMS_MAX`], single letters and digits are left out, and the longest words are first, because longer
/// words are rarer. At most [`MEMORY_QUERY_WORDS_MAX`] words are returned, from which [`rarest`] chooses.
pub fn query_words(text: &str) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let mut words: Vec<String> = terms(text).into_iter().filter(|word| seen.insert(word.clone())).collect();
    if words.len() > MEMORY_QUERY_TERMS_MAX {
        words.retain(|word| !is_single_letter(word));
        words.sort_by_key(|word| Reverse(compared_length(word)));
        words.truncate(MEMORY_QUERY_WORDS_MAX);
    }
    words
}

/// First character of the scripts without spaces, whose characters are words of their own.
const WITHOUT_SPACES_FROM: char = '\u{0e00}';
/// Length that such a character counts as.
const CHARACTER_WORTH: usize = 4;

/// Whether a word is one letter or digit of a script with spaces.
fn is_single_letter(word: &str) -> bool {
    let mut chars = word.chars();
    chars.next().is_some_and(|first| first < WITHOUT_SPACES_FROM) && chars.next().is_none()
}

/// The length by which words are compared.
fn compared_length(word: &str) -> usize {
    match word.chars().count() {
        1 => CHARACTER_WORTH,
        length => length,
    }
}

/// Chooses the words of a search: those that the fewest documents have, of equally rare ones those that come first.
/// Words that no document has are left out. `holders` has the number of documents of each word, in the same order.
pub fn rarest(words: Vec<String>, holders: &[u32]) -> Vec<String> {
    let mut held: Vec<(u32, String)> = holders.iter().copied().zip(words).filter(|(count, _)| *count > 0).collect();
    held.sort_by_key(|(count, _)| *count);
    held.truncate(MEMORY_QUERY_TERMS_MAX);
    held.into_iter().map(|(_, word)| word).collect()
}

/// A document that was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ranked {
    /// Place of the document in the list of candidates.
    pub at: usize,
    /// Its score. Scores of one search can be compared with each other only.
    pub score: f64,
}

/// Orders candidates, given as path and text, for the words of a search: BM25 over the candidates, with the path
/// counted three times. Candidates without any of the words are left out. Equal scores are ordered by path.
pub fn rank(words: &[String], candidates: &[(&str, &str)]) -> Vec<Ranked> {
    // In the order of the words, so that equal documents have equal scores to the last bit.
    let wanted: BTreeSet<&str> = words.iter().map(String::as_str).collect();
    let wanted: HashMap<&str, usize> = wanted.into_iter().enumerate().map(|(at, term)| (term, at)).collect();
    let counted: Vec<(Vec<f64>, f64)> = candidates.iter().map(|(path, text)| count(path, text, &wanted)).collect();
    let total = counted.len() as f64;
    let average = counted.iter().map(|(_, length)| length).sum::<f64>() / total.max(1.0);
    let weight = |term: usize| {
        let with = counted.iter().filter(|(counts, _)| counts[term] > 0.0).count() as f64;
        (1.0 + (total - with + 0.5) / (with + 0.5)).ln()
    };
    let weights: Vec<f64> = (0..wanted.len()).map(weight).collect();
    let score = |(counts, length): &(Vec<f64>, f64)| {
        let norm = SATURATION * (1.0 - LENGTH + LENGTH * length / average.max(1.0));
        let parts = counts.iter().zip(&weights).filter(|(count, _)| **count > 0.0);
        parts.map(|(count, weight)| weight * count * (SATURATION + 1.0) / (count + norm)).sum::<f64>()
    };
    let mut ranked: Vec<Ranked> =
        counted.iter().enumerate().map(|(at, one)| Ranked { at, score: score(one) }).collect();
    ranked.retain(|one| one.score > 0.0);
    ranked.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| candidates[a.at].0.cmp(candidates[b.at].0)));
    ranked
}

/// Occurrences of the wanted words, by their numbers, and the length of the document in words.
fn count(path: &str, text: &str, wanted: &HashMap<&str, usize>) -> (Vec<f64>, f64) {
    let mut counts = vec![0.0; wanted.len()];
    let mut length = 0.0;
    for (text, worth) in [(path, PATH_WORTH), (text, 1.0)] {
        for_each_term(text, |term| {
            length += 1.0;
            if let Some(at) = wanted.get(term) {
                counts[*at] += worth;
            }
        });
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
            let (mut ascii, mut unicode) = (Vec::new(), Vec::new());
            for_each_ascii_term(&text, |term| ascii.push(term.to_owned()));
            for_each_unicode_term(&text, |term| unicode.push(term.to_owned()));
            proptest::prop_assert_eq!(ascii, unicode);
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
        let order =
            |query: &str| rank(&query_words(query), &candidates).into_iter().map(|one| one.at).collect::<Vec<_>>();
        assert_eq!(order("garden"), [2, 0, 4, 1]);
        assert_eq!(order("tomato garden")[0], 0);
        assert_eq!(order("absent"), Vec::<usize>::new());
        assert_eq!(order("  "), Vec::<usize>::new());
        assert_eq!(order(&format!("{} tomato", "the ".repeat(99)))[0], 0, "repeated words take no room");
    }

    #[test]
    fn of_many_words_the_rarest_are_looked_for() {
        assert_eq!(query_words("a tea, a TEA and b"), ["a", "tea", "and", "b"], "few words stay as they are");
        let many: String = (10..60).map(|number| format!("w{number} ")).collect();
        let words = query_words(&format!("x 7 {many} 東 tomatoes"));
        assert_eq!((words.len(), words[0].as_str(), words[1].as_str()), (52, "tomatoes", "東"));
        let holders: Vec<u32> = words.iter().map(|word| if word == "w59" { 1 } else { 9 }).collect();
        let chosen = rarest(words.clone(), &holders);
        assert_eq!(chosen.len(), MEMORY_QUERY_TERMS_MAX);
        assert_eq!(chosen[..3], ["w59", "tomatoes", "東"]);
        assert_eq!(rarest(words, &[0; 52]), Vec::<String>::new(), "no document has them");
        let book: String = (0..2_000).map(|number| format!("word{number} ")).collect();
        assert_eq!(query_words(&book).len(), MEMORY_QUERY_WORDS_MAX);
    }
}
