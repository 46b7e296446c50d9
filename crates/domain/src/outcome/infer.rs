//! The rules, in the order in which they are asked.

use super::{
    language::{Class, Language},
    languages::Languages,
    phrase_match::{self, PhraseMatch, PhraseMatches},
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
/// A shorter line of code is found in any text.
const CODE_LINE_CHARS_MIN: usize = 6;
/// Shorter words of a request are no names of things.
const INSISTED_CHARS_MIN: usize = 4;

/// From here on an inferred outcome is confident, in thousandths.
pub const CONFIDENT_MIN: u16 = 900;
/// Confidence of one phrase by what it says, in thousandths: about the precision on the split that may be tuned on.
const SUCCESS: u16 = 960;
const PRAISE: u16 = 950;
const THANKS: u16 = 920;
const AGAINST: u16 = 950;
const REFUSED: u16 = 920;
const FACE: u16 = 930;
const CODE_FAILED: u16 = 930;
/// A phrase of one word says less.
const ONE_WORD: u16 = 40;
/// Thanks before a new request may be mere politeness.
const COURTEOUS: u16 = 60;
/// The message says the contrary too.
const CONTRADICTED: u16 = 150;
/// A further phrase that agrees says more.
const AGREED: u16 = 20;
/// Nothing that is inferred is certain.
const CONFIDENCE_MAX: u16 = 990;

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
    /// How sure that is, in thousandths; 0 of what is neutral, and of what was inferred before this was noted.
    #[serde(default)]
    pub confidence: u16,
    /// Why.
    pub evidence: Evidence,
}

const EVIDENCE_WORDS_MAX: usize = 8;

/// Infers from `next` what became of `reply`, which answered `prompt`.
pub fn infer(languages: &Languages, prompt: &str, reply: &str, next: &str) -> Inferred {
    let before = Message::read(prompt);
    let now = Message::read(next);
    let owned = |message: &Message| message.words().map(str::to_owned).collect::<Vec<_>>();
    let language = languages.of(&owned(&now), &owned(&before));
    let answer = Message::read(reply);
    let asked: BTreeSet<&str> = before.words().collect();
    let reply_words: BTreeSet<&str> = answer.words().filter(|word| !asked.contains(word)).collect();
    let signs = language.map(|language| phrase_match::read(language, &now, &reply_words)).unwrap_or_default();
    let case = Case { before, now, reply, answer, language, signs };
    let Decision { outcome, rule, words, similarity, confidence } = case.decide();
    let language = language.map(|language| language.code.clone());
    Inferred { outcome, confidence, evidence: Evidence { rule, language, words, similarity } }
}

struct Decision {
    outcome: Outcome,
    rule: Rule,
    words: Vec<String>,
    similarity: Option<u16>,
    confidence: u16,
}

impl Decision {
    fn new(outcome: Outcome, rule: Rule, words: Vec<String>, confidence: u16) -> Decision {
        Decision { outcome, rule, words, similarity: None, confidence }
    }

    fn neutral(rule: Rule, words: Vec<String>) -> Decision {
        Decision::new(Outcome::Neutral, rule, words, 0)
    }
}

struct Case<'a> {
    before: Message,
    now: Message,
    reply: &'a str,
    answer: Message,
    language: Option<&'a Language>,
    signs: PhraseMatches,
}

impl Case<'_> {
    fn decide(&self) -> Decision {
        self.said()
            .or_else(|| self.code_came_back())
            .or_else(|| self.shown())
            .or_else(|| self.refused())
            .or_else(|| self.asked_again())
            .unwrap_or_else(|| Decision::neutral(Rule::Continued, Vec::new()))
    }

    /// Phrases for and against. What comes after "but" weighs more than what comes before; success that is reported
    /// after a complaint ends it; otherwise a complaint outweighs a courtesy, which may be sarcasm.
    fn said(&self) -> Option<Decision> {
        let signs: Vec<&PhraseMatch> = self.signs.found.iter().filter(|sign| !self.is_courtesy(sign)).collect();
        let against: Vec<&PhraseMatch> = signs.iter().copied().filter(|sign| sign.class.rejects()).collect();
        let pro: Vec<&PhraseMatch> = signs.iter().copied().filter(|sign| sign.class.accepts()).collect();
        if against.is_empty() && !pro.is_empty() && self.declines(&pro) {
            return Some(Decision::neutral(Rule::Answered, words(&pro)));
        }
        let (Some(last), Some(first)) = (pro.last(), pro.first()) else {
            return (!against.is_empty()).then(|| self.decided(Outcome::Rejected, &against, &pro));
        };
        let Some(worst) = against.last() else {
            let turned = self.signs.turns > last.turn && last.class != Class::Success;
            return Some(match turned {
                true => Decision::neutral(Rule::Mixed, words(&pro)),
                false => self.decided(Outcome::Accepted, &pro, &against),
            });
        };
        let made_good = last.clause > worst.clause && last.class == Class::Success || last.turn > worst.turn;
        let only_success = first.class == Class::Success && worst.turn < first.turn;
        Some(match made_good || only_success {
            true => self.decided(Outcome::Accepted, &pro, &against),
            false => self.decided(Outcome::Rejected, &against, &pro),
        })
    }

    /// "No, thanks": an offer is declined.
    fn declines(&self, pro: &[&PhraseMatch]) -> bool {
        let only_thanks = pro.iter().all(|sign| sign.class == Class::Thanks);
        let first = self.now.clauses.first().map(|clause| clause.words.as_slice()).unwrap_or_default();
        let refuses = |language: &Language| (0..first.len()).all(|at| language.refuses_at(&first[at..]));
        only_thanks && !first.is_empty() && self.language.is_some_and(refuses)
    }

    /// "Thanks" at the end of a request is meant for what is to come.
    fn is_courtesy(&self, sign: &PhraseMatch) -> bool {
        sign.class == Class::Thanks && sign.clause > 0 && self.signs.requests && {
            let earlier = |other: &&PhraseMatch| other.clause < sign.clause && other.class.accepts();
            self.signs.found.iter().find(earlier).is_none()
        }
    }

    fn decided(&self, outcome: Outcome, signs: &[&PhraseMatch], contrary: &[&PhraseMatch]) -> Decision {
        let strongest = signs.iter().map(|sign| sign.class).min().unwrap_or(Class::Success);
        let (rule, base) = match strongest {
            Class::Success => (Rule::Success, SUCCESS),
            Class::Praise => (Rule::Praise, PRAISE),
            Class::Thanks => (Rule::Thanks, THANKS),
            Class::Correction => (Rule::Correction, AGAINST),
            Class::Failure | Class::Persisting => (Rule::Failure, AGAINST),
            Class::Displeasure => (Rule::Displeasure, AGAINST),
            _ => (Rule::Abandonment, AGAINST),
        };
        let mut confidence = base + AGREED * signs.len().saturating_sub(1).min(2) as u16;
        if signs.iter().all(|sign| sign.length == 1 && sign.class.rejects()) {
            confidence -= ONE_WORD;
        }
        if strongest == Class::Thanks && self.signs.requests {
            confidence -= COURTEOUS;
        }
        if !contrary.is_empty() {
            confidence -= CONTRADICTED;
        }
        Decision::new(outcome, rule, words(signs), confidence.min(CONFIDENCE_MAX))
    }

    /// Lines of the answer's code come back with an error.
    fn code_came_back(&self) -> Option<Decision> {
        let complaint = phrase_match::complaint(&self.now)?;
        let offered: BTreeSet<&str> = self.answer.code.iter().map(String::as_str).collect();
        let pasted: BTreeSet<&str> = self.now.raw.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let shared = offered.intersection(&pasted).count();
        let is_named = |line: &&str| line.chars().count() >= CODE_LINE_CHARS_MIN && self.now.raw.contains(*line);
        if shared < SHARED_LINES_MIN && !offered.iter().any(is_named)
            || self.now.clauses.iter().any(|clause| clause.asks)
        {
            return None;
        }
        let similarity = Some(overlap(&offered, &pasted));
        let found = Decision::new(Outcome::Rejected, Rule::CodeFailed, vec![complaint.to_owned()], CODE_FAILED);
        Some(Decision { similarity, ..found })
    }

    fn shown(&self) -> Option<Decision> {
        let (outcome, face) = match phrase_match::emoji(&self.now) {
            (Some(face), None) => (Outcome::Accepted, face),
            (None, Some(face)) => (Outcome::Rejected, face),
            _ => return None,
        };
        Some(Decision::new(outcome, Rule::Face, vec![face.to_string()], FACE))
    }

    /// "No", and then what is so instead, or a word of the request that the answer left out. "No" by itself, and "no"
    /// before a plan or thanks, refuse an offer at most.
    fn refused(&self) -> Option<Decision> {
        let language = self.language?;
        let first = self.now.clauses.first()?;
        let count = (0..first.words.len()).take_while(|at| language.refuses_at(&first.words[*at..])).count();
        if count == 0 || language.phrase_at(&first.words).is_some_and(|(_, class)| class == Class::Idiom) {
            return None;
        }
        let word = first.words.first()?.clone();
        if ends_with_question(self.reply) {
            return Some(Decision::neutral(Rule::Answered, vec![word]));
        }
        let rest = match first.words.get(count..) {
            Some(rest) if !rest.is_empty() => rest,
            _ => &self.now.clauses.get(1)?.words,
        };
        let is_idiom = language.phrase_at(rest).is_some_and(|(_, class)| class == Class::Idiom);
        if self.signs.requests || is_idiom || !(language.claims(rest) || self.insists_on(rest)) {
            return None;
        }
        Some(Decision::new(Outcome::Rejected, Rule::Correction, vec![word], REFUSED))
    }

    /// Whether the words name something of the request that the answer does not.
    fn insists_on(&self, words: &[String]) -> bool {
        let is_asked = |word: &str| self.before.words().any(|asked| asked.starts_with(word));
        let is_answered = |word: &str| self.answer.words().any(|answered| answered == word);
        let mut names = words.iter().filter(|word| word.chars().count() >= INSISTED_CHARS_MIN);
        names.any(|word| is_asked(word) && !is_answered(word))
    }

    /// The same request, whole or in other words: a follow-up, a request of the same kind, or one that was not answered.
    /// Nothing tells them apart, so it is noted and decides nothing.
    fn asked_again(&self) -> Option<Decision> {
        let old: Vec<&str> = self.before.words().collect();
        let new: Vec<&str> = self.now.words().collect();
        if old.len().min(new.len()) < REPHRASED_WORDS_MIN {
            return None;
        }
        let alike = similarity(&old, &new);
        let rule = match alike {
            SAME_MIN.. if old == new => Rule::Repeated,
            REPHRASED_MIN.. => Rule::Rephrased,
            _ => return None,
        };
        let shared = new.iter().filter(|word| old.contains(word)).take(EVIDENCE_WORDS_MAX);
        let words = shared.map(|word| (*word).to_owned()).collect();
        Some(Decision { similarity: Some(alike), ..Decision::neutral(rule, words) })
    }
}

fn words(signs: &[&PhraseMatch]) -> Vec<String> {
    signs.iter().take(EVIDENCE_WORDS_MAX).map(|sign| sign.words.clone()).collect()
}
