//! The words by which documents are found, and the order of what was found. Both engines index the words that
//! [`terms`] returns, and [`rank`] orders the candidates of both, so the same documents give the same order.
//! [`query_words`], [`rarest`] and [`unheld`] choose the words that are looked for, for the engines and for [`rank`].

use super::{
    search_word::{FORM_WORTH, SearchWord, SearchWords},
    terms::{for_each_term, terms},
};
use crate::limit::{MEMORY_QUERY_TERMS_MAX, MEMORY_QUERY_WORDS_MAX};
use std::{cmp::Reverse, collections::BTreeSet};

/// How soon further occurrences of a word stop to count (the k1 of BM25).
const SATURATION: f64 = 1.2;
/// How much long documents are held back (the b of BM25).
const LENGTH: f64 = 0.75;
/// How many occurrences in the body one in the path is worth.
const PATH_WORTH: f64 = 3.0;

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

/// Chooses the words of a search that no document has, of which documents may have another form: those that come first.
pub fn unheld(words: &[String], holders: &[u32]) -> Vec<String> {
    let unheld = words.iter().zip(holders).filter(|(_, count)| **count == 0).map(|(word, _)| word.clone());
    unheld.take(MEMORY_QUERY_TERMS_MAX).collect()
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
///
/// A candidate that has only other forms of a word gets less for it than each candidate that has the word itself.
/// Candidates that have the word are scored as if there were no forms.
pub fn rank(words: &[SearchWord], candidates: &[(&str, &str)]) -> Vec<Ranked> {
    // In the order of the words, so that equal documents have equal scores to the last bit.
    let mut words: Vec<&SearchWord> = words.iter().collect();
    words.sort_by(|one, other| one.word.cmp(&other.word));
    words.dedup_by(|one, other| one.word == other.word);
    let wanted = SearchWords::of(words);
    let counted: Vec<Counted> = candidates.iter().map(|(path, text)| count(path, text, &wanted)).collect();
    let average = counted.iter().map(|one| one.length).sum::<f64>() / (counted.len() as f64).max(1.0);
    let mut scores = vec![0.0; counted.len()];
    for word in 0..wanted.count() {
        add_scores(&counted, word, average, &mut scores);
    }
    let mut ranked: Vec<Ranked> = scores.into_iter().enumerate().map(|(at, score)| Ranked { at, score }).collect();
    ranked.retain(|one| one.score > 0.0);
    ranked.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| candidates[a.at].0.cmp(candidates[b.at].0)));
    ranked
}

/// Adds to each score what one word is worth in that document.
fn add_scores(counted: &[Counted], word: usize, average: f64, scores: &mut [f64]) {
    let weight = |is_there: &dyn Fn(&Counted) -> bool| {
        let (total, with) = (counted.len() as f64, counted.iter().filter(|one| is_there(one)).count() as f64);
        (1.0 + (total - with + 0.5) / (with + 0.5)).ln()
    };
    let saturated = |count: f64, length: f64| {
        let norm = SATURATION * (1.0 - LENGTH + LENGTH * length / average.max(1.0));
        count * (SATURATION + 1.0) / (count + norm)
    };
    let exact_weight = weight(&|one| one.exact[word] > 0.0);
    let exact = |one: &Counted| exact_weight * saturated(one.exact[word], one.length);
    // As rare as the word and all its forms together.
    let form_weight = FORM_WORTH * weight(&|one| one.exact[word] + one.forms[word] > 0.0);
    let with_word = counted.iter().filter(|one| one.exact[word] > 0.0);
    let least = with_word.map(exact).min_by(f64::total_cmp);
    for (one, score) in counted.iter().zip(scores) {
        let form = form_weight * saturated(one.forms[word], one.length);
        *score += match least {
            _ if one.exact[word] > 0.0 => exact(one),
            // Less than the least, and more for more forms.
            Some(least) => form * least / (form + least),
            None => form,
        };
    }
}

/// What a document has of the words of a search, by their numbers.
struct Counted {
    /// Occurrences of each word itself.
    exact: Vec<f64>,
    /// Occurrences of its other forms.
    forms: Vec<f64>,
    /// Length of the document, words.
    length: f64,
}

fn count(path: &str, text: &str, wanted: &SearchWords<'_>) -> Counted {
    let none = || vec![0.0; wanted.count()];
    let mut counted = Counted { exact: none(), forms: none(), length: 0.0 };
    for (text, worth) in [(path, PATH_WORTH), (text, 1.0)] {
        for_each_term(text, |term| {
            counted.length += 1.0;
            for (word, is_form) in wanted.at(term) {
                let counts = if *is_form { &mut counted.forms } else { &mut counted.exact };
                counts[*word] += worth;
            }
        });
    }
    counted
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The words of a query without other forms.
    fn exact(query: &str) -> Vec<SearchWord> {
        query_words(query).iter().map(|word| word.as_str().into()).collect()
    }

    fn order(words: &[SearchWord], candidates: &[(&str, &str)]) -> Vec<usize> {
        rank(words, candidates).into_iter().map(|one| one.at).collect()
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
        let order = |query: &str| order(&exact(query), &candidates);
        assert_eq!(order("garden"), [2, 0, 4, 1]);
        assert_eq!(order("tomato garden")[0], 0);
        assert_eq!(order("absent"), Vec::<usize>::new());
        assert_eq!(order("  "), Vec::<usize>::new());
        assert_eq!(order(&format!("{} tomato", "the ".repeat(99)))[0], 0, "repeated words take no room");
    }

    #[test]
    fn a_form_never_outranks_the_word_itself() {
        let long = format!("{} launches", "filler ".repeat(900));
        let forms = "launch ".repeat(50);
        let candidates = [
            ("topics/launch.md", forms.as_str()),
            ("topics/a.md", long.as_str()),
            ("topics/b.md", "one launch"),
            ("topics/c.md", "nothing"),
        ];
        let word = SearchWord { word: "launches".into(), forms: vec!["launch".into()] };
        assert_eq!(order(std::slice::from_ref(&word), &candidates), [1, 0, 2]);
        assert_eq!(order(&[word], &candidates[2..]), [0], "without the word itself its forms are found");
    }

    proptest::proptest! {
        #[test]
        fn documents_that_have_all_words_keep_their_order_whatever_the_forms(
            texts in proptest::collection::vec("(a|b|c|x|y| ){0,12}", 1..8)
        ) {
            let texts: Vec<String> = texts.iter().map(|text| format!("a b {text} a b")).collect();
            let candidates: Vec<(&str, &str)> = texts.iter().map(|text| ("topics/t.md", text.as_str())).collect();
            let with = |word: &str, form: &str| SearchWord { word: word.into(), forms: vec![form.into()] };
            proptest::prop_assert_eq!(
                rank(&[with("a", "x"), with("b", "y")], &candidates),
                rank(&["a".into(), "b".into()], &candidates)
            );
        }
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
        assert_eq!(unheld(&words, &holders), Vec::<String>::new());
        assert_eq!(unheld(&words, &[0; 52]), words[..MEMORY_QUERY_TERMS_MAX]);
        assert_eq!(rarest(words, &[0; 52]), Vec::<String>::new(), "no document has them");
        let book: String = (0..2_000).map(|number| format!("word{number} ")).collect();
        assert_eq!(query_words(&book).len(), MEMORY_QUERY_WORDS_MAX);
    }
}
