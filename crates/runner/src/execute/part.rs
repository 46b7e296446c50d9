//! The parts of tool calls and answers, as the AI SDK writes them and the transcript pairs them.

use super::event::{Notes, ROOM, event, fitting, size, texts};
use serde_json::{Value, json};
use wire::event::NewEvent;

/// A tool call.
pub fn call(id: &str, name: &str, input: &Value, notes: &Notes) -> NewEvent {
    let part = |input: &Value| json!([{ "type": "tool-call", "toolCallId": id, "toolName": name, "input": input }]);
    fitted("agent.tool_call", input, part, notes)
}

/// A tool's answer; `failed` says that it is an error.
pub fn answer(id: &str, name: &str, output: &Value, failed: bool, notes: &Notes) -> NewEvent {
    let kind = match (failed, output.is_string()) {
        (true, true) => "error-text",
        (true, false) => "error-json",
        (false, true) => "text",
        (false, false) => "json",
    };
    let part = |output: &Value| {
        // Cut, it is text whatever it was.
        let kind = if output.is_string() { kind.replace("json", "text") } else { kind.to_owned() };
        let output = json!({ "type": kind, "value": output });
        json!([{ "type": "tool-result", "toolCallId": id, "toolName": name, "output": output, "isError": failed }])
    };
    fitted("agent.tool_result", output, part, notes)
}

/// What an agent says or thinks.
pub fn said(kind: &str, text: &str, notes: &Notes) -> Vec<NewEvent> {
    if text.trim().is_empty() { Vec::new() } else { texts(kind, text, notes) }
}

/// An event that holds `value`, or the beginning of its text where it is too large.
fn fitted(kind: &str, value: &Value, part: impl Fn(&Value) -> Value, notes: &Notes) -> NewEvent {
    let whole = event(kind, &part(value), notes);
    if size(&whole) <= ROOM {
        return whole;
    }
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let notes_bytes = whole.metadata.as_ref().map_or(0, |notes| notes.get().len());
    let room = ROOM.saturating_sub(notes_bytes + ENVELOPE);
    let kept = fitting(&text, room);
    let mut notes = notes.clone();
    notes.insert("cutBytes".into(), (text.len() - kept).into());
    event(kind, &part(&Value::from(&text[..kept])), &notes)
}

/// Room for a part's own fields and for the note about the cut.
const ENVELOPE: usize = 4 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_is_too_large_is_cut_and_says_how_much_is_missing() {
        let long = "\"é".repeat(200_000);
        for output in [json!(long), json!({ "stdout": long })] {
            let event = answer("c1", "bash", &output, false, &Notes::new());
            assert!(size(&event) <= ROOM);
            let part: Value = serde_json::from_str(event.content.as_ref().unwrap().get()).unwrap();
            let kept = part[0]["output"]["value"].as_str().unwrap().len();
            assert_eq!(part[0]["output"]["type"], "text");
            let notes: Value = serde_json::from_str(event.metadata.as_ref().unwrap().get()).unwrap();
            let whole = output.as_str().map_or_else(|| output.to_string(), str::to_owned).len();
            assert_eq!(notes["cutBytes"].as_u64().unwrap() as usize + kept, whole);
        }
    }
}
