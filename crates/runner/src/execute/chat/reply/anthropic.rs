//! The frames of `POST {base_url}/messages`.

use super::ReplyReader;
use serde_json::Value;

/// Reads a frame.
pub(super) fn read(reader: &mut ReplyReader, frame: &Value) {
    let (block, delta) = (&frame["content_block"], &frame["delta"]);
    match frame["type"].as_str().unwrap_or_default() {
        "message_start" => count(reader, &frame["message"]["usage"]),
        "content_block_start" => match block["type"].as_str() {
            Some("text") => reader.text.push(block["text"].as_str().unwrap_or_default()),
            Some("thinking") => reader.thinking.push_str(block["thinking"].as_str().unwrap_or_default()),
            Some("tool_use") => {
                reader.calls.begin(frame["index"].as_u64(), &block["id"], &block["name"], &block["input"])
            }
            _ => {}
        },
        "content_block_delta" => match delta["type"].as_str() {
            Some("text_delta") => reader.text.push(delta["text"].as_str().unwrap_or_default()),
            Some("thinking_delta") => reader.thinking.push_str(delta["thinking"].as_str().unwrap_or_default()),
            Some("input_json_delta") => reader.calls.go_on(frame["index"].as_u64(), &delta["partial_json"]),
            _ => {}
        },
        "message_delta" => {
            count(reader, &frame["usage"]);
            if let Some(reason) = delta["stop_reason"].as_str() {
                reader.stop_reason = Some(reason.to_owned());
            }
            let explanation =
                ["explanation", "message"].into_iter().find_map(|name| delta["stop_details"][name].as_str());
            reader.explanation.push_str(explanation.unwrap_or_default());
        }
        "message_stop" => reader.has_ended = true,
        _ => {}
    }
}

/// Adds reported tokens: the first frame has those of the input, the last one the final ones of the output. Input
/// tokens of the service are without those of the cache.
fn count(reader: &mut ReplyReader, usage: &Value) {
    let number = |name: &str| usage[name].as_u64();
    let (written, cached) = (number("cache_creation_input_tokens"), number("cache_read_input_tokens"));
    let mut tokens = reader.tokens.unwrap_or_default();
    if let Some(input) = number("input_tokens") {
        tokens.cache_written = written.unwrap_or_default();
        tokens.cached = cached.unwrap_or_default();
        tokens.input = input + tokens.cache_written + tokens.cached;
    }
    if let Some(output) = number("output_tokens") {
        tokens.output = output;
    }
    if tokens.input > 0 || tokens.output > 0 {
        reader.tokens = Some(tokens);
    }
}
