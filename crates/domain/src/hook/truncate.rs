//! Truncates large values and notes how much is missing.

use crate::limit::JSON_DEPTH_MAX;
use serde_json::{Map, Value, value::RawValue};
use sha2::{Digest, Sha256};

/// Levels of nesting that an event adds around a value of a payload.
const ENVELOPE_LEVELS: usize = 8;
/// Shortest text inside a structure that is truncated, bytes.
const WORTH_CUTTING_BYTES: usize = 256;
/// Bytes reserved for the note at the end of a truncated text.
const NOTE_BYTES: usize = 96;
/// Bytes of a digest in such a note.
const DIGEST_BYTES: usize = 76;

/// What the note at the end of a truncated text says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Note {
    /// How much is missing.
    Size,
    /// How much is missing, and the SHA-256 of the whole text.
    SizeAndDigest,
}

impl Note {
    /// Bytes reserved for the note.
    const fn bytes(self) -> usize {
        match self {
            Self::Size => NOTE_BYTES,
            Self::SizeAndDigest => NOTE_BYTES + DIGEST_BYTES,
        }
    }
}

/// Truncates a text to `bytes_max` bytes, counted as JSON with escapes. A truncated text ends with a note on
/// how much is missing. Also returns whether the text was truncated.
pub fn truncate_text(text: &str, bytes_max: usize) -> (String, bool) {
    cut_text(text, bytes_max, Note::Size)
}

/// Truncates a value to `bytes_max` bytes of JSON: its long texts, all to the same length, or else the text of its
/// whole JSON. Each truncated text ends with its size and the SHA-256 of the whole text.
pub fn truncate_digested(value: &Value, bytes_max: usize) -> Value {
    let note = Note::SizeAndDigest;
    let quotes = 2;
    if let Value::String(text) = value {
        return Value::String(cut_text(text, bytes_max.saturating_sub(quotes), note).0);
    }
    let cut = cut_texts(value.clone(), bytes_max, note).and_then(|json| serde_json::from_str(&json).ok());
    cut.unwrap_or_else(|| Value::String(cut_text(&value.to_string(), bytes_max.saturating_sub(quotes), note).0))
}

fn cut_text(text: &str, bytes_max: usize, note: Note) -> (String, bool) {
    if escaped_bytes(text) <= bytes_max {
        return (text.to_owned(), false);
    }
    let room = bytes_max.saturating_sub(note.bytes());
    let mut used = 0;
    let end = text.char_indices().find(|(_, c)| {
        used += escaped_char_bytes(*c);
        used > room
    });
    let kept = end.map_or(text, |(at, _)| &text[..at]);
    let digest = match note {
        Note::Size => String::new(),
        Note::SizeAndDigest => format!("; SHA-256 {}", hex(text.as_bytes())),
    };
    let missing = text.len() - kept.len();
    (format!("{kept}\n[cut: {missing} of {} bytes are not recorded{digest}]", text.len()), true)
}

/// Truncates a JSON value to `bytes_max` bytes. Long texts inside the value are truncated. If that is not
/// enough, or if the value is nested too deeply, a text with the beginning of its JSON replaces it. Also
/// returns whether anything was truncated.
pub(super) fn truncate_value(raw: &RawValue, bytes_max: usize) -> (Box<RawValue>, bool) {
    let too_deep = crate::event::json_depth(raw.get()) + ENVELOPE_LEVELS > JSON_DEPTH_MAX;
    if raw.get().len() <= bytes_max && !too_deep {
        return (raw.to_owned(), false);
    }
    let shortened = (!too_deep).then(|| serde_json::from_str::<Value>(raw.get()).ok()).flatten();
    let shortened = shortened.and_then(|value| cut_texts(value, bytes_max, Note::Size));
    let json = shortened.unwrap_or_else(|| Value::from(truncate_text(raw.get(), bytes_max).0).to_string());
    (RawValue::from_string(json).unwrap_or_else(|_| raw.to_owned()), true)
}

/// Returns the payload of a hook in at most `bytes_max` bytes, with its long texts truncated if needed. `None`
/// if it is too large and is not an object or cannot be truncated enough.
pub fn truncate_payload(text: &str, bytes_max: usize) -> Option<String> {
    if text.len() <= bytes_max {
        return Some(text.to_owned());
    }
    let value: Value = serde_json::from_str(text).ok()?;
    if value.is_object() { cut_texts(value, bytes_max, Note::Size) } else { None }
}

/// Truncates the longest texts of a structure, all to the same length, so that its JSON fits. `None` if that is
/// not enough.
fn cut_texts(value: Value, bytes_max: usize, note: Note) -> Option<String> {
    let mut texts = Vec::new();
    lengths(&value, &mut texts);
    texts.retain(|length| *length >= WORTH_CUTTING_BYTES);
    texts.sort_unstable();
    let whole = value.to_string();
    // Parsing and writing removes spaces and unnecessary escapes, which may be enough.
    if whole.len() <= bytes_max {
        return Some(whole);
    }
    let mut excess = whole.len() - bytes_max;
    // From the longest text down, find the length to which the texts must be truncated.
    let mut cap = None;
    for (index, length) in texts.iter().enumerate().rev() {
        let longer = texts.len() - index;
        let next = if index == 0 { WORTH_CUTTING_BYTES } else { texts[index - 1] };
        let gain = (length - next) * longer;
        let notes = longer * note.bytes();
        if gain >= excess + notes {
            cap = Some(length - (excess + notes).div_ceil(longer));
            break;
        }
        excess = excess.saturating_sub(gain);
    }
    let cut = shorten(value, cap?, note).to_string();
    (cut.len() <= bytes_max).then_some(cut)
}

fn lengths(value: &Value, found: &mut Vec<usize>) {
    match value {
        Value::String(text) => found.push(escaped_bytes(text)),
        Value::Array(items) => items.iter().for_each(|item| lengths(item, found)),
        Value::Object(members) => members.values().for_each(|member| lengths(member, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn shorten(value: Value, cap: usize, note: Note) -> Value {
    match value {
        // The note is added to the length; `cut_texts` has counted its bytes.
        Value::String(text) if escaped_bytes(&text) > cap.max(WORTH_CUTTING_BYTES) => {
            Value::String(cut_text(&text, cap.max(WORTH_CUTTING_BYTES) + note.bytes() - 1, note).0)
        }
        Value::Array(items) => Value::Array(items.into_iter().map(|item| shorten(item, cap, note)).collect()),
        Value::Object(members) => Value::Object(
            members.into_iter().map(|(name, member)| (name, shorten(member, cap, note))).collect::<Map<_, _>>(),
        ),
        other => other,
    }
}

/// The SHA-256 of bytes, in hexadecimal digits.
fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the length of a text inside JSON, without its quotes, bytes.
fn escaped_bytes(text: &str) -> usize {
    text.chars().map(escaped_char_bytes).sum()
}

const fn escaped_char_bytes(c: char) -> usize {
    match c {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        c if (c as u32) < 0x20 => 6,
        c => c.len_utf8(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn raw(value: &Value) -> Box<RawValue> {
        RawValue::from_string(value.to_string()).unwrap()
    }

    #[test]
    fn what_fits_stays_byte_for_byte() {
        let value = RawValue::from_string(r#"{ "n": 1.10e400 }"#.into()).unwrap();
        let (kept, cut) = truncate_value(&value, 1_000);
        assert_eq!((kept.get(), cut), (value.get(), false));
        assert_eq!(truncate_text("abc", 3), ("abc".into(), false));
    }

    #[test]
    fn a_cut_text_says_how_much_is_missing() {
        let (text, cut) = truncate_text(&"x".repeat(1_000), 500);
        assert!(cut && text.len() <= 500, "{}", text.len());
        assert!(text.ends_with("of 1000 bytes are not recorded]"), "{text}");
        let kept = text.bytes().take_while(|b| *b == b'x').count();
        assert!(text.contains(&format!("[cut: {} of", 1_000 - kept)));
    }

    #[test]
    fn a_large_output_keeps_its_shape_and_its_short_fields() {
        let value = json!({ "stdout": "o".repeat(50_000), "stderr": "warning", "interrupted": false });
        let (cut, was_cut) = truncate_value(&raw(&value), 10_000);
        assert!(was_cut && cut.get().len() <= 10_000, "{}", cut.get().len());
        let read: Value = serde_json::from_str(cut.get()).unwrap();
        assert_eq!((&read["stderr"], &read["interrupted"]), (&json!("warning"), &json!(false)));
        assert!(read["stdout"].as_str().unwrap().contains("are not recorded"));
        assert!(cut.get().len() > 9_000, "no more is cut than needed: {}", cut.get().len());
    }

    #[test]
    fn a_digested_value_keeps_its_shape_and_names_size_and_digest_of_what_is_cut() {
        let long = "é".repeat(50_000);
        let whole = format!("of 100000 bytes are not recorded; SHA-256 {}]", hex(long.as_bytes()));
        let cut = truncate_digested(&json!({ "stdout": long, "code": 1 }), 10_000);
        assert!(cut.to_string().len() <= 10_000 && cut["code"] == 1);
        assert!(cut["stdout"].as_str().unwrap().ends_with(&whole), "{cut}");
        let text = truncate_digested(&Value::from(long.as_str()), 5_000);
        assert!(text.to_string().len() <= 5_000 && text.as_str().unwrap().ends_with(&whole));
        let many = truncate_digested(&json!((0..10_000).collect::<Vec<_>>()), 1_000);
        assert!(many.as_str().unwrap().starts_with("[0,1,2,") && many.to_string().len() <= 1_000);
        assert_eq!(truncate_digested(&json!({ "a": "x" }), 100), json!({ "a": "x" }));
    }

    #[test]
    fn what_has_no_long_texts_becomes_the_beginning_of_its_json() {
        let value = json!((0..10_000).collect::<Vec<_>>());
        let (cut, _) = truncate_value(&raw(&value), 1_000);
        let text: String = serde_json::from_str(cut.get()).unwrap();
        assert!(text.starts_with("[0,1,2,") && text.contains("are not recorded") && cut.get().len() <= 1_002);
    }

    #[test]
    fn what_nests_too_deep_becomes_text() {
        let deep = format!("{}1{}", "[".repeat(120), "]".repeat(120));
        let (cut, was_cut) = truncate_value(&RawValue::from_string(deep.clone()).unwrap(), 10_000);
        assert!(was_cut);
        assert_eq!(serde_json::from_str::<String>(cut.get()).unwrap(), deep);
    }

    proptest! {
        #[test]
        fn what_is_cut_fits_and_is_json(texts in prop::collection::vec("\\PC{0,2000}", 1..6), max in 600..6_000_usize) {
            let value = json!({ "a": texts, "b": { "c": texts.concat() }, "escapes": "\u{1}\n\"".repeat(texts.len() * 40) });
            let (cut, _) = truncate_value(&raw(&value), max);
            prop_assert!(cut.get().len() <= max + 2, "{} of {max}", cut.get().len());
            prop_assert!(serde_json::from_str::<Value>(cut.get()).is_ok());
            if let Some(payload) = truncate_payload(&value.to_string(), max) {
                prop_assert!(payload.len() <= max);
            }
        }
    }
}
