//! Finds phrases in a message that are evidence for or against the answer before it, and evidence that needs no
//! language: emoji and pasted errors.

use super::{
    language::{Class, Language},
    text::{Clause, Message},
};
use std::collections::BTreeSet;

/// Largest distance between a negation and the phrase that it negates, in words.
const NEGATION_REACH: usize = 3;
/// Longest clause in which a single word against the answer counts, in words. In a longer clause the word is
/// about something else.
const WEAK_CLAUSE_WORDS_MAX: usize = 4;
/// Longest clause in which a single word for the answer counts at any place, in words. In a longer clause the
/// word counts only at the start.
const PRAISE_CLAUSE_WORDS_MAX: usize = 3;
/// Longest message in which an emoji counts, in words. A longer message contains text to work on.
const FACE_WORDS_MAX: usize = 12;
/// Least length of a word of the answer that can name a subject, characters.
const NAME_CHARS_MIN: usize = 4;
/// Beginnings of error messages of common tools. They mark a pasted error, whatever the language of the
/// message.
const COMPLAINTS: [&str; 26] = [
    "traceback (most recent call last)",
    "error:",
    "error[e",
    "exception:",
    "exception in thread",
    "panicked at",
    "fatal:",
    "segmentation fault",
    "core dumped",
    "syntaxerror",
    "typeerror",
    "valueerror",
    "nameerror",
    "keyerror",
    "attributeerror",
    "indexerror",
    "modulenotfounderror",
    "importerror",
    "referenceerror",
    "nullpointerexception",
    "undefined reference",
    "command not found",
    "no such file or directory",
    "permission denied",
    "exit code 1",
    "npm err!",
];
const FOR: [char; 11] = ['👍', '❤', '🎉', '🙏', '👏', '🥳', '😍', '🤩', '💯', '🙌', '👌'];
const AGAINST: [char; 9] = ['👎', '😡', '🤬', '🤦', '😠', '🙄', '😤', '😒', '🤡'];

/// A phrase that was found in a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PhraseMatch {
    /// Its meaning, with a negation applied.
    pub class: Class,
    /// Index of its clause, from 0.
    pub clause: usize,
    /// Number of contrasts such as "but" before it.
    pub turn: usize,
    /// Number of its words.
    pub length: usize,
    /// Its words, joined by spaces.
    pub words: String,
}

/// The phrases of one language that were found in a message.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct PhraseMatches {
    /// The phrases, in the order of the message.
    pub found: Vec<PhraseMatch>,
    /// Number of contrasts such as "but" in the message.
    pub turns: usize,
    /// Whether a clause requests something or is a question.
    pub requests: bool,
}

impl PhraseMatches {
    /// Drops the phrases against the answer from index `first` on: they are what other people say.
    fn drop_against(&mut self, first: usize) {
        let reported = self.found.split_off(first);
        self.found.extend(reported.into_iter().filter(|sign| !sign.class.rejects()));
    }
}

/// Finds the phrases of a message. `reply_words` holds the words of the answer that its request did not have.
pub(super) fn read(language: &Language, message: &Message, reply_words: &BTreeSet<&str>) -> PhraseMatches {
    let mut signs = PhraseMatches::default();
    let reader = Reader { language, reply_words };
    let mut reported = None;
    for (at, clause) in message.clauses.iter().enumerate() {
        let before = signs.found.len();
        // After a request with a colon ("Translate: …") the rest is the text to work on.
        let announces = reader.clause(clause, at, &mut signs) && clause.announces;
        if reported == Some(clause.sentence) {
            signs.drop_against(before);
        }
        if announces {
            break;
        }
        if language.mentions_others(&clause.words) {
            reported = Some(clause.sentence);
        }
    }
    signs
}

struct Reader<'a> {
    language: &'a Language,
    reply_words: &'a BTreeSet<&'a str>,
}

impl Reader<'_> {
    /// Adds the phrases of a clause to `signs`. Returns whether the clause requests something.
    fn clause(&self, clause: &Clause, clause_at: usize, signs: &mut PhraseMatches) -> bool {
        let (language, words) = (self.language, &clause.words);
        let mut request = false;
        let mut skip = 0;
        for at in 0..words.len() {
            if skip > 0 {
                skip -= 1;
                continue;
            }
            let rest = &words[at..];
            let phrase = language.phrase_at(rest);
            if phrase.is_none() && language.turns_at(rest) {
                signs.turns += 1;
                request = false;
                continue;
            }
            let first = at == 0 || language.turns_at(&words[at - 1..]);
            if let Some((length, class)) = phrase {
                // An acknowledgement ("ok, …") is no evidence, and neither is a phrase within a request.
                let counts = !request || class == Class::Persisting || class == Class::Abandonment;
                if counts && class != Class::Idiom && class != Class::Acknowledgement {
                    let class = negated(language, words, at, length, class);
                    if self.hears(clause, class, at, length) {
                        let words = rest[..length].join(" ");
                        signs.found.push(PhraseMatch { class, clause: clause_at, turn: signs.turns, length, words });
                    }
                }
                skip = length - 1;
            } else if first && language.requests(rest) {
                request = true;
            }
        }
        signs.requests |= request || clause.asks || language.has_please(words);
        request
    }

    /// Whether the phrase of `length` words at index `at` is about the answer.
    ///
    /// In a question only some classes count. "Does it work?" only asks, but "why does it still fail?" is a
    /// complaint.
    fn hears(&self, clause: &Clause, class: Class, at: usize, length: usize) -> bool {
        use Class::{Abandonment, Failure, Persisting, Thanks};
        let words = &clause.words;
        if clause.asks && !matches!(class, Persisting | Abandonment | Thanks) {
            return false;
        }
        if matches!(class, Failure | Persisting) && self.language.mentions_own(words) {
            return false;
        }
        if class.rejects() && self.language.mentions_others(&words[..at]) {
            return false;
        }
        if length == 1 {
            let last = at + 1 == words.len();
            let stands_out = words.len() <= PRAISE_CLAUSE_WORDS_MAX || at == 0 || class == Thanks && last;
            let is_weak = if class.rejects() { words.len() > WEAK_CLAUSE_WORDS_MAX } else { !stands_out };
            if is_weak {
                return false;
            }
        }
        let needs_subject = class == Failure || length == 1 && class.rejects();
        !needs_subject || at == 0 || self.is_about_the_answer(words, at)
    }

    /// Whether the words before index `at` refer to the answer, or name something that the answer introduced.
    fn is_about_the_answer(&self, words: &[String], at: usize) -> bool {
        let named = |word: &String| word.chars().count() >= NAME_CHARS_MIN && self.reply_words.contains(word.as_str());
        self.language.answer_before(words, at) || words[..at].iter().any(named)
    }
}

/// Returns the class of a phrase after applying a negation before it or, in languages that do so, after it.
fn negated(language: &Language, words: &[String], at: usize, length: usize, class: Class) -> Class {
    let before = (at.saturating_sub(NEGATION_REACH)..at).any(|place| language.negates_at(&words[place..]));
    let end = words.len().min(at + length + NEGATION_REACH);
    let behind = language.negation_follows && (at + length..end).any(|place| language.negates_at(&words[place..end]));
    // "Didn't deliver and did not answer": the phrase has its own negation, and the one before is another verb's.
    let within = (at..at + length).any(|place| language.negates_at(&words[place..]));
    match class {
        _ if !before && !behind => class,
        Class::Success => Class::Failure,
        Class::Praise => Class::Displeasure,
        Class::Failure if before && !within => Class::Success,
        Class::Displeasure if before => Class::Praise,
        other => other,
    }
}

/// Returns the beginning of the first pasted error that the message contains.
pub(super) fn complaint(message: &Message) -> Option<&'static str> {
    let raw = message.raw.to_lowercase();
    COMPLAINTS.into_iter().find(|complaint| raw.contains(complaint))
}

/// Returns the first emoji for and the first emoji against the answer. A long message has neither.
pub(super) fn emoji(message: &Message) -> (Option<char>, Option<char>) {
    if message.words().count() > FACE_WORDS_MAX {
        return (None, None);
    }
    let find = |list: &[char]| message.raw.chars().find(|letter| list.contains(letter));
    (find(&FOR), find(&AGAINST))
}
