//! JSON as programs write it that do not follow the standard.

use super::{Position, Repair, What, decode_document, has_lone_surrogate};
use serde::de::DeserializeOwned;
use std::borrow::Cow;

/// Parses a JSON text, repaired with [`repair_json`] if it cannot be parsed as it is or has half of a surrogate pair.
///
/// # Errors
/// The error of the text as it is, if it cannot be parsed after the repair either.
pub fn read_json<T: DeserializeOwned>(text: &str) -> Result<(T, Vec<Repair>), serde_json::Error> {
    let first = serde_json::from_str::<T>(text);
    // A document that is kept as it was sent is parsed without a look at its escapes and numbers.
    if let Ok(value) = first
        && !has_lone_surrogate(text.as_bytes())
        && !may_exceed_range(text.as_bytes())
    {
        return Ok((value, Vec::new()));
    }
    let (repaired, repairs) = repair_json(text);
    match serde_json::from_str(&repaired) {
        Ok(value) => Ok((value, repairs)),
        Err(second) => Err(serde_json::from_str::<T>(text).err().unwrap_or(second)),
    }
}

/// Returns a JSON document as UTF-8 text without a byte order mark, repaired if it needs that. What is not JSON is
/// returned as text, and its reader refuses it.
pub fn read_json_document(bytes: &[u8]) -> (String, Vec<Repair>) {
    let (text, mut repairs) = decode_document(bytes);
    let is_readable = serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok();
    if is_readable && !has_lone_surrogate(text.as_bytes()) && !may_exceed_range(text.as_bytes()) {
        return (text, repairs);
    }
    let (repaired, more) = repair_json(&text);
    repairs.extend(more);
    (repaired.into_owned(), repairs)
}

/// Replaces what keeps a text from being JSON: escaped halves of surrogate pairs with `\ufffd`; NaN, infinities and
/// numbers out of range with `null`; control characters inside of texts with their escapes. Other faults are kept.
pub fn repair_json(text: &str) -> (Cow<'_, str>, Vec<Repair>) {
    let mut reader =
        Reader { text, at: 0, done: 0, position: Position::START, repaired: String::new(), repairs: Vec::new() };
    while let Some(letter) = reader.rest().chars().next() {
        match letter {
            '"' => reader.string(),
            '+' | '-' | '0'..='9' | 'a'..='z' | 'A'..='Z' => reader.word(),
            _ => reader.at += letter.len_utf8(),
        }
    }
    if reader.repairs.is_empty() {
        return (Cow::Borrowed(text), Vec::new());
    }
    reader.copy(text.len());
    (Cow::Owned(reader.repaired), reader.repairs)
}

/// Digits of an integer from which on it can be out of the range of a double: the largest has 309.
const LARGE_DIGITS: usize = 309;

/// Whether a text may have a number out of range: an exponent of three digits or more, or very many digits in a row.
/// Texts inside of JSON count too, so a yes only asks for a closer look.
fn may_exceed_range(text: &[u8]) -> bool {
    let mut digits = 0_usize;
    for (at, byte) in text.iter().enumerate() {
        match byte {
            b'0'..=b'9' => digits += 1,
            b'e' | b'E' if digits > 0 => {
                let exponent = &text[at + 1..];
                let exponent = exponent.strip_prefix(b"+").unwrap_or(exponent);
                if exponent.len() >= 3 && exponent[..3].iter().all(u8::is_ascii_digit) {
                    return true;
                }
                digits = 0;
            }
            _ => digits = 0,
        }
        if digits >= LARGE_DIGITS {
            return true;
        }
    }
    false
}

struct Reader<'a> {
    text: &'a str,
    /// Position of the next byte to look at.
    at: usize,
    /// Bytes that are in `repaired`.
    done: usize,
    /// Line and column of `done`.
    position: Position,
    repaired: String,
    repairs: Vec<Repair>,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Copies the text up to this byte.
    fn copy(&mut self, to: usize) {
        let copied = self.text.get(self.done..to).unwrap_or_default();
        self.repaired.push_str(copied);
        self.position.pass(copied);
        self.done = to;
    }

    /// Replaces the next `length` bytes.
    fn replace(&mut self, length: usize, with: &str, what: What) {
        self.copy(self.at);
        self.repairs.push(self.position.repair(what));
        self.repaired.push_str(with);
        self.position.pass(self.text.get(self.at..self.at + length).unwrap_or_default());
        self.at += length;
        self.done = self.at;
    }

    /// Passes a text with its quotation marks.
    fn string(&mut self) {
        self.at += 1;
        while let Some(letter) = self.rest().chars().next() {
            match letter {
                '"' => {
                    self.at += 1;
                    return;
                }
                '\\' => self.escape(),
                letter if (letter as u32) < 0x20 => {
                    self.replace(1, &format!("\\u{:04x}", letter as u32), What::Control);
                }
                letter => self.at += letter.len_utf8(),
            }
        }
    }

    fn escape(&mut self) {
        let rest = self.rest();
        match (unit(rest), rest.get(6..).and_then(unit)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => self.at += 12,
            (Some(0xD800..=0xDFFF), _) => self.replace(6, r"\ufffd", What::Surrogate),
            // The backslash and the letter that it escapes.
            _ => self.at += 1 + rest.chars().nth(1).map_or(0, char::len_utf8),
        }
    }

    /// Passes a number or a name, or replaces a number that JSON does not have.
    fn word(&mut self) {
        let is_part = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '+' | '-' | '.');
        let rest = self.rest();
        let length = rest.find(|letter| !is_part(letter)).unwrap_or(rest.len());
        let word = rest.get(..length).unwrap_or_default();
        let name = word.trim_start_matches(['+', '-']).to_ascii_lowercase();
        let is_number = word.starts_with(|letter: char| letter.is_ascii_digit() || letter == '-');
        let is_too_large = is_number && word.parse::<f64>().is_ok_and(f64::is_infinite);
        if is_too_large || matches!(name.as_str(), "nan" | "inf" | "infinity") {
            self.replace(length, "null", What::Number);
        } else {
            self.at += length;
        }
    }
}

/// The UTF-16 unit of an escape at the beginning of a text.
fn unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    digits.bytes().all(|digit| digit.is_ascii_hexdigit()).then(|| u16::from_str_radix(digits, 16).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    #[test]
    fn what_json_does_not_have_is_replaced_and_named_by_its_place() {
        for (sent, read, places) in [
            (r#"{"a":"half \ud83d there"}"#, json!({"a": "half \u{fffd} there"}), vec![(1, 12, What::Surrogate)]),
            (r#"["\ude00\ud83d\ude00"]"#, json!(["\u{fffd}😀"]), vec![(1, 3, What::Surrogate)]),
            (
                "{\n \"é\": NaN, \"b\": [Infinity, -Infinity, nan, -inf, 1e999, -2]}",
                json!({"é": null, "b": [null, null, null, null, null, -2]}),
                vec![
                    (2, 7, What::Number),
                    (2, 18, What::Number),
                    (2, 28, What::Number),
                    (2, 39, What::Number),
                    (2, 44, What::Number),
                    (2, 50, What::Number),
                ],
            ),
            ("[\"a\tb\u{1b}[1m\"]", json!(["a\tb\u{1b}[1m"]), vec![(1, 4, What::Control), (1, 6, What::Control)]),
        ] {
            let (value, repairs) = read_json::<Value>(sent).unwrap();
            let found: Vec<_> = repairs.iter().map(|repair| (repair.line, repair.column, repair.what)).collect();
            assert_eq!((value, found), (read, places), "{sent}");
        }
    }

    #[test]
    fn numbers_out_of_range_are_replaced_where_a_value_is_kept_as_it_was_sent() {
        let large = "9".repeat(400);
        for (sent, wanted, count) in [
            (r#"{"score": 1e999}"#.to_owned(), r#"{"score": null}"#, 1),
            (r#"[1.5E+400, -2e999, 3e10, 4e-999]"#.to_owned(), "[null, null, 3e10, 4e-999]", 2),
            (format!("[{large}]"), "[null]", 1),
            (r#"["1e999", 1e100]"#.to_owned(), r#"["1e999", 1e100]"#, 0),
        ] {
            let (kept, repairs) = read_json::<Box<serde_json::value::RawValue>>(&sent).unwrap();
            assert_eq!((kept.get(), repairs.len()), (wanted, count), "{sent}");
            let (document, repairs) = read_json_document(sent.as_bytes());
            assert_eq!((document.as_str(), repairs.len()), (wanted, count), "{sent}");
        }
    }

    #[test]
    fn names_of_numbers_inside_of_texts_and_whole_pairs_are_kept() {
        for kept in [r#"{"a":"NaN \"Infinity\" \\ud83d \ud83d\ude00","b":[true,null,1.5e3,-0]}"#, r#""\\""#, "[]"] {
            let (text, repairs) = repair_json(kept);
            assert!(matches!(text, Cow::Borrowed(same) if same == kept) && repairs.is_empty(), "{kept}");
        }
    }

    #[test]
    fn what_is_no_json_after_the_repair_is_refused_with_its_own_error() {
        let error = read_json::<Value>(r#"{"a":NaN"#).unwrap_err();
        assert_eq!(error.column(), 6, "{error}");
        assert!(read_json::<Value>("{").is_err());
        assert!(read_json::<Value>("\"\\").is_err());
    }

    proptest! {
        #[test]
        fn valid_json_is_never_changed(text in "\\PC{0,40}", number in prop::num::f64::NORMAL) {
            let valid = json!({ "a": [text, number], "text": { "b": null } }).to_string();
            let (same, repairs) = repair_json(&valid);
            prop_assert!(same == valid && repairs.is_empty());
        }

        #[test]
        fn anything_is_read_without_panic(text in "[\\PC\\n\"\\\\ud8deNaN-]{0,60}") {
            let (repaired, repairs) = repair_json(&text);
            prop_assert_eq!(repaired == text, repairs.is_empty());
            let (_, again) = repair_json(&repaired);
            prop_assert!(again.is_empty());
        }
    }
}
