//! The rules, in the order in which they are asked.

use super::{
    language::{Class, Language, Languages},
    sign::{self, Sign, Signs},
    similarity::{overlap, similarity},
    text::{Message, ends_with_question},
};
use crate::names::names;
use serde::{Deserialize, Serialize};
use std::{collections::BTreeSet, fmt};

/// From here on two requests are the same, in thousandths.
const SAME_MIN: u16 = 930;
/// From here on one request says the other in different words, in thousandths.
const REPHRASED_MIN: u16 = 560;
/// Shorter requests are alike by accident.
const REPHRASED_WORDS_MIN: usize = 4;
/// As many lines of the answer's code make code that comes back.
const SHARED_LINES_MIN: usize = 2;

/// What became of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It helped.
    Accepted,
    /// It did not.
    Rejected,
    /// Nothing says either: no opinion.
    Neutral,
}

names!(Outcome { Accepted = "accepted", Rejected = "rejected", Neutral = "neutral" });

/// Which rule decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// "That worked."
    Success,
    /// "Perfect!"
    Praise,
    /// "Thanks!"
    Thanks,
    /// A face or thumb.
    Face,
    /// "No, I meant …"
    Correction,
    /// "It does not work."
    Failure,
    /// "Useless."
    Displeasure,
    /// "Never mind."
    Abandonment,
    /// The same request again.
    Repeated,
    /// The same request in other words.
    Rephrased,
    /// The answer's code came back with an error.
    CodeFailed,
    /// "Thanks, but …": for and against cancel out.
    Mixed,
    /// "Yes" or "no" to a question of the answer.
    Answered,
    /// The conversation goes on, about this or something else.
    Continued,
    /// The conversation ended.
    NothingFollowed,
}

/// Why an outcome was inferred.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Evidence {
    /// The rule that decided.
    pub rule: Rule,
    /// The language whose phrases were read; none where it is unknown.
    pub language: Option<String>,
    /// The words it was decided by, at most eight phrases.
    pub words: Vec<String>,
    /// How alike this request and the one before are, in thousandths, where that was decisive.
    pub similarity: Option<u16>,
}

/// An outcome with its evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Inferred {
    /// What became of the answer.
    pub outcome: Outcome,
    /// Why.
    pub evidence: Evidence,
}

const EVIDENCE_WORDS_MAX: usize = 8;

/// Infers from `next` what became of `reply`, which answered `prompt`.
pub fn infer(languages: &Languages, prompt: &str, reply: &str, next: &str) -> Inferred {
    let before = Message::read(prompt);
    let now = Message::read(next);
    let words: Vec<String> = now.words().map(str::to_owned).collect();
    let both: Vec<String> = words.iter().cloned().chain(before.words().map(str::to_owned)).collect();
    let language = languages.of(&words).or_else(|| languages.of(&both));
    let signs = language.map(|language| sign::read(language, &now)).unwrap_or_default();
    let case = Case { before, now, reply, language, signs };
    let (outcome, rule, words, similarity) = case.decide();
    let language = language.map(|language| language.code.clone());
    Inferred { outcome, evidence: Evidence { rule, language, words, similarity } }
}

type Decision = (Outcome, Rule, Vec<String>, Option<u16>);

struct Case<'a> {
    before: Message,
    now: Message,
    reply: &'a str,
    language: Option<&'a Language>,
    signs: Signs,
}

impl Case<'_> {
    fn decide(&self) -> Decision {
        self.said()
            .or_else(|| self.code_came_back())
            .or_else(|| self.shown())
            .or_else(|| self.refused())
            .or_else(|| self.asked_again())
            .unwrap_or((Outcome::Neutral, Rule::Continued, Vec::new(), None))
    }

    /// Phrases for and against. What comes after "but" weighs more than what comes before; success that is reported
    /// after a complaint ends it; otherwise a complaint outweighs a courtesy, which may be sarcasm.
    fn said(&self) -> Option<Decision> {
        let signs: Vec<&Sign> = self.signs.found.iter().filter(|sign| !self.is_courtesy(sign)).collect();
        let against: Vec<&Sign> = signs.iter().copied().filter(|sign| sign.class.rejects()).collect();
        let pro: Vec<&Sign> = signs.iter().copied().filter(|sign| sign.class.accepts()).collect();
        let (Some(last), Some(first)) = (pro.last(), pro.first()) else {
            return (!against.is_empty()).then(|| decided(Outcome::Rejected, &against));
        };
        let Some(worst) = against.last() else {
            let turned = self.signs.turns > last.turn && last.class != Class::Success;
            return Some(match turned {
                true => (Outcome::Neutral, Rule::Mixed, words(&pro), None),
                false => decided(Outcome::Accepted, &pro),
            });
        };
        let made_good = last.clause > worst.clause && last.class == Class::Success || last.turn > worst.turn;
        let only_success = first.class == Class::Success && worst.turn < first.turn;
        Some(if made_good || only_success {
            decided(Outcome::Accepted, &pro)
        } else {
            decided(Outcome::Rejected, &against)
        })
    }

    /// "Thanks" at the end of a request is meant for what is to come.
    fn is_courtesy(&self, sign: &Sign) -> bool {
        sign.class == Class::Thanks && sign.clause > 0 && self.signs.requests && {
            let earlier = |other: &&Sign| other.clause < sign.clause && other.class.accepts();
            self.signs.found.iter().find(earlier).is_none()
        }
    }

    /// Code of the answer, or an answer that was code, comes back with a complaint.
    fn code_came_back(&self) -> Option<Decision> {
        let complaint = sign::complaint(&self.now)?;
        let reply = Message::read(self.reply);
        let offered: BTreeSet<&str> = reply.code.iter().map(String::as_str).collect();
        let pasted: BTreeSet<&str> = self.now.raw.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let shared = offered.intersection(&pasted).count();
        let named = offered.iter().any(|line| line.len() >= 6 && self.now.raw.contains(line));
        if shared < SHARED_LINES_MIN && !named && reply.code.is_empty() {
            return None;
        }
        Some((Outcome::Rejected, Rule::CodeFailed, vec![complaint.to_owned()], Some(overlap(&offered, &pasted))))
    }

    fn shown(&self) -> Option<Decision> {
        let (outcome, face) = match sign::faces(&self.now) {
            (Some(face), None) => (Outcome::Accepted, face),
            (None, Some(face)) => (Outcome::Rejected, face),
            _ => return None,
        };
        Some((outcome, Rule::Face, vec![face.to_string()], None))
    }

    /// A message that begins with "no" refuses the answer, unless the answer had asked.
    fn refused(&self) -> Option<Decision> {
        let first = self.now.clauses.first()?;
        let refuses = self.language?.refuses_at(&first.words)
            && self.language?.phrase_at(&first.words).is_none_or(|(_, class)| class != Class::Idiom);
        let word = first.words.first()?.clone();
        match refuses {
            false => None,
            true if ends_with_question(self.reply) => Some((Outcome::Neutral, Rule::Answered, vec![word], None)),
            true => Some((Outcome::Rejected, Rule::Correction, vec![word], None)),
        }
    }

    /// The same request, whole or in other words. One that differs in a number or in a single word is another request
    /// of the same kind, and so is one that asks for more.
    fn asked_again(&self) -> Option<Decision> {
        let old: Vec<&str> = self.before.words().collect();
        let new: Vec<&str> = self.now.words().collect();
        if old.len().min(new.len()) < REPHRASED_WORDS_MIN || ends_with_question(self.reply) {
            return None;
        }
        let owned: Vec<String> = new.iter().map(|word| (*word).to_owned()).collect();
        if self.language.is_some_and(|language| language.more_in(&owned)) || self.before.code != self.now.code {
            return None;
        }
        let alike = similarity(&old, &new);
        if alike >= SAME_MIN && old == new {
            return Some((Outcome::Rejected, Rule::Repeated, Vec::new(), Some(alike)));
        }
        let is_variation = numbers(&old) != numbers(&new) || one_word_apart(&old, &new);
        if alike < REPHRASED_MIN || is_variation {
            return None;
        }
        let shared: Vec<String> = new.iter().filter(|word| old.contains(word)).map(|word| (*word).to_owned()).collect();
        Some((Outcome::Rejected, Rule::Rephrased, shared.into_iter().take(EVIDENCE_WORDS_MAX).collect(), Some(alike)))
    }
}

fn decided(outcome: Outcome, signs: &[&Sign]) -> Decision {
    let strongest = signs.iter().map(|sign| sign.class).min().unwrap_or(Class::Success);
    let rule = match strongest {
        Class::Success => Rule::Success,
        Class::Praise => Rule::Praise,
        Class::Thanks => Rule::Thanks,
        Class::Correction => Rule::Correction,
        Class::Failure | Class::Persisting => Rule::Failure,
        Class::Displeasure => Rule::Displeasure,
        _ => Rule::Abandonment,
    };
    (outcome, rule, words(signs), None)
}

fn words(signs: &[&Sign]) -> Vec<String> {
    signs.iter().take(EVIDENCE_WORDS_MAX).map(|sign| sign.words.clone()).collect()
}

fn numbers<'a>(words: &[&'a str]) -> Vec<&'a str> {
    words.iter().copied().filter(|word| word.chars().any(char::is_numeric)).collect()
}

/// "the capital of France", "the capital of Spain".
fn one_word_apart(old: &[&str], new: &[&str]) -> bool {
    old.len() == new.len() && old.iter().zip(new).filter(|(one, other)| one != other).count() == 1
}
