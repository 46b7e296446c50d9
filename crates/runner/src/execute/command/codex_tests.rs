//! Fixtures are what Codex 0.169.0 printed before a model that a script played.

use super::*;

fn read(text: &str) -> (Vec<Value>, Option<Output>) {
    let mut transcript = Parser::default();
    let (mut events, mut outcome) = (Vec::new(), None);
    for parsed in text.lines().flat_map(|line| transcript.read(serde_json::from_str(line).unwrap())) {
        match parsed {
            Parsed::Event(event) => events.push(serde_json::to_value(event).unwrap()),
            Parsed::Result(output) => outcome = Some(output),
            Parsed::Ask(_) | Parsed::Progress(_) | Parsed::Patch(..) => panic!("this format asks nobody"),
        }
    }
    (events, outcome)
}

fn json_of(document: Option<&wire::Json>) -> Value {
    document.map_or(Value::Null, |json| serde_json::from_str(json.get()).unwrap())
}

#[test]
fn a_run_becomes_thinking_calls_answers_and_messages_with_result_and_usage() {
    let (events, outcome) = read(include_str!("fixtures/codex.jsonl"));
    let kinds: Vec<_> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    let expected = [
        "external.event",
        "external.event",
        "external.event",
        "agent.thinking",
        "agent.tool_call",
        "agent.tool_result",
        "agent.message",
    ];
    assert_eq!(kinds, expected);
    assert_eq!(events[0]["content"][0]["text"], "thread.started");
    let call = json!([{"type": "tool-call", "toolCallId": "item_2", "toolName": "shell",
        "input": {"command": "/bin/bash -lc 'echo hello'"}}]);
    assert_eq!(events[4]["content"], call);
    let output = json!({"type": "json", "value": {"output": "hello\n", "exitCode": 0}});
    assert_eq!(events[5]["content"][0]["output"], output);
    let outcome = outcome.unwrap();
    assert_eq!(json_of(outcome.result.as_ref()), "It says hello.");
    let usage = json!({"inputTokens": 400, "outputTokens": 40, "cachedInputTokens": 100, "steps": 1});
    assert_eq!(json_of(outcome.usage.as_ref()), usage);
    assert_eq!(outcome.failure, None);
}

#[test]
fn a_turn_that_failed_is_a_failure_in_the_agents_words() {
    let (events, outcome) = read(include_str!("fixtures/codex_bad.jsonl"));
    let failure = outcome.unwrap().failure.unwrap();
    assert_eq!(failure.code, "agent_error");
    assert!(failure.message.contains("no such model"), "{}", failure.message);
    assert!(events.iter().any(|event| event["content"][0]["text"].as_str().unwrap().contains("no such model")));
}

#[test]
fn other_tools_are_calls_with_their_answers_although_they_never_began() {
    let lines = r#"{"type":"item.completed","item":{"id":"i1","type":"mcp_tool_call","server":"docs","tool":"find","arguments":{"q":"x"},"result":null,"error":{"message":"gone"},"status":"failed"}}
{"type":"item.completed","item":{"id":"i2","type":"file_change","changes":[{"path":"a.rs","kind":"add"}],"status":"completed"}}
{"type":"item.updated","item":{"id":"i3","type":"todo_list","items":[]}}
{"type":"item.completed","item":{"id":"i3","type":"todo_list","items":[{"text":"a","completed":true}]}}"#;
    let (events, _) = read(lines);
    let parts: Vec<_> = events.iter().map(|event| &event["content"][0]).collect();
    assert_eq!((&parts[0]["toolName"], &parts[0]["input"]), (&json!("docs.find"), &json!({"q": "x"})));
    assert_eq!(parts[1]["output"], json!({"type": "error-json", "value": {"message": "gone"}}));
    assert_eq!(
        (&parts[2]["toolName"], &parts[3]["output"]["value"]["status"]),
        (&json!("apply_patch"), &json!("completed"))
    );
    assert_eq!(
        (&events[4]["metadata"]["progress"], &events[4]["metadata"]["said"]["items"]),
        (&json!("updated"), &json!([]))
    );
    assert_eq!(events[5]["metadata"]["said"]["items"][0]["text"], "a");
}

#[test]
fn lists_of_what_is_to_do_their_updates_and_the_begin_of_a_turn_are_recorded() {
    let lines = r#"{"type":"thread.started","thread_id":"x"}
{"type":"turn.started"}
{"type":"item.started","item":{"id":"i1","type":"todo_list","items":[{"text":"a","completed":false}]}}
{"type":"item.updated","item":{"id":"i1","type":"todo_list","items":[{"text":"a","completed":true}]}}
{"type":"item.started","item":{"id":"i2","type":"command_execution","command":"ls","aggregated_output":"","exit_code":null,"status":"in_progress"}}
{"type":"item.updated","item":{"id":"i2","type":"command_execution","command":"ls","aggregated_output":"x","exit_code":null,"status":"in_progress"}}
{"type":"item.completed","item":{"id":"i2","type":"command_execution","command":"ls","aggregated_output":"x\n","exit_code":2,"status":"failed"}}
{"type":"item.completed","item":{"id":"i3","type":"collab_tool_call","tool":"spawn_agent","status":"completed"}}
{"type":"item.completed","item":{"id":"i4","type":"agent_message","text":"<think>So.</think>Bye"}}
{"type":"turn.completed","usage":{"input_tokens":1,"cached_input_tokens":0,"output_tokens":1}}"#;
    let (events, outcome) = read(lines);
    let texts: Vec<_> = events
        .iter()
        .map(|event| event["content"][0]["text"].as_str().or(event["content"][0]["type"].as_str()).unwrap())
        .collect();
    let expected = [
        "thread.started",
        "turn.started",
        "todo_list",
        "todo_list",
        "tool-call",
        "command_execution",
        "tool-result",
        "collab_tool_call",
        "So.",
        "Bye",
    ];
    assert_eq!(texts, expected);
    let progress: Vec<_> =
        events.iter().map(|event| &event["metadata"]["progress"]).filter(|said| said.is_string()).collect();
    assert_eq!(progress, ["started", "updated", "updated"]);
    assert_eq!(events[3]["metadata"]["said"]["items"][0]["completed"], true);
    assert_eq!((&events[6]["content"][0]["isError"], &events[9]["type"]), (&json!(true), &json!("agent.message")));
    assert_eq!(json_of(outcome.unwrap().result.as_ref()), "Bye");
}

#[test]
fn a_turn_without_usage_has_no_tokens() {
    let turn = r#"{"type":"turn.completed"}"#;
    assert_eq!(json_of(read(turn).1.unwrap().usage.as_ref()), json!({"steps": 1, "unreportedSteps": 1}));
    let two = format!(
        "{turn}\n{}",
        r#"{"type":"turn.completed","usage":{"input_tokens":4,"cache_write_input_tokens":2,"output_tokens":1}}"#
    );
    assert_eq!(json_of(read(&two).1.unwrap().usage.as_ref()), json!({"steps": 2, "unreportedSteps": 1}));
}
