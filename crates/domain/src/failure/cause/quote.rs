//! Quoted texts in messages.

/// Longest quoted text, bytes. A quotation mark without an end is a mark like others.
const QUOTED_BYTES_MAX: usize = 2_000;

/// A quoted text at the beginning of a text.
#[derive(Debug)]
pub(super) struct Quoted<'a> {
    /// The text between the marks.
    pub inner: &'a str,
    /// Whether a colon follows, as after a key of JSON.
    pub is_key: bool,
    /// The text after the closing mark.
    pub after: &'a str,
}

/// Returns the mark that closes what this one opens.
const fn closing(open: char) -> Option<char> {
    Some(match open {
        '"' | '`' | '\'' => open,
        '\u{201c}' | '\u{201e}' => '\u{201d}',
        '\u{2018}' | '\u{201a}' => '\u{2019}',
        '\u{ab}' => '\u{bb}',
        _ => return None,
    })
}

/// Returns the quoted text with which `text` begins, if it does.
pub(super) fn quoted_at(text: &str) -> Option<Quoted<'_>> {
    let open = text.chars().next()?;
    let close = closing(open)?;
    let start = open.len_utf8();
    let mut chars = text[start..].char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if at > QUOTED_BYTES_MAX {
            return None;
        }
        if c == '\\' {
            chars.next();
            continue;
        }
        // „…“ closes with the mark that opens “…”.
        if c == close || (open == '\u{201e}' && c == '\u{201c}') {
            let after = &text[start + at + c.len_utf8()..];
            // An apostrophe in a word closes nothing.
            if matches!(c, '\'' | '\u{2019}') && after.starts_with(char::is_alphanumeric) {
                continue;
            }
            let is_key = open == '"' && after.trim_start().starts_with(':');
            return Some(Quoted { inner: &text[start..start + at], is_key, after });
        }
    }
    None
}
