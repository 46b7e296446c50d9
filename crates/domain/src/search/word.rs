//! The words of a text with their places in it, as search compares them.

use crate::{
    limit::{SEARCH_EVENT_WORDS_MAX, SEARCH_WORD_PLACES_MAX},
    memory::terms,
};
use std::{
    collections::{HashMap, HashSet},
    ops::Range,
};
use unicode_segmentation::UnicodeSegmentation;

/// What the index has of an event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventWords {
    /// Its words in their order, as [`crate::memory::terms`] returns them. `None` in the place of a word that comes
    /// more often than [`SEARCH_WORD_PLACES_MAX`].
    pub words: Vec<Option<String>>,
    /// Parts of words that are written `likeThis`, each once.
    pub parts: Vec<String>,
}

impl EventWords {
    /// The words of a text, at most [`SEARCH_EVENT_WORDS_MAX`] of each.
    pub fn of(text: &str) -> Self {
        let (mut of_text, mut places) = (Self::default(), HashMap::<String, u8>::new());
        let mut known = HashSet::new();
        for_each_word(text, |word| {
            if of_text.words.len() >= SEARCH_EVENT_WORDS_MAX {
                return;
            }
            let before = places.entry(word.term.to_owned()).or_default();
            of_text.words.push((*before < SEARCH_WORD_PLACES_MAX).then(|| word.term.to_owned()));
            *before = before.saturating_add(1);
            let parts = word.parts().into_iter().filter(|part| known.insert(part.clone()));
            of_text.parts.extend(parts);
        });
        of_text
    }

    /// Whether there is nothing to find.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }
}

/// A word of a text.
pub(super) struct Word<'w> {
    /// As it is compared.
    pub(super) term: &'w str,
    /// As it is written. Several words can be written in one place: of scripts without spaces.
    written: &'w str,
    /// Where it is written, bytes.
    pub(super) place: Range<usize>,
}

impl Word<'_> {
    /// The parts of a word that is written `likeThis`; empty for any other.
    pub(super) fn parts(&self) -> Vec<String> {
        camel_parts(self.written)
    }
}

/// Calls `with` for each word of a text, in its order. These are the words of [`terms`].
pub(super) fn for_each_word(text: &str, mut with: impl FnMut(Word<'_>)) {
    if text.is_ascii() {
        return for_each_ascii_word(text, 0, &mut with);
    }
    for (at, written) in text.unicode_word_indices() {
        if written.is_ascii() {
            for_each_ascii_word(written, at, &mut with);
            continue;
        }
        for term in terms(written) {
            with(Word { term: &term, written, place: at..at + written.len() });
        }
    }
}

fn for_each_ascii_word(text: &str, from: usize, with: &mut impl FnMut(Word<'_>)) {
    let mut at = 0;
    for written in text.split(|c: char| !c.is_ascii_alphanumeric()) {
        let place = from + at..from + at + written.len();
        at += written.len() + 1;
        if let [term] = &terms(written)[..] {
            with(Word { term, written, place });
        }
    }
}

/// The parts of `likeThis`, `HTTPServer` and `parseJSON` in lower case. Empty for a word of one part, and for one with
/// a part of one letter: those are rarely words.
fn camel_parts(written: &str) -> Vec<String> {
    let letters = written.as_bytes();
    if !written.is_ascii() || !letters.iter().skip(1).any(u8::is_ascii_uppercase) {
        return Vec::new();
    }
    let (mut parts, mut from) = (Vec::new(), 0);
    for at in 1..letters.len() {
        if is_break(letters[at - 1], letters[at], letters.get(at + 1)) {
            parts.push(written[from..at].to_ascii_lowercase());
            from = at;
        }
    }
    parts.push(written[from..].to_ascii_lowercase());
    if parts.len() == 1 || parts.iter().any(|part| part.len() < 2) {
        Vec::new()
    } else {
        parts.iter().flat_map(|part| terms(part)).collect()
    }
}

/// Whether a part begins with `this`: `a|B`, and the last of several capitals before a small letter, `AB|Cd`.
fn is_break(before: u8, this: u8, after: Option<&u8>) -> bool {
    this.is_ascii_uppercase()
        && (before.is_ascii_lowercase()
            || before.is_ascii_digit() && after.is_some_and(u8::is_ascii_lowercase)
            || before.is_ascii_uppercase() && after.is_some_and(u8::is_ascii_lowercase))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        EventWords::of(text).words.into_iter().flatten().collect()
    }

    #[test]
    fn code_is_words_by_part() {
        assert_eq!(words("error[E0277] in /src/main_loop.rs"), ["error", "e0277", "in", "src", "main", "loop", "rs"]);
        assert_eq!(words("connect ECONNRESET 10.0.0.1:443"), ["connect", "econnreset", "10", "0", "0", "1", "443"]);
        for (written, parts) in [
            ("refundBot", &["refund", "bot"][..]),
            ("HTTPServer", &["http", "server"]),
            ("parseJSON", &["parse", "json"]),
            ("utf8Text", &["utf8", "text"]),
            ("refund", &[]),
            ("ECONNRESET", &[]),
            ("iPhone", &[]),
            ("E0277", &[]),
        ] {
            assert_eq!(EventWords::of(written).parts, parts, "{written}");
        }
    }

    #[test]
    fn characters_of_scripts_without_spaces_are_words() {
        assert_eq!(words("東京タワー"), ["東", "京", "タワー"]);
        assert_eq!(words("Größe: 5 Äpfel"), ["große", "5", "apfel"]);
    }

    #[test]
    fn a_word_has_places_up_to_its_limit() {
        let text = "tea ".repeat(300) + "milk";
        let of_text = EventWords::of(&text);
        assert_eq!(of_text.words.iter().filter(|word| word.is_some()).count(), 256);
        assert_eq!((of_text.words.len(), of_text.words[255].as_deref()), (301, None));
        let many = (0..9_000).map(|number| format!("w{number} ")).collect::<String>();
        assert_eq!(EventWords::of(&many).words.len(), SEARCH_EVENT_WORDS_MAX);
    }

    proptest::proptest! {
        #[test]
        fn each_word_is_one_of_its_place(text in "\\PC{0,80}") {
            let mut found = Vec::new();
            for_each_word(&text, |word| {
                assert!(terms(&text[word.place.clone()]).contains(&word.term.to_owned()), "{text:?}");
                found.push(word.term.to_owned());
            });
            let of_text: Vec<String> = EventWords::of(&text).words.into_iter().flatten().collect();
            proptest::prop_assert_eq!(of_text, found);
        }

        #[test]
        fn words_of_ascii_texts_are_those_of_memory(text in "[ -~\n]{0,200}") {
            proptest::prop_assert_eq!(words(&text), terms(&text));
        }
    }
}
