//! Fixtures are what Claude Code 2.1.197 printed before a model that a script played.

use super::super::{
    Format,
    lines::LineParser,
    output::{Output, Parsed},
    split::Line,
};
use super::*;

/// Type, text or part, and metadata of every event, and the outcome.
fn read(text: &str) -> (Vec<Value>, Option<Output>) {
    let mut reader = LineParser::for_stdout(Format::ClaudeCode);
    let (mut events, mut outcome) = (Vec::new(), None);
    for line in text.lines() {
        for parsed in reader.read(&Line { bytes: line.into(), begins: true, ends: true }, false) {
            match parsed {
                Parsed::Event(event) => events.push(serde_json::to_value(event).unwrap()),
                Parsed::Result(output) => outcome = Some(output),
                Parsed::Ask(_) | Parsed::Progress(_) | Parsed::Patch(..) => panic!("this format asks nobody"),
            }
        }
    }
    (events, outcome)
}

fn json_of(document: Option<&wire::Json>) -> Value {
    document.map_or(Value::Null, |json| serde_json::from_str(json.get()).unwrap())
}

#[test]
fn a_run_becomes_messages_calls_and_answers_in_order_with_result_and_cost() {
    let (events, outcome) = read(include_str!("fixtures/claude.jsonl"));
    let kinds: Vec<_> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    let expected = ["external.event", "agent.message", "agent.tool_call", "agent.tool_result", "agent.message"];
    assert_eq!(kinds, expected);
    assert_eq!(events[0]["content"][0]["text"], "system init claude-opus-4-8[1m]");
    assert_eq!(events[0]["metadata"]["said"]["claude_code_version"], "2.1.197");
    assert_eq!(events[1]["externalEventId"], "e1a00c33-bb71-402f-bdcb-c832fb27e505");
    let call = json!([{"type": "tool-call", "toolCallId": "toolu_01", "toolName": "Bash",
        "input": {"command": "echo hello", "description": "Says hello"}}]);
    assert_eq!(events[2]["content"], call);
    let answer = json!([{"type": "tool-result", "toolCallId": "toolu_01", "toolName": "Bash",
        "output": {"type": "text", "value": "hello"}, "isError": false}]);
    assert_eq!(events[3]["content"], answer);
    assert_eq!(events[4]["content"][0]["text"], "It says hello.");
    let outcome = outcome.unwrap();
    assert_eq!(json_of(outcome.result.as_ref()), "It says hello.");
    let usage = json!({"inputTokens": 400, "outputTokens": 30, "cachedInputTokens": 100, "cacheWriteTokens": 60, "costUsd": 0.002375, "steps": 2});
    assert_eq!(json_of(outcome.usage.as_ref()), usage);
    assert_eq!(outcome.failure, None);
}

#[test]
fn a_run_that_the_model_refused_is_a_failure_in_the_agents_words() {
    let (_, outcome) = read(include_str!("fixtures/claude_bad.jsonl"));
    let failure = outcome.unwrap().failure.unwrap();
    assert_eq!(failure, Failure::new("agent_error", "API Error: 400 no such model"));
}

#[test]
fn a_run_out_of_turns_is_a_failure_with_its_kind() {
    let line = r#"{"type":"result","subtype":"error_max_turns","is_error":false,"num_turns":3,"errors":["Reached maximum number of turns (3)"]}"#;
    let failure = read(line).1.unwrap().failure.unwrap();
    assert_eq!(failure, Failure::new("error_max_turns", "Reached maximum number of turns (3)"));
}

#[test]
fn thinking_subagents_and_failed_tools_keep_what_they_are() {
    let lines = r#"{"type":"assistant","message":{"model":"m","content":[{"type":"thinking","thinking":"Hm.","signature":"s"},{"type":"text","text":"Go."}]},"parent_tool_use_id":"toolu_9","uuid":"u1"}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"toolu_8","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}],"is_error":true}]},"uuid":"u2"}
{"type":"stream_event","event":{"type":"content_block_delta"},"uuid":"u3"}"#;
    let (events, _) = read(lines);
    assert_eq!(events.len(), 3);
    assert_eq!((&events[0]["type"], &events[0]["threadId"]), (&json!("agent.thinking"), &json!("toolu_9")));
    assert_eq!((&events[0]["externalEventId"], &events[1]["externalEventId"]), (&json!("u1.0"), &json!("u1.1")));
    assert_eq!(events[2]["content"][0]["output"], json!({"type": "error-text", "value": "a\nb"}));
    assert_eq!(events[2]["content"][0]["toolName"], "tool");
}

#[test]
fn what_is_not_json_or_of_an_unknown_type_is_kept() {
    let (events, outcome) = read("Warning: no stdin\n{\"type\":\"brand_new\",\"n\":1}\n[1]");
    assert!(outcome.is_none());
    let kinds: Vec<_> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["external.event"; 3]);
    assert_eq!(events[0]["content"][0]["text"], "Warning: no stdin");
    assert_eq!(events[1]["metadata"]["said"], json!({"type": "brand_new", "n": 1}));
}

#[test]
fn reasoning_in_a_text_and_a_refusal_are_told_from_the_answer() {
    let lines = r#"{"type":"assistant","message":{"content":[{"type":"text","text":"<think>Hm.</think>\n\nYes."}]},"uuid":"u1"}
{"type":"result","subtype":"success","result":"<think>Hm.</think>\n\nYes.","total_cost_usd":0.5}"#;
    let (events, outcome) = read(lines);
    let texts: Vec<_> = events.iter().map(|event| (&event["type"], &event["content"][0]["text"])).collect();
    assert_eq!(texts, [(&json!("agent.thinking"), &json!("Hm.")), (&json!("agent.message"), &json!("Yes."))]);
    let outcome = outcome.unwrap();
    assert_eq!(json_of(outcome.result.as_ref()), "Yes.");
    assert_eq!(json_of(outcome.usage.as_ref()), json!({"costUsd": 0.5}), "tokens that are not reported are not zero");
    let refused =
        read(r#"{"type":"result","subtype":"success","stop_reason":"refusal","result":"I can't."}"#).1.unwrap();
    let message = "the model declined to answer (stop reason refusal): I can't.";
    assert_eq!(refused.failure.unwrap(), Failure::new("model_declined", message));
}
