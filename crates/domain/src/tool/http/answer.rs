//! What is recorded of a service's answer.

use super::redact::Secrets;
use crate::limit::{JSON_DEPTH_MAX, TOOL_ANSWER_BYTES_MAX};
use serde_json::{Value, json};

/// The answer of a service, without secrets.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// HTTP status code.
    pub status: u16,
    /// The body: JSON if the service says that it is and it can be read, a text otherwise.
    pub body: Value,
    /// Whether the end of the body was left out. Such a body is a text.
    pub is_cut: bool,
}

impl Answer {
    /// The result of the run: `{status, body}`, and `cut: true` if the end is left out.
    pub fn to_result(&self) -> Value {
        let mut result = json!({ "status": self.status, "body": self.body });
        if self.is_cut {
            result["cut"] = true.into();
        }
        result
    }

    /// Whether the service reports success.
    pub const fn is_success(&self) -> bool {
        self.status >= 200 && self.status < 300
    }
}

/// Reads the body of an answer. `content_type` is the header, if there is one. Bytes that are no UTF-8 are replaced.
/// Of a body that takes more than [`TOOL_ANSWER_BYTES_MAX`] as JSON, the beginning is kept as a text.
pub fn answer(status: u16, content_type: Option<&str>, body: &[u8], secrets: &Secrets) -> Answer {
    let read = is_json(content_type).then(|| serde_json::from_slice::<Value>(body).ok()).flatten();
    if let Some(value) = read.filter(|value| depth(value) <= JSON_DEPTH_MAX) {
        let value = secrets.redact_value(value);
        if value.to_string().len() <= TOOL_ANSWER_BYTES_MAX {
            return Answer { status, body: value, is_cut: false };
        }
    }
    // The end is cut after the secrets are gone, so that no part of one is left at the cut.
    let text = secrets.redact(&String::from_utf8_lossy(body));
    let kept = beginning(&text, TOOL_ANSWER_BYTES_MAX);
    Answer { status, is_cut: kept.len() < text.len(), body: kept.into() }
}

/// Whether a media type is JSON: `application/json`, `text/json` or `…+json`.
fn is_json(content_type: Option<&str>) -> bool {
    let media_type = content_type.and_then(|header| header.split(';').next()).unwrap_or_default().trim();
    let media_type = media_type.to_ascii_lowercase();
    matches!(media_type.as_str(), "application/json" | "text/json") || media_type.ends_with("+json")
}

/// How deep arrays and objects are nested. The reader of JSON limits the recursion.
pub(crate) fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or_default(),
        Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or_default(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

/// The longest beginning of a text that takes at most `max` bytes as JSON.
pub(crate) fn beginning(text: &str, max: usize) -> &str {
    let mut bytes = 2;
    for (at, letter) in text.char_indices() {
        bytes += match letter {
            '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
            letter if u32::from(letter) < 0x20 => 6,
            letter => letter.len_utf8(),
        };
        if bytes > max {
            return &text[..at];
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::Secret;
    use proptest::prelude::*;

    fn read(content_type: &str, body: &[u8]) -> Answer {
        let secrets = Secrets::new([("K".to_owned(), Secret::new("hush".to_owned()))]);
        answer(200, Some(content_type), body, &secrets)
    }

    #[test]
    fn json_is_read_as_json_and_everything_else_as_text() {
        for media_type in ["application/json", "Application/JSON; charset=utf-8", "application/problem+json"] {
            assert_eq!(read(media_type, b"{\"a\":\"hush\"}").body, json!({ "a": "[secret]" }), "{media_type}");
        }
        assert_eq!(read("text/html", b"<b>hush</b>\x1b[31m").body, json!("<b>[secret]</b>\u{1b}[31m"));
        assert_eq!(read("application/json", b"{\"a\":").body, json!("{\"a\":"));
        assert_eq!(read("image/png", b"\x89PNG").body, json!("\u{fffd}PNG"));
        assert_eq!(answer(204, None, b"", &Secrets::default()).to_result(), json!({ "status": 204, "body": "" }));
        assert!(answer(299, None, b"", &Secrets::default()).is_success());
        assert!(!answer(302, None, b"", &Secrets::default()).is_success());
    }

    #[test]
    fn what_is_too_large_or_too_deep_becomes_a_text() {
        let large = format!("[\"{}\"]", "a".repeat(TOOL_ANSWER_BYTES_MAX));
        let found = read("application/json", large.as_bytes());
        assert!(found.is_cut && found.body.as_str().is_some_and(|text| text.starts_with("[\"aaa")));
        assert_eq!(found.to_result()["cut"], true);
        let deep = format!("{}{}", "[".repeat(JSON_DEPTH_MAX + 1), "]".repeat(JSON_DEPTH_MAX + 1));
        assert_eq!(read("application/json", deep.as_bytes()).body, json!(deep));
        // A secret that the cut would divide is replaced as a whole.
        let text = format!("{}hush", "a".repeat(TOOL_ANSWER_BYTES_MAX - 4));
        assert!(!read("text/plain", text.as_bytes()).body.to_string().contains("hu"));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn a_recorded_answer_has_at_most_its_size(letter in any::<char>(), count in 250_000_usize..1_100_000) {
            let text = letter.to_string().repeat(count);
            let found = read("text/plain", text.as_bytes());
            prop_assert!(found.body.to_string().len() <= TOOL_ANSWER_BYTES_MAX);
            prop_assert!(text.starts_with(found.body.as_str().unwrap()));
            prop_assert_eq!(found.is_cut, found.body.as_str().unwrap().len() < text.len());
        }
    }
}
