//! `memory`: Anthropic's memory tool over the documents of the session's agent.

use super::{
    super::{
        adapter::{Failure, JobContext},
        lease::is_transient,
    },
    Answer, tool_answer,
};
use serde_json::{Value, json};
use wire::memory::{MemoryToolAnswer, MemoryToolCommand};

pub const DESCRIPTION: &str = "Reads and writes what you remember between sessions, as Markdown documents below \
/memories: topics/<subject>.md, people/<platform>-<user id>.md and sessions/<date>-<slot>.md. Documents below \
/memories/self are read-only. `view` shows a folder or a document, `create` makes one, `str_replace` and `insert` change \
one, `delete` and `rename` do what they say.";

pub fn schema() -> Value {
    let path = json!({ "type": "string", "minLength": 1, "maxLength": 300 });
    let text = json!({ "type": "string", "maxLength": 102_400 });
    json!({
        "type": "object",
        "properties": {
            "command": { "enum": ["view", "create", "str_replace", "insert", "delete", "rename"] },
            "path": path, "old_path": path, "new_path": path,
            "view_range": { "type": "array", "items": { "type": "integer" }, "minItems": 2, "maxItems": 2 },
            "file_text": text, "old_str": text, "new_str": text, "insert_text": text,
            "insert_line": { "type": "integer" },
        },
        "required": ["command"],
        "additionalProperties": false,
    })
}

/// Whether a command writes.
pub fn has_effects(input: &Value) -> bool {
    input["command"] != "view"
}

/// Runs the command. One that writes is sent once: after a lost answer it is unknown whether the write happened.
pub async fn run(input: &Value, context: &JobContext) -> Result<Answer, Failure> {
    let command: MemoryToolCommand = match serde_json::from_value(input.clone()) {
        Ok(command) => command,
        Err(error) => return Ok(Err(json!(format!("the input does not fit the command: {error}")))),
    };
    let (lease, writes) = (&context.lease, has_effects(input));
    // A write follows the event that marks the call as started: that event is the newest one.
    let sequence = if writes { context.events.newest() } else { None };
    let send = || context.api.call_memory_tool(lease.session_id, sequence, &command);
    let answer = if writes { send().await } else { lease.retry_while_held(lease.backoff(), |_| send()).await };
    match answer {
        Ok(MemoryToolAnswer { content, is_error: true, .. }) => Ok(Err(json!(content))),
        Err(error) if writes && is_transient(&error) => {
            Ok(Err(json!(format!("it is not known whether this was written; view it to find out: {error}"))))
        }
        answer => tool_answer(answer, |answer| json!(answer.content)),
    }
}
