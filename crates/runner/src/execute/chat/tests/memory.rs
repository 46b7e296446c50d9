//! Tests of the memory tool.

use super::*;
use crate::execute::fake::SESSION_ID;

#[tokio::test]
async fn what_is_written_to_memory_names_the_event_of_its_call() {
    let view = json!({"command": "view", "path": "/memories"});
    let create = json!({"command": "create", "path": "/memories/topics/a.md", "file_text": "x"});
    let script = [
        ScriptedReply::tool("c1", "memory", &view),
        ScriptedReply::tool("c2", "memory", &create),
        ScriptedReply::Text("Noted."),
    ];
    let model = ScriptedModel::start(script).await;
    let fake = fake().await;
    assert_eq!(work(&fake, agent(&model, Wire::OpenAi).chat, |_| {}).await, End::Completed);
    let started = kinds(&fake).iter().position(|kind| kind == STARTED).unwrap() + 1;
    let calls = fake.calls("memory");
    assert_eq!(calls.len(), 2);
    assert_eq!(calls[0]["query"], json!({"sessionId": SESSION_ID}));
    assert_eq!(calls[1]["query"], json!({"sessionId": SESSION_ID, "sequence": started.to_string()}));
}
