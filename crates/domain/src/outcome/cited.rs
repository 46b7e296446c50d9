//! Objections that say what the request was ("Welsh I said"), ask back for a word of the answer ("The footer?? Header,
//! I said"), or name where another fact is written ("Page 4: six weeks").

use super::{
    language::Language,
    objection::{NAME_CHARS_MIN, Turn, is_digit},
    phrase::{any_within, longest},
    text::{Clause, Message},
};

/// Longest message that says what the request was, in words.
const INSISTING_WORDS_MAX: usize = 14;
/// Longest clause that asks back for a word of the answer, in words.
const ECHO_WORDS_MAX: usize = 4;
/// Longest message that names where another fact is written, in words.
const CITATION_WORDS_MAX: usize = 20;
/// Least length of a word of the request that a person repeats, characters. It is less than that of other names,
/// because the words around it say that it is of the request.
const REPEATED_CHARS_MIN: usize = 3;
/// Question marks that ask back instead of asking.
const ASTONISHED: [&str; 7] = ["??", "?!", "!?", "？？", "？！", "！？", "⁉"];

impl Language {
    /// Whether the clause says that the request had something.
    fn insists(&self, words: &[String]) -> bool {
        any_within(words, &self.insistence)
    }

    /// Returns the number of words that say where a fact is written, at the start of `words`.
    fn source_at(&self, words: &[String]) -> Option<usize> {
        longest(words, &self.source)
    }
}

impl Turn<'_> {
    /// Whether a short message says that the request had one of its words: "Welsh I said". It asks nothing, except for
    /// a word of the answer.
    pub(super) fn repeats_the_request(&self, now: &Message) -> bool {
        let language = self.language;
        let is_short = now.words().count() <= language.span(INSISTING_WORDS_MAX);
        let is_aside = |clause: &Clause| language.mentions_others(&clause.words);
        let asks = |clause: &Clause| clause.asks && clause.words.len() > language.span(ECHO_WORDS_MAX);
        let insists = |clause: &Clause| !clause.asks && language.insists(&clause.words);
        is_short
            && !now.clauses.iter().any(|clause| is_aside(clause) || asks(clause))
            && now.clauses.iter().any(insists)
            && now.clauses.iter().any(|clause| self.repeats(&clause.words))
    }

    /// Whether one of the words is of the request.
    fn repeats(&self, words: &[String]) -> bool {
        let is_long = |word: &str| word.chars().count() >= REPEATED_CHARS_MIN;
        let is_free = |word: &&String| is_long(word) && !self.language.is_common(word) || is_digit(word);
        words.iter().filter(is_free).any(|word| self.is_of_the_request(word)) || self.has_asked_pair(words)
    }

    fn is_of_the_request(&self, word: &str) -> bool {
        self.asked.contains(word) || self.is_asked(word)
    }

    /// Whether the message asks back for a word or a number that only the answer has, in astonishment, and then repeats
    /// the request or has another number: "400?! I wrote 40".
    pub(super) fn echoes(&self, now: &Message) -> bool {
        let language = self.language;
        let is_new = |word: &String| {
            let is_name = is_digit(word) || language.can_name(word, NAME_CHARS_MIN);
            is_name && self.replied.contains(word) && !self.asked.contains(word)
        };
        let asks_back = |clause: &Clause| {
            clause.asks
                && clause.words.len() <= language.span(ECHO_WORDS_MAX)
                && (clause.words.iter().any(is_new) || self.has_new_pair(&clause.words))
        };
        let is_other = |word: &String| self.is_number(word) && !self.replied.contains(word);
        let goes_on =
            |clause: &Clause| !asks_back(clause) && (clause.words.iter().any(is_other) || self.repeats(&clause.words));
        ASTONISHED.iter().any(|mark| now.raw.contains(mark))
            && now.words().count() <= language.span(INSISTING_WORDS_MAX)
            && now.clauses.iter().any(asks_back)
            && now.clauses.iter().any(goes_on)
    }

    /// Whether the message names where a fact is written, and another number or name than the answer's: "Page 4: six
    /// weeks to the 15th", after a question.
    pub(super) fn cites(&self, now: &Message) -> bool {
        let language = self.language;
        let is_aside = |clause: &Clause| {
            language.mentions_others(&clause.words) || language.adds(&clause.words) || language.requests(&clause.words)
        };
        let mut sourced = now.clauses.iter().filter(|clause| self.has_source(&clause.words)).peekable();
        self.asks
            && now.words().count() <= language.span(CITATION_WORDS_MAX)
            && sourced.peek().is_some()
            && !now.clauses.iter().any(is_aside)
            && now.clauses.iter().any(|clause| self.has_another_value(&clause.words))
    }

    fn has_source(&self, words: &[String]) -> bool {
        (0..words.len()).any(|at| self.language.source_at(&words[at..]).is_some())
    }

    /// Whether the words have another number than the answer, which has one, or another name than the answer, which has
    /// one. The number of a page or a clause is neither.
    fn has_another_value(&self, words: &[String]) -> bool {
        let language = self.language;
        let is_place = |at: usize| {
            let before = |from: usize| language.source_at(&words[from..]).is_some_and(|length| from + length == at);
            (at.saturating_sub(2)..at).any(before)
        };
        let is_unknown = |word: &String| !self.replied.contains(word) && !self.asked.contains(word);
        let is_number = |at: usize| self.is_number(&words[at]) && is_unknown(&words[at]) && !is_place(at);
        let is_name = |at: usize| {
            at > 0
                && self.capitalised.contains(&words[at])
                && language.can_name(&words[at], NAME_CHARS_MIN)
                && is_unknown(&words[at])
                && language.source_at(&words[at..]).is_none()
        };
        let answers_with_a_number = self.replied.iter().any(|word| self.is_number(word));
        let answers_with_a_name = !language.capitalises_nouns && self.named.iter().any(|name| self.is_name(name));
        answers_with_a_number && (0..words.len()).any(is_number) || answers_with_a_name && (0..words.len()).any(is_name)
    }
}

#[cfg(test)]
mod tests {
    use crate::outcome::{Languages, Outcome, infer};

    fn outcome([prompt, reply, next]: [&str; 3]) -> Outcome {
        infer(Languages::built_in(), prompt, reply, next).outcome
    }

    #[test]
    fn what_the_request_was_and_what_it_was_not_rejects() {
        for turn in [
            ["Translate the leaflet into Welsh.", "Fáilte …", "Welsh I said"],
            ["Schreib die Mail auf Niederländisch.", "Dear Jan …", "auf Niederländisch hatte ich geschrieben"],
            ["Reserva mesa para 6.", "Reservada para 16 personas.", "¿¿16?? dije seis"],
            ["Zamów 3 krzesła.", "Zamówiono 30 krzeseł.", "30?! miały być 3"],
            ["Hoe hoog is de borg?", "Eén maand huur.", "Volgens artikel 4 zijn het twee maanden."],
            ["What does the pump's passport say about its warranty?", "12 months.", "Page 7: 24 months."],
        ] {
            assert_eq!(outcome(turn), Outcome::Rejected, "{turn:?}");
        }
    }

    #[test]
    fn other_words_of_a_request_or_a_source_decide_nothing() {
        for turn in [
            ["Translate the leaflet into Welsh.", "Croeso …", "And what would Irish be?"],
            ["Reserve a table for 6.", "Reserved for 6 at 8 pm.", "8?? fine by me"],
            ["When is the deadline?", "On 30 May.", "Is that on page 4 or page 5?"],
            ["How high is the deposit?", "Two months.", "Also see page 12, can you sum it up?"],
        ] {
            assert_ne!(outcome(turn), Outcome::Rejected, "{turn:?}");
        }
    }
}
