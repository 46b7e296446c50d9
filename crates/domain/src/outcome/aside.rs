//! Tells an opinion about the answer from a remark about something else, and from agreement with what the answer says.

use super::{
    class::Class,
    language::Language,
    objection::{EXCLUSION_REACH, NAME_CHARS_MIN, bare, has},
    phrase_match::PhraseMatch,
    similarity::is_form,
    text::{Clause, Message, words_of},
};
use std::collections::BTreeSet;

/// Least number of names (ideographs, in languages without spaces) in a sentence of praise, none of them of the request
/// or the answer, that are another subject: "Perfect weather forecast all week".
const PRAISED_NAMES_MIN: usize = 2;
/// Least number of such names before an exclamation, in languages with spaces: "The train was late, what a mess".
const DEPLORED_NAMES_MIN: usize = 2;
/// Number of words at the start of a clause that can refer to the answer.
const SUBJECT_WORDS_MAX: usize = 2;
/// Least number of words of a complaint that is about the answer at the start of a clause.
const SUBJECTLESS_WORDS_MIN: usize = 2;
/// Least number of words of a phrase that counts as a quotation of the answer.
const QUOTED_WORDS_MIN: usize = 2;

/// A message with the words of the request and of the answer before it, code included.
pub(super) struct Aside<'a> {
    language: &'a Language,
    now: &'a Message,
    known: BTreeSet<String>,
    /// The names that the request excludes: "gluten" of "without gluten".
    excluded: BTreeSet<String>,
    before: &'a Message,
    answer: &'a Message,
}

impl<'a> Aside<'a> {
    pub fn read(language: &'a Language, before: &'a Message, answer: &'a Message, now: &'a Message) -> Aside<'a> {
        let known = words_of(&before.raw).into_iter().chain(words_of(&answer.raw)).collect();
        let request: Vec<String> = words_of(&before.raw).iter().map(|word| bare(word).to_owned()).collect();
        let is_name = |word: &&String| {
            word.chars().count() >= language.name_chars_min(NAME_CHARS_MIN) && !language.is_common(word)
        };
        let excluded = language.excluded(&request, EXCLUSION_REACH).filter(is_name).cloned().collect();
        Aside { language, now, known, excluded, before, answer }
    }

    /// Whether all praise is about something of the person's own ("Bravo to my mother"), or about another subject, in a
    /// message that then asks for something: "Perfect weather all week, by the way. How long does the detour take?"
    pub fn praises(&self, pro: &[&PhraseMatch]) -> bool {
        let mut praise = pro.iter().filter(|sign| sign.class != Class::Thanks).peekable();
        praise.peek().is_some() && praise.all(|sign| self.is_praise_aside(sign))
    }

    fn is_praise_aside(&self, sign: &PhraseMatch) -> bool {
        let clause = &self.now.clauses[sign.clause];
        let (strange, familiar) = self.names_beside(sign);
        let is_own = || sign.class == Class::Praise && self.language.mentions_own(&clause.words);
        let is_other = || familiar == 0 && strange >= PRAISED_NAMES_MIN;
        is_own() || is_other() && self.asks_after(clause.sentence)
    }

    /// Whether a complaint is about something that neither the request nor the answer has, in a message that then asks
    /// for something: "The shop sold me the wrong one. Do I have to go there?"
    pub fn complains(&self, against: &[&PhraseMatch]) -> bool {
        !against.is_empty() && against.iter().all(|sign| self.deplores(sign) || self.is_complaint_aside(sign))
    }

    /// Whether a clause that is nothing but an exclamation follows, in its sentence, one about something that neither
    /// the request nor the answer has: "The train was late, what a mess".
    fn deplores(&self, sign: &PhraseMatch) -> bool {
        let language = self.language;
        let clause = &self.now.clauses[sign.clause];
        let earlier: Vec<&Clause> =
            self.now.clauses[..sign.clause].iter().filter(|other| other.sentence == clause.sentence).collect();
        let (strange, familiar) = self.names_beside(sign);
        let reach = language.span(SUBJECT_WORDS_MAX) - 1;
        let is_of_the_answer =
            |other: &&Clause| language.answer_before(&other.words, reach) || language.reports(&other.words);
        sign.class == Class::Displeasure
            && clause.words.len() == sign.length
            && (earlier.len() == 1 || !earlier.is_empty() && self.asks_after(clause.sentence))
            && familiar == 0
            && strange >= language.span(DEPLORED_NAMES_MIN)
            && !earlier.iter().any(is_of_the_answer)
    }

    fn is_complaint_aside(&self, sign: &PhraseMatch) -> bool {
        let clause = &self.now.clauses[sign.clause];
        let (strange, _) = self.names_beside(sign);
        let words = &clause.words;
        // "Doesn't work in Safari" has no other subject than the answer.
        let starts = || sign.length >= self.language.span(SUBJECTLESS_WORDS_MIN) && begins_with(words, sign);
        let is_of_the_answer =
            || self.language.answer_before(words, self.language.span(SUBJECT_WORDS_MAX) - 1) || starts();
        !matches!(sign.class, Class::Persisting | Class::Abandonment)
            && !clause.asks
            && strange >= 1
            && !is_of_the_answer()
            && self.asks_after(clause.sentence)
    }

    /// Whether only a part of the answer is praised: "The beginning is good, the end less so".
    pub fn praises_a_part(&self, pro: &[&PhraseMatch]) -> bool {
        pro.iter().all(|sign| sign.class != Class::Success) && self.parts() > 0
    }

    /// Whether a sentence of praise, which reports no success, also names what the request excludes: "Great, gluten
    /// everywhere".
    pub fn praises_in_irony(&self, pro: &[&PhraseMatch]) -> bool {
        let clauses = &self.now.clauses;
        let is_beside = |at: usize| {
            pro.iter().all(|sign| sign.clause != at)
                && pro.iter().any(|sign| clauses[sign.clause].sentence == clauses[at].sentence)
        };
        let is_excluded = |word: &String| has(&self.excluded, word);
        // "No gluten at all" says that the answer keeps to the request.
        let denies = |words: &[String]| {
            (0..words.len()).any(|at| self.language.negates_at(&words[at..]))
                || self.language.excluded(words, EXCLUSION_REACH).any(is_excluded)
        };
        let is_ironic = |at: usize| {
            let words = &clauses[at].words;
            is_beside(at) && words.iter().any(is_excluded) && !denies(words)
        };
        pro.iter().all(|sign| sign.class != Class::Success) && (0..clauses.len()).any(is_ironic)
    }

    /// Returns how many clauses are about a part of the answer.
    pub fn parts(&self) -> usize {
        self.now.clauses.iter().filter(|clause| self.language.limits(&clause.words)).count()
    }

    /// Whether a phrase against the answer is the answer's own ("It was the wrong port, as you said", "The lift is out
    /// of order again", after a letter about the lift), or the request's, in a clause that has no word for the answer:
    /// "I have always said it wrong", after "Is this wrong?".
    pub fn quotes_the_turn(&self, sign: &PhraseMatch) -> bool {
        let phrase: Vec<&str> = sign.words.split(' ').collect();
        let has = |message: &Message| {
            let words: Vec<&str> = message.words().collect();
            words.windows(phrase.len()).any(|words| words == phrase)
        };
        let words = &self.now.clauses[sign.clause].words;
        let is_beside = || {
            words.len() > sign.length && !self.language.answer_before(words, self.language.span(SUBJECT_WORDS_MAX) - 1)
        };
        match sign.class {
            Class::Correction | Class::Failure if phrase.len() >= self.language.span(QUOTED_WORDS_MIN) => {
                has(self.answer) || sign.class == Class::Correction && has(self.before) && is_beside()
            }
            Class::Correction | Class::Failure | Class::Displeasure => {
                is_beside() && (has(self.answer) || sign.class != Class::Failure && has(self.before))
            }
            _ => false,
        }
    }

    /// Whether a later sentence asks or requests something.
    fn asks_after(&self, sentence: usize) -> bool {
        let asks = |clause: &Clause| {
            clause.asks || self.language.requests(&clause.words) || self.language.has_please(&clause.words)
        };
        self.now.clauses.iter().any(|clause| clause.sentence > sentence && asks(clause))
    }

    /// Returns how many words beside the phrase, in its sentence, name something that neither the request nor the
    /// answer has, and how many name something that they have.
    pub(super) fn names_beside(&self, sign: &PhraseMatch) -> (usize, usize) {
        let sentence = self.now.clauses[sign.clause].sentence;
        let phrase: Vec<&str> = sign.words.split(' ').collect();
        let said =
            self.now.clauses.iter().filter(|clause| clause.sentence == sentence).flat_map(|clause| &clause.words);
        let names = said.filter(|word| !phrase.contains(&word.as_str()) && self.names(word));
        let (familiar, strange): (Vec<&String>, Vec<&String>) = names.partition(|word| self.knows(word));
        (strange.len(), familiar.len())
    }

    pub(super) fn names(&self, word: &String) -> bool {
        let is_filler = self.language.filler_at(std::slice::from_ref(word)).is_some();
        !is_filler && self.language.can_name(word, NAME_CHARS_MIN)
    }

    pub(super) fn knows(&self, word: &String) -> bool {
        self.known.contains(word) || self.known.iter().any(|known| is_form(known, word))
    }
}

fn begins_with(words: &[String], sign: &PhraseMatch) -> bool {
    words.iter().map(String::as_str).zip(sign.words.split(' ')).filter(|(word, part)| word == part).count()
        == sign.length
}
