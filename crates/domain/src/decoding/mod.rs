//! Reads text that other programs print or send: what is not quite text or not quite JSON is kept as far as possible.
//!
//! Bytes that are not UTF-8 and halves of surrogate pairs become U+FFFD, numbers that JSON does not have become `null`,
//! byte order marks are left out, and UTF-16 is converted. Each change is a [`Repair`] with its place, so that whoever
//! reads the text gets a message. Text that needs no repair is not changed. Bodies of the API are not read with this:
//! they are refused with the reason.

mod encoding;
mod json;
mod surrogate;

pub use encoding::{Encoding, StreamDecoder, decode_document, decode_line};
pub use json::{read_json, read_json_document, repair_json};
pub use surrogate::has_lone_surrogate;

use std::fmt;

/// Most repairs of one text that [`describe`] names.
pub const REPAIRS_NAMED_MAX: usize = 5;

/// One change that made a text readable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Repair {
    /// Number of the line in the text, from 1.
    pub line: u64,
    /// Number of the character in its line, from 1.
    pub column: u64,
    /// What was changed.
    pub what: What,
}

/// Kinds of repairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// A byte order mark was left out.
    ByteOrderMark,
    /// UTF-16 was converted.
    Utf16,
    /// Bytes that are not UTF-8, or half of a surrogate pair in UTF-16, became U+FFFD.
    Bytes,
    /// An escape of half of a surrogate pair became U+FFFD.
    Surrogate,
    /// NaN, an infinity or a number out of range became `null`.
    Number,
    /// A control character inside a JSON text was written as an escape.
    Control,
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ByteOrderMark => "a byte order mark was left out",
            Self::Utf16 => "UTF-16 was converted to UTF-8",
            Self::Bytes => "bytes that are not UTF-8 became U+FFFD",
            Self::Surrogate => "half of a surrogate pair became U+FFFD",
            Self::Number => "a number that JSON does not have became null",
            Self::Control => "a control character was written as an escape",
        })
    }
}

/// One sentence about these repairs: the first [`REPAIRS_NAMED_MAX`] with line and column, and the number of the rest.
pub fn describe(repairs: &[Repair]) -> String {
    let named: Vec<_> = repairs
        .iter()
        .take(REPAIRS_NAMED_MAX)
        .map(|repair| format!("line {}, column {}: {}", repair.line, repair.column, repair.what))
        .collect();
    let more = repairs.len().saturating_sub(REPAIRS_NAMED_MAX);
    let rest = if more > 0 { format!("; and {more} more") } else { String::new() };
    format!("{}{rest}", named.join("; "))
}

/// Counts lines and columns of a text that is read from its beginning.
#[derive(Debug, Clone, Copy)]
struct Position {
    line: u64,
    column: u64,
}

impl Position {
    const START: Self = Self { line: 1, column: 1 };

    /// Continues over these characters.
    fn pass(&mut self, text: &str) {
        for letter in text.chars() {
            if letter == '\n' {
                self.line += 1;
                self.column = 1;
            } else {
                self.column += 1;
            }
        }
    }

    const fn repair(self, what: What) -> Repair {
        Repair { line: self.line, column: self.column, what }
    }
}
