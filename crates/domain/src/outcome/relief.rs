//! Finds out that a fault which the request reported has ended: "No longer freezes", after "The app freezes".

use super::{
    language::Language,
    objection::{NAME_CHARS_MIN, is_alike},
    phrase::any_within,
    similarity::is_form,
    text::{Clause, Message, names_of},
};
use std::collections::BTreeSet;

/// Longest clause that says that a fault has ended, in words.
const ENDED_WORDS_MAX: usize = 10;

impl Language {
    /// Whether the clause says that something has ended: "no longer".
    fn says_ended(&self, words: &[String]) -> bool {
        any_within(words, &self.ceased)
    }
}

/// Returns the words of the clause which says that something of the request `before` has ended.
pub(super) fn ended(language: &Language, before: &Message, now: &Message) -> Option<String> {
    // "Nantes is no longer in Brittany" corrects a fact.
    let names = if language.capitalises_nouns { BTreeSet::new() } else { names_of(&before.raw) };
    let is_asked = |word: &String| {
        language.can_name(word, NAME_CHARS_MIN)
            && !names.contains(word)
            && before.words().any(|asked| asked == word || is_form(asked, word) || is_alike(asked, word))
    };
    let ends = |clause: &&Clause| {
        !clause.asks
            && clause.words.len() <= language.span(ENDED_WORDS_MAX)
            && language.says_ended(&clause.words)
            && clause.words.iter().any(is_asked)
    };
    now.clauses.iter().find(ends).map(|clause| clause.words.join(" "))
}

#[cfg(test)]
mod tests {
    use crate::outcome::{Languages, Outcome, infer};

    fn outcome([prompt, reply, next]: [&str; 3]) -> Outcome {
        infer(Languages::built_in(), prompt, reply, next).outcome
    }

    #[test]
    fn a_fault_of_the_request_that_has_ended_accepts_the_answer() {
        for turn in [
            ["My app freezes.", "Empty its cache.", "It no longer freezes."],
            ["Die App stürzt ab.", "Leeren Sie den Speicher.", "Jetzt stürzt sie nicht mehr ab."],
            ["La aplicación parpadea.", "Vacía la memoria.", "Ya no parpadea"],
            ["O aplicativo trava.", "O cache está cheio, limpe-o.", "Limpei e não trava mais"],
            ["Приложение зависает.", "Очистите кэш.", "больше не зависает"],
        ] {
            assert_eq!(outcome(turn), Outcome::Accepted, "{turn:?}");
        }
    }

    #[test]
    fn what_was_wished_and_has_ended_does_not_accept() {
        for turn in [
            ["Make the animation loop.", "I set it to loop.", "It no longer loops."],
            ["How do I make the sign blink?", "Set the interval.", "It no longer blinks."],
            ["The sign does not blink.", "Set the interval.", "Now it no longer blinks at all."],
            ["Why does our cat purr?", "Cats purr when they are content.", "Ours no longer purrs."],
        ] {
            assert_ne!(outcome(turn), Outcome::Accepted, "{turn:?}");
        }
    }
}
