//! Control sequences of terminals, such as colours, in texts that are shown without them.

use std::borrow::Cow;

const ESCAPE: char = '\u{1b}';
/// What begins a control sequence, as one character.
const INTRODUCER: char = '\u{9b}';

/// The text without control sequences. Programs that took the escape character out of a text left the rest of its
/// colours, such as `[31m` and `[0m`: these are left out too, unless a closing bracket makes them words of the text.
pub fn without_sequences(text: &str) -> Cow<'_, str> {
    if !text.contains([ESCAPE, INTRODUCER, '[']) {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find([ESCAPE, INTRODUCER, '[']) {
        plain.push_str(&rest[..at]);
        rest = &rest[at..];
        rest = if let Some(after) = rest.strip_prefix(ESCAPE) {
            after_escape(after)
        } else if let Some(after) = rest.strip_prefix(INTRODUCER) {
            after_control(after)
        } else if let Some(after) = after_style(rest) {
            after
        } else {
            plain.push('[');
            &rest[1..]
        };
    }
    plain.push_str(rest);
    Cow::Owned(plain)
}

/// What follows a sequence whose escape character has been read.
fn after_escape(text: &str) -> &str {
    if let Some(after) = text.strip_prefix('[') {
        return after_control(after);
    }
    if text.starts_with([']', 'P', 'X', '^', '_']) {
        return after_string(text);
    }
    let rest = text.trim_start_matches(|c: char| (' '..='/').contains(&c));
    rest.strip_prefix(|c: char| ('0'..='~').contains(&c)).unwrap_or(rest)
}

/// What follows the parameters and the last character of a control sequence. One that is broken off has no last
/// character.
fn after_control(text: &str) -> &str {
    let rest = text.trim_start_matches(|c: char| (' '..='?').contains(&c));
    rest.strip_prefix(|c: char| ('@'..='~').contains(&c)).unwrap_or(rest)
}

/// What follows a sequence with a text, such as the title of a window. It ends with its line at the latest: one that is
/// never closed would hide everything after it.
fn after_string(text: &str) -> &str {
    let Some(end) = text.find(['\u{7}', '\u{9c}', ESCAPE, '\n']) else { return "" };
    let rest = &text[end..];
    rest.strip_prefix("\u{1b}\\").or_else(|| rest.strip_prefix(['\u{7}', '\u{9c}'])).unwrap_or(rest)
}

/// What follows colours and weights without their escape character, such as `[1;31m`, if the text begins with them.
fn after_style(text: &str) -> Option<&str> {
    let body = text.strip_prefix('[')?;
    let end = body.find(|c: char| !c.is_ascii_digit() && c != ';')?;
    let (codes, after) = (&body[..end], body[end..].strip_prefix('m')?);
    let is_closed = after.find(['[', ']']).is_some_and(|at| after[at..].starts_with(']'));
    let is_style = codes.split(';').all(|code| code.parse::<u8>().is_ok());
    (is_style && !is_closed).then_some(after)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_are_left_out_and_words_stay() {
        for (text, plain) in [
            ("\u{1b}[31merror\u{1b}[0m: moved", "error: moved"),
            ("\u{9b}1;32mok\u{9b}m", "ok"),
            ("\u{1b}]0;title\u{7}a\u{1b}(B b", "a b"),
            ("\u{1b}]8;;https://evil.test\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link"),
            ("\u{1b}]0;never closed\nb", "\nb"),
            ("a\u{1b}", "a"),
            ("a\u{1b}[31", "a"),
            ("\u{1b}[31é", "é"),
            ("[31merror[0m: moved", "error: moved"),
            ("[1;38;5;196mred", "red"),
            ("rate(x[5m]) over [30m]", "rate(x[5m]) over [30m]"),
            ("the [45m meeting] and a[3]", "the [45m meeting] and a[3]"),
            ("[mine] [;m [999m [+1m", "[mine] [;m [999m [+1m"),
            ("a [b] ] [", "a [b] ] ["),
            ("plain", "plain"),
        ] {
            assert_eq!(without_sequences(text), plain, "{text:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_to_its_end(text in "(\\PC|[\u{1b}\u{9b}\\[\\]\n0-9;m]){0,80}") {
            proptest::prop_assert!(!without_sequences(&text).contains([ESCAPE, INTRODUCER]));
        }
    }
}
