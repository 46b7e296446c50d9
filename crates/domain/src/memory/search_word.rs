//! Words that a search looks for, and how much of them a text has.

use super::terms::for_each_term;
use std::collections::HashMap;

/// What another form of a word counts, where the word itself counts 1.
pub const FORM_WORTH: f64 = 0.8;

/// A word that a search looks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchWord {
    /// The word as it is searched for.
    pub word: String,
    /// Other forms of it, the most similar first.
    pub forms: Vec<String>,
}

impl From<&str> for SearchWord {
    /// The word without other forms.
    fn from(word: &str) -> Self {
        Self { word: word.to_owned(), forms: Vec::new() }
    }
}

impl AsRef<str> for SearchWord {
    /// The word as it is searched for.
    fn as_ref(&self) -> &str {
        &self.word
    }
}

/// The words of a search and their forms, to be found in texts.
pub struct SearchWords<'w> {
    /// Numbers of the words that a word or form means, and whether it is a form.
    places: HashMap<&'w str, Vec<(usize, bool)>>,
    count: usize,
}

impl<'w> SearchWords<'w> {
    /// The words, numbered in their order.
    pub fn of(words: impl IntoIterator<Item = &'w SearchWord>) -> Self {
        let (mut places, mut count) = (HashMap::<&str, Vec<(usize, bool)>>::new(), 0);
        for word in words {
            places.entry(&word.word).or_default().push((count, false));
            for form in &word.forms {
                places.entry(form).or_default().push((count, true));
            }
            count += 1;
        }
        Self { places, count }
    }

    /// How many words there are, without their forms.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Numbers of the words that a word of a text means, and whether it is a form of them.
    pub(super) fn at(&self, term: &str) -> &[(usize, bool)] {
        self.places.get(term).map_or(&[], Vec::as_slice)
    }

    /// How many of the words a text has. A word of which it has only another form counts [`FORM_WORTH`].
    pub fn worth_in(&self, text: &str) -> f64 {
        let mut worth = vec![0.0_f64; self.count];
        for_each_term(text, |term| {
            for (number, is_form) in self.at(term) {
                worth[*number] = worth[*number].max(if *is_form { FORM_WORTH } else { 1.0 });
            }
        });
        worth.into_iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_counts_less_than_its_word_and_each_word_once() {
        let launch = SearchWord { word: "launch".into(), forms: vec!["launched".into(), "launches".into()] };
        let words = [launch, "friday".into()];
        let words = SearchWords::of(&words);
        for (text, worth) in [
            ("Launch on Friday: a launch!", 2.0),
            ("It launched, and launches.", FORM_WORTH),
            ("They launched the launch", 1.0),
            ("Tea", 0.0),
        ] {
            assert!((words.worth_in(text) - worth).abs() < f64::EPSILON, "{text}");
        }
    }
}
