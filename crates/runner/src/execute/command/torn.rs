//! Looks into JSON objects that cannot be parsed.

/// The value of the member `type` of a JSON object that may be torn, as far as it can be found. Escapes in it are not
/// decoded.
pub fn top_level_type(text: &str) -> Option<&str> {
    let (mut depth, mut at) = (0_usize, 0);
    // The text that was last passed at the first level, and whether a colon has followed it.
    let (mut name, mut is_value) = ("", false);
    while let Some(letter) = text.get(at..)?.chars().next() {
        at += letter.len_utf8();
        match letter {
            '"' => {
                let length = string_length(text.get(at..)?)?;
                let found = text.get(at..at + length)?;
                at += length + 1;
                if depth == 1 && is_value && name == "type" {
                    return Some(found);
                }
                if depth == 1 && !is_value {
                    name = found;
                }
            }
            ':' if depth == 1 => is_value = true,
            ',' if depth == 1 => (name, is_value) = ("", false),
            '{' | '[' => depth += 1,
            '}' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}

/// Length of a JSON text up to its closing quotation mark; `None` if it does not end.
fn string_length(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    text.bytes().position(|byte| {
        let is_end = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        is_end
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_type_is_found_at_the_first_level_alone_however_the_object_is_torn() {
        for (text, kind) in [
            (r#"{"type":"result","result":{"a"#, Some("result")),
            (r#" { "a" : [ {"type":"x"}, "type" ] , "type" : "result" oops"#, Some("result")),
            (r#"{"a":"\"type\":\"x\\","type":"y"#, None),
            (r#"{"a":"\"type\":\"x\\","type":"y""#, Some("y")),
            (r#"{"a":"type","b":"result"}"#, None),
            (r#"{"type":7,"b":"result"}"#, None),
            (r#"{"x":{"type":"result""#, None),
            (r#"{"é":"ü","type":"result""#, Some("result")),
            ("{", None),
            ("", None),
        ] {
            assert_eq!(top_level_type(text), kind, "{text}");
        }
    }
}
