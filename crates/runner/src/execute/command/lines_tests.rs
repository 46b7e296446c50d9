//! The line protocol, case by case.

use super::{super::split::Splitter, *};

fn line(text: &str) -> Line {
    Line { bytes: text.as_bytes().to_vec(), begins: true, ends: true }
}

fn read(text: &str) -> Vec<Parsed> {
    LineParser::for_stdout(Format::Lines).read(&line(text), false)
}

fn event_of(text: &str) -> Value {
    match read(text).as_slice() {
        [Parsed::Event(event)] => serde_json::to_value(event).unwrap(),
        other => panic!("{text}: {other:?}"),
    }
}

fn outcome_of(text: &str) -> (Value, Value) {
    match read(text).as_slice() {
        [Parsed::Result(outcome)] => {
            (serde_json::to_value(&outcome.result).unwrap(), serde_json::to_value(&outcome.usage).unwrap())
        }
        other => panic!("{text}: {other:?}"),
    }
}

/// The line was kept as text, with a note that says why it is no event.
fn note_of(text: &str) -> String {
    let event = event_of(text);
    assert_eq!((&event["type"], &event["content"][0]["text"]), (&json!("agent.message"), &json!(text)));
    event["metadata"]["notAnEvent"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn an_event_line_passes_through_field_by_field() {
    let sent = r#"{"id":"0193b0a0-0000-7000-8000-000000000001","type":"agent.tool_call","role":"agent","content":[{"type":"tool-call","input":{"n":1.10}}],"metadata":{"k":[1]},"threadId":"t","externalEventId":"x","at":"2026-11-21T08:00:00Z"}"#;
    let Some(Parsed::Event(event)) = read(sent).pop() else { panic!() };
    assert_eq!(serde_json::to_string(&event).unwrap(), sent);
    assert_eq!(
        event_of(r#"  {"type":"acme.built","content":"text","role":null}  "#),
        json!({"type":"acme.built","content":"text"})
    );
}

#[test]
fn unknown_fields_are_kept_in_the_metadata() {
    let event = event_of(r#"{"type":"agent.message","content":"x","model":"m","metadata":{"a":1}}"#);
    assert_eq!(event["metadata"], json!({"a": 1, "extra": {"model": "m"}}));
    assert!(note_of(r#"{"type":"agent.message","model":"m","metadata":{"extra":1}}"#).contains("extra"));
}

#[test]
fn an_id_that_is_no_uuid_becomes_the_external_id() {
    assert_eq!(event_of(r#"{"type":"a.b","id":"call_1"}"#), json!({"type":"a.b","externalEventId":"call_1"}));
}

#[test]
fn a_state_patch_with_a_canvas_changes_it_and_one_without_is_an_event() {
    let id = "0193b0a0-0000-7000-8000-0000000000ca";
    let ops = json!([{"op": "remove", "path": "/a"}]);
    let patch = json!({"type": "state.patch", "canvasId": id, "opId": "w:1", "base": 3, "ops": ops});
    match read(&patch.to_string()).as_slice() {
        [Parsed::Patch(canvas, sent)] => {
            assert_eq!(
                (canvas.to_string().as_str(), sent.op_id.as_str(), sent.base, sent.strict),
                (id, "w:1", 3, false)
            );
            assert_eq!(json!(sent.ops), ops);
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(event_of(r#"{"type":"state.patch","content":"x"}"#)["type"], "state.patch");
    assert!(note_of(r#"{"type":"state.patch","canvasId":"x","opId":"w:1","base":3,"ops":[]}"#).contains("canvasId"));
    assert!(note_of(&format!(r#"{{"type":"state.patch","canvasId":"{id}","base":3,"ops":[]}}"#)).contains("opId"));
}

#[test]
fn a_typed_object_that_is_no_event_is_kept_as_text_with_the_reason() {
    for (bad, reason) in [
        (r#"{"type":"message"}"#, "dotted lower-case name"),
        (r#"{"type":"user.message","content":"x"}"#, "not allowed to write"),
        (r#"{"type":"session.completed"}"#, "not allowed to write"),
        (r#"{"type":"a.b","content":{"x":1}}"#, "content must be an array"),
        (r#"{"type":"a.b","content":[1]}"#, "content must be an array"),
        (r#"{"type":"a.b","metadata":[]}"#, "metadata must be an object"),
        (r#"{"type":"a.b","role":"assistant"}"#, "role is not"),
        (r#"{"type":"a.b","at":"yesterday"}"#, "at is not"),
        (r#"{"type":"a.b","threadId":7}"#, "threadId is not text"),
    ] {
        let note = note_of(bad);
        assert!(note.contains(reason), "{bad}: {note}");
    }
    let long = format!(r#"{{"type":"a.b","threadId":"{}"}}"#, "x".repeat(201));
    assert!(note_of(&long).contains("200"));
}

#[test]
fn other_lines_are_text() {
    for text in ["hello", r#"{"a":1}"#, r#"{"type":7}"#, r#"[{"type":"a.b"}]"#, "[1"] {
        assert_eq!(note_of(text), "", "{text}");
    }
    assert!(read("").is_empty());
    assert!(read(" \t").is_empty());
}

#[test]
fn a_line_that_begins_like_an_object_and_is_none_is_marked_with_its_number() {
    let mut reader = LineParser::for_stdout(Format::Lines);
    // What `echo` of dash makes of an event with a line break in its text.
    let broken = [r#"{"type":"agent.message","content":[{"type":"text","text":"Two"#, "", r#"lines"}]}"#];
    let parsed: Vec<_> = broken.iter().flat_map(|text| reader.read(&line(text), false)).collect();
    let values: Vec<_> = parsed
        .iter()
        .map(|parsed| match parsed {
            Parsed::Event(event) => serde_json::to_value(event).unwrap(),
            Parsed::Result(_) | Parsed::Ask(_) | Parsed::Progress(_) | Parsed::Patch(..) => {
                panic!("only events were printed")
            }
        })
        .collect();
    let [first, last] = values.as_slice() else { panic!("{values:?}") };
    assert_eq!((&first["type"], &first["content"][0]["text"]), (&json!("agent.message"), &json!(broken[0])));
    assert_eq!(first["metadata"]["line"], 1);
    let why = first["metadata"]["notAnEvent"].as_str().unwrap();
    assert!(why.starts_with("not valid JSON at column 61: ") && !why.contains("at line"), "{why}");
    assert_eq!((&last["content"][0]["text"], last.get("metadata")), (&json!(broken[2]), None));

    let Some(Parsed::Event(third)) = reader.read(&line(r#"{"type":"a.b"} trailing"#), false).pop() else { panic!() };
    let third = serde_json::to_value(third).unwrap();
    assert_eq!(third["metadata"]["line"], 4, "blank lines count");
    assert!(note_of("{").contains("not valid JSON"));
    let long = Line { bytes: br#"{"a":"x"#.to_vec(), begins: true, ends: false };
    let Some(Parsed::Event(long)) = LineParser::for_stdout(Format::Lines).read(&long, false).pop() else { panic!() };
    assert!(serde_json::to_value(long).unwrap()["metadata"]["notAnEvent"].as_str().unwrap().contains("too long"));
}

#[test]
fn a_torn_line_of_a_coding_agent_is_kept_with_its_number_and_the_reason() {
    for format in [Format::ClaudeCode, Format::Codex] {
        let mut reader = LineParser::for_stdout(format);
        let mut event_of = |line: &Line| match reader.read(line, false).pop() {
            Some(Parsed::Event(event)) => serde_json::to_value(event).unwrap(),
            other => panic!("{other:?}"),
        };
        let plain = event_of(&line("Warning: no cache"));
        assert_eq!((&plain["type"], plain.get("metadata")), (&json!("external.event"), None));
        let torn = event_of(&line(r#"{"type":"assistant","message":{"text":"Two"#));
        assert_eq!((&torn["type"], &torn["metadata"]["line"]), (&json!("external.event"), &json!(2)));
        assert!(torn["metadata"]["notAnEvent"].as_str().unwrap().starts_with("not valid JSON at column "), "{torn}");
        let long = event_of(&Line { bytes: br#"{"type":"assistant"#.to_vec(), begins: true, ends: false });
        assert!(long["metadata"]["notAnEvent"].as_str().unwrap().contains("too long"), "{long}");
    }
}

#[test]
fn stderr_is_never_interpreted() {
    let Some(Parsed::Event(event)) = LineParser::for_stderr().read(&line(r#"{"type":"result"}"#), false).pop() else {
        panic!()
    };
    let event = serde_json::to_value(event).unwrap();
    assert_eq!(event["type"], "external.event");
    assert_eq!(event["content"], json!([{"type":"text","text":r#"{"type":"result"}"#}]));
    assert_eq!(event["metadata"], json!({"stream":"stderr"}));
}

#[test]
fn bytes_that_are_no_text_are_marked() {
    let bytes = Line { bytes: vec![b'a', 0xFF], begins: true, ends: true };
    let Some(Parsed::Event(event)) = LineParser::for_stdout(Format::Lines).read(&bytes, false).pop() else { panic!() };
    let event = serde_json::to_value(event).unwrap();
    assert_eq!(
        (&event["content"][0]["text"], &event["metadata"]),
        (&json!("a\u{fffd}"), &json!({"invalidUtf8":true,"line":1,"column":2}))
    );
}

#[test]
fn a_result_line_is_its_result_field_or_all_its_other_fields() {
    let usage = json!({"inputTokens":1});
    for (sent, result, expected_usage) in [
        (r#"{"type":"result","result":{"a":1},"usage":{"inputTokens":1}}"#, json!({"a":1}), usage.clone()),
        (r#"{"type":"result","answer":42,"usage":{"inputTokens":1}}"#, json!({"answer":42}), usage),
        (r#"{"type":"result","result":1,"note":2}"#, json!({"result":1,"note":2}), json!(null)),
        (r#"{"type":"result","result":null}"#, json!(null), json!(null)),
        (r#"{"type":"result"}"#, json!(null), json!(null)),
        (r#"{"type":"result","usage":7}"#, json!({"usage":7}), json!(null)),
    ] {
        assert_eq!(outcome_of(sent), (result, expected_usage), "{sent}");
    }
}

#[test]
fn a_result_that_is_too_large_is_kept_as_text_and_reported() {
    let whole = format!(r#"{{"type":"result","text":"{}"}}"#, "x".repeat(DOCUMENT_BYTES_MAX));
    let cut = Line { ends: false, ..line(r#"{ "type": "result", "text": "xxx"#) };
    for line in [line(&whole), cut] {
        let parsed = LineParser::for_stdout(Format::Lines).read(&line, false);
        assert!(matches!(parsed.last(), Some(Parsed::Result(Output { failure: Some(_), .. }))));
        assert!(parsed.len() > 1);
    }
}

#[test]
fn text_too_large_for_one_event_comes_in_numbered_parts_that_fit() {
    for unit in ["x", "\"", "\u{1}", "日", "😀"] {
        let text = format!("-{}", unit.repeat(600_000 / unit.len()));
        let mut reader = LineParser::for_stdout(Format::Lines);
        let (head, tail) = text.split_at(text.char_indices().nth(1_000).unwrap().0);
        let mut parsed = reader.read(&Line { bytes: head.into(), begins: true, ends: false }, false);
        parsed.extend(reader.read(&Line { bytes: tail.into(), begins: false, ends: true }, false));
        let mut joined = String::new();
        let count = parsed.len();
        for (index, parsed) in parsed.iter().enumerate() {
            let Parsed::Event(event) = parsed else { panic!() };
            assert!(event::size(event) <= domain::limit::EVENT_BYTES_MAX);
            let last = index + 1 == count;
            let value = serde_json::to_value(event).unwrap();
            assert_eq!(value["metadata"], json!({"part": index + 1, "lastPart": last}));
            joined.push_str(value["content"][0]["text"].as_str().unwrap());
        }
        assert!(joined == text);
    }
    let Some(Parsed::Event(next)) = read("short").pop() else { panic!() };
    assert!(next.metadata.is_none());
}

#[test]
fn an_event_that_is_too_large_is_kept_as_text() {
    let sent = format!(r#"{{"type":"a.b","content":"{}"}}"#, "x".repeat(domain::limit::EVENT_BYTES_MAX));
    let parsed = read(&sent);
    let joined: String = parsed
        .iter()
        .map(|parsed| match parsed {
            Parsed::Event(event) => {
                serde_json::to_value(event).unwrap()["content"][0]["text"].as_str().unwrap().to_owned()
            }
            Parsed::Result(_) | Parsed::Ask(_) | Parsed::Progress(_) | Parsed::Patch(..) => {
                panic!("only events were printed")
            }
        })
        .collect();
    assert!(parsed.len() == 2 && joined == sent);
}

/// All events and the last outcome of an output, as the pipe would read it.
fn read_output(format: Format, bytes: &[u8]) -> (Vec<Value>, Option<Output>) {
    let mut parser = LineParser::for_stdout(format);
    let (mut decoder, mut splitter) =
        (domain::decoding::StreamDecoder::default(), Splitter::new(parser.line_bytes_max()));
    let mut lines = splitter.push(&decoder.push(bytes));
    lines.extend(splitter.push(&decoder.finish()));
    lines.extend(splitter.finish());
    let (mut events, mut outcome) = (Vec::new(), None);
    for parsed in lines.iter().flat_map(|line| parser.read(line, decoder.is_utf16())) {
        match parsed {
            Parsed::Event(event) => events.push(serde_json::to_value(event).unwrap()),
            Parsed::Result(output) => outcome = Some(output),
            Parsed::Ask(_) | Parsed::Progress(_) | Parsed::Patch(..) => panic!("nobody is asked"),
        }
    }
    (events, outcome)
}

fn value(json: Option<&Json>) -> Value {
    json.map_or(Value::Null, |json| serde_json::from_str(json.get()).unwrap())
}

/// Text, line and column of the warnings.
fn warnings(events: &[Value]) -> Vec<(&str, &Value, &Value)> {
    let warnings = events.iter().filter(|event| event["metadata"]["repaired"] == true);
    warnings
        .map(|event| {
            let text = event["content"][0]["text"].as_str().unwrap();
            (text, &event["metadata"]["line"], &event["metadata"]["column"])
        })
        .collect()
}

#[test]
fn halves_of_surrogate_pairs_are_replaced_and_the_result_is_kept() {
    let output = b"{\"type\":\"agent.message\",\"content\":\"half \\ud83d there\"}\n\
        {\"type\":\"result\",\"result\":{\"t\":\"x\\ud83d\"},\"usage\":{\"inputTokens\":3}}\n";
    let (events, outcome) = read_output(Format::Lines, output);
    assert_eq!((&events[0]["type"], &events[0]["content"]), (&json!("agent.message"), &json!("half \u{fffd} there")));
    let outcome = outcome.unwrap();
    assert_eq!(value(outcome.result.as_ref()), json!({"t": "x\u{fffd}"}));
    assert_eq!(value(outcome.usage.as_ref()), json!({"inputTokens": 3}));
    let warnings = warnings(&events);
    assert_eq!((warnings[0].1, warnings[0].2), (&json!(1), &json!(41)));
    assert_eq!((warnings[1].1, warnings[1].2), (&json!(2), &json!(34)));
    assert!(warnings[0].0.contains("line 1, column 41: half of a surrogate pair became U+FFFD"), "{}", warnings[0].0);
}

#[test]
fn numbers_that_json_does_not_have_become_null_in_results_usage_and_events() {
    let output = b"{\"type\":\"result\",\"result\":{\"score\": NaN, \"best\": Infinity},\"usage\":{\"costUsd\":NaN,\"inputTokens\":3}}\n\
        {\"type\":\"acme.scored\",\"content\":\"x\",\"metadata\":{\"p\":-Infinity}}\n";
    let (events, outcome) = read_output(Format::Lines, output);
    let outcome = outcome.unwrap();
    assert_eq!(value(outcome.result.as_ref()), json!({"score": null, "best": null}));
    assert_eq!(value(outcome.usage.as_ref()), json!({"costUsd": null, "inputTokens": 3}));
    assert_eq!(events[1]["metadata"], json!({"p": null}));
    assert_eq!(warnings(&events).len(), 2);
    assert_eq!(warnings(&events)[0].2, &json!(37));
}

#[test]
fn a_byte_order_mark_and_utf_16_change_nothing_but_a_warning() {
    let text = "{\"type\":\"agent.message\",\"content\":\"ü😀\"}\r\n{\"type\":\"result\",\"result\":{\"ok\":true}}\r\n";
    let utf16 = |mark: &str| format!("{mark}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let big: Vec<u8> = format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_be_bytes).collect();
    for bytes in [format!("\u{feff}{text}").into_bytes(), utf16("\u{feff}"), utf16(""), big] {
        let (events, outcome) = read_output(Format::Lines, &bytes);
        assert_eq!(events.len(), 2, "{events:?}");
        assert_eq!(events[0]["content"], "ü😀");
        assert_eq!((warnings(&events)[0].1, warnings(&events)[0].2), (&json!(1), &json!(1)));
        assert_eq!(value(outcome.unwrap().result.as_ref()), json!({"ok": true}));
    }
}

#[test]
fn a_result_that_cannot_be_read_fails_the_session_in_every_format() {
    for (format, torn) in [
        (Format::Lines, r#"{"type":"result","result":{"a":"#),
        (Format::Lines, r#"{"result":{"type":"x"},"type":"result" oops}"#),
        (Format::ClaudeCode, r#"{"type":"result","subtype":"success","result":"do"#),
        (Format::Codex, r#"{"type":"turn.completed","usage":{"input_tok"#),
        (Format::Codex, r#"{"type":"item.completed","item":{"type":"agent_message","text":"do"#),
    ] {
        let (events, outcome) = read_output(format, torn.as_bytes());
        let failure = outcome.unwrap().failure.unwrap();
        assert_eq!(failure.code, "result_refused", "{torn}");
        assert!(failure.message.contains("not valid JSON at column"), "{}", failure.message);
        assert_eq!(events[0]["content"][0]["text"], torn, "it is kept");
    }
    // What ends afterwards does not hide it.
    let torn = "{\"type\":\"item.completed\",\"item\":{\"type\":\"agent_message\",\"text\":\"do\n\
        {\"type\":\"turn.completed\",\"usage\":{\"input_tokens\":1,\"output_tokens\":2}}\n";
    let outcome = read_output(Format::Codex, torn.as_bytes()).1.unwrap();
    assert_eq!(outcome.failure.unwrap().code, "result_refused");
    assert_eq!(value(outcome.usage.as_ref())["inputTokens"], 1);
    for other in
        [r#"{"type":"a.b","content":[{"type":"result"#, r#"{"type":"assistant","x":"{\"type\":\"result\""#, "{"]
    {
        for format in [Format::Lines, Format::ClaudeCode, Format::Codex] {
            assert!(read_output(format, other.as_bytes()).1.is_none(), "{other}");
        }
    }
}

#[test]
fn warnings_about_repairs_are_bounded_and_the_events_are_not() {
    let output = "{\"type\":\"a.b\",\"content\":\"\\ud83d\"}\n".repeat(300);
    let (events, _) = read_output(Format::Lines, output.as_bytes());
    let warnings = warnings(&events);
    assert_eq!(warnings.len(), REPAIR_WARNINGS_MAX as usize);
    assert!(warnings.last().unwrap().0.ends_with("Further repairs are not reported."));
    assert_eq!(events.len(), 300 + warnings.len());
    let (events, _) = read_output(Format::Lines, b"caf\xE9\n");
    assert_eq!(events[0]["metadata"], json!({"invalidUtf8": true, "line": 1, "column": 4}));
}

/// A word in Latin-1 with so many letters that are not ASCII.
fn latin_1(letters: usize) -> Vec<u8> {
    [b"x".as_slice(), &b"\xE9t".repeat(letters)].concat()
}

#[test]
fn bytes_of_another_encoding_are_replaced_and_their_lines_and_columns_are_named() {
    for (letters, named, rest) in
        [(1, 1, None), (2, 2, None), (7, 5, Some("; and 2 more")), (40, 5, Some("; and 35 more"))]
    {
        let places = |column: usize| {
            let place = |n: usize| format!("line 2, column {}: bytes that are not UTF-8 became U+FFFD", column + 2 * n);
            (0..named).map(place).collect::<Vec<_>>().join("; ") + rest.unwrap_or_default()
        };
        let message =
            [br#"{"type":"agent.message","content":"#.as_slice(), b"\"", &latin_1(letters), b"\"}\n"].concat();
        let claude_code = [
            br#"{"type":"assistant","message":{"content":[{"type":"text","text":""#.as_slice(),
            &latin_1(letters),
            b"\"}]}}\n",
        ]
        .concat();
        for (format, output, column) in [(Format::Lines, message, 37), (Format::ClaudeCode, claude_code, 67)] {
            let (events, _) = read_output(format, &[b"{}\n".as_slice(), &output].concat());
            let warnings = warnings(&events);
            let (text, line, at) = warnings.last().unwrap();
            assert_eq!((*line, *at), (&json!(2), &json!(column)), "{text}");
            assert!(text.contains(&format!(": {}.", places(column))), "{text}");
        }
        for mut parser in [LineParser::for_stdout(Format::Lines), LineParser::for_stderr()] {
            parser.read(&line("first"), false);
            let read = parser.read(&Line { bytes: latin_1(letters), begins: true, ends: true }, false);
            let [Parsed::Event(event)] = &read[..] else { panic!("{read:?}") };
            let event = serde_json::to_value(event).unwrap();
            assert_eq!(event["content"][0]["text"], format!("x{}", "\u{fffd}t".repeat(letters)));
            let mut expected = json!({"invalidUtf8": true, "line": 2, "column": 2});
            if letters > 1 {
                expected["repairs"] = places(2).into();
            }
            let mut metadata = event["metadata"].clone();
            metadata.as_object_mut().unwrap().remove("stream");
            assert_eq!(metadata, expected);
        }
    }
}

#[test]
fn a_line_of_a_coding_agent_over_1_mib_keeps_its_call_and_its_result() {
    let data = "AAAA".repeat(1_500_000);
    let call = json!({ "type": "assistant", "message": { "content": [
        { "type": "tool_use", "id": "t1", "name": "Write", "input": { "file_path": "/a", "content": "x".repeat(3_000_000) } },
    ] } });
    let picture = json!({ "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": data } });
    let answer = json!({ "type": "user", "message": { "content": [
        { "type": "tool_result", "tool_use_id": "t1", "content": [{ "type": "text", "text": "Done" }, picture] },
    ] } });
    let unknown = json!({ "type": "brand_new", "data": "y".repeat(2_000_000) });
    let (events, _) = read_output(Format::ClaudeCode, format!("{call}\n{answer}\n{unknown}\n").as_bytes());
    let kinds: Vec<_> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["agent.tool_call", "agent.tool_result", "external.event"]);
    let input = &events[0]["content"][0]["input"];
    assert_eq!(input["file_path"], "/a");
    assert!(input["content"].as_str().unwrap().contains("of 3000000 bytes are not recorded; SHA-256 "));
    let part = &events[1]["content"][0];
    assert_eq!((&part["toolName"], &part["output"]["value"][0]["text"]), (&json!("Write"), &json!("Done")));
    assert_eq!(part["output"]["value"][1]["source"]["bytes"], 4_500_000);
    assert!(events[2]["metadata"]["said"]["data"].as_str().unwrap().contains("of 2000000 bytes"));
    for event in &events {
        assert!(event["content"].to_string().len() + event["metadata"].to_string().len() <= EVENT_CONTENT_BYTES_MAX);
    }
}
