//! Requests in both formats.

use super::{
    super::{
        Call, Offered,
        message::{CallResult, Message, Part},
    },
    *,
};
use serde_json::json;

fn question() -> ModelRequest {
    let call = Call { id: "c1".into(), name: "note".into(), input: json!({ "text": "x" }) };
    let result = |id: &str, text: &str| CallResult { id: id.into(), text: text.into() };
    ModelRequest {
        system: "You are a clerk.".into(),
        messages: vec![
            Message::user("Hello"),
            Message::Agent(vec![Part::Text("One.".into()), Part::Text("Two.".into()), Part::Call(call)]),
            Message::Results(vec![result("c1", "noted"), result("c2", "done")]),
        ],
        tools: vec![Offered { slug: "note".into(), description: "Notes.".into(), schema: json!({ "type": "object" }) }],
        reply_schema: Some(json!({ "type": "object" })),
    }
}

#[test]
fn a_request_in_openais_format_has_calls_beside_the_text_and_one_message_for_each_result() {
    let call =
        json!({ "type": "function", "id": "c1", "function": { "name": "note", "arguments": "{\"text\":\"x\"}" } });
    let tool = json!({ "name": "note", "description": "Notes.", "parameters": { "type": "object" } });
    let format = json!({ "name": "reply", "strict": true, "schema": { "type": "object" } });
    let expected = json!({
        "model": "m-1", "stream": true, "stream_options": { "include_usage": true }, "max_tokens": 9,
        "messages": [
            { "role": "system", "content": "You are a clerk." },
            { "role": "user", "content": "Hello" },
            { "role": "assistant", "content": "One.\n\nTwo.", "tool_calls": [call] },
            { "role": "tool", "tool_call_id": "c1", "content": "noted" },
            { "role": "tool", "tool_call_id": "c2", "content": "done" },
        ],
        "tools": [{ "type": "function", "function": tool }],
        "response_format": { "type": "json_schema", "json_schema": format },
    });
    assert_eq!(body(Wire::OpenAi, "m-1", &question(), Some(9)), expected);
    let own = body(Wire::OpenAi, "gpt-5-mini", &question(), Some(9));
    assert_eq!((&own["max_completion_tokens"], &own["max_tokens"]), (&json!(9), &Value::Null));
}

#[test]
fn a_request_in_anthropics_format_has_blocks_and_always_a_largest_number_of_tokens() {
    let blocks = json!([
        { "type": "text", "text": "One." },
        { "type": "text", "text": "Two." },
        { "type": "tool_use", "id": "c1", "name": "note", "input": { "text": "x" } },
    ]);
    let results = json!([
        { "type": "tool_result", "tool_use_id": "c1", "content": "noted" },
        { "type": "tool_result", "tool_use_id": "c2", "content": "done" },
    ]);
    let expected = json!({
        "model": "m-1", "stream": true, "max_tokens": 9, "system": "You are a clerk.",
        "messages": [
            { "role": "user", "content": "Hello" },
            { "role": "assistant", "content": blocks },
            { "role": "user", "content": results },
        ],
        "tools": [{ "name": "note", "description": "Notes.", "input_schema": { "type": "object" } }],
        "output_config": { "format": { "type": "json_schema", "schema": { "type": "object" } } },
    });
    assert_eq!(body(Wire::Anthropic, "m-1", &question(), Some(9)), expected);
    assert_eq!(body(Wire::Anthropic, "m-1", &question(), None)["max_tokens"], 32_000);
}

#[test]
fn what_a_request_does_not_have_is_left_out() {
    let plain = ModelRequest { system: String::new(), messages: Vec::new(), tools: Vec::new(), reply_schema: None };
    let openai = json!({ "model": "m", "stream": true, "stream_options": { "include_usage": true }, "messages": [] });
    assert_eq!(body(Wire::OpenAi, "m", &plain, None), openai);
    let anthropic = json!({ "model": "m", "stream": true, "max_tokens": 32_000, "messages": [] });
    assert_eq!(body(Wire::Anthropic, "m", &plain, None), anthropic);
    assert!(!headers(Wire::OpenAi, "").unwrap().contains_key("authorization"));
    assert!(headers(Wire::OpenAi, "a\nb").is_err());
    let named = headers(Wire::Anthropic, "sk-1").unwrap();
    assert!(named.contains_key("anthropic-version") && !format!("{named:?}").contains("sk-1"), "{named:?}");
}
