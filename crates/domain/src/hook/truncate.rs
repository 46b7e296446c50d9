//! Truncates large values and notes how much is missing.

use crate::limit::JSON_DEPTH_MAX;
use serde_json::{Map, Value, value::RawValue};

/// Levels of nesting that an event adds around a value of a payload.
const ENVELOPE_LEVELS: usize = 8;
/// Shortest text inside a structure that is truncated, bytes.
const WORTH_CUTTING_BYTES: usize = 256;
/// Bytes reserved for the note at the end of a truncated text.
const NOTE_BYTES: usize = 96;

/// Truncates a text to `bytes_max` bytes, counted as JSON with escapes. A truncated text ends with a note on
/// how much is missing. Also returns whether the text was truncated.
pub fn truncate_text(text: &str, bytes_max: usize) -> (String, bool) {
    if escaped_bytes(text) <= bytes_max {
        return (text.to_owned(), false);
    }
    let room = bytes_max.saturating_sub(NOTE_BYTES);
    let mut used = 0;
    let end = text.char_indices().find(|(_, c)| {
        used += escaped_char_bytes(*c);
        used > room
    });
    let kept = end.map_or(text, |(at, _)| &text[..at]);
    (format!("{kept}\n[cut: {} of {} bytes are not recorded]", text.len() - kept.len(), text.len()), true)
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
    let shortened = shortened.and_then(|value| cut_texts(value, bytes_max));
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
    if value.is_object() { cut_texts(value, bytes_max) } else { None }
}

/// Truncates the longest texts of a structure, all to the same length, so that its JSON fits. `None` if that is
/// not enough.
fn cut_texts(value: Value, bytes_max: usize) -> Option<String> {
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
        let notes = longer * NOTE_BYTES;
        if gain >= excess + notes {
            cap = Some(length - (excess + notes).div_ceil(longer));
            break;
        }
        excess = excess.saturating_sub(gain);
    }
    let cut = shorten(value, cap?).to_string();
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

fn shorten(value: Value, cap: usize) -> Value {
    match value {
        // The note is added to the length; `cut_texts` has counted its bytes.
        Value::String(text) if escaped_bytes(&text) > cap.max(WORTH_CUTTING_BYTES) => {
            Value::String(truncate_text(&text, cap.max(WORTH_CUTTING_BYTES) + NOTE_BYTES - 1).0)
        }
        Value::Array(items) => Value::Array(items.into_iter().map(|item| shorten(item, cap)).collect()),
        Value::Object(members) => {
            Value::Object(members.into_iter().map(|(name, member)| (name, shorten(member, cap))).collect::<Map<_, _>>())
        }
        other => other,
    }
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
