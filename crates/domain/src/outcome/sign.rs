//! Signs in a message: phrases that speak for or against the answer before it, and marks that need no language.

use super::{
    language::{Class, Language},
    text::{Clause, Message},
};

/// How far a negation reaches, in words.
const NEGATION_REACH: usize = 3;
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
const FOR: [char; 12] = ['👍', '❤', '🎉', '🙏', '👏', '🥳', '😍', '🤩', '💯', '✅', '🙌', '👌'];
const AGAINST: [char; 11] = ['👎', '😡', '🤬', '🤦', '😠', '🙄', '😤', '❌', '💩', '😒', '🤡'];

/// A phrase that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sign {
    /// What it says, after negation.
    pub class: Class,
    /// The clause it stands in, counted from 0.
    pub clause: usize,
    /// After how many words such as "but" it comes.
    pub turn: usize,
    /// The words.
    pub words: String,
}

/// Everything a message says in one language.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Signs {
    /// Phrases, in order.
    pub found: Vec<Sign>,
    /// How often the message turns with "but".
    pub turns: usize,
    /// Some clause asks for something or is a question.
    pub requests: bool,
}

/// Reads the phrases of a message.
pub(super) fn read(language: &Language, message: &Message) -> Signs {
    let mut signs = Signs::default();
    for (at, clause) in message.clauses.iter().enumerate() {
        // "Translate: …": the rest is the text to work on.
        if read_clause(language, clause, at, &mut signs) && clause.announces {
            break;
        }
    }
    signs
}

/// Whether the clause asks for something.
fn read_clause(language: &Language, clause: &Clause, clause_at: usize, signs: &mut Signs) -> bool {
    let words = &clause.words;
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
                if heard(language, clause, class) {
                    signs.found.push(Sign {
                        class,
                        clause: clause_at,
                        turn: signs.turns,
                        words: rest[..length].join(" "),
                    });
                }
            }
            skip = length - 1;
        } else if first && language.requests(rest) {
            request = true;
        }
    }
    signs.requests |= request || clause.asks;
    request
}

/// In a question only some things are said: whether it works is asked, that it still fails is a complaint.
fn heard(language: &Language, clause: &Clause, class: Class) -> bool {
    if matches!(class, Class::Failure | Class::Correction) && language.own_in(&clause.words) {
        return false;
    }
    !clause.asks || matches!(class, Class::Persisting | Class::Abandonment | Class::Displeasure | Class::Thanks)
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

/// Thumbs and faces: for, against.
pub(super) fn faces(message: &Message) -> (Option<char>, Option<char>) {
    let find = |list: &[char]| message.raw.chars().find(|letter| list.contains(letter));
    (find(&FOR), find(&AGAINST))
}
