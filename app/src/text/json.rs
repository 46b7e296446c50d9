//! JSON for display. It is indented as text, so that member order, number formats and escapes stay as sent.

use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::{borrow::Cow, fmt};

/// Longest JSON shown on a page, characters; the link to the event leads to the rest.
pub const PAYLOAD_CHARS_MAX: usize = 12_000;

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
                let text = raw.get(at..end).unwrap_or_default();
                let room = max.saturating_sub(out.len());
                if text.len() > room {
                    out.push_str(super::shorten::head(text, room));
                    return (out, true);
                }
                out.push_str(text);
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
    fn members_come_in_the_order_sent() {
        let raw = r#"{"z": 1, "a\n": "two"}"#;
        let found: Vec<_> = members(raw).into_iter().map(|(k, v)| (k.into_owned(), v.get().to_owned())).collect();
        assert_eq!(found, [("z".to_owned(), "1".to_owned()), ("a\n".to_owned(), "\"two\"".to_owned())]);
        assert!(members("[1]").is_empty() && members("{broken").is_empty());
    }
}
