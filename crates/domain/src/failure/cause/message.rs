//! The normalised message of a failure.

use super::{
    placeholder::Cut,
    quote::{Quoted, quoted_at},
    token::{self, Shape},
    unit,
};
use crate::limit::{CAUSE_MESSAGE_CHARS_MAX, REASON_CHARS_MAX};

/// Most times that a message is normalised. What is cut can bring neighbours together that the next pass joins.
const PASSES_MAX: usize = 16;
/// Words after which a number is a code of an error, and is kept.
const CODE_WORDS: [&str; 12] = [
    "http",
    "https",
    "status",
    "code",
    "exit",
    "errno",
    "signal",
    "sqlstate",
    "statuscode",
    "status_code",
    "exit_code",
    "error",
];
/// Fewest words of a quoted text that is a sentence and not a value.
const SENTENCE_WORDS: usize = 4;
/// Keys of JSON whose values name an error.
const NAMING_KEYS: [&str; 8] = ["code", "type", "status", "error", "reason", "kind", "name", "message"];

/// Returns the message of a failure with placeholders for what differs between two failures of one cause: numbers, ids,
/// hosts, paths, quoted values, times, durations and sizes. URLs keep their scheme and the words of their path. Numbers
/// that are codes of errors are kept. White space and control characters become single spaces. At most
/// [`CAUSE_MESSAGE_CHARS_MAX`] characters, and `…` if it was longer. A normalised message stays as it is.
pub fn normalise(message: &str) -> String {
    let mut text = pass(message);
    for _ in 1..PASSES_MAX {
        let again = pass(&text);
        if again == text {
            break;
        }
        text = again;
    }
    text
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Space,
    Word(String),
    Mark(char),
    Cut(Cut),
}

fn pass(message: &str) -> String {
    let mut reader = Reader::default();
    let end = message.char_indices().nth(REASON_CHARS_MAX).map_or(message.len(), |(at, _)| at);
    reader.read(&message[..end], true);
    reader.text()
}

#[derive(Default)]
struct Reader {
    pieces: Vec<Piece>,
}

impl Reader {
    /// Reads a text. Quoted values are looked for in it if `quotes` is set.
    fn read(&mut self, text: &str, quotes: bool) {
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            let (width, next) = (c.len_utf8(), &rest[c.len_utf8()..]);
            if c == '\u{1b}' {
                rest = token::after_escape(next);
            } else if c.is_whitespace() || c.is_control() {
                self.space();
                rest = next;
            } else if let Some((cut, after)) = Cut::at(rest) {
                self.cut(cut);
                rest = after;
            } else if let Some(quoted) = quoted_at(rest).filter(|_| quotes && !self.is_apostrophe(c)) {
                self.quoted(&quoted);
                rest = quoted.after;
            } else if let Some((run, after)) = token::run(rest) {
                rest = self.run(run, after);
            } else {
                self.pieces.push(Piece::Mark(c));
                rest = &rest[width..];
            }
        }
    }

    /// Whether this mark belongs to the word before it, as in `u'name'`.
    fn is_apostrophe(&self, c: char) -> bool {
        matches!(c, '\'' | '\u{2019}') && matches!(self.pieces.last(), Some(Piece::Word(_) | Piece::Cut(_)))
    }

    fn space(&mut self) {
        if !matches!(self.pieces.last(), None | Some(Piece::Space)) {
            self.pieces.push(Piece::Space);
        }
    }

    /// Adds a placeholder. It joins a like one before it, and a time takes the numbers beside it.
    fn cut(&mut self, cut: Cut) {
        let gap = self.pieces.iter().rev().take_while(|piece| matches!(piece, Piece::Space | Piece::Mark(','))).count();
        let before = self.pieces.len() - gap;
        match (before.checked_sub(1).and_then(|at| self.pieces.get(at)), cut) {
            (Some(Piece::Cut(last)), _) if *last == cut => self.pieces.truncate(before),
            (Some(Piece::Cut(Cut::Time)), Cut::Number) => self.pieces.truncate(before),
            _ => self.pieces.push(Piece::Cut(cut)),
        }
    }

    fn word(&mut self, word: &str) {
        self.pieces.push(Piece::Word(word.to_owned()));
    }

    /// Adds a quoted text: a key of JSON and a sentence as they are, anything else as a value.
    fn quoted(&mut self, quoted: &Quoted<'_>) {
        let is_word = !quoted.inner.is_empty() && quoted.inner.chars().all(|c| c.is_alphanumeric() || c == '_');
        let words = quoted.inner.split_whitespace().filter(|word| word.chars().any(char::is_alphabetic)).count();
        if quoted.inner.trim().is_empty() {
            return;
        }
        if words >= SENTENCE_WORDS {
            self.read(quoted.inner, false);
        } else if is_word && (quoted.is_key || self.follows_naming_key()) {
            self.segment(quoted.inner, "");
        } else {
            self.cut(Cut::Value);
        }
    }

    /// Whether a key of JSON that names an error comes just before.
    fn follows_naming_key(&self) -> bool {
        let mut before = self.pieces.iter().rev().filter(|piece| **piece != Piece::Space);
        let colon = before.next() == Some(&Piece::Mark(':'));
        colon && matches!(before.next(), Some(Piece::Word(key)) if NAMING_KEYS.contains(&key.to_lowercase().as_str()))
    }

    /// Adds a run of characters without white space. Returns what is left of the text.
    fn run<'a>(&mut self, run: &'a str, after: &'a str) -> &'a str {
        // The end of an element of HTML is no path.
        if run.starts_with('/') && self.pieces.last() == Some(&Piece::Mark('<')) {
            self.parts(run, after);
            return after;
        }
        if let Some(url) = token::url(run) {
            self.word(url.scheme);
            self.cut_beside(Cut::Host);
            self.word(&url.path);
            return after;
        }
        if let Some(cut) = token::whole(run) {
            self.cut(cut);
            return after;
        }
        if token::is_date_word(run) && (self.ends_with_date() || token::starts_with_date(after)) {
            self.replace_number_before();
            self.cut(Cut::Time);
            return after;
        }
        if token::is_zone(run) && self.ends_with(Cut::Time) {
            return after;
        }
        if token::is_number(run) {
            if self.keeps(run, after) {
                self.word(run);
                return after;
            }
            let (cut, after) = unit::with_unit(after);
            self.cut(cut);
            return after;
        }
        self.parts(run, after);
        after
    }

    /// Adds a run part by part: words and numbers, and the marks between them.
    fn parts(&mut self, run: &str, after: &str) {
        let mut rest = run;
        while let Some(c) = rest.chars().next() {
            if let Some(left) = token::after_uuid(rest) {
                self.cut_beside(Cut::Id);
                rest = left;
                continue;
            }
            let end = rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
            if end == 0 {
                self.pieces.push(Piece::Mark(c));
                rest = &rest[c.len_utf8()..];
            } else {
                let (segment, left) = rest.split_at(end);
                self.segment(segment, if left.is_empty() { after } else { left });
                rest = left;
            }
        }
    }

    fn segment(&mut self, segment: &str, after: &str) {
        match token::shape(segment) {
            Shape::Word => self.word(segment),
            Shape::Id => self.cut_beside(Cut::Id),
            Shape::Number if self.keeps(segment, after) || self.follows_code_prefix() => self.word(segment),
            Shape::Number => match self.pieces.as_slice() {
                // The rest of a number with a point.
                [.., Piece::Cut(Cut::Number), Piece::Mark('.' | ',')] => drop(self.pieces.pop()),
                _ => self.cut_beside(Cut::Number),
            },
            Shape::Mixed => {
                if let Some(cut) = unit::measured(segment) {
                    return self.cut_beside(cut);
                }
                for part in token::digits_apart(segment) {
                    if part.starts_with(char::is_numeric) { self.cut_beside(Cut::Number) } else { self.word(part) }
                }
            }
        }
    }

    /// Adds a placeholder that joins no other.
    fn cut_beside(&mut self, cut: Cut) {
        self.pieces.push(Piece::Cut(cut));
    }

    /// Whether a number is the code of an error: after a word that says so, or an HTTP status with its reason.
    fn keeps(&self, number: &str, after: &str) -> bool {
        if !number.bytes().all(|byte| byte.is_ascii_digit()) || number.len() > 5 {
            return false;
        }
        let is_status = matches!(number.as_bytes(), [b'4' | b'5', _, _]);
        let reason = after.strip_prefix(' ').and_then(|reason| reason.chars().next());
        if is_status && reason.is_some_and(char::is_uppercase) {
            return true;
        }
        let is_between = |piece: &&Piece| matches!(piece, Piece::Space | Piece::Mark(':' | '=' | '(' | '#' | '['));
        let marks: Vec<&Piece> = self.pieces.iter().rev().take_while(is_between).collect();
        let Some(Piece::Word(word)) = self.pieces.iter().rev().nth(marks.len()) else { return false };
        let word = word.to_lowercase();
        // "error: 5 rows" counts, "error 5" names.
        let names = word != "error" || !marks.contains(&&Piece::Mark(':'));
        marks.len() <= 2 && !marks.is_empty() && names && CODE_WORDS.contains(&word.as_str())
    }

    /// Whether the name of a series of error codes comes just before, with a hyphen.
    fn follows_code_prefix(&self) -> bool {
        match self.pieces.as_slice() {
            [.., Piece::Word(prefix), Piece::Mark('-')] => token::is_error_prefix(prefix),
            _ => false,
        }
    }

    fn ends_with(&self, cut: Cut) -> bool {
        let last = self.pieces.iter().rev().find(|piece| !matches!(piece, Piece::Space | Piece::Mark(',')));
        last == Some(&Piece::Cut(cut))
    }

    fn ends_with_date(&self) -> bool {
        self.ends_with(Cut::Time) || self.ends_with(Cut::Number)
    }

    /// Takes away a number at the end, which is the day of a date.
    fn replace_number_before(&mut self) {
        if self.ends_with(Cut::Number) {
            while self.pieces.pop_if(|piece| *piece != Piece::Cut(Cut::Number)).is_some() {}
            let _ = self.pieces.pop();
        }
    }

    fn text(&self) -> String {
        let mut text = String::new();
        let mut chars = 0;
        let end = self.pieces.iter().rposition(|piece| *piece != Piece::Space).map_or(0, |at| at + 1);
        for piece in &self.pieces[..end] {
            let mut buffer = [0; 4];
            let part = match piece {
                Piece::Space => " ",
                Piece::Word(word) => word,
                Piece::Mark(mark) => mark.encode_utf8(&mut buffer),
                Piece::Cut(cut) => cut.as_str(),
            };
            let room = CAUSE_MESSAGE_CHARS_MAX - chars;
            let length = part.chars().count();
            if length > room {
                if let Piece::Word(word) = piece {
                    text.extend(word.chars().take(room));
                }
                text.push('…');
                return text;
            }
            chars += length;
            text.push_str(part);
        }
        text
    }
}
