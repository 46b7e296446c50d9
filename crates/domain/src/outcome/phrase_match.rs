//! PhraseMatches in a message: phrases that speak for or against the answer before it, and marks that need no language.

use super::{
    language::{Class, Language},
    text::{Clause, Message},
};
use std::collections::BTreeSet;

/// How far a negation reaches, in words.
const NEGATION_REACH: usize = 3;
/// A single word against the answer counts in clauses of at most so many words: in a longer one it is about something.
const WEAK_CLAUSE_WORDS_MAX: usize = 4;
/// A single word for the answer counts anywhere in clauses of at most so many words, and at the start of longer ones.
const PRAISE_CLAUSE_WORDS_MAX: usize = 3;
/// A face counts in messages of at most so many words: longer ones hold text to work on.
const FACE_WORDS_MAX: usize = 12;
/// Shorter words that the answer brought up are no names of things.
const NAME_CHARS_MIN: usize = 4;
/// A pasted error, in any language: how tools of many kinds begin to complain.
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

/// A phrase that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PhraseMatch {
    /// What it says, after negation.
    pub class: Class,
    /// The clause it stands in, counted from 0.
    pub clause: usize,
    /// After how many words such as "but" it comes.
    pub turn: usize,
    /// How many words it has.
    pub length: usize,
    /// The words.
    pub words: String,
}

/// Everything a message says in one language.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct PhraseMatches {
    /// Phrases, in order.
    pub found: Vec<PhraseMatch>,
    /// How often the message turns with "but".
    pub turns: usize,
    /// Some clause asks for something or is a question.
    pub requests: bool,
}

/// Reads the phrases of a message. `reply_words` holds words of the answer that the request before it did not have.
pub(super) fn read(language: &Language, message: &Message, reply_words: &BTreeSet<&str>) -> PhraseMatches {
    let mut signs = PhraseMatches::default();
    let reader = Reader { language, reply_words };
    for (at, clause) in message.clauses.iter().enumerate() {
        // "Translate: …": the rest is the text to work on.
        if reader.clause(clause, at, &mut signs) && clause.announces {
            break;
        }
    }
    signs
}

struct Reader<'a> {
    language: &'a Language,
    reply_words: &'a BTreeSet<&'a str>,
}

impl Reader<'_> {
    /// Whether the clause asks for something.
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
                // "ok, ..." says nothing, and neither does what a request is about.
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

    /// Whether a phrase at a place says something about the answer.
    ///
    /// In a question only some things are said: whether it works is asked, that it still fails is a complaint.
    fn hears(&self, clause: &Clause, class: Class, at: usize, length: usize) -> bool {
        use Class::{Abandonment, Failure, Persisting, Thanks};
        let words = &clause.words;
        if clause.asks && !matches!(class, Persisting | Abandonment | Thanks) {
            return false;
        }
        if matches!(class, Failure | Persisting) && self.language.mentions_own(words) {
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
        class != Failure || at == 0 || self.is_about_the_answer(words, at)
    }

    /// Whether what comes before a place stands for the answer, or names something that the answer brought up.
    fn is_about_the_answer(&self, words: &[String], at: usize) -> bool {
        let named = |word: &String| word.chars().count() >= NAME_CHARS_MIN && self.reply_words.contains(word.as_str());
        self.language.answer_before(words, at) || words[..at].iter().any(named)
    }
}

/// What a phrase says if a negation stands before it, or, where the language does that, behind it.
fn negated(language: &Language, words: &[String], at: usize, length: usize, class: Class) -> Class {
    let before = (at.saturating_sub(NEGATION_REACH)..at).any(|place| language.negates_at(&words[place..]));
    let end = words.len().min(at + length + NEGATION_REACH);
    let behind = language.negation_follows && (at + length..end).any(|place| language.negates_at(&words[place..end]));
    match class {
        _ if !before && !behind => class,
        Class::Success => Class::Failure,
        Class::Praise => Class::Displeasure,
        Class::Failure if before => Class::Success,
        Class::Displeasure if before => Class::Praise,
        other => other,
    }
}

/// A pasted complaint of some tool, as it begins.
pub(super) fn complaint(message: &Message) -> Option<&'static str> {
    let raw = message.raw.to_lowercase();
    COMPLAINTS.into_iter().find(|complaint| raw.contains(complaint))
}

/// Thumbs and faces of a short message: for, against.
pub(super) fn emoji(message: &Message) -> (Option<char>, Option<char>) {
    if message.words().count() > FACE_WORDS_MAX {
        return (None, None);
    }
    let find = |list: &[char]| message.raw.chars().find(|letter| list.contains(letter));
    (find(&FOR), find(&AGAINST))
}
