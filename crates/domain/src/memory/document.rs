//! The text of a memory document: front matter between two lines `---`, then a Markdown body.

use crate::{chain::Digest, limit::MEMORY_DOCUMENT_BYTES_MAX, line::overrides_direction};
use sha2::{Digest as _, Sha256};

const FENCE: &str = "---\n";
/// Line of the front matter that says how important a document is, from 0 to 1.
const IMPORTANCE: &str = "importance:";
/// Line of the front matter that says whether others than the person of the document may be given it.
const SHARED: &str = "shared:";

/// A document, split where it is stored in two parts. Joined again it has the same bytes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Document {
    /// The lines between the fences, each with its end; `None` if the document has no front matter.
    pub front_matter: Option<String>,
    /// Everything after the front matter.
    pub body: String,
}

/// Why a text cannot be a document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadDocument {
    /// The text is too long.
    #[error("a document has at most {MEMORY_DOCUMENT_BYTES_MAX} bytes; this one has {0}")]
    TooLong(usize),
    /// The text contains a character that people cannot see and that can hide or reorder text.
    #[error("line {line} has the invisible character U+{code:04X}")]
    Invisible {
        /// Number of the line, from 1.
        line: usize,
        /// Unicode code point of the character.
        code: u32,
    },
}

impl Document {
    /// Splits a text. Only a first line that is exactly `---`, with a later line that is exactly `---`, begins front
    /// matter. Any other text is a body.
    pub fn parse(text: &str) -> Self {
        let split = text.strip_prefix(FENCE).and_then(|rest| {
            let end = if rest.starts_with(FENCE) { Some(0) } else { rest.find("\n---\n").map(|at| at + 1) }?;
            Some(Self { front_matter: Some(rest[..end].to_owned()), body: rest[end + FENCE.len()..].to_owned() })
        });
        split.unwrap_or_else(|| Self { front_matter: None, body: text.to_owned() })
    }

    /// The importance that the front matter names, from 0 to 1. `None` without one, or if it is no such number.
    pub fn importance(&self) -> Option<f64> {
        let named = self.front_matter.as_ref()?.lines().find_map(|line| line.strip_prefix(IMPORTANCE))?;
        named.trim().parse().ok().filter(|importance| (0.0..=1.0).contains(importance))
    }

    /// Whether the front matter says that everyone's conversations may be given the document, although it is about one
    /// person.
    pub fn is_shared(&self) -> bool {
        let named =
            self.front_matter.as_ref().and_then(|front| front.lines().find_map(|line| line.strip_prefix(SHARED)));
        named.is_some_and(|named| named.trim() == "true")
    }

    /// The whole text.
    pub fn to_text(&self) -> String {
        match &self.front_matter {
            Some(front) => [FENCE, front, FENCE, &self.body].concat(),
            None => self.body.clone(),
        }
    }
}

/// Returns the SHA-256 of a document's whole text.
pub fn digest(text: &str) -> Digest {
    Digest(Sha256::digest(text.as_bytes()).into())
}

/// Checks length and characters of a document's whole text. Refused are control characters except tab and line ends,
/// characters that override the direction of text, and tag characters, which models read and people do not see.
///
/// # Errors
/// [`BadDocument`]
pub fn check_text(text: &str) -> Result<(), BadDocument> {
    if text.len() > MEMORY_DOCUMENT_BYTES_MAX {
        return Err(BadDocument::TooLong(text.len()));
    }
    for (at, line) in text.split('\n').enumerate() {
        if let Some(c) = line.chars().find(|c| is_invisible(*c)) {
            return Err(BadDocument::Invisible { line: at + 1, code: u32::from(c) });
        }
    }
    Ok(())
}

fn is_invisible(c: char) -> bool {
    let is_control = c.is_control() && !matches!(c, '\t' | '\r');
    is_control || overrides_direction(c) || matches!(c, '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn front_matter_is_between_two_lines_of_dashes() {
        let split = |text: &str| {
            let document = Document::parse(text);
            (document.front_matter, document.body)
        };
        assert_eq!(split("---\ntags: a\n---\n# A\n"), (Some("tags: a\n".into()), "# A\n".into()));
        assert_eq!(split("---\n---\n"), (Some(String::new()), String::new()));
        for plain in ["", "---", "---\n", "--- \na\n---\n", "---\na\n----\n", "---\na: b\n---", "\n---\na\n---\n"] {
            assert_eq!(split(plain), (None, plain.to_owned()), "{plain:?}");
        }
    }

    #[test]
    fn only_the_front_matter_shares_a_document() {
        let of = |text: &str| Document::parse(text).is_shared();
        assert!(of("---\nshared: true\n---\n# A\n"));
        for text in
            ["---\nshared: false\n---\n", "---\nshared: truely\n---\n", "shared: true\n", "---\n---\nshared: true\n"]
        {
            assert!(!of(text), "{text}");
        }
    }

    #[test]
    fn importance_is_a_number_from_0_to_1_in_the_front_matter() {
        let of = |line: &str| Document::parse(&format!("---\ntags: a\n{line}\n---\nimportance: 0.2\n")).importance();
        assert_eq!(
            [of("importance: 0.75"), of("importance:1"), of("importance: 0 ")],
            [Some(0.75), Some(1.0), Some(0.0)]
        );
        for bad in ["", "importance:", "importance: high", "importance: 2", "importance: NaN", " importance: 1", "x: 1"]
        {
            assert_eq!(of(bad), None, "{bad}");
        }
        assert_eq!(Document::parse("importance: 0.2\n").importance(), None);
    }

    #[test]
    fn characters_that_nobody_sees_are_refused_with_their_line() {
        assert_eq!(check_text("a\tb\r\n\u{200d}é 👩‍👩‍👧 עברית\n"), Ok(()));
        for (bad, line) in [("a\0", 1), ("a\n\u{202e}b", 2), ("\n\n\u{e0041}", 3), ("\u{1b}[2J", 1), ("\u{2066}", 1)] {
            assert!(matches!(check_text(bad), Err(BadDocument::Invisible { line: at, .. }) if at == line), "{bad:?}");
        }
        assert!(check_text(&"x".repeat(MEMORY_DOCUMENT_BYTES_MAX)).is_ok());
        assert!(check_text(&"x".repeat(MEMORY_DOCUMENT_BYTES_MAX + 1)).is_err());
    }

    proptest! {
        #[test]
        fn every_text_is_joined_as_it_was(text in "(---\n)?[-a\n]{0,12}(---\n)?[-a\n]{0,12}") {
            prop_assert_eq!(Document::parse(&text).to_text(), text);
        }
    }
}
