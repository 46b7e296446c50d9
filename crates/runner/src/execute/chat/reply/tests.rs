//! Frames as services send them: OpenAI, Ollama, vLLM, llama.cpp, Mistral, Groq, gateways, Anthropic.

use super::*;
use serde_json::json;

fn read(wire: Wire, frames: &[Value]) -> ModelReply {
    let mut reader = ReplyReader::new(wire);
    for frame in frames {
        assert_eq!(reader.read(&frame.to_string()), Ok(()), "{frame}");
    }
    reader.finish()
}

/// The reply of frames with these deltas.
fn deltas(deltas: &[Value]) -> ModelReply {
    let frames: Vec<_> = deltas.iter().map(|delta| json!({ "choices": [{ "index": 0, "delta": delta }] })).collect();
    read(Wire::OpenAi, &frames)
}

/// Calls of frames with these values of `tool_calls`: id, name, input.
fn calls(fragments: &[Value]) -> Vec<(String, String, Value)> {
    let frames: Vec<_> = fragments.iter().map(|fragments| json!({ "tool_calls": fragments })).collect();
    deltas(&frames).calls
}

fn call(id: &str, name: &str, input: Value) -> (String, String, Value) {
    (id.to_owned(), name.to_owned(), input)
}

#[test]
fn calls_are_told_apart_however_services_number_them() {
    let (whole, first, second) = (r#"{"x":1}"#, r#"{"x":"#, "1}");
    let expected = [call("a", "f", json!({ "x": 1 })), call("b", "g", json!({ "x": 1 }))];
    let of = |index: Value, id: Value, name: Value, arguments: &str| {
        let mut call = json!({ "function": { "arguments": arguments } });
        for (field, value) in [("index", index), ("id", id)] {
            if !value.is_null() {
                call[field] = value;
            }
        }
        if !name.is_null() {
            call["function"]["name"] = name;
        }
        call
    };
    let none = || Value::Null;
    for (what, frames) in [
        (
            "OpenAI: index, then fragments with it",
            vec![
                json!([of(json!(0), json!("a"), json!("f"), "")]),
                json!([of(json!(0), none(), none(), first)]),
                json!([of(json!(0), none(), none(), second)]),
                json!([of(json!(1), json!("b"), json!("g"), "")]),
                json!([of(json!(1), none(), none(), whole)]),
            ],
        ),
        (
            "all with index 0, whole, in frames of their own",
            vec![
                json!([of(json!(0), json!("a"), json!("f"), whole)]),
                json!([of(json!(0), json!("b"), json!("g"), whole)]),
            ],
        ),
        (
            "all with index 0 in one frame",
            vec![json!([of(json!(0), json!("a"), json!("f"), whole), of(json!(0), json!("b"), json!("g"), whole)])],
        ),
        (
            "index 0, different ids, fragments without an id",
            vec![
                json!([of(json!(0), json!("a"), json!("f"), first)]),
                json!([of(json!(0), none(), none(), second)]),
                json!([of(json!(0), json!("b"), json!("g"), first)]),
                json!([of(json!(0), none(), none(), second)]),
            ],
        ),
        (
            "index 0, ids with every fragment, mixed",
            vec![
                json!([of(json!(0), json!("a"), json!("f"), first)]),
                json!([of(json!(0), json!("b"), json!("g"), first)]),
                json!([of(json!(0), json!("a"), none(), second)]),
                json!([of(json!(0), json!("b"), none(), second)]),
            ],
        ),
        (
            "no index, ids with every fragment",
            vec![
                json!([of(none(), json!("a"), json!("f"), first)]),
                json!([of(none(), json!("a"), none(), second)]),
                json!([of(none(), json!("b"), json!("g"), first)]),
                json!([of(none(), json!("b"), none(), second)]),
            ],
        ),
        (
            "another id with every fragment of a call",
            vec![
                json!([of(json!(0), json!("a"), json!("f"), "")]),
                json!([of(json!(0), json!("a2"), none(), first)]),
                json!([of(json!(0), json!("a3"), none(), second)]),
                json!([of(json!(1), json!("b"), json!("g"), first)]),
                json!([of(json!(1), json!("b2"), none(), second)]),
            ],
        ),
        (
            "the name and all arguments once more at the end",
            vec![
                json!([of(json!(0), json!("a"), json!("f"), first)]),
                json!([of(json!(0), none(), none(), second)]),
                json!([of(json!(1), json!("b"), json!("g"), whole)]),
                json!([of(json!(0), json!("a"), json!("f"), whole), of(json!(1), json!("b"), json!("g"), "")]),
            ],
        ),
        (
            "an empty object before the arguments",
            vec![
                json!([of(json!(0), json!("a"), json!("f"), "{}")]),
                json!([of(json!(0), none(), none(), whole)]),
                json!([of(json!(1), json!("b"), json!("g"), whole)]),
            ],
        ),
        (
            "no list around a call",
            vec![of(json!(0), json!("a"), json!("f"), whole), of(json!(1), json!("b"), json!("g"), whole)],
        ),
        (
            "an index that is far away",
            vec![
                json!([of(json!(4_294_967_295_u64), json!("a"), json!("f"), whole)]),
                json!([of(json!(7), json!("b"), json!("g"), whole)]),
            ],
        ),
    ] {
        assert_eq!(calls(&frames), expected, "{what}");
    }
}

#[test]
fn calls_without_ids_and_indexes_are_told_apart_by_what_is_complete() {
    let of = |name: &str, arguments: Value| json!({ "function": { "name": name, "arguments": arguments } });
    let frames = [json!([of("f", json!({ "x": 1 })), of("f", json!({ "x": 2 }))]), json!([of("f", json!({ "x": 3 }))])];
    let expected = [1, 2, 3].map(|x| call("", "f", json!({ "x": x })));
    assert_eq!(calls(&frames), expected);
    let frames = [json!([of("f", json!("{\"x\":"))]), json!([of("f", json!("1}"))]), json!([of("g", json!(""))])];
    assert_eq!(calls(&frames), [call("", "f", json!({ "x": 1 })), call("", "g", json!({}))]);
    // A tool without parameters, called twice in one frame.
    assert_eq!(calls(&[json!([of("f", json!("")), of("f", json!(""))])]).len(), 2);
    // Index 0 and no ids.
    let same =
        |name: &str, arguments: &str| json!([{ "index": 0, "function": { "name": name, "arguments": arguments } }]);
    let frames = [same("f", "{}"), same("g", "{\"x\":1}"), same("g", "{\"x\":2}")];
    assert_eq!(
        calls(&frames).iter().map(|call| &call.2["x"]).collect::<Vec<_>>(),
        [&json!(null), &json!(1), &json!(2)]
    );
    assert_eq!(calls(&[json!([{ "name": "f", "arguments": {} }])]), [call("", "f", json!({}))]);
}

#[test]
fn arguments_are_read_in_every_form() {
    for (arguments, input) in [
        (json!({ "x": 1 }), json!({ "x": 1 })),
        (json!({}), json!({})),
        (json!("{\"x\":1}"), json!({ "x": 1 })),
        (json!("\"{\\\"x\\\":1}\""), json!({ "x": 1 })),
        (json!(""), json!({})),
        (json!(" "), json!({})),
        (json!("null"), json!({})),
        (json!("[]"), json!({})),
        (json!([]), json!({})),
        (json!("\"\""), json!({})),
        (Value::Null, json!({})),
        (json!("{\"x\":NaN,\"y\":\"\\ud83d\"}"), json!({ "x": null, "y": "\u{fffd}" })),
        (json!("{\"x\":"), json!("{\"x\":")),
        (json!("[1]"), json!([1])),
    ] {
        let function = json!({ "name": "f", "arguments": arguments });
        let read = calls(&[json!([{ "index": 0, "id": "a", "function": function }])]);
        assert_eq!(read, [call("a", "f", input)], "{arguments}");
    }
    assert_eq!(calls(&[json!([{ "index": 0, "id": "a", "function": { "name": "f" } }])]), [call("a", "f", json!({}))]);
    assert_eq!(calls(&[json!([{ "index": 0, "id": "a", "function": {} }])]), [call("a", "unnamed", json!({}))]);
    assert!(calls(&[json!([]), json!(null), json!("x")]).is_empty());
}

#[test]
fn forty_calls_keep_their_order() {
    let frames: Vec<_> = (0..40)
        .map(|n| json!([{ "index": 0, "id": format!("c{n}"), "function": { "name": "f", "arguments": { "n": n } } }]))
        .collect();
    let read = calls(&frames);
    assert_eq!(read.len(), 40);
    assert!(read.iter().enumerate().all(|(n, call)| call.0 == format!("c{n}") && call.2["n"] == n));
}

#[test]
fn text_and_reasoning_are_read_under_every_name() {
    for frames in [
        vec![json!({ "reasoning_content": "Hm." }), json!({ "content": "Yes." })],
        vec![json!({ "reasoning": "Hm.", "content": "" }), json!({ "content": "Yes." })],
        vec![json!({ "reasoning": "Hm.", "reasoning_content": "Hm." }), json!({ "content": "Yes." })],
        vec![
            json!({ "content": [{ "type": "thinking", "thinking": [{ "type": "text", "text": "Hm." }] }] }),
            json!({ "content": [{ "type": "text", "text": "Yes." }] }),
        ],
        vec![json!({ "content": "<thi" }), json!({ "content": "nk>Hm.</think>\n\nYes." })],
    ] {
        let reply = deltas(&frames);
        assert_eq!((reply.thinking.as_str(), reply.text.as_str()), ("Hm.", "Yes."), "{frames:?}");
    }
}

#[test]
fn usage_that_is_not_reported_is_not_known() {
    let usage = |frame: Value| read(Wire::OpenAi, &[frame]).tokens;
    for unknown in [
        json!({ "choices": [] }),
        json!({ "choices": [], "usage": null }),
        json!({ "usage": {} }),
        json!({ "usage": { "prompt_tokens": 0, "completion_tokens": 0 } }),
        json!({ "usage": { "prompt_tokens": 5 } }),
        json!({ "usage": { "prompt_tokens": -1, "completion_tokens": 5 } }),
    ] {
        assert_eq!(usage(unknown.clone()), None, "{unknown}");
    }
    let details = json!({ "cached_tokens": 4, "cache_write_tokens": 2 });
    let counted = json!({ "prompt_tokens": 10, "completion_tokens": 3, "prompt_tokens_details": details });
    let tokens = Some(Tokens { input: 10, cached: 4, cache_written: 2, output: 3 });
    assert_eq!(usage(json!({ "choices": [], "usage": counted })), tokens);
    assert_eq!(usage(json!({ "choices": [], "x_groq": { "usage": counted } })), tokens);
    let whole = json!({ "choices": [{ "delta": {}, "finish_reason": "stop" }], "usage": counted });
    assert_eq!(usage(whole), tokens);
}

#[test]
fn a_refusal_and_a_filter_are_named_with_their_words_and_the_stop_reason() {
    let chunk = |delta: Value, reason: Value| json!({ "choices": [{ "delta": delta, "finish_reason": reason }] });
    let end =
        |delta: Value, reason: &str| read(Wire::OpenAi, &[chunk(delta, Value::Null), chunk(json!({}), reason.into())]);
    let failure = |reply: &ModelReply| reply.failure().map(|failure| (failure.code, failure.message));
    let declined = |message: &str| Some(("model_declined".to_owned(), message.to_owned()));

    let refused = end(json!({ "refusal": "I can't help with that." }), "stop");
    assert_eq!(failure(&refused), declined("the model declined to answer (stop reason stop): I can't help with that."));
    let filtered = end(json!({ "content": "Half of" }), "content_filter");
    let message = "a content filter withheld the model's answer (stop reason content_filter): Half of";
    assert_eq!(failure(&filtered), declined(message));
    let silent = end(json!({}), "content_filter");
    assert_eq!(failure(&silent), declined("a content filter withheld the model's answer (stop reason content_filter)"));
    assert_eq!(failure(&end(json!({ "content": "Yes." }), "stop")), None);
    assert_eq!(failure(&end(json!({ "content": "It" }), "length")).unwrap().0, "model_truncated");

    let details = json!({ "type": "refusal", "explanation": "It is about weapons." });
    let delta = json!({ "stop_reason": "refusal", "stop_details": details });
    let anthropic = read(Wire::Anthropic, &[json!({ "type": "message_delta", "delta": delta })]);
    assert_eq!(
        failure(&anthropic),
        declined("the model declined to answer (stop reason refusal): It is about weapons.")
    );
}

#[test]
fn blocks_of_anthropics_protocol_are_read_whatever_they_are() {
    let start =
        |index: u32, block: Value| json!({ "type": "content_block_start", "index": index, "content_block": block });
    let delta = |index: u32, delta: Value| json!({ "type": "content_block_delta", "index": index, "delta": delta });
    let mut input = json!({ "input_tokens": 10, "output_tokens": 1 });
    input["cache_creation_input_tokens"] = 5.into();
    input["cache_read_input_tokens"] = 20.into();
    let last = json!({ "output_tokens": 30 });
    let reply = read(
        Wire::Anthropic,
        &[
            json!({ "type": "message_start", "message": { "usage": input } }),
            start(0, json!({ "type": "thinking", "thinking": "" })),
            delta(0, json!({ "type": "thinking_delta", "thinking": "Hm." })),
            delta(0, json!({ "type": "signature_delta", "signature": "s" })),
            start(1, json!({ "type": "server_tool_use", "id": "s1", "name": "web_search", "input": {} })),
            delta(1, json!({ "type": "input_json_delta", "partial_json": "" })),
            start(2, json!({ "type": "text", "text": "" })),
            delta(2, json!({ "type": "text_delta", "text": "Yes." })),
            delta(2, json!({ "type": "citations_delta", "citation": {} })),
            start(3, json!({ "type": "tool_use", "id": "a", "name": "f", "input": {} })),
            start(4, json!({ "type": "tool_use", "id": "b", "name": "g", "input": { "x": 1 } })),
            delta(3, json!({ "type": "input_json_delta", "partial_json": "{\"x\":" })),
            delta(3, json!({ "type": "input_json_delta", "partial_json": "2}" })),
            json!({ "type": "message_delta", "delta": { "stop_reason": "tool_use" }, "usage": last }),
            json!({ "type": "message_stop" }),
        ],
    );
    assert_eq!((reply.thinking.as_str(), reply.text.as_str()), ("Hm.", "Yes."));
    assert_eq!(reply.calls, [call("a", "f", json!({ "x": 2 })), call("b", "g", json!({ "x": 1 }))]);
    assert_eq!(reply.tokens, Some(Tokens { input: 35, cached: 20, cache_written: 5, output: 30 }));
    let silent = read(Wire::Anthropic, &[json!({ "type": "message_start", "message": {} })]);
    assert_eq!(silent.tokens, None);
}

#[test]
fn errors_and_broken_frames_are_not_understood_and_nothing_else() {
    let mut reader = ReplyReader::new(Wire::OpenAi);
    for (frame, is_understood) in [
        (r#"{"error":null,"choices":[]}"#, true),
        (r#"{"error":{"message":"overloaded"}}"#, false),
        (r#"{"choices":[{"delta":{"content":"\ud83d"}}]}"#, true),
        (r#"{"choices": [{]"#, false),
        ("", true),
        ("[DONE]", true),
    ] {
        assert_eq!(reader.read(frame).is_ok(), is_understood, "{frame}");
    }
    assert!(reader.has_ended());
    assert_eq!(reader.fresh_text(), "\u{fffd}");
    assert_eq!((reader.fresh_text(), reader.finish().text), (String::new(), "\u{fffd}".to_owned()));
}
