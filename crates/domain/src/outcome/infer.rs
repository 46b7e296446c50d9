//! The rules that infer an outcome, in the order in which they are tried.

use super::{
    aside::Aside,
    class::Class,
    foreign,
    language::Language,
    languages::Languages,
    objection, pasted,
    phrase_match::{self, PhraseMatch, PhraseMatches, Subject},
    relief,
    similarity::{overlap, similarity},
    text::{Clause, Message, ends_with_question},
};
use crate::names::names;
use serde::{Deserialize, Serialize};
use std::{collections::BTreeSet, fmt};

/// Least similarity at which two requests count as the same, in thousandths.
const SAME_MIN: u16 = 930;
/// Least similarity at which one request counts as a rephrasing of the other, in thousandths.
const REPHRASED_MIN: u16 = 560;
/// Least number of words of two requests that are compared: shorter ones are similar by accident.
const REPHRASED_WORDS_MIN: usize = 4;
/// Number of shared lines from which the message counts as quoting the answer's code.
const SHARED_LINES_MIN: usize = 2;
/// Least length of a single line of code that is searched for in the message. Shorter ones occur in any text.
const CODE_LINE_CHARS_MIN: usize = 6;
/// Longest message that counts as a pasted error after code, in words.
const ERROR_WORDS_MAX: usize = 20;
/// Longest message that answers a question of the answer with a word and thanks, in words.
const REPLY_WORDS_MAX: usize = 4;
/// Least length of a clause that states something, in words.
const STATEMENT_WORDS_MIN: usize = 3;
/// Number of words at the start of a clause that can say that it is about something of the person's own.
const OWN_WORDS_MAX: usize = 2;
/// Least length of a word that can name a subject of the request.
pub(super) const INSISTED_CHARS_MIN: usize = 4;

/// Least confidence of an inferred outcome that counts as confident, in thousandths.
pub const CONFIDENT_MIN: u16 = 900;
/// Confidence of one phrase by its class, in thousandths: about the precision measured on the split of the test
/// data that is used for tuning.
const SUCCESS: u16 = 960;
const PRAISE: u16 = 950;
const THANKS: u16 = 920;
const AGAINST: u16 = 950;
pub(super) const REFUSED: u16 = 920;
const FACE: u16 = 930;
const CODE_FAILED: u16 = 930;
const OBJECTED: u16 = 920;
const RELIEVED: u16 = 920;
/// Confidence of a phrase that says that the answer is bad, which may be about something else.
const DISPLEASED: u16 = 930;
/// Subtracted if every phrase is a single word against the answer, because that is weaker evidence.
const ONE_WORD: u16 = 40;
/// Subtracted for thanks in a message with a new request, because they may be mere politeness.
const COURTEOUS: u16 = 60;
/// Subtracted from an acceptance if the message also has phrases against the answer.
const CONTRADICTED: u16 = 150;
/// Subtracted from a rejection if the message also has phrases for the answer, which may be sarcasm.
const PRAISED_TOO: u16 = 40;
/// Added for each further phrase that agrees, at most twice.
const AGREED: u16 = 20;
/// Largest confidence: an inferred outcome is never certain.
const CONFIDENCE_MAX: u16 = 990;

/// Whether an answer helped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The answer helped.
    Accepted,
    /// The answer did not help.
    Rejected,
    /// There is no evidence for either.
    Neutral,
}

names!(Outcome { Accepted = "accepted", Rejected = "rejected", Neutral = "neutral" });

/// The rule that decided an outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// "That worked."
    Success,
    /// "Perfect!"
    Praise,
    /// A word of thanks, such as "Thanks!"
    Thanks,
    /// An emoji: a face or a thumb.
    Face,
    /// "No, I meant …"
    Correction,
    /// "1648, not 1748." The answer is contradicted without a phrase against it.
    Objection,
    /// "It does not work."
    Failure,
    /// "Useless."
    Displeasure,
    /// "Never mind."
    Abandonment,
    /// The same request was sent again. The outcome is neutral.
    Repeated,
    /// The same request was sent in other words. The outcome is neutral.
    Rephrased,
    /// The message quotes code of the answer together with an error.
    CodeFailed,
    /// "Thanks, but …": phrases for and against cancel out.
    Mixed,
    /// "Yes" or "no" to a question that the answer asked.
    Answered,
    /// The conversation continues, and no other rule applies.
    Continued,
    /// The conversation ended without a further message. The outcome is neutral.
    NothingFollowed,
}

/// The evidence for an inferred outcome.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Evidence {
    /// The rule that decided.
    pub rule: Rule,
    /// Code of the language whose phrases were used; `None` if the language is unknown.
    pub language: Option<String>,
    /// The phrases or words that decided, at most eight.
    pub words: Vec<String>,
    /// Similarity in thousandths, for the rules that compare: of this request and the one before, or of the
    /// quoted code and the answer's code.
    pub similarity: Option<u16>,
}

/// An outcome with its evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Inferred {
    /// Whether the answer helped.
    pub outcome: Outcome,
    /// Confidence in thousandths. It is 0 for a neutral outcome, and for records older than this field.
    #[serde(default)]
    pub confidence: u16,
    /// What in the next message led to the outcome.
    pub evidence: Evidence,
}

const EVIDENCE_WORDS_MAX: usize = 8;

/// Infers from the message `next` whether `reply`, the answer to `prompt`, helped.
pub fn infer(languages: &Languages, prompt: &str, reply: &str, next: &str) -> Inferred {
    let before = Message::read(prompt);
    let now = Message::read(next);
    let owned = |message: &Message| message.words().map(str::to_owned).collect::<Vec<_>>();
    let answer = Message::read(reply);
    let language = languages.of(&owned(&now), [&owned(&before), &owned(&answer)]);
    let asked: BTreeSet<&str> = before.words().collect();
    let reply_words: BTreeSet<&str> = answer.words().filter(|word| !asked.contains(word)).collect();
    let subject = Subject { asked: &asked, replied: &reply_words };
    let signs = language.map(|language| signs_of(language, &now, subject)).unwrap_or_default();
    let foreign = language.and_then(|own| foreign::objection(languages, own, [&before, &answer, &now]));
    let case = Case { before, now, reply, answer, language, signs, foreign };
    let Decision { outcome, rule, words, similarity, confidence } = case.decide();
    let language = language.map(|language| language.code.clone());
    Inferred { outcome, confidence, evidence: Evidence { rule, language, words, similarity } }
}

/// Finds the phrases of a message. If it has none, words without weight are left out: "You completely ignored …".
fn signs_of(language: &Language, now: &Message, subject: Subject) -> PhraseMatches {
    let signs = phrase_match::read(language, now, subject);
    // Where words are not separated, an idiom would be torn apart.
    let has_idiom = || now.clauses.iter().any(|clause| language.acknowledges(&clause.words));
    if !signs.found.is_empty() || language.is_by_character() && has_idiom() {
        return signs;
    }
    // What a clause says of something else, it says without its words of no weight too.
    let is_aside = |words: &[String]| language.mentions_own(words) || language.mentions_others(words);
    let plain = phrase_match::read(language, &now.without(|words| language.filler_at(words), is_aside), subject);
    match plain.found.iter().any(|sign| sign.class.rejects()) {
        true => PhraseMatches { found: plain.found, ..signs },
        false => signs,
    }
}

pub(super) struct Decision {
    pub(super) outcome: Outcome,
    pub(super) rule: Rule,
    words: Vec<String>,
    similarity: Option<u16>,
    confidence: u16,
}

impl Decision {
    pub(super) fn new(outcome: Outcome, rule: Rule, words: Vec<String>, confidence: u16) -> Decision {
        Decision { outcome, rule, words, similarity: None, confidence }
    }

    pub(super) fn neutral(rule: Rule, words: Vec<String>) -> Decision {
        Decision::new(Outcome::Neutral, rule, words, 0)
    }
}

pub(super) struct Case<'a> {
    pub(super) before: Message,
    pub(super) now: Message,
    pub(super) reply: &'a str,
    pub(super) answer: Message,
    pub(super) language: Option<&'a Language>,
    pub(super) signs: PhraseMatches,
    /// The message, if it says that the answer is in the wrong language.
    foreign: Option<String>,
}

impl Case<'_> {
    fn decide(&self) -> Decision {
        // "That's in German" outweighs a single word that may be against the answer.
        let outweighs = |decision: &Decision| self.foreign.is_none() || decision.outcome == Outcome::Accepted;
        let decided = self
            .by_phrases()
            .filter(outweighs)
            .or_else(|| self.code_came_back())
            .or_else(|| self.is_foreign())
            .or_else(|| self.by_emoji())
            .or_else(|| self.refused())
            .or_else(|| self.relieved())
            .or_else(|| self.objected())
            .or_else(|| self.by_repeated_request())
            .unwrap_or_else(|| Decision::neutral(Rule::Continued, Vec::new()));
        match self.is_doubtful(&decided) {
            true => Decision::neutral(Rule::Mixed, decided.words),
            false => decided,
        }
    }

    /// Decides by phrases for and against the answer. Phrases after "but" outweigh phrases before it. A success
    /// that is reported after a complaint outweighs the complaint. Otherwise a complaint outweighs praise or
    /// thanks, which may be sarcasm.
    fn by_phrases(&self) -> Option<Decision> {
        let aside = Aside::read(self.language?, &self.before, &self.answer, &self.now);
        let counts = |sign: &&PhraseMatch| !self.is_courtesy(sign) && !aside.quotes_the_turn(sign);
        let signs: Vec<&PhraseMatch> = self.signs.found.iter().filter(counts).collect();
        let against: Vec<&PhraseMatch> = signs.iter().copied().filter(|sign| sign.class.rejects()).collect();
        let pro: Vec<&PhraseMatch> = signs.iter().copied().filter(|sign| sign.class.accepts()).collect();
        if aside.complains(&against) || against.is_empty() && aside.praises(&pro) {
            return Some(Decision::neutral(Rule::Mixed, words(&signs)));
        }
        if against.is_empty() && !pro.is_empty() && self.declines(&pro) {
            return Some(Decision::neutral(Rule::Answered, words(&pro)));
        }
        let (Some(last), Some(first)) = (pro.last(), pro.first()) else {
            // "The title is great, the text reads like an advertisement."
            if (self.signs.praises_another || aside.parts() > 1) && !against.is_empty() {
                return Some(Decision::neutral(Rule::Mixed, words(&against)));
            }
            return (!against.is_empty()).then(|| self.decided(Outcome::Rejected, &against, &pro));
        };
        let Some(worst) = against.last() else {
            let turned = self.signs.turns > last.turn && last.class != Class::Success;
            let complains = self.signs.deplores_another && last.class != Class::Success;
            let is_ironic = self.may_be_sarcasm(&pro) || aside.praises_in_irony(&pro);
            return Some(match turned || complains || is_ironic || aside.praises_a_part(&pro) {
                true => Decision::neutral(Rule::Mixed, words(&pro)),
                false => self.decided(Outcome::Accepted, &pro, &against),
            });
        };
        // "The beginning is good, the end is wordy."
        if pro.iter().any(|sign| sign.class == Class::Praise) && aside.parts() > 0 {
            return Some(Decision::neutral(Rule::Mixed, words(&against)));
        }
        let is_one_word = |sign: &&PhraseMatch| sign.class == Class::Displeasure && sign.length == 1;
        if last.clause > worst.clause && against.iter().all(is_one_word) {
            return Some(Decision::neutral(Rule::Mixed, words(&against)));
        }
        let made_good = last.clause > worst.clause && last.class == Class::Success || last.turn > worst.turn;
        let only_success = first.class == Class::Success && worst.turn < first.turn;
        Some(match made_good || only_success {
            true => self.decided(Outcome::Accepted, &pro, &against),
            false => self.decided(Outcome::Rejected, &against, &pro),
        })
    }

    /// Whether the message declines an offer: "No, thanks".
    fn declines(&self, pro: &[&PhraseMatch]) -> bool {
        let only_thanks = pro.iter().all(|sign| sign.class == Class::Thanks);
        let first = self.now.clauses.first().map(|clause| clause.words.as_slice()).unwrap_or_default();
        let refuses = |language: &Language| language.refusals(first) == first.len();
        let is_reply = || ends_with_question(self.reply) && self.now.words().count() <= REPLY_WORDS_MAX;
        only_thanks && !first.is_empty() && (self.language.is_some_and(refuses) || is_reply())
    }

    /// Whether praise may be sarcasm, because the message also states something that no phrase is for: "Super, now
    /// everything is gone". Thanks after such a statement are meant.
    fn may_be_sarcasm(&self, pro: &[&PhraseMatch]) -> bool {
        let Some(language) = self.language else { return false };
        if pro.iter().any(|sign| sign.class == Class::Success) {
            return false;
        }
        let is_sign = |at: usize| pro.iter().any(|sign| sign.clause == at);
        let requests = |clause: &Clause| {
            let begins_own = language.mentions_own(&clause.words[..clause.words.len().min(OWN_WORDS_MAX)]);
            clause.asks || clause.announces || language.requests(&clause.words) && !begins_own
        };
        let states = |at: usize| {
            let clause = &self.now.clauses[at];
            let asks = requests(clause) || language.has_please(&clause.words);
            !is_sign(at) && !asks && clause.words.len() >= language.span(STATEMENT_WORDS_MIN)
        };
        let requests_from = |at: usize| self.now.clauses[at..].iter().any(&requests);
        let last = pro.last().map_or(0, |sign| sign.clause);
        let (_, against) = phrase_match::emoji(&self.now, self.language);
        let after = (last + 1..self.now.clauses.len()).any(|at| states(at) && !requests_from(last + 1));
        let praise = pro.iter().find(|sign| sign.class == Class::Praise);
        let before = praise.is_some_and(|sign| (0..sign.clause).any(states));
        // "Great, so the advice deletes my files. Awesome."
        let last_praise = pro.iter().rfind(|sign| sign.class == Class::Praise);
        let between = praise.zip(last_praise).is_some_and(|(first, last)| (first.clause..last.clause).any(states));
        let concludes = || pro.iter().any(|sign| self.concludes_after(language, sign));
        let trails_off = self.now.raw.contains(['…']) || self.now.raw.contains("...");
        after || before || between || trails_off || against.is_some() || concludes()
    }

    /// Whether thanks are given in advance: "thanks" at the end of a request is about the next answer.
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
            Class::Displeasure => (Rule::Displeasure, DISPLEASED),
            Class::Abandonment | Class::Acknowledgement | Class::Idiom => (Rule::Abandonment, AGAINST),
        };
        let mut confidence = base + AGREED * signs.len().saturating_sub(1).min(2) as u16;
        if signs.iter().all(|sign| sign.length == 1 && sign.class.rejects()) {
            confidence -= ONE_WORD;
        }
        if strongest == Class::Thanks && self.signs.requests {
            confidence -= COURTEOUS;
        }
        if !contrary.is_empty() {
            confidence -= if outcome == Outcome::Accepted { CONTRADICTED } else { PRAISED_TOO };
        }
        Decision::new(outcome, rule, words(signs), confidence.min(CONFIDENCE_MAX))
    }

    /// Rejects the answer if the message quotes its code together with an error and asks nothing, or if it is
    /// hardly more than an error and the answer was code, or an error of a spreadsheet.
    fn code_came_back(&self) -> Option<Decision> {
        if let Some(error) = pasted::cell_error(&self.now.raw) {
            let is_new = !self.before.raw.contains(error) && !self.reply.contains(error);
            let found = Decision::new(Outcome::Rejected, Rule::CodeFailed, vec![error.to_owned()], CODE_FAILED);
            return Some(found).filter(|_| is_new && self.is_only_an_error());
        }
        let complaint = pasted::complaint(&self.now.raw)?;
        let asks = self.now.clauses.iter().any(|clause| clause.asks);
        let offered: BTreeSet<&str> = self.answer.code.iter().map(String::as_str).collect();
        let pasted: BTreeSet<&str> = self.now.raw.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let shared = offered.intersection(&pasted).count();
        let is_named = |line: &&str| line.chars().count() >= CODE_LINE_CHARS_MIN && self.now.raw.contains(*line);
        let is_quoted = shared >= SHARED_LINES_MIN || offered.iter().any(is_named) || self.names_what_was_offered();
        if asks || !is_quoted && !self.only_fails() {
            return None;
        }
        let similarity = Some(overlap(&offered, &pasted));
        let found = Decision::new(Outcome::Rejected, Rule::CodeFailed, vec![complaint], CODE_FAILED);
        Some(Decision { similarity, ..found })
    }

    /// Whether a short message with an error names something that only the answer brought up.
    fn names_what_was_offered(&self) -> bool {
        let asked: BTreeSet<&str> = self.before.words().collect();
        let is_known = |word: &str| self.language.is_some_and(|language| language.is_common(word));
        let offered = |word: &str| {
            self.answer
                .words()
                .chain(self.answer.code.iter().flat_map(|code| code.split_whitespace()))
                .any(|other| other == word)
        };
        let is_new =
            |word: &str| word.chars().count() >= INSISTED_CHARS_MIN && !asked.contains(word) && !is_known(word);
        self.is_only_an_error() && self.now.words().any(|word| is_new(word) && offered(word))
    }

    /// Whether a message after code has hardly more than a pasted error: no request, and nothing of the person's
    /// own that could have failed instead.
    fn only_fails(&self) -> bool {
        (!self.answer.code.is_empty() || pasted::is_technical(self.reply)) && self.is_only_an_error()
    }

    fn is_only_an_error(&self) -> bool {
        let is_own = |language: &Language| self.now.clauses.iter().any(|clause| language.mentions_own(&clause.words));
        !self.signs.requests && self.now.words().count() <= ERROR_WORDS_MAX && !self.language.is_some_and(is_own)
    }

    fn is_foreign(&self) -> Option<Decision> {
        let objection = self.foreign.clone()?;
        Some(Decision::new(Outcome::Rejected, Rule::Objection, vec![objection], OBJECTED))
    }

    fn by_emoji(&self) -> Option<Decision> {
        let (outcome, face) = match phrase_match::emoji(&self.now, self.language) {
            (Some(face), None) => (Outcome::Accepted, face),
            (None, Some(face)) => (Outcome::Rejected, face),
            _ => return None,
        };
        Some(Decision::new(outcome, Rule::Face, vec![face.to_string()], FACE))
    }

    /// Accepts the answer if a fault that the request reported has ended. What has ended and was no fault decides
    /// nothing.
    fn relieved(&self) -> Option<Decision> {
        let language = self.language.filter(|_| self.signs.found.is_empty())?;
        let ended = vec![relief::ended(language, &self.before, &self.now)?];
        Some(match objection::reports_a_fault(language, &self.before) {
            true => Decision::new(Outcome::Accepted, Rule::Success, ended, RELIEVED),
            false => Decision::neutral(Rule::Continued, ended),
        })
    }

    /// Rejects the answer if the message contradicts it without a phrase against it.
    fn objected(&self) -> Option<Decision> {
        if !self.signs.found.is_empty() || ends_with_question(self.reply) {
            return None;
        }
        let other = || objection::is_only_another_number(&self.before, self.reply, &self.now);
        let found = match self.language {
            Some(language) => objection::find(language, &self.before, self.reply, &self.now),
            None => other().then(|| self.now.raw.trim().to_owned()),
        };
        let objection = found?;
        Some(Decision::new(Outcome::Rejected, Rule::Objection, vec![objection], OBJECTED))
    }

    /// Notes a request that is the same as the one before, literally or in other words. It can be a follow-up,
    /// a request of the same kind, or a request that was not answered. These cannot be distinguished, so the
    /// outcome is neutral.
    fn by_repeated_request(&self) -> Option<Decision> {
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
