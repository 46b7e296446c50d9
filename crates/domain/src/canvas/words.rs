//! Two changes of one text, joined word by word.

use crate::limit::CANVAS_MERGE_BYTES_MAX;

/// Joins what `mine` and `other` changed in `base`. Each change is one range of words, from the first that differs to
/// the last. `None` if the ranges touch, or if a text is too long.
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
    let (base, other, mine) = (words(base), words(other), words(mine));
    let (theirs, ours) = (change(&base, &other), change(&base, &mine));
    // With a word between them, neither changed what the other one saw as the end of its own change.
    let (first, second) = if theirs.1 < ours.0 {
        ((theirs, &other), (ours, &mine))
    } else if ours.1 < theirs.0 {
        ((ours, &mine), (theirs, &other))
    } else {
        return None;
    };
    let new = |((begin, end), text): ((usize, usize), &[&str])| text[begin..text.len() - (base.len() - end)].concat();
    let ((begin, end), _) = first;
    let ((next, last), _) = second;
    let first = new((first.0, first.1.as_slice()));
    let second = new((second.0, second.1.as_slice()));
    Some(
        [&base[..begin].concat(), &first, &base[end..next].concat(), &second, &base[last..].concat()]
            .map(String::as_str)
            .concat(),
    )
}

/// The range of `base` that `text` changed.
fn change(base: &[&str], text: &[&str]) -> (usize, usize) {
    let begin = base.iter().zip(text).take_while(|(one, other)| one == other).count();
    let same_end = base[begin..].iter().rev().zip(text[begin..].iter().rev()).take_while(|(a, b)| a == b).count();
    (begin, base.len() - same_end)
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

    #[test]
    fn changes_of_different_words_are_joined_and_changes_of_the_same_are_not() {
        for (base, other, mine, expected) in [
            ("a b c d", "a B c d", "a b c D", Some("a B c D")),
            ("a b c d", "a b c D", "x a b c d", Some("x a b c D")),
            ("one two three", "two three", "one two three four", Some("two three four")),
            ("one two", "one 2", "one zwei", None),
            ("one two three", "one 2 three", "one drei", None),
            ("text", "text by Ann", "text by Ben", None),
            ("same", "other", "other", Some("other")),
            ("same", "other", "same", Some("other")),
            ("same", "same", "mine", Some("mine")),
            ("a a a a", "a a a", "a a a a a", None),
            ("x\ny\nz", "X\ny\nz", "x\ny\nZ", Some("X\ny\nZ")),
            ("", "one", "two", None),
        ] {
            assert_eq!(joined(base, other, mine).as_deref(), expected, "{base:?} {other:?} {mine:?}");
        }
        let long = "x".repeat(CANVAS_MERGE_BYTES_MAX + 1);
        assert_eq!(joined(&long, &long, &long), None);
    }
}
