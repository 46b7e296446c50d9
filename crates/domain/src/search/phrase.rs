//! A text that is looked for in one log as it is written: in letters of either case, and with any white space where it
//! has some. It is not taken apart into words, so punctuation and the characters of all scripts are found.

use super::text::{is_searched, logged_text};
use crate::{event::Known, limit::FIND_PHRASE_CHARS_MAX, terminal::without_sequences};
use std::{fmt, ops::Range};

/// Kinds whose text is Markdown. Pages show it without its marks.
const FORMATTED: [Known; 2] = [Known::AgentMessage, Known::AgentThinking];
/// Characters that only format a text in Markdown.
const FORMATTING: [char; 2] = ['*', '`'];

/// What is looked for in a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Phrase {
    /// Its characters as they are compared, without white space at the ends. At least one.
    letters: Vec<char>,
    /// For each beginning of `letters`, the length of the longest shorter beginning that it ends with.
    borders: Vec<usize>,
    /// Its longest piece of ASCII letters and digits; can be empty.
    core: String,
}

/// Why a text cannot be looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BadPhrase {
    /// It has only white space.
    Empty,
    /// It has more than [`FIND_PHRASE_CHARS_MAX`] characters.
    TooLong,
}

impl fmt::Display for BadPhrase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("name what to find"),
            Self::TooLong => write!(f, "at most {FIND_PHRASE_CHARS_MAX} characters"),
        }
    }
}

impl std::error::Error for BadPhrase {}

impl Phrase {
    /// Reads what is looked for.
    ///
    /// # Errors
    /// [`BadPhrase`] for a text that is empty or too long.
    pub fn parse(text: &str) -> Result<Self, BadPhrase> {
        if text.chars().count() > FIND_PHRASE_CHARS_MAX {
            return Err(BadPhrase::TooLong);
        }
        let letters: Vec<char> = letters(text.trim()).map(|(letter, _)| letter).collect();
        if letters.is_empty() {
            return Err(BadPhrase::Empty);
        }
        Ok(Self { borders: borders(&letters), core: longest_run(&letters), letters })
    }

    /// Its places in a text in bytes, in their order. They do not overlap.
    pub fn places(&self, text: &str) -> Vec<Range<usize>> {
        self.first_places(text, usize::MAX)
    }

    /// The text of an event that has the phrase, as it is shown; `None` for any other event. Content and metadata are
    /// as they are stored. Where the text is Markdown, `*` and `` ` `` can be left out of the phrase.
    pub fn text_with(&self, kind: &str, content: &str, metadata: &str) -> Option<String> {
        let is_formatted = FORMATTED.iter().any(|known| known.as_str() == kind);
        // Marks can be inside of words, and the sentences of events that are not searched are not in their JSON.
        let is_as_stored = is_searched(kind) && !is_formatted;
        if is_as_stored && !self.may_be_in(content) && !self.may_be_in(metadata) {
            return None;
        }
        let text = without_sequences(&logged_text(kind, content, metadata)).into_owned();
        if self.is_in(&text) {
            return Some(text);
        }
        let plain = is_formatted.then(|| text.replace(FORMATTING, ""))?;
        self.is_in(&plain).then_some(plain)
    }

    fn is_in(&self, text: &str) -> bool {
        !self.first_places(text, 1).is_empty()
    }

    /// Whether JSON may have the phrase. Much faster than reading the JSON. Escapes can hide a letter.
    fn may_be_in(&self, json: &str) -> bool {
        let core = self.core.as_bytes();
        core.is_empty()
            || json.contains("\\u")
            || json.as_bytes().windows(core.len()).any(|part| part.eq_ignore_ascii_case(core))
    }

    /// The first places, at most `most`. The time depends on the length of the text alone (Knuth, Morris and Pratt).
    fn first_places(&self, text: &str, most: usize) -> Vec<Range<usize>> {
        let count = self.letters.len();
        let (mut places, mut matched) = (Vec::new(), 0);
        // Where the last letters begin.
        let mut starts = vec![0; count];
        for (at, (letter, place)) in letters(text).enumerate() {
            starts[at % count] = place.start;
            while matched > 0 && self.letters[matched] != letter {
                matched = self.borders[matched - 1];
            }
            if self.letters[matched] == letter {
                matched += 1;
            }
            if matched == count {
                places.push(starts[(at + 1) % count]..place.end);
                if places.len() == most {
                    break;
                }
                matched = 0;
            }
        }
        places
    }
}

/// The characters of a text as they are compared, and their places in bytes. White space is one space.
fn letters(text: &str) -> impl Iterator<Item = (char, Range<usize>)> {
    let mut chars = text.char_indices().peekable();
    std::iter::from_fn(move || {
        let (start, c) = chars.next()?;
        let mut end = start + c.len_utf8();
        if !c.is_whitespace() {
            return Some((folded(c), start..end));
        }
        while let Some((at, space)) = chars.next_if(|(_, next)| next.is_whitespace()) {
            end = at + space.len_utf8();
        }
        Some((' ', start..end))
    })
}

/// A character without its case. One whose small letter is ASCII, or is several characters, stays as it is.
fn folded(c: char) -> char {
    if c.is_ascii() {
        return c.to_ascii_lowercase();
    }
    let mut small = c.to_lowercase();
    match (small.next(), small.next()) {
        (Some(small), None) if !small.is_ascii() => small,
        _ => c,
    }
}

fn borders(letters: &[char]) -> Vec<usize> {
    let mut borders = vec![0; letters.len()];
    let mut matched = 0;
    for (at, letter) in letters.iter().enumerate().skip(1) {
        while matched > 0 && letters[matched] != *letter {
            matched = borders[matched - 1];
        }
        if letters[matched] == *letter {
            matched += 1;
        }
        borders[at] = matched;
    }
    borders
}

fn longest_run(letters: &[char]) -> String {
    let runs = letters.split(|letter| !letter.is_ascii_alphanumeric());
    runs.max_by_key(|run| run.len()).unwrap_or_default().iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, phrase: &str) -> Vec<String> {
        let places = Phrase::parse(phrase).unwrap().places(text);
        places.into_iter().map(|place| text[place].to_owned()).collect()
    }

    #[test]
    fn a_phrase_is_found_as_it_is_written() {
        for (text, phrase, places) in [
            ("Rate limit, rate  LIMIT, rate\nlimit", "rate limit", &["Rate limit", "rate  LIMIT", "rate\nlimit"][..]),
            ("100 % of a_b", "%", &["%"]),
            ("100 % of a_b", "a_b", &["a_b"]),
            ("axb a%b", "a%b", &["a%b"]),
            ("ÄRGER ärger Ärger", " ärger ", &["ÄRGER", "ärger", "Ärger"]),
            ("東京タワーと東京駅", "東京", &["東京", "東京"]),
            ("aaaa", "aa", &["aa", "aa"]),
            ("abababac", "ababac", &["ababac"]),
            ("(a+b)*", "a+b)*", &["a+b)*"]),
            ("tea", "teas", &[]),
            ("", "tea", &[]),
            ("\u{130} \u{212a}", "k", &[]),
        ] {
            assert_eq!(found(text, phrase), places, "{phrase} in {text}");
        }
    }

    #[test]
    fn an_empty_text_and_a_long_one_are_refused() {
        assert_eq!(Phrase::parse(" \n"), Err(BadPhrase::Empty));
        assert!(Phrase::parse(&"é".repeat(FIND_PHRASE_CHARS_MAX)).is_ok());
        assert_eq!(Phrase::parse(&"é".repeat(FIND_PHRASE_CHARS_MAX + 1)), Err(BadPhrase::TooLong));
    }

    #[test]
    fn events_have_a_phrase_in_what_is_shown_of_them() {
        let has = |phrase: &str, kind: &str, content: &str, metadata: &str| {
            Phrase::parse(phrase).unwrap().text_with(kind, content, metadata).is_some()
        };
        let said = r#"[{"type":"text","text":"**Total:** 41\u0026up in `foo_bar`"}]"#;
        for phrase in ["total: 41", "**total:**", "41&up", "in foo_bar", "FOO_BAR"] {
            assert!(has(phrase, "agent.message", said, "{}"), "{phrase}");
        }
        assert!(!has("total: 41", "user.message", said, "{}"), "what a person typed is shown as it is");
        let output = r#"{"type":"text","value":"[31merror[0m: \u00c9"}"#;
        let result = format!(r#"[{{"type":"tool-result","toolCallId":"call_9","toolName":"ls","output":{output}}}]"#);
        for (phrase, is_found) in [("error: é", true), ("LS", true), ("call_9", false), ("tool-result", false)] {
            assert_eq!(has(phrase, "agent.tool_result", &result, "{}"), is_found, "{phrase}");
        }
        let change = r#"{"from":"pending","to":"running","reason":"claimed"}"#;
        assert!(has("started", "session.status_change", "[]", change));
        assert!(!has("claimed", "session.status_change", "[]", change));
    }

    proptest::proptest! {
        #[test]
        fn places_have_the_phrase_and_none_is_missed(text in "[ab%_ é]{0,40}", phrase in "[ab%_é]{1,3}") {
            let found = Phrase::parse(&phrase).unwrap().places(&text);
            proptest::prop_assert!(found.iter().all(|place| text[place.clone()] == phrase));
            proptest::prop_assert_eq!(found.len(), text.matches(phrase.as_str()).count());
        }
    }
}
