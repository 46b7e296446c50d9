use crate::session::{
    Titles,
    fixture::{answer, call, event},
    rows_fragment,
};
use domain::event::Known;

#[test]
fn an_event_of_another_system_names_its_source() {
    let row = |metadata: &str| rows_fragment("s", &[event(1, "external.event", "[]", metadata)], &Titles::new());
    assert!(row(r#"{"source":"billing <1>"}"#).contains("<span>billing &lt;1&gt;</span>"));
    let long = format!(r#"{{"source":"{}"}}"#, "x".repeat(500));
    assert!(!row(&long).contains(&format!("<span>{}", "x".repeat(25))));
    assert!(row(r#"{"source":" "}"#).contains("<span>External</span>"));
}

#[test]
fn a_pair_is_one_row_and_both_sequences_can_be_linked_to() {
    let html = rows_fragment("s", &[call(1, "a", "find"), answer(2, "a", r#"{"results":[1,2]}"#)], &Titles::new());
    assert_eq!(html.matches("<li").count(), 1);
    assert!(html.contains("id=\"seq-1\"") && html.contains("id=\"seq-2\""));
    assert!(html.contains("2 results, 1.0 s"), "{html}");
}

#[test]
fn an_answer_alone_can_be_moved_to_its_call_later() {
    let html = rows_fragment("s", &[answer(2, "a", "1")], &Titles::new());
    assert!(html.contains("data-answers=\"a\"") && html.contains("id=\"seq-2\""));
}

#[test]
fn nothing_written_by_others_becomes_markup() {
    let evil = r#"<img src=x onerror=alert(1)>\"'"#;
    let content = format!(
        r#"[{{"type":"text","text":"{evil}"}},{{"type":"tool-call","toolCallId":"{evil}","toolName":"{evil}","input":"{evil}"}},{{"type":"{evil}"}}]"#
    );
    let metadata = format!(r#"{{"from":"{evil}","reason":"{evil}","code":"{evil}","label":"{evil}"}}"#);
    for kind in Known::ALL.map(Known::as_str).into_iter().chain(["acme.custom"]) {
        let html = rows_fragment("s", &[event(1, kind, &content, &metadata)], &Titles::new());
        assert!(!html.contains("<img"), "{kind}: {html}");
        assert!(!html.contains("\"'\""), "{kind}: an attribute was left: {html}");
    }
}

#[test]
fn a_viewed_entity_is_shown_by_its_title() {
    let id = "01890000-0000-7000-8000-000000000001";
    let metadata = format!(r#"{{"entityId":"{id}","entityType":"companies","pathname":"/entities/{id}"}}"#);
    let view = event(1, "human.entity_view", "[]", &metadata);
    let titles = Titles::from([(id.to_owned(), "Acme <Corp>".to_owned())]);
    let html = rows_fragment("s", std::slice::from_ref(&view), &titles);
    assert!(html.contains(&format!(r#"Opened <a dir="auto" href="/entities/{id}">Acme &lt;Corp&gt;</a>"#)), "{html}");
    assert!(rows_fragment("s", &[view], &Titles::new()).contains(&format!("Opened companies {id}")));
}

#[test]
fn a_line_that_is_no_event_is_shown_with_a_warning_and_its_number() {
    let content = r#"[{"type":"text","text":"{\"type\":\"agent.message\""}]"#;
    let shown = |metadata: &str| rows_fragment("s", &[event(1, "agent.message", content, metadata)], &Titles::new());
    let torn = shown(r#"{"notAnEvent":"not valid JSON at column 23: EOF <b>","line":7}"#);
    assert!(
        torn.contains("Line 7 of the output is not an event: not valid JSON at column 23: EOF &lt;b&gt;"),
        "{torn}"
    );
    assert!(torn.contains("data-tone=\"wait\"") && torn.contains("agent.message"));
    assert!(shown(r#"{"notAnEvent":"refused"}"#).contains("This is not an event: refused"));
    assert!(!shown("{}").contains("data-tone"));
    let bytes = shown(r#"{"invalidUtf8":true,"line":3,"column":4}"#);
    assert!(bytes.contains("Could not be read: line 3, column 4: bytes that are not UTF-8 became U+FFFD"), "{bytes}");
    assert!(
        shown(r#"{"invalidUtf8":true,"line":3,"column":4,"repairs":"line 3, a; b"}"#).contains("read: line 3, a; b")
    );
    let diagnostics = event(1, "external.event", content, r#"{"notAnEvent":"torn","line":2}"#);
    let html = rows_fragment("s", &[diagnostics], &Titles::new());
    assert!(html.contains("Line 2 of the output is not an event: torn"), "{html}");
}

#[test]
fn an_error_and_what_a_program_printed_keep_their_lines() {
    let trace =
        r#"[{"type":"text","text":"Traceback (most recent call last):\n  File \"a.py\", line 2\nValueError: <b>"}]"#;
    let shown = |kind: &str| rows_fragment("s", &[event(4, kind, trace, r#"{"stream":"stderr"}"#)], &Titles::new());
    let error = shown("session.error");
    assert!(error.contains("line 2\n<strong>ValueError: &lt;b&gt;</strong></pre>"), "{error}");
    let printed = shown("external.event");
    assert!(printed.contains("<pre class=\"event-printed\" dir=\"auto\">Traceback (most recent call last):\n  File"));
    assert!(printed.contains("line 2\nValueError: &lt;b&gt;</pre>"), "{printed}");
    let one = event(4, "external.event", r#"[{"type":"text","text":"One line"}]"#, r#"{"source":"CRM"}"#);
    assert!(rows_fragment("s", &[one], &Titles::new()).contains("CRM: One line"));
}

#[test]
fn what_a_person_typed_keeps_its_lines_and_is_no_markup() {
    let content = r#"[{"type":"text","text":"Name? *Ada*\nAgain? No"},{"type":"form_answers","answers":{}}]"#;
    let shown = |kind: &str| rows_fragment("s", &[event(1, kind, content, "{}")], &Titles::new());
    let typed = shown("user.form_submit");
    assert!(typed.contains("<p class=\"message-text\" dir=\"auto\">Name? *Ada*\nAgain? No</p>"), "{typed}");
    assert!(!typed.contains("form_answers"), "{typed}");
    assert!(shown("agent.message").contains("<em>Ada</em>"));
}

#[test]
fn a_long_text_is_folded_and_says_how_long_it_is() {
    let content = format!(r#"[{{"type":"text","text":"{}"}}]"#, "x".repeat(10_000));
    let html = rows_fragment("s", &[event(1, "agent.message", &content, "{}")], &Titles::new());
    assert!(html.contains("<details class=\"fold\">") && html.contains("Show all 10,000 characters"));
}

#[test]
fn every_kind_makes_one_row_whatever_its_content() {
    for kind in Known::ALL.map(Known::as_str).into_iter().chain(["acme.custom", "nodots"]) {
        for content in ["[]", "{}", "null", "[1]", r#"[{"type":"text"}]"#] {
            for metadata in ["{}", "[]", "1", r#"{"from":1}"#] {
                let html = rows_fragment("s", &[event(1, kind, content, metadata)], &Titles::new());
                assert_eq!(html.matches("<li").count(), 1, "{kind} {content} {metadata}");
            }
        }
    }
}
