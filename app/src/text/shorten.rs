//! Shortens text without splitting a character.

/// The first `max` characters on one line, with `…` if something was cut.
pub fn one_line(text: &str, max: usize) -> String {
    let mut out = String::new();
    let mut pending_space = false;
    for (taken, c) in text.trim().chars().enumerate() {
        if taken >= max {
            out.push('…');
            return out;
        }
        if c.is_whitespace() || c.is_control() {
            pending_space = true;
            continue;
        }
        if pending_space && !out.is_empty() {
            out.push(' ');
        }
        pending_space = false;
        out.push(c);
    }
    out
}

/// The longest prefix of at most `max` bytes that ends at a character boundary.
pub fn head(text: &str, max: usize) -> &str {
    if text.len() <= max { text } else { &text[..text.floor_char_boundary(max)] }
}

/// The longest suffix of at most `max` bytes that begins at a character boundary.
pub fn tail(text: &str, max: usize) -> &str {
    if text.len() <= max { text } else { &text[text.ceil_char_boundary(text.len() - max)..] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_stay_whole() {
        assert_eq!(one_line("  a\n\n b\u{7}c ", 80), "a b c");
        assert_eq!(one_line("ééééé", 3), "ééé…");
        assert_eq!(head("aé", 2), "a");
        assert_eq!(head("aé", 3), "aé");
        assert_eq!([1, 2, 3].map(|max| tail("aéé", max)), ["", "é", "é"]);
    }
}
