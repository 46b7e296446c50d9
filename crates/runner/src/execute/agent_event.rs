//! Builds the events of an agent: text, tool calls and tool results, in the part format of the AI SDK.

use super::{
    event::{EVENT_CONTENT_BYTES_MAX, event, size, texts},
    notes::Notes,
    picture::without_pictures,
};
use domain::event::Known;
use domain::hook::truncate_digested;
use serde_json::{Value, json};
use wire::event::NewEvent;

/// An `agent.tool_call` event. An input that is too large is cut, see [`fitted`].
pub fn tool_call(id: &str, name: &str, input: &Value, notes: &Notes) -> NewEvent {
    let part = |input: &Value| json!([{ "type": "tool-call", "toolCallId": id, "toolName": name, "input": input }]);
    fitted(Known::AgentToolCall.as_str(), input, part, notes)
}

/// An `agent.tool_result` event. `failed` marks the output as an error.
pub fn tool_result(id: &str, name: &str, output: &Value, failed: bool, notes: &Notes) -> NewEvent {
    let kind = match (failed, output.is_string()) {
        (true, true) => "error-text",
        (true, false) => "error-json",
        (false, true) => "text",
        (false, false) => "json",
    };
    let part = |output: &Value| {
        // What is left of a cut value is text.
        let kind = if output.is_string() { kind.replace("json", "text") } else { kind.to_owned() };
        let output = json!({ "type": kind, "value": output });
        json!([{ "type": "tool-result", "toolCallId": id, "toolName": name, "output": output, "isError": failed }])
    };
    fitted(Known::AgentToolResult.as_str(), output, part, notes)
}

/// Text of an agent as events of this kind: none for blank text, several numbered parts for long text.
pub fn text(kind: &str, text: &str, notes: &Notes) -> Vec<NewEvent> {
    if text.trim().is_empty() { Vec::new() } else { texts(kind, text, notes) }
}

/// An `external.event` with a short text, and the printed line in `metadata.said`, which is cut as in [`fitted`].
pub fn external(text: &str, value: &Value, notes: &Notes) -> Vec<NewEvent> {
    let mut notes = notes.clone();
    notes.said = Some(shortened(value, EVENT_CONTENT_BYTES_MAX.saturating_sub(ENVELOPE + text.len())));
    texts(Known::ExternalEvent.as_str(), text, &notes)
}

/// An event that holds `value`. If it is larger than [`EVENT_CONTENT_BYTES_MAX`], large parts inside of the value are
/// cut, with their size and digest in their place, and the note `cutBytes` has the number of missing bytes.
fn fitted(kind: &str, value: &Value, part: impl Fn(&Value) -> Value, notes: &Notes) -> NewEvent {
    let whole = event(kind, &part(value), notes);
    if size(&whole) <= EVENT_CONTENT_BYTES_MAX {
        return whole;
    }
    let notes_bytes = whole.metadata.as_ref().map_or(0, |notes| notes.get().len());
    let kept = shortened(value, EVENT_CONTENT_BYTES_MAX.saturating_sub(notes_bytes + ENVELOPE));
    let mut notes = notes.clone();
    notes.cut_bytes = Some(value.to_string().len().saturating_sub(kept.to_string().len()));
    event(kind, &part(&kept), &notes)
}

/// The value in at most `bytes_max` bytes of JSON. Pictures are left out first, then long texts are cut.
fn shortened(value: &Value, bytes_max: usize) -> Value {
    if value.to_string().len() <= bytes_max {
        value.clone()
    } else {
        truncate_digested(&without_pictures(value), bytes_max)
    }
}

/// Bytes reserved for a part's other fields and for the note `cutBytes`.
const ENVELOPE: usize = 4 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    fn part_of(event: &NewEvent) -> (Value, Value) {
        assert!(size(event) <= EVENT_CONTENT_BYTES_MAX, "{}", size(event));
        let json = |json: &Option<wire::Json>| serde_json::from_str::<Value>(json.as_ref().unwrap().get()).unwrap();
        (json(&event.content)[0].clone(), json(&event.metadata))
    }

    #[test]
    fn an_answer_that_is_too_large_is_cut_inside_and_says_how_much_is_missing() {
        let long = "\"é".repeat(200_000);
        let (part, notes) = part_of(&tool_result("c1", "bash", &json!(long), false, &Notes::default()));
        assert_eq!(part["output"]["type"], "text");
        let kept = part["output"]["value"].as_str().unwrap();
        assert!(kept.contains("of 600000 bytes are not recorded; SHA-256 "), "{}", &kept[kept.len() - 200..]);
        assert!(notes["cutBytes"].as_u64().unwrap() > 300_000);

        let output = json!({ "stdout": long, "stderr": "warning", "exitCode": 1 });
        let (part, _) = part_of(&tool_result("c1", "bash", &output, false, &Notes::default()));
        let value = &part["output"]["value"];
        assert_eq!(
            (&part["output"]["type"], &value["stderr"], &value["exitCode"]),
            (&json!("json"), &json!("warning"), &json!(1))
        );
        assert!(value["stdout"].as_str().unwrap().contains("SHA-256"));

        let (part, _) =
            part_of(&tool_call("c1", "Write", &json!({ "path": "/a", "content": long }), &Notes::default()));
        assert_eq!((&part["toolCallId"], &part["input"]["path"]), (&json!("c1"), &json!("/a")));
        let many: Vec<_> = (0..100_000).collect();
        let (part, _) = part_of(&tool_result("c1", "bash", &json!(many), true, &Notes::default()));
        assert_eq!(part["output"]["type"], "error-text");
    }

    #[test]
    fn a_picture_that_does_not_fit_is_kept_as_one_with_its_size_and_digest() {
        let picture = json!([
            { "type": "text", "text": "Read" },
            { "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": "AAAA".repeat(300_000) } },
        ]);
        let (part, _) = part_of(&tool_result("c1", "Read", &picture, false, &Notes::default()));
        let value = &part["output"]["value"];
        assert_eq!((&part["output"]["type"], &value[0]["text"]), (&json!("json"), &json!("Read")));
        assert_eq!((&value[1]["type"], &value[1]["source"]["bytes"]), (&json!("image"), &json!(900_000)));
        let said = external("image", &picture, &Notes::default());
        assert!(said.len() == 1 && size(&said[0]) <= EVENT_CONTENT_BYTES_MAX);
    }
}
