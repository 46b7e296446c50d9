//! Builds the events of an agent: text, tool calls and tool results, in the part format of the AI SDK.

use super::event::{EVENT_CONTENT_BYTES_MAX, Notes, event, fitting, size, texts};
use serde_json::{Value, json};
use wire::event::NewEvent;

/// An `agent.tool_call` event. An input that is too large is cut, see [`fitted`].
pub fn tool_call(id: &str, name: &str, input: &Value, notes: &Notes) -> NewEvent {
    let part = |input: &Value| json!([{ "type": "tool-call", "toolCallId": id, "toolName": name, "input": input }]);
    fitted("agent.tool_call", input, part, notes)
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
    fitted("agent.tool_result", output, part, notes)
}

/// Text of an agent as events of this kind: none for blank text, several numbered parts for long text.
pub fn text(kind: &str, text: &str, notes: &Notes) -> Vec<NewEvent> {
    if text.trim().is_empty() { Vec::new() } else { texts(kind, text, notes) }
}

/// An event that holds `value`. If it is larger than [`EVENT_CONTENT_BYTES_MAX`], it holds the beginning of the value's
/// text and the number of missing bytes as the note `cutBytes`.
fn fitted(kind: &str, value: &Value, part: impl Fn(&Value) -> Value, notes: &Notes) -> NewEvent {
    let whole = event(kind, &part(value), notes);
    if size(&whole) <= EVENT_CONTENT_BYTES_MAX {
        return whole;
    }
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let notes_bytes = whole.metadata.as_ref().map_or(0, |notes| notes.get().len());
    let room = EVENT_CONTENT_BYTES_MAX.saturating_sub(notes_bytes + ENVELOPE);
    let fitting_bytes = fitting(&text, room);
    let mut notes = notes.clone();
    notes.insert("cutBytes".into(), (text.len() - fitting_bytes).into());
    event(kind, &part(&Value::from(&text[..fitting_bytes])), &notes)
}

/// Bytes reserved for a part's other fields and for the note `cutBytes`.
const ENVELOPE: usize = 4 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_is_too_large_is_cut_and_says_how_much_is_missing() {
        let long = "\"é".repeat(200_000);
        for output in [json!(long), json!({ "stdout": long })] {
            let event = tool_result("c1", "bash", &output, false, &Notes::new());
            assert!(size(&event) <= EVENT_CONTENT_BYTES_MAX);
            let part: Value = serde_json::from_str(event.content.as_ref().unwrap().get()).unwrap();
            let kept = part[0]["output"]["value"].as_str().unwrap().len();
            assert_eq!(part[0]["output"]["type"], "text");
            let notes: Value = serde_json::from_str(event.metadata.as_ref().unwrap().get()).unwrap();
            let whole = output.as_str().map_or_else(|| output.to_string(), str::to_owned).len();
            assert_eq!(notes["cutBytes"].as_u64().unwrap() as usize + kept, whole);
        }
    }
}
