//! A conversation's log as messages and notes.

use crate::{
    session::texts_of,
    text::{html::Html, json, shorten},
    ui::icon::{Icon, icon_markup},
};
use chrono::{Datelike, Timelike};
use domain::{
    Timestamp,
    thread::{INTERRUPTED, MESSAGE, REPLY},
};
use std::collections::HashMap;
use wire::event::Event;

/// Longest message on the page, bytes; the transcript has the rest.
const TEXT_BYTES_MAX: usize = 64 * 1024;
/// Longest note, characters.
const NOTE_CHARS_MAX: usize = 400;

/// The kinds of events that a conversation shows.
pub const KINDS: [&str; 7] = [
    MESSAGE,
    REPLY,
    "agent.tool_call",
    "session.error",
    "session.waiting_approval",
    "session.status_change",
    "user.form_submit",
];

/// One message or note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Sequence of its first event.
    pub sequence: u64,
    at: Timestamp,
    /// The message or note.
    pub content: Content,
}

/// The content of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// A message of the person, as typed.
    Person(String),
    /// An answer that another person gave in their place: name and text.
    Other(String, String),
    /// A message of the agent, as Markdown.
    Agent(String),
    /// A question of the agent.
    Asked(String),
    /// The error of a failed turn.
    Failed(String),
    /// Names of the tools that the agent used.
    Used(Vec<String>),
    /// A note about a smaller event.
    Note(String),
}

/// The events, oldest first, as lines. The parts of a long reply become one line, and so do tool calls without text
/// between them. `others` names the other people who answered, by their actor.
pub fn lines(events: &[Event], others: &HashMap<String, String>) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for event in events {
        let content = match (content(event), others.get(&event.actor)) {
            (Some(Content::Person(text)), Some(who)) if event.kind != MESSAGE => Content::Other(who.clone(), text),
            (Some(content), _) => content,
            (None, _) => continue,
        };
        match (lines.last_mut().map(|line| &mut line.content), content) {
            (Some(Content::Agent(before)), Content::Agent(more)) if continues(event) => before.push_str(&more),
            (Some(Content::Used(before)), Content::Used(more)) => before.extend(more),
            (_, content) => lines.push(Line { sequence: event.sequence, at: event.at, content }),
        }
    }
    lines
}

fn member(event: &Event, name: &str) -> Option<String> {
    let members = json::members(event.metadata.get());
    let (_, raw) = members.iter().find(|(key, _)| key == name)?;
    Some(json::string(raw).map_or_else(|| raw.get().to_owned(), |text| text.into_owned()))
}

fn continues(event: &Event) -> bool {
    member(event, "part").and_then(|part| part.parse::<u64>().ok()).is_some_and(|part| part > 1)
}

fn content(event: &Event) -> Option<Content> {
    let text = texts_of(event);
    Some(match event.kind.as_str() {
        MESSAGE => Content::Person(text),
        REPLY => Content::Agent(text),
        "session.error" if text.is_empty() => Content::Failed("No reason was given.".to_owned()),
        "session.error" => Content::Failed(text),
        "agent.tool_call" => Content::Used(tools(event)),
        "session.waiting_approval" if member(event, "kind").as_deref() == Some("question") => {
            Content::Asked(question(event, text))
        }
        "session.waiting_approval" => Content::Note(format!("Waiting for approval: {text}")),
        "user.form_submit" => Content::Person(member(event, "value").filter(|value| value != "null")?),
        "session.status_change" if member(event, "reason").as_deref() == Some(INTERRUPTED) => {
            Content::Note("You stopped this turn.".to_owned())
        }
        _ => return None,
    })
}

/// The complete question; the text of the event may be cut like a title.
fn question(event: &Event, title: String) -> String {
    let metadata: serde_json::Value = serde_json::from_str(event.metadata.get()).unwrap_or_default();
    metadata["task"]["question"]["message"].as_str().map_or(title, str::to_owned)
}

fn tools(event: &Event) -> Vec<String> {
    let parts: Vec<serde_json::Value> = serde_json::from_str(event.content.get()).unwrap_or_default();
    let name =
        |part: &serde_json::Value| part["toolName"].as_str().or_else(|| part["tool_name"].as_str()).map(str::to_owned);
    let names: Vec<String> = parts.iter().filter_map(name).collect();
    if names.is_empty() { vec!["a tool".to_owned()] } else { names }
}

/// The tools that were used, each named once: `note 4 times, search`.
fn used(names: &[String]) -> String {
    let mut counts: Vec<(&str, u64)> = Vec::new();
    for name in names {
        match counts.iter_mut().find(|(known, _)| known == name) {
            Some((_, count)) => *count += 1,
            None => counts.push((name, 1)),
        }
    }
    let words = |(name, count): (&str, u64)| if count == 1 { name.to_owned() } else { format!("{name} {count} times") };
    counts.into_iter().map(words).collect::<Vec<_>>().join(", ")
}

/// The last message of the person if the turn after it failed: it can be sent again.
pub fn resendable_message(lines: &[Line]) -> Option<&str> {
    let failed = lines.last().is_some_and(|line| matches!(line.content, Content::Failed(_)));
    lines.iter().rev().filter(|_| failed).find_map(|line| match &line.content {
        Content::Person(text) => Some(text.as_str()),
        _ => None,
    })
}

/// The lines as list items, each with a key.
pub fn write(lines: &[Line], agent: &str) -> String {
    let mut html = Html::with_capacity(lines.len() * 600);
    for line in lines {
        let (by, who, picture) = match &line.content {
            Content::Person(_) => ("person", "You", Icon::Person),
            Content::Other(who, _) => ("person", who.as_str(), Icon::Person),
            Content::Agent(_) | Content::Asked(_) => ("agent", agent, Icon::Agent),
            Content::Failed(_) => ("failure", "The turn failed", Icon::Alert),
            Content::Used(_) | Content::Note(_) => ("note", "", Icon::Tool),
        };
        html.raw("<li class=\"message\" data-by=\"").raw(by).raw("\" data-key-id=\"").number(line.sequence).raw("\">");
        if !who.is_empty() {
            html.raw("<p class=\"message-who\">").raw(icon_markup(picture)).raw("<span>").text(who).raw("</span>");
            write_time(&mut html, line.at);
            html.raw("</p>");
        }
        match &line.content {
            Content::Agent(text) | Content::Asked(text) => {
                html.raw("<div class=\"prose\">").message(shorten::head(text, TEXT_BYTES_MAX)).raw("</div>");
            }
            Content::Person(text) | Content::Other(_, text) | Content::Failed(text) => {
                html.raw("<p class=\"message-text\" dir=\"auto\">")
                    .text(shorten::head(text, TEXT_BYTES_MAX))
                    .raw("</p>");
            }
            Content::Used(names) => {
                html.raw("<p class=\"meta\">Used ").text(&shorten::one_line(&used(names), NOTE_CHARS_MAX)).raw("</p>");
            }
            Content::Note(words) => {
                html.raw("<p class=\"meta\" dir=\"auto\">").text(&shorten::one_line(words, NOTE_CHARS_MAX)).raw("</p>");
            }
        }
        if matches!(&line.content, Content::Agent(text) | Content::Asked(text) | Content::Person(text) | Content::Other(_, text) if text.len() > TEXT_BYTES_MAX)
        {
            html.raw("<p class=\"meta\">Only part is shown. The transcript has all of it.</p>");
        }
        html.raw("</li>");
    }
    html.finish()
}

fn write_time(html: &mut Html, at: Timestamp) {
    html.raw("<time data-time=\"clock\" datetime=\"").number(u64::try_from(at.year()).unwrap_or_default()).raw("-");
    html.two(at.month()).raw("-").two(at.day()).raw("T").two(at.hour()).raw(":").two(at.minute()).raw(":");
    html.two(at.second()).raw("Z\">").two(at.hour()).raw(":").two(at.minute()).raw(":").two(at.second()).raw("</time>");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_that_was_used_several_times_is_named_once() {
        let names = ["note", "search", "note", "note"].map(str::to_owned);
        assert_eq!((used(&names).as_str(), used(&names[1..2]).as_str()), ("note 3 times, search", "search"));
    }
    use crate::session::fixture::{call, event};

    fn said(sequence: u64, kind: &str, text: &str, metadata: &str) -> Event {
        let content = serde_json::json!([{ "type": "text", "text": text }]).to_string();
        event(sequence, kind, &content, metadata)
    }

    #[test]
    fn a_log_reads_as_a_conversation() {
        let events = [
            said(2, MESSAGE, "Hello\n<b>you</b>", "{}"),
            event(3, "session.status_change", "[]", r#"{"to":"running","reason":"claimed"}"#),
            call(4, "c1", "note"),
            call(5, "c2", "search"),
            said(6, REPLY, "One ", r#"{"part":1,"lastPart":false}"#),
            said(7, REPLY, "**two**", r#"{"part":2,"lastPart":true}"#),
            said(8, MESSAGE, "And?", "{}"),
            event(9, "session.status_change", "[]", &format!(r#"{{"to":"idle","reason":"{INTERRUPTED}"}}"#)),
            said(
                10,
                "session.waiting_approval",
                "Which one",
                r#"{"kind":"question","task":{"question":{"message":"Which one of these two?"}}}"#,
            ),
            event(11, "user.form_submit", "[]", r#"{"gateId":"g","value":"the first"}"#),
            said(12, "session.error", "no such model", r#"{"code":"x"}"#),
        ];
        let nobody = HashMap::new();
        let alone = lines(&events, &nobody);
        let others = HashMap::from([("token:t".to_owned(), "bob@acme.test".to_owned())]);
        let told = lines(&events, &others);
        assert_eq!(told[6].content, Content::Other("bob@acme.test".into(), "the first".into()));
        assert_eq!(told[0].content, Content::Person("Hello\n<b>you</b>".into()), "only answers are other people's");
        assert!(write(&told, "clerk").contains("<span>bob@acme.test</span>"));
        let lines = alone;
        let whats: Vec<_> = lines.iter().map(|line| (line.sequence, line.content.clone())).collect();
        let expected = vec![
            (2, Content::Person("Hello\n<b>you</b>".into())),
            (4, Content::Used(vec!["note".into(), "search".into()])),
            (6, Content::Agent("One **two**".into())),
            (8, Content::Person("And?".into())),
            (9, Content::Note("You stopped this turn.".into())),
            (10, Content::Asked("Which one of these two?".into())),
            (11, Content::Person("the first".into())),
            (12, Content::Failed("no such model".into())),
        ];
        assert_eq!(whats, expected);
        assert_eq!(resendable_message(&lines), Some("the first"));
        assert_eq!(resendable_message(&lines[..7]), None);
        let html = write(&lines, "clerk");
        assert!(html.contains("One <strong>two</strong>") && html.contains("&lt;b&gt;you&lt;/b&gt;"), "{html}");
        assert!(!html.contains("<b>you"), "{html}");
        assert_eq!(html.matches("<li").count(), expected.len());
    }

    #[test]
    fn nothing_that_is_said_becomes_markup() {
        let evil = r#"<img src=x onerror=alert(1)>"'"#;
        let metadata = serde_json::json!({ "value": evil, "kind": "question", "reason": evil }).to_string();
        for kind in KINDS {
            let html = write(&lines(&[said(1, kind, evil, &metadata)], &HashMap::new()), evil);
            assert!(!html.contains("<img"), "{kind}: {html}");
        }
    }
}
