//! Tables of phrases, one per language. `docs/feedback-data.md` explains how to add a language.

use super::{
    class::Class,
    phrase::{self, Phrase, any_begins, any_within, begins, longest},
};
use serde::Deserialize;
use std::collections::BTreeMap;

/// The TOML file of a language.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    success: Vec<String>,
    praise: Vec<String>,
    thanks: Vec<String>,
    correction: Vec<String>,
    failure: Vec<String>,
    persisting: Vec<String>,
    displeasure: Vec<String>,
    abandonment: Vec<String>,
    acknowledgement: Vec<String>,
    idiom: Vec<String>,
    contrast: Vec<String>,
    request: Vec<String>,
    please: Vec<String>,
    own: Vec<String>,
    answer: Vec<String>,
    claim: Vec<String>,
    filler: Vec<String>,
    report: Vec<String>,
    persistence: Vec<String>,
    absence: Vec<String>,
    pointer: Vec<String>,
    number: Vec<String>,
    others: Vec<String>,
    third: Vec<String>,
    speaker: Vec<String>,
    elsewhere: Vec<String>,
    doubt: Vec<String>,
    partial: Vec<String>,
    demand: Vec<String>,
    inquiry: Vec<String>,
    addition: Vec<String>,
    who: Vec<String>,
    identity: Vec<String>,
    exclusion: Vec<String>,
    refusal: Vec<String>,
    negation: Vec<String>,
    negation_follows: bool,
    count: Vec<String>,
    whereabouts: Vec<String>,
    ceased: Vec<String>,
    admission: Vec<String>,
    apology: Vec<String>,
    conclusion: Vec<String>,
    recurrence: Vec<String>,
    insistence: Vec<String>,
    source: Vec<String>,
    #[serde(default)]
    lasting: Vec<String>,
    #[serde(default)]
    negated_form: Vec<String>,
    denial: Vec<String>,
    #[serde(default)]
    letters: String,
    #[serde(default)]
    capitalises_nouns: bool,
    #[serde(default = "one")]
    characters_per_word: usize,
    common: Vec<String>,
}

const fn one() -> usize {
    1
}

/// The error for a file of phrases that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("the phrases of `{language}` cannot be used: {why}")]
pub struct InvalidTable {
    /// BCP 47 code of the language.
    pub language: String,
    /// What is wrong, with line and column if the file is not valid TOML.
    pub why: String,
}

/// One language with its phrases.
#[derive(Debug, Clone)]
pub struct Language {
    /// BCP 47 code, such as `en`.
    pub code: String,
    phrases: Vec<(Phrase, Class)>,
    /// Indexes of the phrases by their first word, and of those that begin with a pattern.
    by_first: BTreeMap<String, Vec<usize>>,
    by_pattern: Vec<usize>,
    contrast: Vec<Phrase>,
    request: Vec<Phrase>,
    please: Vec<Phrase>,
    own: Vec<Phrase>,
    pub(super) answer: Vec<Phrase>,
    pub(super) claim: Vec<Phrase>,
    filler: Vec<Phrase>,
    report: Vec<Phrase>,
    persistence: Vec<Phrase>,
    absence: Vec<Phrase>,
    pointer: Vec<Phrase>,
    number: Vec<Phrase>,
    others: Vec<Phrase>,
    third: Vec<Phrase>,
    speaker: Vec<Phrase>,
    elsewhere: Vec<Phrase>,
    pub(super) doubt: Vec<Phrase>,
    partial: Vec<Phrase>,
    pub(super) demand: Vec<Phrase>,
    /// How the person begins to say what was asked.
    pub(super) inquiry: Vec<Phrase>,
    addition: Vec<Phrase>,
    who: Vec<Phrase>,
    identity: Vec<Phrase>,
    exclusion: Vec<Phrase>,
    pub(super) refusal: Vec<Phrase>,
    negation: Vec<Phrase>,
    /// Whether a negation may follow the phrase that it negates ("das hilft nicht").
    pub(super) negation_follows: bool,
    count: Vec<Phrase>,
    whereabouts: Vec<Phrase>,
    /// What says that something which the request complained of has ended.
    pub(super) ceased: Vec<Phrase>,
    /// What says that the person made the mistake.
    pub(super) admission: Vec<Phrase>,
    /// How the person says sorry.
    pub(super) apology: Vec<Phrase>,
    /// What begins a conclusion: "so".
    pub(super) conclusion: Vec<Phrase>,
    /// What says that something happens again.
    pub(super) recurrence: Vec<Phrase>,
    /// How the person says what the request was, anywhere in a clause.
    pub(super) insistence: Vec<Phrase>,
    /// Where a fact is written: "page", "according to".
    pub(super) source: Vec<Phrase>,
    /// Words that complain that something is still so, and say hardly anything else.
    lasting: Vec<Phrase>,
    /// Forms of verbs that have a negation inside ("*mıyor").
    negated_form: Vec<Phrase>,
    /// Negations of a verb, next to it.
    denial: Vec<Phrase>,
    letters: String,
    /// Whether all nouns have a capital letter, so that it marks no name.
    pub(super) capitalises_nouns: bool,
    /// About how many words of [`super::text`] a word has: 1, and 2 in languages that are compared by characters.
    characters_per_word: usize,
    common: Vec<Phrase>,
}

impl Language {
    /// Parses the file of phrases of the language `code`.
    ///
    /// # Errors
    /// [`InvalidTable`] if the text is not TOML, lacks a field, has an unknown field, or has an invalid phrase:
    /// one without words, or not in lower case.
    pub fn read(code: &str, toml: &str) -> Result<Language, InvalidTable> {
        let refused = |why: String| InvalidTable { language: code.to_owned(), why };
        let table: Table = toml::from_str(toml).map_err(|error| refused(error.to_string()))?;
        let list = |texts: &[String]| {
            texts.iter().map(|text| phrase::read(text).map_err(&refused)).collect::<Result<Vec<Phrase>, _>>()
        };
        let classes = [
            (Class::Success, &table.success),
            (Class::Praise, &table.praise),
            (Class::Thanks, &table.thanks),
            (Class::Correction, &table.correction),
            (Class::Failure, &table.failure),
            (Class::Persisting, &table.persisting),
            (Class::Displeasure, &table.displeasure),
            (Class::Abandonment, &table.abandonment),
            (Class::Acknowledgement, &table.acknowledgement),
            (Class::Idiom, &table.idiom),
        ];
        let mut phrases = Vec::new();
        for (class, texts) in classes {
            let read = list(texts)?;
            phrases.extend(read.into_iter().map(|phrase| (phrase, class)));
        }
        phrase::add_without_marks(&mut phrases);
        // The longest phrase at a place wins, so "not bad" is found before "bad"; of two, the one without a pattern.
        let is_open = |phrase: &Phrase| phrase.iter().any(|word| phrase::is_pattern(word));
        phrases.sort_by_key(|(phrase, _)| (std::cmp::Reverse(phrase.len()), is_open(phrase)));
        let (mut by_first, mut by_pattern) = (BTreeMap::<String, Vec<usize>>::new(), Vec::new());
        for (at, (phrase, _)) in phrases.iter().enumerate() {
            match phrase::is_pattern(&phrase[0]) {
                true => by_pattern.push(at),
                false => by_first.entry(phrase[0].clone()).or_default().push(at),
            }
        }
        Ok(Language {
            code: code.to_owned(),
            phrases,
            by_first,
            by_pattern,
            contrast: list(&table.contrast)?,
            request: list(&table.request)?,
            please: list(&table.please)?,
            own: list(&table.own)?,
            answer: list(&table.answer)?,
            claim: list(&table.claim)?,
            filler: list(&table.filler)?,
            report: list(&table.report)?,
            persistence: list(&table.persistence)?,
            absence: list(&table.absence)?,
            pointer: list(&table.pointer)?,
            number: list(&table.number)?,
            others: list(&table.others)?,
            third: list(&table.third)?,
            speaker: list(&table.speaker)?,
            elsewhere: list(&table.elsewhere)?,
            doubt: list(&table.doubt)?,
            partial: list(&table.partial)?,
            demand: list(&table.demand)?,
            inquiry: list(&table.inquiry)?,
            addition: list(&table.addition)?,
            who: list(&table.who)?,
            identity: list(&table.identity)?,
            exclusion: list(&table.exclusion)?,
            refusal: list(&table.refusal)?,
            negation: list(&table.negation)?,
            negation_follows: table.negation_follows,
            count: list(&table.count)?,
            whereabouts: list(&table.whereabouts)?,
            ceased: list(&table.ceased)?,
            admission: list(&table.admission)?,
            apology: list(&table.apology)?,
            conclusion: list(&table.conclusion)?,
            recurrence: list(&table.recurrence)?,
            insistence: list(&table.insistence)?,
            source: list(&table.source)?,
            lasting: list(&table.lasting)?,
            negated_form: list(&table.negated_form)?,
            denial: list(&table.denial)?,
            letters: table.letters,
            capitalises_nouns: table.capitalises_nouns,
            characters_per_word: table.characters_per_word,
            common: list(&table.common)?,
        })
    }

    /// Returns the number of words and the class of the longest phrase at the start of `words`.
    pub(super) fn phrase_at(&self, words: &[String]) -> Option<(usize, Class)> {
        let first = |found: &[usize]| {
            found.iter().find_map(|at| Some((*at, begins(words, &self.phrases[*at].0)?, self.phrases[*at].1)))
        };
        let literal = self.by_first.get(words.first()?).and_then(|found| first(found));
        let pattern = first(&self.by_pattern);
        let (_, length, class) = literal.into_iter().chain(pattern).min_by_key(|(at, ..)| *at)?;
        Some((length, class))
    }

    /// Returns how many words of a text as many words of a sentence are.
    pub(super) fn span(&self, words: usize) -> usize {
        words * self.characters_per_word
    }

    /// Whether all of `words` only lead to a statement: contrasts, refusals, fillers and acknowledgements ("no, sorry,
    /// but …").
    pub(super) fn only_opens(&self, words: &[String]) -> bool {
        let mut rest = words;
        while !rest.is_empty() {
            let acknowledged = self.phrase_at(rest).filter(|(_, class)| *class == Class::Acknowledgement);
            let lists = [&self.contrast, &self.refusal, &self.filler];
            let length = lists.into_iter().filter_map(|list| longest(rest, list)).max();
            let Some(length) = length.max(acknowledged.map(|(length, _)| length)) else { return false };
            rest = &rest[length.min(rest.len())..];
        }
        true
    }

    /// Whether `words` begin with a contrast such as "but".
    pub(super) fn turns_at(&self, words: &[String]) -> bool {
        any_begins(words, &self.contrast)
    }

    /// Returns the words after a contrast at their start, or all of them.
    pub(super) fn after_contrast<'a>(&self, words: &'a [String]) -> &'a [String] {
        &words[longest(words, &self.contrast).unwrap_or(0)..]
    }

    /// Whether `words` begin with a request, so that the clause is not about the answer.
    pub(super) fn requests(&self, words: &[String]) -> bool {
        any_begins(words, &self.request)
    }

    /// Whether the clause mentions something of the person's own ("my script"), or of the person's place and time.
    pub(super) fn mentions_own(&self, words: &[String]) -> bool {
        any_within(words, &self.own) || self.is_elsewhere(words)
    }

    /// Whether the clause is about the place or the time of the person: "at home", "this week".
    pub(super) fn is_elsewhere(&self, words: &[String]) -> bool {
        any_within(words, &self.elsewhere)
    }

    /// Whether `words` begin with what the person does not know: "I don't know if".
    pub(super) fn doubts(&self, words: &[String]) -> bool {
        any_begins(words, &self.doubt)
    }

    /// Whether the clause contains a "please".
    pub(super) fn has_please(&self, words: &[String]) -> bool {
        any_within(words, &self.please)
    }

    /// Whether a phrase that refers to the answer begins at one of the words up to `end`, inclusive.
    pub(super) fn answer_before(&self, words: &[String], end: usize) -> bool {
        (0..words.len().min(end + 1)).any(|at| any_begins(&words[at..], &self.answer))
    }

    /// Whether the clause has an acknowledgement or an idiom.
    pub(super) fn acknowledges(&self, words: &[String]) -> bool {
        let is_neutral = |class: Class| matches!(class, Class::Acknowledgement | Class::Idiom);
        (0..words.len()).any(|at| self.phrase_at(&words[at..]).is_some_and(|(_, class)| is_neutral(class)))
    }

    /// Returns the length of the longest filler at the start of `words`.
    pub(super) fn filler_at(&self, words: &[String]) -> Option<usize> {
        longest(words, &self.filler)
    }

    /// Whether the clause says what the answer did: "you removed …".
    pub(super) fn reports(&self, words: &[String]) -> bool {
        any_within(words, &self.report)
    }

    /// Whether the clause is about the person: "I", "we", in some languages an ending of a verb.
    pub(super) fn mentions_speaker(&self, words: &[String]) -> bool {
        any_within(words, &self.speaker)
    }

    /// Whether `words` are nothing but "still".
    pub(super) fn only_persists(&self, words: &[String]) -> bool {
        longest(words, &self.persistence) == Some(words.len())
    }

    /// Whether the words mention other people, whose opinion may follow.
    pub(super) fn mentions_others(&self, words: &[String]) -> bool {
        any_within(words, &self.others)
    }

    /// Whether the words mention something of a third person: "her talk".
    pub(super) fn mentions_third(&self, words: &[String]) -> bool {
        any_within(words, &self.third)
    }

    /// Whether the clause limits what it says to a part: "the second half", "almost".
    pub(super) fn limits(&self, words: &[String]) -> bool {
        any_within(words, &self.partial)
    }

    /// Whether the clause adds another matter: "also", "by the way".
    pub(super) fn adds(&self, words: &[String]) -> bool {
        any_within(words, &self.addition)
    }

    /// Whether the clause says that something is still there.
    pub(super) fn persists(&self, words: &[String]) -> bool {
        any_within(words, &self.persistence)
    }

    /// Whether the clause complains that something is still so.
    pub(super) fn lasts(&self, words: &[String]) -> bool {
        any_within(words, &self.lasting)
    }

    /// Whether the clause says that something is not there.
    pub(super) fn misses(&self, words: &[String]) -> bool {
        any_within(words, &self.absence)
    }

    /// Whether the clause asks for a person.
    pub(super) fn asks_who(&self, words: &[String]) -> bool {
        any_within(words, &self.who)
    }

    /// Whether the clause names a person.
    pub(super) fn identifies(&self, words: &[String]) -> bool {
        any_within(words, &self.identity)
    }

    /// Returns the length of the longest phrase at the start of `words` that points to the answer: "that's …".
    pub(super) fn pointer_at(&self, words: &[String]) -> Option<usize> {
        longest(words, &self.pointer)
    }

    /// Whether the word is a number, such as "four".
    pub(super) fn is_number(&self, word: &str) -> bool {
        self.number.iter().any(|number| number.as_slice() == [word])
    }

    /// Whether the word is frequent in every text, such as "the".
    pub(super) fn is_common(&self, word: &str) -> bool {
        self.common.iter().any(|common| common.as_slice() == [word])
    }

    /// Returns the words that follow a "without" within `reach` words.
    pub(super) fn excluded<'a>(&'a self, words: &'a [String], reach: usize) -> impl Iterator<Item = &'a String> {
        let found = (0..words.len()).filter_map(|at| Some(at + longest(&words[at..], &self.exclusion)?));
        found.flat_map(move |after| words[after..].iter().take(reach))
    }

    /// Whether `words` begin with what the person has counted: "I count".
    pub(super) fn counts(&self, words: &[String]) -> bool {
        any_begins(words, &self.count)
    }

    /// Whether the clause asks for the place of something: "Where is", "and the".
    pub(super) fn asks_where(&self, words: &[String]) -> bool {
        any_within(words, &self.whereabouts)
    }

    /// Whether the word is a form of a verb that has a negation inside.
    pub(super) fn is_negated_form(&self, word: &String) -> bool {
        any_begins(std::slice::from_ref(word), &self.negated_form)
    }

    /// Returns the length of the longest negation of a verb at the start of `words`.
    pub(super) fn denial_at(&self, words: &[String]) -> Option<usize> {
        longest(words, &self.denial)
    }

    /// Whether the language is compared by characters, as it does not separate words.
    pub(super) fn is_by_character(&self) -> bool {
        self.characters_per_word > 1
    }

    pub(super) fn negates_at(&self, words: &[String]) -> bool {
        any_begins(words, &self.negation)
    }

    /// Returns how many words at the start of `words` belong to this language: those of the longest phrase,
    /// common word or request, or a word with a letter of this language.
    pub(super) fn known_at(&self, words: &[String]) -> usize {
        let phrase = self.phrase_at(words).map_or(0, |(length, _)| length);
        let begins = |list: &[Phrase]| longest(words, list).unwrap_or(0);
        let has_letter = words.first().is_some_and(|word| word.contains(|c| self.letters.contains(c)));
        phrase.max(begins(&self.common)).max(begins(&self.request)).max(usize::from(has_letter))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::languages::BUILT_IN;

    #[test]
    fn a_bad_file_says_what_is_wrong() {
        let why = |toml: &str| Language::read("xx", toml).unwrap_err().to_string();
        assert!(why("success = [").starts_with("the phrases of `xx` cannot be used: TOML parse error at line 1"));
        assert!(why("succes = []").contains("unknown field `succes`"));
        let english = BUILT_IN[0].1;
        assert!(why(&english.replacen("contrast = [", "contrast = [\" \", ", 1)).contains("is not a phrase"));
        assert!(why(&english.replacen("contrast = [", "contrast = [\"But\", ", 1)).contains("lower case"));
    }

    #[test]
    fn no_phrase_means_two_things() {
        for (code, toml) in BUILT_IN {
            let language = Language::read(code, toml).unwrap();
            let mut seen = std::collections::BTreeMap::new();
            for (phrase, class) in &language.phrases {
                let before = seen.insert(phrase, class);
                assert_eq!(before, None, "{code}: {phrase:?} is {class:?} too");
            }
            assert!(language.phrases.len() > 100, "{code} has {} phrases", language.phrases.len());
        }
    }
}
