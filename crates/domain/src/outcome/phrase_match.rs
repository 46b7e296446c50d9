//! Finds phrases in a message that are evidence for or against the answer before it, and evidence that needs no
//! language: emoji and pasted errors.

use super::{
    class::Class,
    language::Language,
    similarity::is_form,
    text::{Clause, Message, PERSON_CHARS_MIN, capitalised_words_of},
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
/// Number of words at the start of a sentence that can be its subject: "my bank".
const SUBJECT_WORDS_MAX: usize = 2;
/// Longest phrase that needs the answer as its subject inside a clause, in words.
const SHORT_WORDS_MAX: usize = 3;
/// Longest clause in which a word that corrects needs no subject, in words.
const BARE_CLAUSE_WORDS_MAX: usize = 2;
/// Number of words before a phrase from which it is inside its clause.
const INSIDE_WORDS_MIN: usize = 3;
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
    /// Whether something is praised that is not the answer as a whole.
    pub praises_another: bool,
    /// Whether something is complained of that neither the request nor the answer has.
    pub deplores_another: bool,
}

impl PhraseMatches {
    /// Drops the phrases against the answer from index `first` on: they are what other people say.
    fn drop_against(&mut self, first: usize) {
        let reported = self.found.split_off(first);
        self.found.extend(reported.into_iter().filter(|sign| !sign.class.rejects()));
    }
}

/// What a message is about: its request and the answer.
#[derive(Clone, Copy)]
pub(super) struct Subject<'a> {
    /// The words of the request.
    pub asked: &'a BTreeSet<&'a str>,
    /// The words of the answer that its request did not have.
    pub replied: &'a BTreeSet<&'a str>,
}

/// Finds the phrases of a message.
pub(super) fn read(language: &Language, message: &Message, subject: Subject) -> PhraseMatches {
    let mut signs = PhraseMatches::default();
    let capitalised = capitalised_words_of(&message.raw);
    let reader = Reader { language, message, subject, capitalised };
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
    message: &'a Message,
    subject: Subject<'a>,
    /// The words of the message with a capital letter, names among them.
    capitalised: BTreeSet<String>,
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
            // "I don't know if I like it" is an idiom, and the rest is what the person does not know.
            request |= first && phrase.is_some_and(|(_, class)| class == Class::Idiom) && language.doubts(rest);
            if let Some((length, class)) = phrase {
                // An acknowledgement ("ok, …") is no evidence, and neither is a phrase within a request.
                let mut is_heard = false;
                let counts = !request || class == Class::Persisting || class == Class::Abandonment;
                if counts && class != Class::Idiom && class != Class::Acknowledgement {
                    let said = class;
                    let class = negated(language, words, at, length, class);
                    let is_denied = said == Class::Correction && denies_phrase(language, words, at, length);
                    signs.praises_another |= class == Class::Praise && at > 0 && self.praises_another(words, at);
                    signs.deplores_another |= class.rejects() && !clause.asks && self.names_a_stranger(words, at);
                    let is_turned = said.accepts() && class.rejects();
                    if !is_denied
                        && self.hears(clause_at, class, at, length)
                        && (!is_turned || self.is_about_the_answer(words, at))
                    {
                        let words = rest[..length].join(" ");
                        signs.found.push(PhraseMatch { class, clause: clause_at, turn: signs.turns, length, words });
                        is_heard = true;
                    }
                }
                // After "That's not a …" about something that was not asked for, the rest can be a phrase of its own.
                skip = if is_heard || !language.demands(&rest[..length]) { length - 1 } else { 0 };
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
    fn hears(&self, clause_at: usize, class: Class, at: usize, length: usize) -> bool {
        use Class::{Abandonment, Correction, Failure, Persisting, Thanks};
        let clause = &self.message.clauses[clause_at];
        let words = &clause.words;
        if clause.asks && !matches!(class, Persisting | Abandonment | Thanks) {
            return false;
        }
        if matches!(class, Failure | Persisting) && self.language.mentions_own(words) {
            return false;
        }
        if class.rejects() && !self.is_against_the_answer(clause_at, at, length) {
            return false;
        }
        if matches!(class, Failure | Persisting) && self.is_another_matter(clause_at, at) {
            return false;
        }
        if class == Class::Praise && (at > 0 && self.praises_another(words, at) || self.takes_back(words, at, length)) {
            return false;
        }
        if length == 1 {
            let last = at + 1 == words.len();
            let is_prominent =
                words.len() <= self.language.span(PRAISE_CLAUSE_WORDS_MAX) || at == 0 || class == Thanks && last;
            let is_long = words.len() > self.language.span(WEAK_CLAUSE_WORDS_MAX);
            let is_weak = if class.rejects() { is_long } else { !is_prominent };
            if is_weak {
                return false;
            }
        }
        let is_inside = at >= self.language.span(INSIDE_WORDS_MIN) && length <= SHORT_WORDS_MAX;
        // "Sorted wrongly", and what the person says of the request, need no subject.
        let is_plain =
            class == Correction && (words.len() <= BARE_CLAUSE_WORDS_MAX || self.language.demands(&words[at..]));
        // Where words are not separated, a subject is often left out: "not responding" is about the answer.
        let may_fail = !self.language.is_by_character() || self.has_subject(clause_at, at);
        let needs_subject = class == Failure && may_fail || class.rejects() && !is_plain && (length == 1 || is_inside);
        if needs_subject && self.language.only_opens(&words[..at]) {
            return !self.follows_request(clause_at);
        }
        !needs_subject || self.is_about_the_answer(words, at)
    }

    /// Whether the words before praise at index `at` name something that is not the answer: "Her talk was very good".
    fn praises_another(&self, words: &[String], at: usize) -> bool {
        let language = self.language;
        let before = &words[..at];
        let is_name = |word: &String| word.chars().count() >= NAME_CHARS_MIN && !language.is_common(word);
        let is_asked = |word: &String| self.subject.asked.contains(word.as_str());
        let names_another = || {
            before.iter().any(is_name)
                && !before.iter().any(|word| is_name(word) && is_asked(word))
                && !self.is_about_the_answer(words, at)
        };
        language.mentions_own(before)
            || language.mentions_others(before)
            || language.mentions_third(before)
            || names_another()
    }

    /// Whether a clause that begins with a word of praise goes on with a negation: "Bravo for the comment that I did
    /// not want".
    fn takes_back(&self, words: &[String], at: usize, length: usize) -> bool {
        let rest = &words[at + length..];
        let is_long = rest.len() >= self.language.span(PRAISE_CLAUSE_WORDS_MAX);
        length == 1 && is_long && (0..rest.len()).any(|place| self.language.negates_at(&rest[place..]))
    }

    /// Whether a phrase against something can be about the answer: the sentence mentions no other people, nothing
    /// before the phrase in its clause and no earlier subject is the person's own, and what the person wanted ("I said
    /// …") is what the request said.
    fn is_against_the_answer(&self, clause_at: usize, at: usize, length: usize) -> bool {
        let language = self.language;
        let words = &self.message.clauses[clause_at].words;
        let (before, phrase) = (&words[..at], &words[at..at + length]);
        let sentence = self.message.clauses[clause_at].sentence;
        let mut said = self.message.clauses.iter().filter(|clause| clause.sentence == sentence);
        // Of a request that is not known, what the person says about it is true.
        let mut others = before.iter().chain(&words[at + length..]);
        let mut insists = || self.subject.asked.is_empty() || others.any(|word| self.is_asked(word));
        let starts_own = |words: &[String]| language.mentions_own(&words[..words.len().min(SUBJECT_WORDS_MAX)]);
        let mut earlier = said.clone().take_while(|clause| clause.words != *words);
        !earlier.any(|clause| starts_own(&clause.words))
            && !said.any(|clause| clause.words != *words && language.mentions_others(&clause.words))
            && !language.mentions_others(before)
            && !language.mentions_own(before)
            && !self.is_about_somebody(before)
            && !self.names_a_stranger(words, at)
            && (!language.only_demands(phrase) || insists())
    }

    /// Whether the words before index `at` name something that neither the request nor the answer has, and nothing
    /// that they have: "Lunch was a disaster", "合伙人不喜欢". Of a request that is not known, nothing is.
    fn names_a_stranger(&self, words: &[String], at: usize) -> bool {
        let Subject { asked, replied } = self.subject;
        let language = self.language;
        let before = &words[..at];
        let has_word = |word: &String| asked.contains(word.as_str()) || replied.contains(word.as_str());
        let has_form = |word: &String| asked.iter().chain(replied).any(|known| is_form(known, word));
        let is_name = |word: &&String| {
            language.can_name(word, NAME_CHARS_MIN) && language.filler_at(std::slice::from_ref(*word)).is_none()
        };
        let is_strange = match language.is_by_character() {
            true => {
                let mut pairs = before.windows(2).filter(|pair| language.word_of(pair).is_some()).peekable();
                pairs.peek().is_some() && !pairs.any(|pair| pair.iter().all(has_word))
            }
            false => {
                let mut names = language.beside_phrases(before).filter(is_name).peekable();
                names.peek().is_some() && !names.any(|word| has_word(word) || has_form(word))
            }
        };
        !asked.is_empty() && is_strange && !self.is_about_the_answer(words, at)
    }

    /// Whether the words begin with a name that neither the request nor the answer has: "Tom still did not reply".
    fn is_about_somebody(&self, before: &[String]) -> bool {
        let Subject { asked, replied } = self.subject;
        let is_known =
            |word: &String| asked.contains(word.as_str()) || replied.iter().any(|known| is_form(known, word));
        before.iter().take(SUBJECT_WORDS_MAX).any(|word| {
            self.capitalised.contains(word) && self.language.can_name(word, PERSON_CHARS_MIN) && !is_known(word)
        }) && !self.language.capitalises_nouns
    }

    /// Whether the sentence turns to another matter before the phrase at index `at`: "The printer is broken too, it
    /// keeps failing". "It also fails" is about the answer.
    fn is_another_matter(&self, clause_at: usize, at: usize) -> bool {
        let clause = &self.message.clauses[clause_at];
        let earlier = self.message.clauses[..clause_at].iter().filter(|other| other.sentence == clause.sentence);
        let turns_away = |words: &[String]| self.language.adds(words);
        earlier.map(|other| other.words.as_slice()).any(turns_away)
            || turns_away(&clause.words) && at > 0 && !self.language.answer_before(&clause.words, 0)
    }

    /// Whether a clause before, in the same sentence, requests something, so that this one may belong to the request:
    /// "Add a test (of the parser) that …".
    fn follows_request(&self, clause_at: usize) -> bool {
        let (before, rest) = self.message.clauses.split_at(clause_at);
        let same_sentence = before.iter().rev().take_while(|clause| clause.sentence == rest[0].sentence);
        same_sentence.map(|clause| &clause.words).any(|words| self.language.requests(words))
    }

    fn is_asked(&self, word: &str) -> bool {
        let is_long = word.chars().count() >= NAME_CHARS_MIN || word.starts_with(|c: char| c.is_ascii_digit());
        is_long && !self.language.is_common(word) && self.subject.asked.iter().any(|asked| asked.starts_with(word))
    }

    /// Whether the words before index `at` refer to the answer, or name something that the answer introduced.
    fn is_about_the_answer(&self, words: &[String], at: usize) -> bool {
        let chars_min = self.language.name_chars_min(NAME_CHARS_MIN);
        let is_replied = |word: &String| self.subject.replied.contains(word.as_str());
        let has_form = |word: &String| self.subject.replied.iter().any(|known| is_form(known, word));
        let named = |word: &String| word.chars().count() >= chars_min && (is_replied(word) || has_form(word));
        let is_pair = |pair: &[String]| self.language.word_of(pair).is_some() && pair.iter().all(is_replied);
        self.language.answer_before(words, at) || words[..at].iter().any(named) || words[..at].windows(2).any(is_pair)
    }

    /// Whether something is named before index `at`, or by the end of the clause before ("The printer, it broke"), in
    /// languages that are compared by characters.
    fn has_subject(&self, clause_at: usize, at: usize) -> bool {
        let clause = &self.message.clauses[clause_at];
        let earlier = self.message.clauses[..clause_at].last().filter(|other| other.sentence == clause.sentence);
        let ends_so = |other: &Clause| self.names_something(&other.words[other.words.len().saturating_sub(2)..]);
        self.names_something(&clause.words[..at]) || at == 0 && earlier.is_some_and(ends_so)
    }

    /// Whether the words can name something, in languages that are compared by characters.
    fn names_something(&self, words: &[String]) -> bool {
        let is_noun = |word: &String| word.chars().count() > 1 && self.language.can_name(word, NAME_CHARS_MIN);
        words.iter().any(is_noun) || words.windows(2).any(|pair| self.language.word_of(pair).is_some())
    }
}

/// Returns the class of a phrase after applying a negation before it or, in languages that do so, after it.
fn negated(language: &Language, words: &[String], at: usize, length: usize, class: Class) -> Class {
    let before = (at.saturating_sub(NEGATION_REACH)..at).any(|place| language.negates_at(&words[place..]));
    let end = words.len().min(at + length + NEGATION_REACH);
    let behind = language.negation_follows && (at + length..end).any(|place| language.negates_at(&words[place..end]));
    // "Didn't deliver and did not answer": the phrase has its own negation, and the one before is another verb's.
    let within = (at..at + length).any(|place| language.negates_at(&words[place..]));
    // Chinese has negations of verbs that negate nothing else: "不报错".
    let denied = |place: usize| language.denial_at(&words[place..]) == Some(at - place);
    let beside = (at.saturating_sub(NEGATION_REACH)..at).any(denied);
    match class {
        Class::Failure if beside && !within => Class::Success,
        _ if !before && !behind => class,
        Class::Success => Class::Failure,
        Class::Praise => Class::Displeasure,
        Class::Failure if before && !within => Class::Success,
        Class::Displeasure if before => Class::Praise,
        other => other,
    }
}

/// Whether the negation of a verb is right before the phrase, which has none of its own: "it does not contradict".
fn denies_phrase(language: &Language, words: &[String], at: usize, length: usize) -> bool {
    let within = (at..at + length).any(|place| language.negates_at(&words[place..]));
    let ends_here = |place: usize| language.denial_at(&words[place..]) == Some(at - place);
    let from = at.saturating_sub(NEGATION_REACH);
    // "No, wrong" refuses, and denies nothing.
    let refuses = |place: usize| place == 0 && language.refusals(words) > 0;
    !within && (from..at).any(|place| ends_here(place) && !refuses(place))
}

/// Returns the first emoji for and the first emoji against the answer. A long message has neither.
pub(super) fn emoji(message: &Message, language: Option<&Language>) -> (Option<char>, Option<char>) {
    let words_max = language.map_or(FACE_WORDS_MAX, |language| language.span(FACE_WORDS_MAX));
    if message.words().count() > words_max {
        return (None, None);
    }
    let find = |list: &[char]| message.raw.chars().find(|letter| list.contains(letter));
    (find(&FOR), find(&AGAINST))
}
