//! JSON for display. It is indented as text, so that member order and number formats stay as sent. Of escapes, those
//! of characters that people can read are decoded.

use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::{borrow::Cow, fmt};

/// Longest JSON shown on a page, bytes; the link to the event leads to the rest.
pub const PAYLOAD_BYTES_MAX: usize = 12_000;

/// Indents valid JSON by two spaces and cuts it at about `max` bytes. The flag says whether it was cut.
pub fn indented(raw: &str, max: usize) -> (String, bool) {
    let bytes = raw.as_bytes();
    let mut out = String::with_capacity(raw.len().min(max) * 2);
    let mut depth = 0_usize;
    let mut at = 0;
    let line = |out: &mut String, depth: usize| {
        out.push('\n');
        for _ in 0..depth.min(40) {
            out.push_str("  ");
        }
    };
    while let Some(&byte) = bytes.get(at) {
        if out.len() >= max {
            return (out, true);
        }
        match byte {
            b'"' => {
                let end = string_end(bytes, at);
                let text = readable(raw.get(at..end).unwrap_or_default());
                let room = max.saturating_sub(out.len());
                if text.len() > room {
                    out.push_str(super::shorten::head(&text, room));
                    return (out, true);
                }
                out.push_str(&text);
                at = end;
                continue;
            }
            b'{' | b'[' => {
                out.push(char::from(byte));
                let inner = bytes
                    .iter()
                    .skip(at + 1)
                    .position(|b| !b.is_ascii_whitespace())
                    .map_or(bytes.len(), |n| at + 1 + n);
                if let Some(&close @ (b'}' | b']')) = bytes.get(inner) {
                    out.push(char::from(close));
                    at = inner;
                } else {
                    depth += 1;
                    line(&mut out, depth);
                }
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                line(&mut out, depth);
                out.push(char::from(byte));
            }
            b',' => {
                out.push(',');
                line(&mut out, depth);
            }
            b':' => out.push_str(": "),
            byte if byte.is_ascii_whitespace() => {}
            // Outside of strings JSON is ASCII.
            byte => out.push(char::from(byte)),
        }
        at += 1;
    }
    (out, false)
}

/// JSON in which the escapes of characters that people can read are decoded: `\\u2026` becomes `…`. Escapes of
/// controls, of characters that change the direction of text, of quotes and of backslashes stay.
pub fn readable(raw: &str) -> Cow<'_, str> {
    if !raw.contains("\\u") {
        return Cow::Borrowed(raw);
    }
    let mut out = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        out.push_str(before);
        let taken = match decoded(escape) {
            Some((c, taken)) => {
                out.push(c);
                taken
            }
            None => {
                let taken = 1 + escape.chars().nth(1).map_or(0, char::len_utf8);
                out.push_str(escape.get(..taken).unwrap_or(escape));
                taken
            }
        };
        rest = escape.get(taken..).unwrap_or_default();
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// The readable character of the escape at the start of a text, and the escape's length in bytes.
fn decoded(escape: &str) -> Option<(char, usize)> {
    let unit = |at: usize| -> Option<u32> {
        let digits = escape.get(at..at + 6)?.strip_prefix("\\u")?;
        digits.bytes().all(|byte| byte.is_ascii_hexdigit()).then(|| u32::from_str_radix(digits, 16).ok()).flatten()
    };
    let first = unit(0)?;
    let (code, taken) = match first {
        0xD800..=0xDBFF => {
            let second = unit(6).filter(|second| (0xDC00..=0xDFFF).contains(second))?;
            (0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00), 12)
        }
        _ => (first, 6),
    };
    let is_hidden = matches!(code, 0xAD | 0x61C | 0x200B..=0x200F | 0x2028..=0x202E | 0x2060..=0x206F | 0xFEFF);
    let c = char::from_u32(code)?;
    (!c.is_control() && !is_hidden && !matches!(c, '"' | '\\')).then_some((c, taken))
}

/// Index after the closing quote of the string that begins at `start`.
fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// The members of a JSON object in the order sent; empty for other JSON.
pub fn members(raw: &str) -> Vec<(Cow<'_, str>, &RawValue)> {
    struct Members;
    impl<'de> Visitor<'de> for Members {
        type Value = Vec<(Cow<'de, str>, &'de RawValue)>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut found = Vec::new();
            while let Some((key, value)) = map.next_entry::<Key<'de>, &'de RawValue>()? {
                found.push((key.0, value));
            }
            Ok(found)
        }
    }
    if !raw.starts_with('{') {
        return Vec::new();
    }
    serde_json::Deserializer::from_str(raw).deserialize_map(Members).unwrap_or_default()
}

#[derive(serde::Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

/// The text of a JSON string; `None` for other JSON.
pub fn string(raw: &RawValue) -> Option<Cow<'_, str>> {
    let text = raw.get();
    text.starts_with('"').then(|| serde_json::from_str::<Key<'_>>(text).ok().map(|k| k.0)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_figures_and_escapes_stay_as_sent() {
        let (text, cut) = indented(r#"{"b":[1.10e400, {} ],"a":"x, \"y\": {"}"#, 1_000);
        assert_eq!(text, "{\n  \"b\": [\n    1.10e400,\n    {}\n  ],\n  \"a\": \"x, \\\"y\\\": {\"\n}");
        assert!(!cut);
        assert!(indented(&format!("[\"{}\"]", "é".repeat(500)), 100).1);
    }

    #[test]
    fn escapes_of_readable_characters_are_decoded() {
        for (given, shown) in [
            (r#""Dear Kim, \u2026""#, r#""Dear Kim, …""#),
            (r#""\u0645\u0631\u062d\u0628\u0627 \uD83D\ude00""#, r#""مرحبا 😀""#),
            (r#""\u001b[31m \u0022 \u005c \n \\u2026""#, r#""\u001b[31m \u0022 \u005c \n \\u2026""#),
            (r#""\u202e \u200b \ud83d \ude00 \ud83dx""#, r#""\u202e \u200b \ud83d \ude00 \ud83dx""#),
            ("\"\\u00", "\"\\u00"),
            ("\\", "\\"),
        ] {
            assert_eq!(readable(given), shown, "{given}");
        }
        assert_eq!(indented(r#"{"\u00fc":"\u00e9"}"#, 100).0, "{\n  \"ü\": \"é\"\n}");
    }

    #[test]
    fn members_come_in_the_order_sent() {
        let raw = r#"{"z": 1, "a\n": "two"}"#;
        let found: Vec<_> = members(raw).into_iter().map(|(k, v)| (k.into_owned(), v.get().to_owned())).collect();
        assert_eq!(found, [("z".to_owned(), "1".to_owned()), ("a\n".to_owned(), "\"two\"".to_owned())]);
        assert!(members("[1]").is_empty() && members("{broken").is_empty());
    }
}
