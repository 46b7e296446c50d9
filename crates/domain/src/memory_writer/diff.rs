//! The difference of two texts by line, and within changed lines by word.

use diffy::{DiffOptions, Line as Found};

/// A part of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// In both texts.
    Same(String),
    /// Only in the old text.
    Old(String),
    /// Only in the new text.
    New(String),
}

/// One line of a difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Number in the new text, from 1; `None` for a line that is only in the old text.
    pub number: Option<u32>,
    /// Whether the line differs.
    pub is_changed: bool,
    /// Parts of the line. A changed line has the old and the new words in one.
    pub pieces: Vec<Piece>,
}

/// Lines around a change that are shown with it.
const CONTEXT: usize = 2;

/// Returns the lines that differ, with two lines around each. A removed line with an added line after it is one line
/// if they share words.
pub fn lines(old: &str, new: &str) -> Vec<Line> {
    // Without an end the last line of one text would differ from the same line inside of the other.
    let (old, new) = (ended(old), ended(new));
    let patch = DiffOptions::new().set_context_len(CONTEXT).create_patch(&old, &new).to_string_parts();
    let mut found = Vec::new();
    for (first, hunk) in patch {
        let mut number = first;
        let mut removed: Vec<String> = Vec::new();
        let mut added: Vec<String> = Vec::new();
        for (kind, text) in hunk {
            match kind {
                Kind::Delete => removed.push(text),
                Kind::Insert => added.push(text),
                Kind::Context => {
                    number = flush(&mut found, &mut removed, &mut added, number);
                    let pieces = vec![Piece::Same(text)];
                    found.push(Line { number: Some(number), is_changed: false, pieces });
                    number = number.saturating_add(1);
                }
            }
        }
        flush(&mut found, &mut removed, &mut added, number);
    }
    found
}

enum Kind {
    Context,
    Delete,
    Insert,
}

/// A hunk: the number of its first new line, and its lines.
type Hunk = (u32, Vec<(Kind, String)>);

trait Parts {
    fn to_string_parts(&self) -> Vec<Hunk>;
}

impl Parts for diffy::Patch<'_, str> {
    fn to_string_parts(&self) -> Vec<Hunk> {
        let line = |line: &Found<'_, str>| {
            let (kind, text) = match line {
                Found::Context(text) => (Kind::Context, text),
                Found::Delete(text) => (Kind::Delete, text),
                Found::Insert(text) => (Kind::Insert, text),
            };
            (kind, text.trim_end_matches('\n').to_owned())
        };
        let hunk = |hunk: &diffy::Hunk<'_, str>| {
            let first = u32::try_from(hunk.new_range().start()).unwrap_or(u32::MAX);
            (first.max(1), hunk.lines().iter().map(line).collect())
        };
        self.hunks().iter().map(hunk).collect()
    }
}

fn flush(found: &mut Vec<Line>, removed: &mut Vec<String>, added: &mut Vec<String>, mut number: u32) -> u32 {
    let mut old = removed.drain(..).peekable();
    for new in added.drain(..) {
        let joined = old.peek().and_then(|old| words(old, &new));
        let pieces = match joined {
            Some(pieces) => {
                old.next();
                pieces
            }
            None => vec![Piece::New(new)],
        };
        found.push(Line { number: Some(number), is_changed: true, pieces });
        number = number.saturating_add(1);
    }
    found.extend(old.map(|old| Line { number: None, is_changed: true, pieces: vec![Piece::Old(old)] }));
    number
}

/// The difference of two lines by word; `None` if they share no word.
fn words(old: &str, new: &str) -> Option<Vec<Piece>> {
    let split = |line: &str| {
        let mut tokens = String::new();
        for word in line.split_inclusive(char::is_whitespace) {
            tokens.push_str(word);
            tokens.push('\n');
        }
        tokens
    };
    let (old, new) = (split(old), split(new));
    // Wide enough for every line that a document can have.
    let patch = DiffOptions::new().set_context_len(100_000).create_patch(&old, &new).to_string_parts();
    let mut pieces: Vec<Piece> = Vec::new();
    let mut shares = false;
    for (kind, text) in patch.into_iter().flat_map(|(_, lines)| lines) {
        match (kind, pieces.last_mut()) {
            (Kind::Context, Some(Piece::Same(before)))
            | (Kind::Delete, Some(Piece::Old(before)))
            | (Kind::Insert, Some(Piece::New(before))) => before.push_str(&text),
            (Kind::Context, _) => pieces.push(Piece::Same(text)),
            (Kind::Delete, _) => pieces.push(Piece::Old(text)),
            (Kind::Insert, _) => pieces.push(Piece::New(text)),
        }
    }
    for piece in &pieces {
        shares |= matches!(piece, Piece::Same(text) if text.chars().any(char::is_alphanumeric));
    }
    shares.then_some(pieces)
}

fn ended(text: &str) -> String {
    if text.is_empty() || text.ends_with('\n') { text.to_owned() } else { format!("{text}\n") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_changed_line_shows_its_words() {
        let found = lines("# A\n\n- Alice likes tea\n- x\n", "# A\n\n- Alice likes green tea\n- x\n- new\n");
        let changed: Vec<_> = found.iter().filter(|line| line.is_changed).collect();
        assert_eq!(changed[0].number, Some(3));
        assert_eq!(
            changed[0].pieces,
            [Piece::Same("- Alice likes ".into()), Piece::New("green ".into()), Piece::Same("tea".into())]
        );
        assert_eq!((changed[1].number, &changed[1].pieces[..]), (Some(5), &[Piece::New("- new".into())][..]));
        assert_eq!(lines("a\nb\n", "a\n").last().unwrap().pieces, [Piece::Old("b".into())]);
        assert_eq!(lines("", "a\n")[0].number, Some(1));
        assert_eq!(lines("a", "a\n"), []);
    }

    proptest! {
        #[test]
        fn numbers_are_those_of_the_new_text(old in "([a-c]( [a-c])?\n){0,8}", new in "([a-c]( [a-c])?\n){0,8}") {
            let all: Vec<&str> = new.lines().collect();
            for line in lines(&old, &new) {
                let text: String = line.pieces.iter().map(|piece| match piece {
                    Piece::Same(text) | Piece::New(text) => text.as_str(),
                    Piece::Old(_) => "",
                }).collect();
                if let Some(number) = line.number {
                    prop_assert_eq!(all[number as usize - 1].trim_end(), text.trim_end());
                }
            }
        }
    }
}
