//! Two changes of one text, joined word by word, and letter by letter where no word is between them.

use super::letters::{is_cut, same_end, same_start};
use crate::limit::CANVAS_MERGE_BYTES_MAX;

/// Joins what `mine` and `other` changed in `base`. Each change is one range of words, from the first that differs to
/// the last. If no word is between the two ranges, they are joined by letters ([`by_letters`]). `None` if that would
/// make something that neither wrote, or if a text is too long.
///
/// One range for each side costs time in proportion to the texts, and this runs under the lock of the session: a full
/// comparison would cost the product of their lengths. A person or an agent writes at one place at a time.
pub(super) fn joined(base: &str, other: &str, mine: &str) -> Option<String> {
    if [base, other, mine].iter().any(|text| text.len() > CANVAS_MERGE_BYTES_MAX) {
        return None;
    }
    if other == mine || mine == base {
        return Some(other.to_owned());
    }
    if other == base {
        return Some(mine.to_owned());
    }
    let (theirs, ours) = (Change::of_words(base, other), Change::of_words(base, mine));
    // With a word between them, neither changed what the other one saw as the end of its own change.
    if theirs.end < ours.begin {
        Some(parts(base, &theirs, &ours).concat())
    } else if ours.end < theirs.begin {
        Some(parts(base, &ours, &theirs).concat())
    } else {
        by_letters(base, &theirs.trimmed(base), &ours.trimmed(base))
    }
}

/// What one side wrote in place of a part of the base.
struct Change<'a> {
    /// Where the part begins, in bytes.
    begin: usize,
    /// Where it ends, in bytes.
    end: usize,
    /// What is in its place.
    new: &'a str,
}

impl<'a> Change<'a> {
    /// The words of `base` that `text` changed, from the first to the last.
    fn of_words(base: &str, text: &'a str) -> Self {
        let (old, new) = (words(base), words(text));
        let same = old.iter().zip(&new).take_while(|(one, other)| one == other).count();
        let begin = length(old[..same].iter());
        let ends = old[same..].iter().rev().zip(new[same..].iter().rev());
        let same_end = length(ends.take_while(|(one, other)| one == other).map(|(one, _)| one));
        Self { begin, end: base.len() - same_end, new: &text[begin..text.len() - same_end] }
    }

    /// The same change without the letters that it left as they were at its beginning and at its end.
    fn trimmed(self, base: &str) -> Self {
        let old = &base[self.begin..self.end];
        let start = same_start(old, self.new);
        let end = same_end(&old[start..], &self.new[start..]);
        Self { begin: self.begin + start, end: self.end - end, new: &self.new[start..self.new.len() - end] }
    }

    /// Whether it takes something out of the base.
    const fn removes(&self) -> bool {
        self.begin < self.end
    }

    /// What it writes, or what it removes if it writes nothing.
    fn text(&self, base: &'a str) -> &'a str {
        if self.new.is_empty() { &base[self.begin..self.end] } else { self.new }
    }
}

/// Joins two changes of neighbouring words by letters. `None` if
///
/// - both remove something: letters that two new words have in common by chance would be mixed into one;
/// - one writes in the middle of what the other one removes, or at its edge without a space;
/// - both write into one number: the number that results is one that neither meant;
/// - one text continues the other, as after an old page was sent again, or the base is empty: the two are whole values;
/// - a letter would be combined with one of the other side.
fn by_letters(base: &str, theirs: &Change<'_>, ours: &Change<'_>) -> Option<String> {
    if base.is_empty() || theirs.removes() && ours.removes() {
        return None;
    }
    // At one place the own text comes first: who types on does so at its end, which then is not behind another text.
    let (first, second) = if ours.end <= theirs.begin {
        (ours, theirs)
    } else if theirs.end <= ours.begin {
        (theirs, ours)
    } else {
        return None;
    };
    let between = &base[first.end..second.begin];
    let last = first.text(base).chars().next_back()?;
    let next = second.text(base).chars().next()?;
    if between.is_empty() {
        let is_removed = first.new.is_empty() || second.new.is_empty();
        let is_longer = first.new.starts_with(second.new) || second.new.starts_with(first.new);
        if is_removed && !last.is_whitespace() && !next.is_whitespace() || !is_removed && is_longer {
            return None;
        }
    }
    if is_in_number(last) && is_in_number(next) && between.chars().all(is_in_number) {
        return None;
    }
    let (parts, mut before) = (parts(base, first, second), "");
    for part in parts.into_iter().filter(|part| !part.is_empty()) {
        if !is_cut(before, part) {
            return None;
        }
        before = part;
    }
    Some(parts.concat())
}

/// Whether a character is a digit, of the scripts that have some of their own too, or is written between digits.
fn is_in_number(char: char) -> bool {
    match char {
        '0'..='9' | '.' | ',' | ':' | '٠'..='٩' | '۰'..='۹' | '０'..='９' => true,
        '\u{900}'..='\u{dff}' => matches!(u32::from(char) & 0x7f, 0x66..=0x6f),
        _ => false,
    }
}

/// The text with both changes, of which the first ends before the second begins.
fn parts<'a>(base: &'a str, first: &Change<'a>, second: &Change<'a>) -> [&'a str; 5] {
    [&base[..first.begin], first.new, &base[first.end..second.begin], second.new, &base[second.end..]]
}

/// Length of pieces in bytes.
fn length<'a>(pieces: impl Iterator<Item = &'a &'a str>) -> usize {
    pieces.map(|piece| piece.len()).sum()
}

/// Splits a text into words and what is between them: each space and line break is a piece of its own.
fn words(text: &str) -> Vec<&str> {
    text.split_inclusive(char::is_whitespace)
        .flat_map(|word| {
            let end = word.trim_end_matches(char::is_whitespace).len();
            let (word, space) = word.split_at(end);
            [word, space].into_iter().filter(|piece| !piece.is_empty())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(table: &[(&str, &str, &str, Option<&str>)]) {
        for (base, other, mine, expected) in table {
            assert_eq!(joined(base, other, mine).as_deref(), *expected, "{base:?} {other:?} {mine:?}");
        }
    }

    #[test]
    fn changes_of_different_words_are_joined_and_two_new_words_for_one_are_not() {
        check(&[
            ("a b c d", "a B c d", "a b c D", Some("a B c D")),
            ("a b c d", "a b c D", "x a b c d", Some("x a b c D")),
            ("one two three", "two three", "one two three four", Some("two three four")),
            ("one two", "one 2", "one zwei", None),
            ("one two three", "one 2 three", "one drei", None),
            ("same", "other", "other", Some("other")),
            ("same", "other", "same", Some("other")),
            ("same", "same", "mine", Some("mine")),
            ("x\ny\nz", "X\ny\nz", "x\ny\nZ", Some("X\ny\nZ")),
            ("", "one", "two", None),
            ("two", "three", "zwo", None),
        ]);
        let long = "x".repeat(CANVAS_MERGE_BYTES_MAX + 1);
        assert_eq!(joined(&long, &long, &long), None);
    }

    #[test]
    fn what_both_typed_into_one_word_is_joined_by_letters() {
        check(&[
            ("word", "woRrd", "worDd", Some("woRrDd")),
            ("word", "worDd", "woRrd", Some("woRrDd")),
            ("color", "colour", "colors", Some("colours")),
            // At one place the own text is the first one.
            ("text", "text by Ann", "text by Ben", Some("text by Ben by Ann")),
            ("wd", "wod", "wrd", Some("wrod")),
            ("a a a a", "a a a", "a a a a a", Some("a a a a")),
            ("one two", "one two and a", "one twofold", Some("one twofold and a")),
            // One replaced something, the other one only typed beside it.
            ("two", "2", "two-room", Some("2-room")),
            ("open", "closed", "open, see Ben", Some("closed, see Ben")),
            ("a b.", "x y.", "a b. c", Some("x y. c")),
        ]);
    }

    #[test]
    fn letters_are_not_joined_to_what_neither_wrote() {
        check(&[
            // Typed within what the other one removes, or at its edge.
            ("a bcd e", "a e", "a bxcd e", None),
            ("a bcd e", "a e", "a bcdx e", None),
            ("a bcd e", "a bcdx e", "a e", None),
            ("One. Two.", "One.", "One. Two. New", Some("One. New")),
            ("One. Two.", "One. Two. New", "One.", Some("One. New")),
            ("One. Two.", "Two.", "One. New Two.", Some("New Two.")),
            // Numbers
            ("10", "100", "105", None),
            ("10", "210", "105", None),
            ("10", "12", "105", None),
            ("1.5", "11.5", "1.55", None),
            ("10", "10.5", "105", None),
            ("10", "10 days", "105", Some("105 days")),
            ("١٠", "٢١٠", "١٠٥", None),
            ("१०", "१००", "१०५", None),
            // A page that was sent, and sent again with more.
            ("a", "ab", "abc", None),
            ("a", "a first line", "a first", None),
        ]);
    }

    #[test]
    fn letters_of_every_script_stay_whole() {
        check(&[
            ("naive", "naïve", "naively", Some("naïvely")),
            ("cafe", "cafe\u{301}", "cafes", Some("cafe\u{301}s")),
            ("cafe", "cafes", "cafe\u{301}", Some("cafe\u{301}s")),
            ("cafe\u{301}", "cafe\u{302}", "cafe\u{301}s", Some("cafe\u{302}s")),
            ("b", "\u{301}b", "xb", None),
            ("한글", "한국글", "한글날", Some("한국글날")),
            ("가", "각", "가나", Some("각나")),
            ("\u{1112}", "\u{1112}\u{1161}", "\u{1112}\u{1161}\u{11ab}", None),
            ("漢字", "漢語字", "漢字典", Some("漢語字典")),
            ("かき", "かぎ", "あかき", Some("あかぎ")),
            ("👩", "👩\u{200d}💻", "👩!", Some("👩\u{200d}💻!")),
            ("👩\u{200d}💻x", "👩\u{200d}🔬x", "👩\u{200d}💻xy", Some("👩\u{200d}🔬xy")),
            ("👩\u{200d}👧", "👩\u{200d}👦", "👩\u{200d}👧\u{200d}👦", None),
            ("👍", "👍\u{1f3fd}", "ok👍", Some("ok👍\u{1f3fd}")),
            ("🇩🇪", "🇩🇪🇫🇷", "x🇩🇪", None),
            ("שלום", "שלומים", "השלום", Some("השלומים")),
            ("שלום", "שלום!", "השלום", Some("השלום!")),
            ("سلام", "سلام!", "والسلام", Some("والسلام!")),
            ("नमस्ते", "नमस्ते!", "ओनमस्ते", Some("ओनमस्ते!")),
            ("ไทย", "ไทยๆ", "คนไทย", Some("คนไทยๆ")),
        ]);
    }

    proptest! {
        #[test]
        fn a_joined_text_has_what_both_typed_and_nothing_that_one_removed(
            ours in (0..12_usize, 0..4_usize, "[A-D]{0,3}"), theirs in (0..12_usize, 0..4_usize, "[w-z]{0,3}")
        ) {
            let base = "ab cde f ghi";
            let changed = |(at, length, typed): &(usize, usize, String)| {
                let end = (at + length).min(base.len());
                format!("{}{typed}{}", &base[..*at], &base[end..])
            };
            let (mine, other) = (changed(&ours), changed(&theirs));
            if let Some(text) = joined(base, &other, &mine) {
                prop_assert!(text.contains(&ours.2) && text.contains(&theirs.2), "{}", text);
                for letter in base.chars().filter(|char| char.is_alphabetic()) {
                    let stays = mine.contains(letter) && other.contains(letter);
                    prop_assert_eq!(text.contains(letter), stays, "{} {}", letter, text);
                }
            }
        }
    }
}
