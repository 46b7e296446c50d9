//! Checks the shape of an event's content and metadata without changing them.

use serde_json::value::RawValue;

/// The error for content or metadata of the wrong shape.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidContent {
    /// Content is neither text nor an array of parts.
    #[error("content must be an array of parts, each an object with a string `type`, or plain text")]
    Content,
    /// Metadata is not an object.
    #[error("metadata must be an object")]
    Metadata,
}

/// The one field that a part must have. Other fields are skipped without parsing their values, so numbers of
/// any size are accepted.
#[derive(serde::Deserialize)]
struct Part<'a> {
    #[serde(rename = "type", borrow)]
    _type: std::borrow::Cow<'a, str>,
}

/// Checks content and returns the JSON to store. An array is stored byte for byte as it was sent. Plain text,
/// the short form of marker and navigation events, becomes one text part.
///
/// # Errors
/// [`InvalidContent::Content`] if the content has another shape.
pub fn normalize_content(raw: &RawValue) -> Result<String, InvalidContent> {
    let text = raw.get();
    match text.as_bytes().first() {
        Some(b'[') => {
            serde_json::from_str::<Vec<Part<'_>>>(text).map_err(|_| InvalidContent::Content)?;
            Ok(text.to_owned())
        }
        Some(b'"') => Ok(format!(r#"[{{"type":"text","text":{text}}}]"#)),
        _ => Err(InvalidContent::Content),
    }
}

/// Checks that metadata is an object. Metadata is stored byte for byte.
///
/// # Errors
/// [`InvalidContent::Metadata`] if it is not.
pub fn validate_metadata(raw: &RawValue) -> Result<(), InvalidContent> {
    if raw.get().starts_with('{') { Ok(()) } else { Err(InvalidContent::Metadata) }
}

/// Returns how deep a JSON text is nested; 0 for a scalar. The text must be valid JSON.
pub fn json_depth(json: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    let (mut in_string, mut escaped) = (false, false);
    for byte in json.bytes() {
        match (in_string, escaped, byte) {
            (true, true, _) => escaped = false,
            (true, false, b'\\') => escaped = true,
            (_, false, b'"') => in_string = !in_string,
            (false, _, b'[' | b'{') => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            (false, _, b']' | b'}') => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normalize(json: &str) -> Result<String, InvalidContent> {
        normalize_content(&RawValue::from_string(json.to_owned()).unwrap())
    }

    #[test]
    fn parts_are_kept_byte_for_byte() {
        let sent = r#"[ {"type":"text", "text":"a\u0000b", "n": 1.10e400 } ]"#;
        assert_eq!(normalize(sent.trim()).unwrap(), sent);
        assert_eq!(normalize("[]").unwrap(), "[]");
    }

    #[test]
    fn plain_text_becomes_one_text_part() {
        assert_eq!(normalize(r#""sent \"mail\"""#).unwrap(), r#"[{"type":"text","text":"sent \"mail\""}]"#);
    }

    #[test]
    fn other_shapes_are_refused() {
        for bad in ["1", "null", "{}", "[1]", "[[]]", r#"[{"text":"x"}]"#, r#"[{"type":1}]"#] {
            assert_eq!(normalize(bad), Err(InvalidContent::Content), "{bad}");
        }
    }

    #[test]
    fn depth_counts_brackets_outside_strings() {
        assert_eq!(json_depth("1"), 0);
        assert_eq!(json_depth(r#"[{"a":[]}]"#), 3);
        assert_eq!(json_depth(r#"{"a":"[[[\"[[","b":"\\"}"#), 1);
    }
}
