//! What the person says that the request was: "I asked for the price, not the duration".

use super::{
    language::Language,
    objection::Turn,
    phrase::{any_begins, any_within, longest},
    text::{Clause, Message},
};

/// Longest clause that says what was asked ("I asked for the price"), in words.
const INQUIRY_WORDS_MAX: usize = 8;
/// Longest clause that says what was not ("not the duration"), in words.
const UNWANTED_WORDS_MAX: usize = 5;

impl Language {
    /// Whether `words` begin with what the person wanted: "I asked for …".
    pub(super) fn demands(&self, words: &[String]) -> bool {
        any_begins(words, &self.demand)
    }

    /// Whether all of `words` are such a beginning. "That's not an answer" is more than "that's not an …".
    pub(super) fn only_demands(&self, words: &[String]) -> bool {
        longest(words, &self.demand) == Some(words.len())
    }

    /// Whether the clause says what the person asked.
    fn inquires(&self, words: &[String]) -> bool {
        any_within(words, &self.inquiry)
    }
}

impl Turn<'_> {
    /// Whether the message says what was asked and at once what was not: "I asked for the price, not the duration". The
    /// request and the answer may have other words for both.
    pub(super) fn insists_on_the_request(&self, now: &Message) -> bool {
        let is_aside =
            |clause: &Clause| self.language.mentions_own(&clause.words) || self.language.mentions_others(&clause.words);
        !now.clauses.iter().any(is_aside) && now.clauses.windows(2).any(|pair| self.excludes(&pair[0], &pair[1]))
    }

    /// Whether a clause says what was asked, and the next one of its sentence what was not. In some languages the
    /// negation ends the clause: "süreyi değil".
    fn excludes(&self, inquiry: &Clause, contrast: &Clause) -> bool {
        let language = self.language;
        let words = language.after_contrast(&contrast.words);
        let [first, .., last] = words else { return false };
        let begins = language.negates_at(words)
            || words.len() > 2 && language.is_common(first) && language.negates_at(&words[1..]);
        let ends = language.negation_follows && language.negates_at(std::slice::from_ref(last));
        contrast.sentence == inquiry.sentence
            && !contrast.asks
            && words.len() <= language.span(UNWANTED_WORDS_MAX)
            && inquiry.words.len() <= language.span(INQUIRY_WORDS_MAX)
            && (begins || ends)
            && language.inquires(&inquiry.words)
    }
}

#[cfg(test)]
mod tests {
    use crate::outcome::{Languages, Outcome, infer};

    fn outcome(next: &str) -> Outcome {
        infer(Languages::built_in(), "How much is the train?", "The trip takes two hours.", next).outcome
    }

    #[test]
    fn what_was_asked_beside_what_was_not_rejects_in_other_words_too() {
        for next in ["I asked for the price, not the duration.", "I had asked about the price, and not about the time"]
        {
            assert_eq!(outcome(next), Outcome::Rejected, "{next}");
        }
        let russian = ["Сколько стоит поезд?", "Поездка длится два часа.", "Я спрашивала о цене, а не о времени."];
        let turkish = ["Tren ne kadar?", "Yolculuk iki saat sürüyor.", "Fiyatı sordum, süreyi değil."];
        for [prompt, reply, next] in [russian, turkish] {
            let found = infer(Languages::built_in(), prompt, reply, next);
            assert_eq!(found.outcome, Outcome::Rejected, "{next}: {found:?}");
        }
    }

    #[test]
    fn what_was_asked_elsewhere_decides_nothing() {
        for next in
            ["My boss asked for a report, not a table. Can you make one?", "I asked for the price, not far away?"]
        {
            assert_eq!(outcome(next), Outcome::Neutral, "{next}");
        }
    }
}
