//! The frames of `POST {base_url}/chat/completions`.

use super::{super::Tokens, ReplyReader};
use serde_json::Value;

/// Reads a frame.
pub(super) fn read(reader: &mut ReplyReader, frame: &Value) {
    let choices = frame["choices"].as_array().map(Vec::as_slice).unwrap_or_default();
    if let Some(choice) = choices.iter().find(|choice| choice["index"].as_u64().unwrap_or_default() == 0) {
        read_choice(reader, choice);
    }
    // Groq reports usage in a field of its own.
    for usage in [&frame["usage"], &frame["x_groq"]["usage"]] {
        if let Some(tokens) = tokens(usage) {
            reader.tokens = Some(tokens);
        }
    }
}

fn read_choice(reader: &mut ReplyReader, choice: &Value) {
    let delta = &choice["delta"];
    read_content(reader, &delta["content"]);
    // Some services send the reasoning under both names.
    let thinking = [&delta["reasoning_content"], &delta["reasoning"]].into_iter().find_map(Value::as_str);
    reader.thinking.push_str(thinking.unwrap_or_default());
    reader.refusal.push_str(delta["refusal"].as_str().unwrap_or_default());
    reader.calls.take(&delta["tool_calls"]);
    if let Some(reason) = choice["finish_reason"].as_str().filter(|reason| !reason.is_empty()) {
        reader.stop_reason = Some(reason.to_owned());
    }
}

/// Content is a text, or parts with text and reasoning, as Mistral sends it.
fn read_content(reader: &mut ReplyReader, content: &Value) {
    if let Some(text) = content.as_str() {
        reader.text.push(text);
    }
    for part in content.as_array().into_iter().flatten() {
        match part["type"].as_str() {
            Some("thinking") => {
                let inner = part["thinking"].as_array().into_iter().flatten().filter_map(|part| part["text"].as_str());
                reader.thinking.extend(inner);
            }
            Some("refusal") => reader.refusal.push_str(part["refusal"].as_str().unwrap_or_default()),
            _ => reader.text.push(part["text"].as_str().unwrap_or_default()),
        }
    }
}

/// The reported tokens. Zero for both counts is what services write that do not count: a reply takes tokens.
fn tokens(usage: &Value) -> Option<Tokens> {
    let count = |name: &str| usage[name].as_u64();
    let (input, output) = (count("prompt_tokens")?, count("completion_tokens")?);
    let details = &usage["prompt_tokens_details"];
    let cached = details["cached_tokens"].as_u64().or_else(|| count("prompt_cache_hit_tokens")).unwrap_or_default();
    let written = ["cache_write_tokens", "cache_creation_tokens"].into_iter().find_map(|name| details[name].as_u64());
    let tokens = Tokens { input, cached, cache_written: written.unwrap_or_default(), output };
    (input > 0 || output > 0).then_some(tokens)
}
