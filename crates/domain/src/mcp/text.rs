//! Texts of servers as people and models may see them.

use crate::{line::changes_direction, terminal::without_sequences};

/// A text on one line, of at most `max` characters, without control sequences of terminals, control characters and
/// characters that change the direction of text. `None` if nothing is left.
pub(super) fn line(text: &str, max: usize) -> Option<String> {
    let plain = without_sequences(text);
    let shown = plain.chars().filter(|c| !changes_direction(*c)).map(|c| if c.is_control() { ' ' } else { c });
    let line: String = shown.take(max).collect();
    let line = line.trim();
    (!line.is_empty()).then(|| line.to_owned())
}

/// The same for a text of several lines.
pub(super) fn lines(text: &str, max: usize) -> String {
    let plain = without_sequences(text);
    let shown = plain.chars().filter(|c| !changes_direction(*c) && (!c.is_control() || *c == '\n' || *c == '\t'));
    shown.take(max).collect::<String>().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_servers_lose_what_changes_how_others_are_shown() {
        assert_eq!(line("\u{1b}[31mRead\u{1b}[0m\na file\u{202e}", 20).as_deref(), Some("Read a file"));
        assert_eq!(line("<b>Read</b>", 20).as_deref(), Some("<b>Read</b>"));
        assert_eq!(line("\u{202e}\n \u{7}", 20), None);
        assert_eq!(line("abcdef", 3).as_deref(), Some("abc"));
        assert_eq!(lines(" \u{1b}]0;title\u{7}One\n\ttwo\u{0}\u{200f} ", 20), "One\n\ttwo");
    }
}
