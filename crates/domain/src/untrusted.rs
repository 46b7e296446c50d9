//! Untrusted text in prompts: cleaning, truncating and escaping it, and the delimiter of the block around it.

use crate::Entropy;

/// Last character of a truncated text.
pub(crate) const CUT: char = '…';

/// The random suffix of a block's tags. It is generated for one block and never reused, so that no text can
/// contain it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delimiter(String);

impl Delimiter {
    /// Generates a delimiter of 128 random bits.
    pub fn new(entropy: &dyn Entropy) -> Self {
        let mut bytes = [0_u8; 16];
        entropy.fill(&mut bytes);
        Self(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// The delimiter as 32 hexadecimal digits.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// Returns the text cleaned and truncated, so that it has at most `chars` characters after escaping.
pub(crate) fn fit(text: &str, chars: usize) -> String {
    let clean = clean(text);
    let mut used = 0;
    let mut cut_at = 0;
    for (index, c) in clean.char_indices() {
        used += escaped(c).map_or(1, str::len);
        if used > chars {
            let mut short = clean[..cut_at].trim_end().to_owned();
            short.push(CUT);
            return short;
        }
        // The text up to this character leaves space for the ellipsis.
        if used < chars {
            cut_at = index + c.len_utf8();
        }
    }
    clean
}

/// Returns the text on one line: any white space becomes one space, and invisible characters are removed.
pub(crate) fn clean(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_whitespace() {
            if !clean.is_empty() && !clean.ends_with(' ') {
                clean.push(' ');
            }
        } else if !c.is_control() && !is_invisible(c) {
            clean.push(c);
        }
    }
    clean.truncate(clean.trim_end().len());
    clean
}

/// Whether a character changes how others are displayed or hides text from people: direction marks, joiners,
/// tags, variation selectors, interlinear and musical controls, fillers. One variation selector is allowed,
/// because emoji need it.
pub(crate) const fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{890}'..='\u{891}' | '\u{8e2}'
        | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0e}' | '\u{feff}'
        | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{110bd}' | '\u{110cd}' | '\u{13430}'..='\u{1343f}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Returns the escape for a character of the frame; `None` for other characters.
const fn escaped(c: char) -> Option<&'static str> {
    Some(match c {
        '&' => "&amp;",
        '<' => "&lt;",
        '>' => "&gt;",
        '"' => "&quot;",
        '*' => "&#42;",
        '`' => "&#96;",
        _ => return None,
    })
}

pub(crate) fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match escaped(c) {
            Some(entity) => safe.push_str(entity),
            None => safe.push(c),
        }
    }
    safe
}
