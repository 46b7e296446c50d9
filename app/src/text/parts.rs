//! Several texts in one line, separated by `|`. A backslash escapes `|` and `\` inside a text.

/// Escapes a text, so that [`split`] returns it as one part.
pub fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('|', "\\|")
}

/// The trimmed parts of a line, at least one. A backslash before any other character is a backslash.
pub fn split(line: &str) -> Vec<String> {
    let (mut parts, mut part, mut chars) = (Vec::new(), String::new(), line.chars().peekable());
    while let Some(c) = chars.next() {
        match c {
            '\\' if matches!(chars.peek(), Some('|' | '\\')) => part.extend(chars.next()),
            '|' => parts.push(std::mem::take(&mut part)),
            c => part.push(c),
        }
    }
    parts.push(part);
    parts.into_iter().map(|part| part.trim().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_escaped_is_one_part() {
        for text in ["a", "a|b", r"a\b", r"a\|b", r"\", "|", ""] {
            assert_eq!(split(&escaped(text)), [text]);
        }
        assert_eq!(split(r"a | b\|c|d\e\"), ["a", "b|c", r"d\e\"]);
    }
}
