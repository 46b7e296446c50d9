//! The part of a text around the first place that a search finds, with what it finds marked.

use super::{
    phrase::Phrase,
    query::{Query, Unit},
    word::for_each_word,
};
use crate::{limit::SEARCH_SNIPPET_CHARS, terminal::without_sequences};
use std::ops::Range;

/// Most characters that are shown before the first mark.
const CHARS_BEFORE: usize = 60;

/// A piece of the part that is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// The text, on one line.
    pub text: String,
    /// Whether the search finds it.
    pub is_marked: bool,
}

/// A word of the text, for matching.
pub(super) struct Found {
    term: String,
    parts: Vec<String>,
    place: Range<usize>,
}

/// The part of a text around the first place that a search finds, at most about [`SEARCH_SNIPPET_CHARS`]: the beginning
/// of a text in which it finds nothing. Colours of terminals are left out.
pub fn snippet(text: &str, query: &Query) -> Vec<Piece> {
    let text = without_sequences(text);
    let text = text.as_ref();
    pieces(text, marks(&words_of(text), query))
}

/// The words of a text, in its order.
pub(super) fn words_of(text: &str) -> Vec<Found> {
    let mut words = Vec::new();
    for_each_word(text, |word| {
        words.push(Found { term: word.term.to_owned(), parts: word.parts(), place: word.place.clone() });
    });
    words
}

/// The part of a text around the first place of a phrase, at most about [`SEARCH_SNIPPET_CHARS`]: the beginning of a
/// text that does not have it.
pub fn phrase_snippet(text: &str, phrase: &Phrase) -> Vec<Piece> {
    pieces(text, phrase.places(text))
}

/// The part of a text around the first mark. The marks are in the order of the text and do not overlap.
fn pieces(text: &str, marks: Vec<Range<usize>>) -> Vec<Piece> {
    let start = marks.first().map_or(0, |mark| back(text, mark.start));
    let end = forward(text, start);
    let mut pieces = vec![Piece { text: if start > 0 { "…".into() } else { String::new() }, is_marked: false }];
    let mut at = start;
    for mark in marks.into_iter().filter(|mark| mark.start < end) {
        let (from, to) = (mark.start.max(at), mark.end.min(end).max(at));
        push(&mut pieces, &text[at..from], false);
        push(&mut pieces, &text[from..to], true);
        at = to;
    }
    push(&mut pieces, &text[at..end], false);
    if end < text.len() {
        push(&mut pieces, "…", false);
    }
    pieces.retain(|piece| !piece.text.is_empty());
    pieces
}

/// Where the search finds something, in the order of the text, not overlapping.
fn marks(words: &[Found], query: &Query) -> Vec<Range<usize>> {
    let mut marks: Vec<Range<usize>> = Vec::new();
    for at in 0..words.len() {
        for unit in query.units.iter().filter(|unit| !unit.is_excluded) {
            if let Some(end) = matches(unit, &words[at..]) {
                marks.push(words[at].place.start..words[at + end - 1].place.end);
            }
        }
    }
    marks.sort_by_key(|mark| (mark.start, mark.end));
    marks.dedup_by(|later, earlier| {
        let overlaps = later.start < earlier.end;
        if overlaps {
            earlier.end = earlier.end.max(later.end);
        }
        overlaps
    });
    marks
}

/// The number of words that a unit finds at the beginning of these.
pub(super) fn matches(unit: &Unit, words: &[Found]) -> Option<usize> {
    let count = unit.terms.len();
    if let [term] = &unit.terms[..] {
        let word = words.first()?;
        let is = |text: &String| if unit.is_prefix { text.starts_with(term.as_str()) } else { text == term };
        let found = is(&word.term) || unit.forms.contains(&word.term) || word.parts.iter().any(is);
        return found.then_some(1);
    }
    let (last, first) = unit.terms.split_last()?;
    let (end, begin) = words.get(..count)?.split_last()?;
    let begins = first.iter().zip(begin).all(|(term, word)| *term == word.term);
    let ends = if unit.is_prefix { end.term.starts_with(last.as_str()) } else { end.term == *last };
    (begins && ends).then_some(count)
}

/// Where to begin before a mark: at the beginning of a line or word if one is near.
fn back(text: &str, mark: usize) -> usize {
    let before = &text[..mark];
    let Some((from, _)) = before.char_indices().rev().take(CHARS_BEFORE).last() else { return 0 };
    let near = &before[from..];
    if let Some(line) = near.rfind('\n') {
        return from + line + 1;
    }
    let is_start = from == 0;
    let word = near.find(char::is_whitespace).map(|at| from + at + 1);
    if is_start { 0 } else { word.filter(|at| text.is_char_boundary(*at)).unwrap_or(from) }
}

/// Where to end after the beginning.
fn forward(text: &str, start: usize) -> usize {
    text[start..].char_indices().nth(SEARCH_SNIPPET_CHARS).map_or(text.len(), |(at, _)| start + at)
}

/// Adds a text on one line and without control characters.
fn push(pieces: &mut Vec<Piece>, text: &str, is_marked: bool) {
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_whitespace() || c.is_control() {
            if !line.ends_with(' ') {
                line.push(' ');
            }
        } else {
            line.push(c);
        }
    }
    match pieces.last_mut().filter(|last| last.is_marked == is_marked) {
        Some(last) => last.text.push_str(&line),
        None => pieces.push(Piece { text: line, is_marked }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The part that is shown, marks in brackets.
    fn bracketed(text: &str, query: &str) -> String {
        let pieces = snippet(text, &Query::parse(query).unwrap());
        pieces
            .iter()
            .map(|piece| if piece.is_marked { format!("[{}]", piece.text) } else { piece.text.clone() })
            .collect()
    }

    #[test]
    fn what_is_found_is_marked() {
        for (text, query, expected) in [
            ("Refunds were refunded.", "refund", "[Refunds] were [refunded]."),
            ("the rate limit, the limit rate", "\"rate limit\"", "the [rate limit], the limit rate"),
            ("call foo_bar(foo)", "foo_bar", "call [foo_bar](foo)"),
            ("a refundBot and a robot", "bot", "a [refundBot] and a robot"),
            ("東京タワー", "京", "東[京]タワー"),
            ("東京タワー", "東京", "[東京]タワー"),
            ("unauthorized", "unauth*", "[unauthorized]"),
            ("x tea -milk y", "tea -milk", "x [tea] -milk y"),
            ("nothing here", "tea", "nothing here"),
            ("one\n\n two\u{1b}[31m red", "two", "… [two] red"),
            ("[31merror[0m: tea", "tea", "error: [tea]"),
        ] {
            assert_eq!(bracketed(text, query), expected, "{query}");
        }
    }

    #[test]
    fn a_long_text_is_cut_around_the_first_mark() {
        let text = format!("{}needle {}", "hay ".repeat(100), "straw ".repeat(100));
        let cut = bracketed(&text, "needle");
        assert!(cut.starts_with("…hay ") && cut.contains("hay [needle] straw") && cut.ends_with('…'), "{cut}");
        assert!(cut.chars().count() <= SEARCH_SNIPPET_CHARS + 4, "{}", cut.chars().count());
    }

    #[test]
    fn a_phrase_is_marked_where_it_is() {
        let phrase = Phrase::parse("rate limit").unwrap();
        let pieces = phrase_snippet("The RATE\nlimit of 5 %", &phrase);
        let texts: Vec<_> = pieces.iter().map(|piece| (piece.text.as_str(), piece.is_marked)).collect();
        // The beginning of the line is near, so the part begins there.
        assert_eq!(texts, [("The ", false), ("RATE limit", true), (" of 5 %", false)]);
    }

    proptest::proptest! {
        #[test]
        fn any_text_can_be_shown(text in "(\\PC|[\n\t é東]){0,400}", query in "[a-zé東]{1,3}( [a-z]{1,3})?") {
            if let Ok(query) = Query::parse(&query) {
                let pieces = snippet(&text, &query);
                let length: usize = pieces.iter().map(|piece| piece.text.chars().count()).sum();
                proptest::prop_assert!(length <= SEARCH_SNIPPET_CHARS + 2);
                proptest::prop_assert!(pieces.windows(2).all(|pair| pair[0].is_marked != pair[1].is_marked));
            }
        }
    }
}
