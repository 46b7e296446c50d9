//! The part of a tool's result that is recorded.

use crate::{
    limit::{JSON_DEPTH_MAX, TOOL_ANSWER_BYTES_MAX},
    tool::http::{Secrets, beginning, depth},
};
use serde_json::{Value, json};

/// Types of images that are recorded. Others can carry scripts.
const IMAGES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// A part of a result, as the server sent it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Block {
    /// Plain text, in one or more lines.
    Text(String),
    /// An image in Base64.
    Image {
        /// Its media type.
        mime_type: String,
        /// Its bytes in Base64.
        data: String,
    },
    /// A link to a resource of the server.
    Link {
        /// Address of the resource.
        uri: String,
        /// Name of the linked resource.
        name: String,
        /// Its media type, if the server says it.
        mime_type: Option<String>,
    },
    /// A resource of the server with its text.
    Resource {
        /// Address of the resource.
        uri: String,
        /// Its media type, if the server says it.
        mime_type: Option<String>,
        /// Its content.
        text: String,
    },
    /// What is not recorded: sound, resources that are no text, and kinds that are not known.
    Other,
}

/// The result of a run, without secrets: the structured result if there is one, `{content}` otherwise. Of content that
/// takes more than [`TOOL_ANSWER_BYTES_MAX`] as JSON, texts are cut and what does not fit is left out, and `cut` is
/// true.
///
/// # Errors
/// Why a structured result cannot be recorded: it is too large or too deep.
pub fn answer(structured: Option<Value>, content: Vec<Block>, secrets: &Secrets) -> Result<Value, String> {
    let Some(structured) = structured else { return Ok(of_content(content, secrets)) };
    if depth(&structured) > JSON_DEPTH_MAX {
        return Err(format!("the result is more than {JSON_DEPTH_MAX} levels deep"));
    }
    let structured = secrets.redact_value(structured);
    if structured.to_string().len() > TOOL_ANSWER_BYTES_MAX {
        return Err(format!("the result has more than {TOOL_ANSWER_BYTES_MAX} bytes"));
    }
    Ok(structured)
}

/// The texts of a result, for the message of a failure: one line of at most `max` characters. `redact` takes secrets
/// out of the whole text, before its lines are joined and it is cut.
pub fn error_text(content: &[Block], redact: impl FnOnce(&str) -> String, max: usize) -> String {
    let texts = content.iter().filter_map(|block| match block {
        Block::Text(text) => Some(text.as_str()),
        Block::Image { .. } | Block::Link { .. } | Block::Resource { .. } | Block::Other => None,
    });
    let text = texts.collect::<Vec<_>>().join("\n");
    line_text(&text, redact, max).unwrap_or_else(|| "it gives no reason".to_owned())
}

/// A text of a server on one line of at most `max` characters; `None` if nothing is left. `redact` takes secrets out of
/// the whole text.
pub fn line_text(text: &str, redact: impl FnOnce(&str) -> String, max: usize) -> Option<String> {
    super::text::line(&redact(text), max)
}

fn of_content(content: Vec<Block>, secrets: &Secrets) -> Value {
    let mut kept = Vec::new();
    let mut is_cut = false;
    let mut room = TOOL_ANSWER_BYTES_MAX;
    for block in content {
        let Some(block) = recorded(block, secrets) else {
            is_cut = true;
            continue;
        };
        let bytes = block.to_string().len() + 1;
        if bytes <= room {
            room -= bytes;
            kept.push(block);
            continue;
        }
        is_cut = true;
        // The beginning of a text is of use, that of anything else is not.
        let text = block.get("text").and_then(Value::as_str).filter(|_| block["type"] == "text");
        let text = text.map(|text| fitting(text, room)).unwrap_or_default();
        if !text.is_empty() {
            let shortened = json!({ "type": "text", "text": text });
            room = room.saturating_sub(shortened.to_string().len() + 1);
            kept.push(shortened);
        }
    }
    let mut result = json!({ "content": kept });
    if is_cut {
        result["cut"] = true.into();
    }
    result
}

/// The longest beginning of a text that takes at most `room` bytes as JSON, with the members around it.
fn fitting(text: &str, room: usize) -> &str {
    const AROUND: usize = 40;
    beginning(text, room.saturating_sub(AROUND))
}

/// A block as it is recorded; `None` for one that is not.
fn recorded(block: Block, secrets: &Secrets) -> Option<Value> {
    let value = match block {
        Block::Text(text) => json!({ "type": "text", "text": text }),
        Block::Image { mime_type, data } if IMAGES.contains(&mime_type.as_str()) => {
            json!({ "type": "image", "mimeType": mime_type, "data": data })
        }
        Block::Image { .. } | Block::Other => return None,
        Block::Link { uri, name, mime_type } => {
            json!({ "type": "resource_link", "uri": uri, "name": name, "mimeType": mime_type })
        }
        Block::Resource { uri, mime_type, text } => {
            json!({ "type": "resource", "uri": uri, "mimeType": mime_type, "text": text })
        }
    };
    Some(secrets.redact_value(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::Secret;

    fn secrets() -> Secrets {
        Secrets::new([("authorization".to_owned(), Secret::new("hush".to_owned()))])
    }

    #[test]
    fn a_structured_result_is_recorded_as_it_is_without_secrets() {
        let structured = json!({ "text": "say hush", "n": 1 });
        let found = answer(Some(structured), vec![Block::Text("x".to_owned())], &secrets());
        assert_eq!(found, Ok(json!({ "text": "say [secret]", "n": 1 })));
        assert_eq!(answer(Some(Value::Null), Vec::new(), &secrets()), Ok(Value::Null));
        let large = json!("a".repeat(TOOL_ANSWER_BYTES_MAX));
        assert!(answer(Some(large), Vec::new(), &secrets()).unwrap_err().contains("bytes"));
        let deep = (0..=JSON_DEPTH_MAX).fold(json!(1), |inner, _| json!([inner]));
        assert!(answer(Some(deep), Vec::new(), &secrets()).unwrap_err().contains("levels"));
    }

    #[test]
    fn content_is_recorded_by_its_kind() {
        let image = |mime_type: &str| Block::Image { mime_type: mime_type.to_owned(), data: "AAAA".to_owned() };
        let link = Block::Link { uri: "file:///a".to_owned(), name: "a".to_owned(), mime_type: None };
        let found = answer(None, vec![Block::Text("hush".to_owned()), image("image/png"), link], &secrets()).unwrap();
        assert_eq!(found["content"][0], json!({ "type": "text", "text": "[secret]" }));
        assert_eq!(found["content"][1]["mimeType"], "image/png");
        assert_eq!((&found["content"][2]["uri"], found.get("cut")), (&json!("file:///a"), None));
        let found = answer(None, vec![image("image/svg+xml"), Block::Other], &secrets()).unwrap();
        assert_eq!(found, json!({ "content": [], "cut": true }));
    }

    #[test]
    fn content_that_is_too_large_is_cut() {
        let long = "\"".repeat(TOOL_ANSWER_BYTES_MAX);
        let found = answer(None, vec![Block::Text(long), Block::Text("end".to_owned())], &secrets()).unwrap();
        assert_eq!(found["cut"], true);
        assert!(found["content"][0]["text"].as_str().is_some_and(|text| text.len() > 1_000));
        assert!(found.to_string().len() <= TOOL_ANSWER_BYTES_MAX + 100);
        let image = Block::Image { mime_type: "image/png".to_owned(), data: "A".repeat(TOOL_ANSWER_BYTES_MAX) };
        let found = answer(None, vec![image, Block::Text("end".to_owned())], &secrets()).unwrap();
        assert_eq!(found, json!({ "content": [{ "type": "text", "text": "end" }], "cut": true }));
    }

    #[test]
    fn the_text_of_an_error_is_one_line_without_secrets() {
        let blocks = [Block::Text("no \u{1b}[31mhush\nhere".to_owned()), Block::Other];
        let redact = |text: &str| secrets().redact(text);
        assert_eq!(error_text(&blocks, redact, 100), "no [secret] here");
        assert_eq!(error_text(&[], redact, 100), "it gives no reason");
    }
}
