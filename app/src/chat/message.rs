//! A conversation's log as messages and notes.

use crate::{
    result::write_json_text,
    session::write_memory_forms,
    text::{html::Html, shorten},
    ui::icon::{Icon, icon_markup},
};
use chrono::{Datelike, Timelike};
use domain::{
    Timestamp,
    event::{
        Body, Known,
        kind::{AgentToolCall, CallPart, Context, ContextInjected},
    },
    id::SessionId,
    memory_writer::block::items,
    thread::INTERRUPTED,
};
use serde_json::Value;
use std::collections::HashMap;
use wire::event::Event;

/// Longest message on the page, bytes; the transcript has the rest.
const TEXT_BYTES_MAX: usize = 64 * 1024;
/// Longest note, characters.
const NOTE_CHARS_MAX: usize = 400;

/// The kinds of events that a conversation shows.
pub const KINDS: [&str; 8] = [
    Known::UserMessage.as_str(),
    Known::AgentMessage.as_str(),
    Known::AgentToolCall.as_str(),
    Known::SessionError.as_str(),
    Known::SessionWaitingApproval.as_str(),
    Known::SessionStatusChange.as_str(),
    Known::UserFormSubmit.as_str(),
    Known::SessionContextInjected.as_str(),
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
    Question(String),
    /// The error of a failed turn.
    Failed(String),
    /// Names of the tools that the agent used.
    Used(Vec<String>),
    /// Ids and texts of the memories that the agent was given for its turn.
    Memories(Vec<(String, String)>),
    /// A note about a smaller event.
    Note(String),
}

/// The events, oldest first, as lines. The parts of a long reply become one line, and so do tool calls without text
/// between them. `others` names the other people who answered, by their actor.
pub fn lines(events: &[Event], others: &HashMap<String, String>) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for event in events {
        let body = event.body();
        let continues = matches!(&body, Body::AgentMessage(message) if message.continues());
        let content = match (content(body), others.get(&event.actor)) {
            (Some(Content::Person(text)), Some(who)) if event.kind != Known::UserMessage => {
                Content::Other(who.clone(), text)
            }
            (Some(content), _) => content,
            (None, _) => continue,
        };
        match (lines.last_mut().map(|line| &mut line.content), content) {
            (Some(Content::Agent(before)), Content::Agent(more)) if continues => before.push_str(&more),
            (Some(Content::Used(before)), Content::Used(more)) => before.extend(more),
            (_, content) => lines.push(Line { sequence: event.sequence, at: event.at, content }),
        }
    }
    lines
}

fn content(body: Body) -> Option<Content> {
    Some(match body {
        Body::UserMessage(message) => Content::Person(message.text.unwrap_or_default()),
        Body::AgentMessage(message) => Content::Agent(message.text.unwrap_or_default()),
        Body::SessionError(error) => {
            Content::Failed(error.message.unwrap_or_else(|| "No reason was given.".to_owned()))
        }
        Body::AgentToolCall(AgentToolCall(calls)) => Content::Used(tools(calls)),
        Body::SessionWaitingApproval(waiting) => match waiting.question() {
            Some(question) => Content::Question(question.to_owned()),
            None => Content::Note(format!("Waiting for approval: {}", waiting.text.unwrap_or_default())),
        },
        Body::UserFormSubmit(submitted) => Content::Person(answer(submitted.value()?)?),
        Body::SessionContextInjected(ContextInjected { text, context: Context::Memory { .. } }) => {
            Some(items(&text)).filter(|memories| !memories.is_empty()).map(Content::Memories)?
        }
        Body::SessionStatusChange(change) if change.reason == INTERRUPTED => {
            Content::Note("You stopped this turn.".to_owned())
        }
        _ => return None,
    })
}

/// An answer as text; `None` for none.
fn answer(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

fn tools(calls: Vec<CallPart>) -> Vec<String> {
    let names: Vec<String> = calls.into_iter().filter_map(|call| call.name).collect();
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

/// The lines as list items, each with a key. The memories of `rated` have forms; without it they are left out.
pub fn write(lines: &[Line], agent: &str, rated: Option<SessionId>) -> String {
    let mut html = Html::with_capacity(lines.len() * 600);
    for line in lines.iter().filter(|line| rated.is_some() || !matches!(line.content, Content::Memories(_))) {
        let (by, who, picture) = match &line.content {
            Content::Person(_) => ("person", "You", Icon::Person),
            Content::Other(who, _) => ("person", who.as_str(), Icon::Person),
            Content::Agent(_) | Content::Question(_) => ("agent", agent, Icon::Agent),
            Content::Failed(_) => ("failure", "The turn failed", Icon::Alert),
            Content::Used(_) | Content::Note(_) | Content::Memories(_) => ("note", "", Icon::Tool),
        };
        html.raw("<li class=\"message\" data-by=\"").raw(by).raw("\" data-key-id=\"").number(line.sequence).raw("\">");
        if !who.is_empty() {
            html.raw("<p class=\"message-who\">").raw(icon_markup(picture)).raw("<span>").text(who).raw("</span>");
            write_time(&mut html, line.at);
            html.raw("</p>");
        }
        match &line.content {
            Content::Agent(text) if write_json_text(&mut html, text) => {}
            Content::Agent(text) | Content::Question(text) => {
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
            Content::Memories(memories) => {
                if let Some(session) = rated {
                    write_memory_forms(&mut html, session, &format!("/chat/{session}"), memories);
                }
            }
            Content::Note(words) => {
                html.raw("<p class=\"meta\" dir=\"auto\">").text(&shorten::one_line(words, NOTE_CHARS_MAX)).raw("</p>");
            }
        }
        if matches!(&line.content, Content::Agent(text) | Content::Question(text) | Content::Person(text) | Content::Other(_, text) if text.len() > TEXT_BYTES_MAX)
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

    fn event_of(sequence: u64, kind: &str, text: &str, metadata: &str) -> Event {
        let content = serde_json::json!([{ "type": "text", "text": text }]).to_string();
        event(sequence, kind, &content, metadata)
    }

    #[test]
    fn a_log_reads_as_a_conversation() {
        let events = [
            event_of(2, Known::UserMessage.as_str(), "Hello\n<b>you</b>", "{}"),
            event(3, "session.status_change", "[]", r#"{"from":"pending","to":"running","reason":"claimed"}"#),
            call(4, "c1", "note"),
            call(5, "c2", "search"),
            event_of(6, Known::AgentMessage.as_str(), "One ", r#"{"part":1,"lastPart":false}"#),
            event_of(7, Known::AgentMessage.as_str(), "**two**", r#"{"part":2,"lastPart":true}"#),
            event_of(8, Known::UserMessage.as_str(), "And?", "{}"),
            event(
                9,
                "session.status_change",
                "[]",
                &format!(r#"{{"from":"running","to":"idle","reason":"{INTERRUPTED}"}}"#),
            ),
            event_of(
                10,
                "session.waiting_approval",
                "Which one",
                r#"{"gateId":"01890000-0000-7000-8000-000000000002","kind":"question","digest":"","task":{"question":{"message":"Which one of these two?"}},"quorum":1}"#,
            ),
            event(
                11,
                "user.form_submit",
                "[]",
                r#"{"gateId":"01890000-0000-7000-8000-000000000002","kind":"question","number":1,"digest":"","decision":"respond","value":"the first"}"#,
            ),
            event_of(12, "session.error", "no such model", r#"{"code":"x"}"#),
        ];
        let nobody = HashMap::new();
        let alone = lines(&events, &nobody);
        let others = HashMap::from([("token:t".to_owned(), "bob@acme.test".to_owned())]);
        let messages = lines(&events, &others);
        assert_eq!(messages[6].content, Content::Other("bob@acme.test".into(), "the first".into()));
        assert_eq!(messages[0].content, Content::Person("Hello\n<b>you</b>".into()), "only answers are other people's");
        assert!(write(&messages, "clerk", None).contains("<span>bob@acme.test</span>"));
        let lines = alone;
        let whats: Vec<_> = lines.iter().map(|line| (line.sequence, line.content.clone())).collect();
        let expected = vec![
            (2, Content::Person("Hello\n<b>you</b>".into())),
            (4, Content::Used(vec!["note".into(), "search".into()])),
            (6, Content::Agent("One **two**".into())),
            (8, Content::Person("And?".into())),
            (9, Content::Note("You stopped this turn.".into())),
            (10, Content::Question("Which one of these two?".into())),
            (11, Content::Person("the first".into())),
            (12, Content::Failed("no such model".into())),
        ];
        assert_eq!(whats, expected);
        assert_eq!(resendable_message(&lines), Some("the first"));
        assert_eq!(resendable_message(&lines[..7]), None);
        let html = write(&lines, "clerk", None);
        assert!(html.contains("One <strong>two</strong>") && html.contains("&lt;b&gt;you&lt;/b&gt;"), "{html}");
        assert!(!html.contains("<b>you"), "{html}");
        assert_eq!(html.matches("<li").count(), expected.len());
    }

    #[test]
    fn the_memories_of_a_turn_can_be_rated() {
        let block = "<memory untrusted=\"true\">\n<item id=\"mem_0123456789ab\" from=\"topics/a.md\">\n- Likes &lt;tea&gt;\n</item>\n</memory>";
        let metadata = r#"{"context":"memory","ranker":"formula-1","candidates":[]}"#;
        let given = event_of(3, Known::SessionContextInjected.as_str(), block, metadata);
        let lines = lines(&[given], &HashMap::new());
        let session: SessionId = "01890000-0000-7000-8000-000000000003".parse().unwrap();
        let html = write(&lines, "clerk", Some(session));
        assert!(html.contains("Rate 1 memory") && html.contains("value=\"mem_0123456789ab\""), "{html}");
        assert!(html.contains(&format!("action=\"/sessions/{session}/memories\"")), "{html}");
        assert!(html.contains(&format!("name=\"next\" value=\"/chat/{session}\"")), "{html}");
        assert!(html.contains("- Likes &lt;tea&gt;") && !html.contains("&amp;lt;"), "{html}");
        assert_eq!(write(&lines, "clerk", None), "", "where nothing is recorded there is nothing to rate");
    }

    #[test]
    fn an_answer_that_is_json_is_shown_in_its_form() {
        let kind = Known::AgentMessage.as_str();
        let of = |text: &str| write(&lines(&[event_of(1, kind, text, "{}")], &HashMap::new()), "clerk", None);
        let html = of(r#"[{"city":"Oslo","days":3},{"city":"<b>","days":1}]"#);
        assert!(html.contains("<table") && html.contains("Oslo") && !html.contains("<b>"), "{html}");
        assert!(of("[Oslo] in 3 days").contains("class=\"prose\""));
    }

    #[test]
    fn nothing_that_is_said_becomes_markup() {
        let evil = r#"<img src=x onerror=alert(1)>"'"#;
        let metadata = serde_json::json!({
            "gateId": "01890000-0000-7000-8000-000000000002", "kind": "question", "number": 1, "digest": evil, "decision": "respond", "value": evil,
            "task": { "question": { "message": evil } }, "quorum": 1, "from": "idle", "to": "idle", "reason": evil,
        });
        let metadata = metadata.to_string();
        let rated = "01890000-0000-7000-8000-000000000003".parse().unwrap();
        for kind in KINDS {
            let html = write(&lines(&[event_of(1, kind, evil, &metadata)], &HashMap::new()), evil, Some(rated));
            assert!(!html.contains("<img"), "{kind}: {html}");
        }
    }
}
