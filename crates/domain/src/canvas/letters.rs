//! Where a text can be cut between two letters as people see them: not before a combining mark, and not within an
//! emoji of several characters, a syllable of Hangul in parts, or a conjunct of a script of India.
//!
//! The browser has this module, so it has no tables of Unicode, which would be a tenth of the editor. It knows the
//! characters of which it can say that a cut is right, and cuts at no others.

/// Length in bytes of what two texts have in common at their beginning, up to a place where both can be cut.
pub(super) fn same_start(one: &str, other: &str) -> usize {
    let same = one.chars().zip(other.chars()).take_while(|(one, other)| one == other);
    let mut at = same.map(|(char, _)| char.len_utf8()).sum();
    let is_right = |text: &str, at: usize| is_cut(&text[..at], &text[at..]);
    while !(is_right(one, at) && is_right(other, at)) {
        at -= one[..at].chars().next_back().map_or(at, char::len_utf8);
    }
    at
}

/// Length in bytes of what two texts have in common at their end, from a place where both can be cut.
pub(super) fn same_end(one: &str, other: &str) -> usize {
    let same = one.chars().rev().zip(other.chars().rev()).take_while(|(one, other)| one == other);
    let mut length = same.map(|(char, _)| char.len_utf8()).sum();
    let is_right = |text: &str, length: usize| {
        let (before, end) = text.split_at(text.len() - length);
        is_cut(before, end)
    };
    while !(is_right(one, length) && is_right(other, length)) {
        length -= one[one.len() - length..].chars().next().map_or(length, char::len_utf8);
    }
    length
}

/// Whether a text can be cut between these two parts. An empty part is no letter, so nothing is cut.
pub(super) fn is_cut(before: &str, after: &str) -> bool {
    match (before.chars().next_back(), after.chars().next()) {
        (Some(before), Some(after)) => is_alone(after) && (is_alone(before) || ends(before)),
        _ => true,
    }
}

/// Whether a character is a letter, or another sign, that is combined with no other one unless a mark follows.
fn is_alone(char: char) -> bool {
    match char {
        // What follows a carriage return can be its line feed.
        '\0'..='\u{c}' | '\u{e}'..='\u{2ff}' => true,
        // Greek, Cyrillic, Armenian, Hebrew, Arabic
        '\u{370}'..='\u{482}' | '\u{48a}'..='\u{590}' | '\u{5d0}'..='\u{5ff}' => true,
        '\u{606}'..='\u{60f}' | '\u{61b}'..='\u{64a}' | '\u{660}'..='\u{66f}' | '\u{671}'..='\u{6d5}' => true,
        // The letters and digits of nine scripts of India, which have the same places in their blocks.
        '\u{900}'..='\u{dff}' => matches!(u32::from(char) & 0x7f, 0x05..=0x39 | 0x64..=0x6f),
        // Thai, Lao, Georgian, Ethiopic
        '\u{e01}'..='\u{e30}' | '\u{e32}' | '\u{e3f}'..='\u{e46}' | '\u{e4f}'..='\u{eb0}' => true,
        '\u{10a0}'..='\u{10ff}' | '\u{1200}'..='\u{135a}' => true,
        // Latin and Greek with accents, punctuation, signs
        '\u{1e00}'..='\u{200b}' | '\u{200e}'..='\u{20cf}' | '\u{2100}'..='\u{2cee}' => true,
        // Chinese and Japanese, Hangul
        '\u{2e00}'..='\u{3029}' | '\u{3030}'..='\u{3098}' | '\u{309b}'..='\u{a48c}' | '\u{ac00}'..='\u{d7a3}' => true,
        '\u{f900}'..='\u{fb1d}' | '\u{fb1f}'..='\u{fdff}' | '\u{fe30}'..='\u{ff9d}' => true,
        '\u{1f300}'..='\u{1f3fa}' | '\u{1f400}'..='\u{1faff}' | '\u{20000}'..='\u{3ffff}' => true,
        _ => false,
    }
}

/// Whether a character that does not stand alone belongs to the one before it, and to none behind it.
fn ends(char: char) -> bool {
    match char {
        // Accents, points of Hebrew, vowels of Arabic
        '\u{300}'..='\u{36f}' | '\u{483}'..='\u{489}' | '\u{591}'..='\u{5cf}' => true,
        '\u{610}'..='\u{61a}' | '\u{64b}'..='\u{65f}' | '\u{670}' => true,
        // Nasals and vowels of scripts of India, but not what joins two letters
        '\u{900}'..='\u{dff}' => matches!(u32::from(char) & 0x7f, 0x01..=0x03 | 0x3e..=0x4c),
        // Vowels and tones of Thai, marks of Japanese, forms and colours of emoji
        '\u{e31}'..='\u{e4e}' | '\u{20d0}'..='\u{20f0}' | '\u{3099}' | '\u{309a}' => true,
        '\u{fe00}'..='\u{fe0f}' | '\u{1f3fb}'..='\u{1f3ff}' => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use unicode_segmentation::UnicodeSegmentation as _;

    #[test]
    fn unicode_divides_letters_wherever_they_can_be_cut() {
        let neighbours = ["a", "\n", "©", "ع", "क", "ক", "ก", "漢", "가", "각", "👩"];
        let mut wrong = Vec::new();
        // Of the letters of Chinese and the syllables of Hangul, some.
        for char in ('\0'..='\u{3ffff}').filter(|char| !is_one_of_many(*char) || u32::from(*char).is_multiple_of(29)) {
            let text = char.to_string();
            for neighbour in neighbours {
                for (before, after) in [(text.as_str(), neighbour), (neighbour, text.as_str())] {
                    // A consonant before a mark shows what joins two consonants.
                    let (before, whole) = (format!("क{before}"), format!("क{before}{after}"));
                    let is_wrong = || !whole.grapheme_indices(true).any(|(at, _)| at == before.len());
                    if is_cut(&before, after) && is_wrong() {
                        wrong.push((u32::from(char), neighbour));
                    }
                }
            }
        }
        assert!(wrong.is_empty(), "{:x?}", &wrong[..wrong.len().min(50)]);
    }

    fn is_one_of_many(char: char) -> bool {
        matches!(char, '\u{3400}'..='\u{a48c}' | '\u{ac00}'..='\u{d7a3}' | '\u{20000}'..)
    }

    #[test]
    fn what_two_texts_have_in_common_ends_between_letters() {
        for (one, other, start, end) in [
            ("", "", 0, 0),
            ("same", "same", 4, 4),
            ("word", "world", 3, 1),
            ("cafe", "cafe\u{301}", 3, 0),
            ("e\u{301}x", "o\u{301}x", 0, 1),
            ("한글", "한국", 3, 0),
            ("\u{1112}\u{1161}", "\u{1112}\u{1161}\u{11ab}", 0, 0),
            ("漢字", "漢語字", 3, 3),
            ("👩", "👩\u{200d}💻", 0, 0),
            ("a👍", "a👍\u{1f3fd}", 1, 0),
            ("🇩🇪", "🇩🇰", 0, 0),
            ("שלום", "שלומים", 6, 2),
            ("नमस्ते", "नमस्कार", 6, 0),
            ("नमते", "नमकते", 6, 6),
            ("a\r\n", "a\r", 0, 0),
        ] {
            assert_eq!((same_start(one, other), same_end(one, other)), (start, end), "{one:?} {other:?}");
        }
    }
}
