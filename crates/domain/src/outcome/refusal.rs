//! Rejects an answer by "no" at the start of the message.

use super::{
    class::Class,
    infer::{Case, Decision, INSISTED_CHARS_MIN, Outcome, REFUSED, Rule},
    language::Language,
    phrase::{any_begins, longest},
    text::{capitalised_words_of, ends_with_question},
};

/// Longest name or number after "no", in words.
const RENAMED_WORDS_MAX: usize = 3;

impl Language {
    /// Returns how many words at the start of `words` are refusals such as "no".
    pub(super) fn refusals(&self, words: &[String]) -> usize {
        let mut count = 0;
        while let Some(length) = words.get(count..).and_then(|rest| longest(rest, &self.refusal)) {
            count += length;
        }
        count
    }

    /// Whether `words`, which follow a "no", begin a statement of what is true instead.
    fn claims(&self, words: &[String]) -> bool {
        any_begins(words, &self.claim)
    }
}

impl Case<'_> {
    /// Rejects the answer if the message begins with "no" and then states what is true instead, or names a word
    /// of the request that the answer did not use. "No" by itself, and "no" before a plan or thanks, decline an
    /// offer at most.
    pub(super) fn refused(&self) -> Option<Decision> {
        let language = self.language?;
        let first = self.now.clauses.first()?;
        let count = language.refusals(&first.words);
        if count == 0 || language.phrase_at(&first.words).is_some_and(|(_, class)| class == Class::Idiom) {
            return None;
        }
        let word = first.words.first()?.clone();
        if ends_with_question(self.reply) {
            return Some(Decision::neutral(Rule::Answered, vec![word]));
        }
        let rest = match first.words.get(count..) {
            // "No son …" is a negation, and "No, son …" a refusal.
            Some(rest) if !rest.is_empty() && language.negates_at(&first.words) => return None,
            Some(rest) if !rest.is_empty() => rest,
            _ => &self.now.clauses.get(1)?.words,
        };
        let is_idiom = language.phrase_at(rest).is_some_and(|(_, class)| class == Class::Idiom);
        let renames = || count == first.words.len() && self.renames(rest);
        let persists = || language.persists(rest) && !language.mentions_speaker(rest);
        let is_correction = || language.claims(rest) || self.insists_on(rest) || renames() || persists();
        if self.signs.requests || is_idiom || !is_correction() {
            return None;
        }
        Some(Decision::new(Outcome::Rejected, Rule::Correction, vec![word], REFUSED))
    }

    /// Whether the words are hardly more than a name or a number that the answer did not have: "No. Canberra."
    fn renames(&self, words: &[String]) -> bool {
        let Some(language) = self.language else { return false };
        let capitalised = capitalised_words_of(&self.now.raw);
        let is_asked = |word: &String| self.before.words().any(|other| other == word);
        let is_known = |word: &String| is_asked(word) || self.answer.words().any(|other| other == word);
        // After an article, or beside a word of the request, a name may be written in lower case.
        let is_led = words.len() > 1 && (language.is_common(&words[0]) || words.iter().any(is_asked));
        let is_name = |word: &String| {
            let is_marked = capitalised.contains(word) || word.starts_with(|c: char| c.is_ascii_digit());
            is_marked || is_led && word.chars().count() >= INSISTED_CHARS_MIN
        };
        words.len() <= RENAMED_WORDS_MAX
            && self.before.clauses.iter().any(|clause| clause.asks)
            && language.phrase_at(words).is_none()
            && words.iter().any(|word| is_name(word) && !language.is_common(word) && !is_known(word))
    }

    /// Whether one of the words occurs in the request and not in the answer.
    fn insists_on(&self, words: &[String]) -> bool {
        let is_asked = |word: &str| self.before.words().any(|asked| asked.starts_with(word));
        let is_answered = |word: &str| self.answer.words().any(|answered| answered == word);
        let mut names = words.iter().filter(|word| word.chars().count() >= INSISTED_CHARS_MIN);
        names.any(|word| is_asked(word) && !is_answered(word))
    }
}
