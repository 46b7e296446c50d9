//! Tests: the recorded hooks of coding agents become the rows of a session's page.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use super::{fixture::event, one_line, rows::rows_fragment};
use domain::hook::{Source, read};
use wire::event::Event;

const RECORDED: [(Source, &str); 4] = [
    (Source::ClaudeCode, include_str!("../../../crates/domain/fixtures/hooks/claude-code.jsonl")),
    (Source::ClaudeCode, include_str!("../../../crates/domain/fixtures/hooks/claude-code-more.jsonl")),
    (Source::Codex, include_str!("../../../crates/domain/fixtures/hooks/codex.jsonl")),
    (Source::Gemini, include_str!("../../../crates/domain/fixtures/hooks/gemini.jsonl")),
];

fn events(source: Source, lines: &str) -> Vec<Event> {
    let read = lines.lines().map(|line| read(source, line).unwrap().event);
    read.zip(1..)
        .map(|(hook_event, sequence)| {
            event(sequence, hook_event.kind.as_str(), &hook_event.content, &hook_event.metadata)
        })
        .collect()
}

#[test]
fn every_call_is_one_row_with_its_result() {
    for (source, lines) in [RECORDED[0], RECORDED[2], RECORDED[3]] {
        let events = events(source, lines);
        let html = rows_fragment("s", &events, &crate::session::Titles::new());
        let results = events.iter().filter(|event| event.kind == "agent.tool_result").count();
        assert_eq!(html.matches("<li").count(), events.len() - results);
        assert!(!html.contains("no answer yet") && !html.contains("data-answers"), "{html}");
    }
    let html = rows_fragment("s", &events(RECORDED[0].0, RECORDED[0].1), &crate::session::Titles::new());
    assert!(html.contains("[main 4f1c2aa] Hand the source on to load"), "the outcome is on the line");
    assert!(html.contains("failed: Command exited with non-zero status code 1"));
}

#[test]
fn no_row_falls_back_to_json() {
    for (source, lines) in RECORDED {
        for event in events(source, lines) {
            let html = rows_fragment("s", std::slice::from_ref(&event), &crate::session::Titles::new());
            assert!(!html.contains("class=\"event-kind\""), "{}: {html}", event.kind);
            if !event.kind.starts_with("agent.tool") {
                assert!(!html.contains("class=\"payload\""), "{}: {html}", event.kind);
            }
            assert!(!one_line(&event, 80).is_empty());
        }
    }
}
