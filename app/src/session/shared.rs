//! The rows of a shared log: text alone, without links, pictures and the JSON of events, which only members can open.

use super::{
    describe::one_line,
    part::{Answer, Call, Part},
    row::{Speaker, speaker},
    view_model::{Entry, Joined, entries},
};
use crate::{
    result::{Look, is_picture, unwrapped, write_input, write_shape},
    text::{
        html::Html,
        json::{self, PAYLOAD_BYTES_MAX},
        shorten, terminal,
    },
    ui::time,
};
use domain::event::{Body, Known};
use serde_json::{Value, value::RawValue};
use wire::event::Event;

/// Longest text of a message, bytes.
const TEXT_BYTES_MAX: usize = 64 * 1024;
/// Longest sentence of an event, characters.
const SENTENCE_CHARS_MAX: usize = 2_000;

/// Renders events as rows of a list.
pub fn shared_rows(events: &[Event]) -> String {
    let mut html = Html::default();
    for entry in entries(events) {
        write_row(&mut html, &entry);
    }
    html.finish()
}

/// Renders the input of a run, with the titles of its schema in place of keys. `None` if the run was given nothing.
pub fn shared_input(raw: Option<&RawValue>, schema: Option<&Value>) -> Option<String> {
    let raw = raw.filter(|raw| raw.get() != "null" && raw.get() != "{}")?;
    let mut html = Html::default();
    if !schema.is_some_and(|schema| write_input(&mut html, raw, schema)) {
        write_value(&mut html, Some(raw));
    }
    Some(html.finish())
}

/// Renders a value, such as the result of a run.
pub fn shared_value(raw: Option<&RawValue>) -> String {
    let mut html = Html::default();
    write_value(&mut html, raw);
    html.finish()
}

fn write_row(html: &mut Html, entry: &Entry<'_>) {
    let Speaker { style, words, .. } = speaker(entry.event);
    html.raw("<li class=\"shared-event\" data-speaker=\"").raw(style).raw("\"><p class=\"shared-who\"><strong>");
    html.raw(words).raw("</strong> <time datetime=\"").text(&time::machine(entry.event.at)).raw("\">");
    html.text(&time::absolute(entry.event.at)).raw("</time></p>");
    write_body(html, entry);
    html.raw("</li>");
}

fn write_body(html: &mut Html, entry: &Entry<'_>) {
    let event = entry.event;
    if let Body::SessionError(error) = event.body() {
        write_typed(html, error.message.as_deref().unwrap_or("No message was given."));
        return;
    }
    let is_sentence = matches!(
        event.known(),
        Some(
            Known::SessionCreated
                | Known::SessionStatusChange
                | Known::HumanNavigate
                | Known::HumanEntityView
                | Known::HumanMarker
                | Known::HumanTaskSwitch
                | Known::ExternalEvent
        )
    );
    if is_sentence || entry.parts.is_empty() {
        html.raw("<p dir=\"auto\">").text(&one_line(event, SENTENCE_CHARS_MAX)).raw("</p>");
        return;
    }
    for (part, joined) in &entry.parts {
        match part {
            Part::Text(text) if event.known() == Some(Known::AgentThinking) => write_thinking(html, text),
            Part::Text(text) if event.kind.starts_with("user.") => write_typed(html, text),
            Part::Text(text) => write_markdown(html, text),
            Part::Reasoning(text) => write_thinking(html, text),
            Part::Call(call) => write_call(html, call, joined.as_ref()),
            Part::Answer(answer) => write_answer(html, answer),
            Part::Other(raw) if is_picture(raw) => {
                html.raw("<p class=\"meta\">A picture, which is not shown here.</p>");
            }
            Part::Other(raw) => {
                html.raw("<details><summary>Content</summary>");
                write_value(html, Some(raw));
                html.raw("</details>");
            }
        }
    }
}

fn write_typed(html: &mut Html, text: &str) {
    let shown = shorten::head(text, TEXT_BYTES_MAX);
    html.raw("<p class=\"shared-text\" dir=\"auto\">").text(shown).raw("</p>");
    write_cut(html, shown.len() < text.len());
}

fn write_markdown(html: &mut Html, text: &str) {
    let shown = shorten::head(text, TEXT_BYTES_MAX);
    html.raw("<div class=\"prose\">").message(shown).raw("</div>");
    write_cut(html, shown.len() < text.len());
}

fn write_thinking(html: &mut Html, text: &str) {
    html.raw("<details><summary>Thinking</summary>");
    write_markdown(html, text);
    html.raw("</details>");
}

fn write_call(html: &mut Html, call: &Call<'_>, joined: Option<&Joined<'_>>) {
    let state = match joined {
        Some(joined) if joined.answer.is_error => ": failed",
        Some(_) => ": answered",
        None => "",
    };
    html.raw("<details><summary>Call of <code>").text(&shorten::one_line(&call.name, 200)).raw("</code>").raw(state);
    html.raw("</summary>");
    write_value(html, call.input);
    if let Some(joined) = joined {
        html.raw("<p class=\"meta\">Answer:</p>");
        write_value(html, joined.answer.output);
    }
    html.raw("</details>");
}

fn write_answer(html: &mut Html, answer: &Answer<'_>) {
    html.raw("<details><summary>").raw(if answer.is_error { "Failure of <code>" } else { "Answer of <code>" });
    html.text(&shorten::one_line(&answer.name, 200)).raw("</code></summary>");
    write_value(html, answer.output);
    html.raw("</details>");
}

fn write_value(html: &mut Html, raw: Option<&RawValue>) {
    let Some(raw) = raw.map(unwrapped).filter(|raw| raw.get() != "null") else {
        html.raw("<p class=\"meta\">Nothing.</p>");
        return;
    };
    if is_picture(raw) {
        html.raw("<p class=\"meta\">A picture, which is not shown here.</p>");
        return;
    }
    if write_shape(html, raw, Look::Plain) {
        return;
    }
    let (text, is_cut) = match json::string(raw) {
        Some(text) => (shorten::head(&text, PAYLOAD_BYTES_MAX).to_owned(), text.len() > PAYLOAD_BYTES_MAX),
        None => json::indented(raw.get(), PAYLOAD_BYTES_MAX),
    };
    html.raw("<pre class=\"shared-value\" tabindex=\"0\" dir=\"auto\">");
    if terminal::is_terminal(&text) {
        html.terminal(&text);
    } else {
        html.text(&text);
    }
    html.raw("</pre>");
    write_cut(html, is_cut);
}

fn write_cut(html: &mut Html, is_cut: bool) {
    if is_cut {
        html.raw("<p class=\"meta\">Only the beginning is shown.</p>");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::fixture::{answer, call, event};

    #[test]
    fn rows_are_text_without_links_to_what_only_members_open() {
        let typed = r#"[{"type":"text","text":"see <b>this</b>"}]"#;
        let viewed = r#"{"entityId":"01890000-0000-7000-8000-000000000001","pathname":"/x","entityType":"company"}"#;
        let events = [
            event(1, "user.message", typed, "{}"),
            call(2, "a", "find"),
            answer(3, "a", "\"found <i>it</i>\""),
            event(4, "human.entity_view", "[]", viewed),
            event(5, "session.error", r#"[{"type":"text","text":"gone"}]"#, r#"{"code":"x"}"#),
            event(6, "agent.message", r#"[{"type":"image","image":"https://evil.test/a.png"}]"#, "{}"),
        ];
        let html = shared_rows(&events);
        for wanted in [
            "see &lt;b&gt;this&lt;/b&gt;",
            "Call of <code>find</code>: answered",
            "found &lt;i&gt;it&lt;/i&gt;",
            "Opened company",
            "gone",
        ] {
            assert!(html.contains(wanted), "{wanted}: {html}");
        }
        for unwanted in ["href=", "/api/", "<img", "src="] {
            assert!(!html.contains(unwanted), "{unwanted}: {html}");
        }
    }

    #[test]
    fn long_values_are_cut_and_absent_ones_are_said() {
        assert_eq!(shared_value(None), "<p class=\"meta\">Nothing.</p>");
        let long = RawValue::from_string(format!("\"{}\"", "x".repeat(PAYLOAD_BYTES_MAX + 1))).unwrap();
        let html = shared_value(Some(&long));
        assert!(html.ends_with("Only the beginning is shown.</p>"), "{}", html.len());
    }
}
