//! Positions in texts, in UTF-16 code units.

/// Length of a text in UTF-16 code units.
pub fn units(text: &str) -> usize {
    text.encode_utf16().count()
}

/// The text before a selection, and the text behind it. A position within a character counts as one before it.
pub fn around(text: &str, (start, end): (usize, usize)) -> (&str, &str) {
    let byte = |at: usize| {
        let mut passed = 0;
        text.char_indices()
            .find(|(_, char)| {
                passed += char.len_utf16();
                passed > at
            })
            .map_or(text.len(), |(byte, _)| byte)
    };
    let start = byte(start);
    (&text[..start], &text[byte(end).max(start)..])
}

/// Where a position of `old` is in `new`. A position before the changed part stays; one behind it keeps its distance
/// from the end; one in it goes to the end of what replaced the part.
pub fn position_after(old: &str, new: &str, at: usize) -> usize {
    let (old, new): (Vec<u16>, Vec<u16>) = (old.encode_utf16().collect(), new.encode_utf16().collect());
    let begin = old.iter().zip(&new).take_while(|(one, other)| one == other).count();
    let end = old[begin..].iter().rev().zip(new[begin..].iter().rev()).take_while(|(one, other)| one == other).count();
    if at <= begin {
        at
    } else if at >= old.len() - end {
        new.len() - (old.len() - at.min(old.len()))
    } else {
        new.len() - end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_stays_at_its_words_when_others_change_the_text() {
        for (old, new, at, expected) in [
            ("one two", "one big two", 2, 2),
            ("one two", "one big two", 7, 11),
            ("one two", "zero one two", 5, 10),
            ("one two three", "one three", 6, 5),
            ("one two three", "one three", 13, 9),
            ("ä🙂 b", "x ä🙂 b", 4, 6),
            ("same", "same", 3, 3),
            ("", "text", 0, 0),
            ("text", "", 4, 0),
            ("aaa", "aaaa", 3, 3),
            ("abc", "abc", 99, 3),
        ] {
            assert_eq!(position_after(old, new, at), expected, "{old:?} {new:?} {at}");
        }
        assert_eq!(units("ä🙂"), 3);
    }

    #[test]
    fn a_selection_divides_a_text_at_characters() {
        let text = "ä🙂b";
        for (selection, expected) in [
            ((0, 0), ("", text)),
            ((1, 1), ("ä", "🙂b")),
            ((1, 3), ("ä", "b")),
            ((2, 2), ("ä", "🙂b")),
            ((4, 4), (text, "")),
            ((99, 99), (text, "")),
        ] {
            assert_eq!(around(text, selection), expected, "{selection:?}");
        }
    }
}
