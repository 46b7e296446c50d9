//! Objections that deny a statement of the answer: "There's no metro in Gdańsk", "It does not run any more", "1648, not
//! 1748", "Not from 50 but from 250".

use super::{
    objection::{NAME_CHARS_MIN, NUMBER_WORDS_MAX, Turn, bare, is_alike, is_digit},
    text::Message,
};

/// Longest clause that denies a statement of the answer, in words.
const DENIAL_WORDS_MAX: usize = 10;
/// Least number of words of the answer in such a clause, and how many of them each other name needs beside it.
const DENIED_NAMES_MIN: usize = 2;
const DENIED_NAMES_PER_NEW: usize = 3;
/// Longest clause that contrasts ("…, not on Tuesday"), in words.
const CONTRAST_WORDS_MAX: usize = 4;
/// Longest clause that repeats the request, before a contrast, in words.
const INSISTING_WORDS_MAX: usize = 3;
/// Longest clause that says what is so instead ("…, but from 250"), in words.
const INSTEAD_WORDS_MAX: usize = 5;
/// Largest distance between a negation and the word that it denies before it, and behind it, in words.
const DENIAL_REACH: usize = 3;
const DENIED_REACH: usize = 2;
/// Most other names in a clause that denies a single word of the answer.
const DENIED_NEW_MAX: usize = 2;
/// Longest clause that has hardly more than a negation and a word of the answer, in words.
const SHORT_DENIAL_WORDS_MAX: usize = 5;
/// Least number of letters that a verb shares with its form that has a negation inside ("yükle", "yüklenmiyor").
const STEM_SHARED_MIN: usize = 4;

impl Turn<'_> {
    /// Whether a clause has hardly more than words of the answer, and a negation: "There's no metro in Gdańsk".
    pub(super) fn denies_statement(&self, words: &[String]) -> bool {
        let language = self.language;
        let names = words.iter().filter(|word| language.can_name(word, NAME_CHARS_MIN));
        let (known, new): (Vec<&String>, Vec<&String>) = names.partition(|word| self.is_replied(word));
        words.len() <= language.span(DENIAL_WORDS_MAX)
            && known.len() >= DENIED_NAMES_MIN
            && new.len() * DENIED_NAMES_PER_NEW <= known.len()
            && self.denies(words)
            && !language.mentions_speaker(words)
    }

    /// Whether the clause denies a number of the answer: "It's long not 500 any more".
    pub(super) fn denies_number(&self, words: &[String]) -> bool {
        let is_denied = |at: usize| {
            let number = words.get(at + 1).filter(|word| is_digit(word));
            self.language.negates_at(&words[at..at + 1])
                && number.is_some_and(|word| self.replied.contains(word) && !self.asked.contains(word))
        };
        words.len() <= NUMBER_WORDS_MAX && (0..words.len()).any(is_denied)
    }

    /// Whether the clause is "not", and a word of the answer or of the request ("1648, not 1748"), or follows
    /// hardly more than a word of the request ("Bulleted, not like that").
    pub(super) fn contrasts(&self, before: &[String], words: &[String]) -> bool {
        let Some((negation, rest)) = words.split_first() else { return false };
        let mut names = rest.iter().filter(|word| !self.language.is_common(word) || self.is_number(word));
        let (Some(name), None) = (names.next(), names.next()) else { return false };
        let is_known = || self.replied.iter().chain(&self.asked).any(|known| is_alike(known, bare(name)));
        let insists = before.len() <= INSISTING_WORDS_MAX && before.iter().any(|word| self.is_asked(word));
        words.len() <= CONTRAST_WORDS_MAX
            && self.language.negates_at(std::slice::from_ref(negation))
            && (is_known() || insists)
    }

    /// Whether the clause at index `at` denies a word of the answer, and says at once what is so instead: "Not from 50
    /// but from 250". In some languages the negation follows: "50 değil 250".
    pub(super) fn corrects(&self, now: &Message, at: usize) -> bool {
        let (language, clause) = (self.language, &now.clauses[at]);
        let words = language.after_contrast(&clause.words);
        let is_denied = |word: &String| {
            let is_name = is_digit(word) || language.can_name(word, NAME_CHARS_MIN);
            is_name && (self.is_replied(word) || self.replied.iter().any(|known| is_alike(known, bare(word))))
        };
        let reach = language.span(DENIAL_REACH);
        let end = match language.denial_at(words) {
            Some(length) => words[length..]
                .iter()
                .take(language.span(DENIED_REACH))
                .position(is_denied)
                .map(|found| length + found + 1),
            None if language.negation_follows => {
                let negation = (1..words.len().min(reach + 1)).find(|at| language.negates_at(&words[*at..]));
                negation.filter(|at| is_denied(&words[at - 1])).map(|at| at + 1)
            }
            None => None,
        };
        let Some(end) = end else { return false };
        let rest = language.after_contrast(&words[end..]);
        let following = now.clauses.get(at + 1).filter(|other| other.sentence == clause.sentence);
        let instead = match following {
            Some(other) if rest.is_empty() => language.after_contrast(&other.words),
            _ => rest,
        };
        instead.len() <= language.span(INSTEAD_WORDS_MAX)
            && !language.mentions_speaker(words)
            && !language.mentions_speaker(instead)
            && instead.iter().any(|word| self.is_other(word))
    }

    /// Whether the word is a number, or can be a name, that neither the answer nor the request has.
    fn is_other(&self, word: &String) -> bool {
        let is_name = self.is_number(word) || self.language.can_name(word, NAME_CHARS_MIN);
        is_name && !self.replied.contains(word) && !self.asked.contains(word)
    }

    /// Whether the clause negates a word of the answer beside the negation: "It has not been running since
    /// May".
    pub(super) fn denies_a_word(&self, words: &[String]) -> bool {
        let language = self.language;
        let is_new = |word: &&String| language.can_name(word, NAME_CHARS_MIN) && !self.is_known(word);
        words.len() <= language.span(DENIAL_WORDS_MAX)
            && !language.mentions_speaker(words)
            && !language.requests(words)
            && words.iter().filter(is_new).count() <= language.span(DENIED_NEW_MAX)
            && (0..words.len()).any(|at| self.is_denied_at(words, at))
    }

    /// Whether a short clause has a word of the answer, a negation, and nothing else of weight: "He was never mayor".
    pub(super) fn denies_shortly(&self, words: &[String]) -> bool {
        let language = self.language;
        let is_known = |word: &String| language.can_name(word, NAME_CHARS_MIN) && self.is_replied(word);
        let denies = |at: &usize| language.denial_at(&words[*at..]).is_some();
        let is_light = |at: usize| {
            let word = &words[at];
            denies(&at) || is_known(word) || language.is_common(word) || language.filler_at(&words[at..]).is_some()
        };
        !language.is_by_character()
            && words.len() <= SHORT_DENIAL_WORDS_MAX
            && (0..words.len()).any(|at| denies(&at))
            && words.iter().any(is_known)
            && (0..words.len()).all(is_light)
            && !language.mentions_speaker(words)
            && !language.mentions_third(words)
    }

    fn is_denied_at(&self, words: &[String], at: usize) -> bool {
        let language = self.language;
        if language.is_negated_form(&words[at]) {
            return self.replied.iter().any(|known| shared_chars(known, &words[at]) >= STEM_SHARED_MIN);
        }
        let Some(length) = language.denial_at(&words[at..]) else { return false };
        let is_word =
            |word: &String| !is_digit(word) && language.can_name(word, NAME_CHARS_MIN) && self.is_replied(word);
        if language.negation_follows {
            // A noun before a negation is an object: "Karaoke mag sie nicht".
            let is_verb = |word: &String| !self.capitalised.contains(word) && is_word(word);
            let before = &words[at.saturating_sub(language.span(DENIAL_REACH))..at];
            if before.iter().rev().find(|word| language.can_name(word, NAME_CHARS_MIN)).is_some_and(is_verb) {
                return true;
            }
        }
        let behind = &words[at + length..];
        let pair = behind.get(..2).and_then(|pair| language.word_of(pair));
        pair.is_some_and(|pair| self.replied_pairs.contains(&pair)) || behind.first().is_some_and(is_word)
    }

    pub(super) fn denies(&self, words: &[String]) -> bool {
        (0..words.len()).any(|at| self.language.negates_at(&words[at..]))
    }
}

fn shared_chars(one: &str, other: &str) -> usize {
    one.chars().zip(other.chars()).take_while(|(a, b)| a == b).count()
}
