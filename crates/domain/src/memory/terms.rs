//! The words of a text as search compares them.

use crate::limit::MEMORY_TERM_CHARS_MAX;
use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};
use unicode_segmentation::UnicodeSegmentation;

/// Returns the words of a text: in lower case, without accents, letters and digits only. Characters of scripts
/// without spaces are words of their own.
pub fn terms(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for_each_term(text, |term| found.push(term.to_owned()));
    found
}

/// Calls `with` for each word of [`terms`], in the order of the text. A search counts the words of whole documents:
/// with a string for each of them, this took twice as long.
pub(super) fn for_each_term(text: &str, with: impl FnMut(&str)) {
    if text.is_ascii() { for_each_ascii_term(text, with) } else { for_each_unicode_term(text, with) }
}

/// [`for_each_unicode_term`] for a text of ASCII characters, several times faster.
fn for_each_ascii_term(text: &str, mut with: impl FnMut(&str)) {
    let mut term = String::new();
    for word in text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()) {
        term.clear();
        term.push_str(&word[..word.len().min(MEMORY_TERM_CHARS_MAX)]);
        term.make_ascii_lowercase();
        with(&term);
    }
}

fn for_each_unicode_term(text: &str, mut with: impl FnMut(&str)) {
    let plain: String = text.nfkd().filter(|c| !is_combining_mark(*c)).flat_map(char::to_lowercase).collect();
    for word in plain.unicode_words() {
        // `user_id`, `v1.2` and `don't` are one word to Unicode; people look for their parts too.
        for part in word.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty()) {
            let end = part.char_indices().nth(MEMORY_TERM_CHARS_MAX).map_or(part.len(), |(at, _)| at);
            with(&part[..end]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_compared_without_case_accents_and_punctuation() {
        assert_eq!(
            terms("Don’t ask Inés: user_id=42, v1.2!"),
            ["don", "t", "ask", "ines", "user", "id", "42", "v1", "2"]
        );
        assert_eq!(terms("東京 ｆｕｌｌ"), ["東", "京", "full"]);
        assert!(terms("— … \"' OR *").iter().eq(["or"]));
    }

    proptest::proptest! {
        #[test]
        fn ascii_texts_have_the_same_words_either_way(text in "[ -~\n\t\r]{0,200}") {
            let (mut ascii, mut unicode) = (Vec::new(), Vec::new());
            for_each_ascii_term(&text, |term| ascii.push(term.to_owned()));
            for_each_unicode_term(&text, |term| unicode.push(term.to_owned()));
            proptest::prop_assert_eq!(ascii, unicode);
        }
    }
}
