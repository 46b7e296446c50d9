//! Events as sentences.

use super::part::{Part, parts};
use crate::text::{label::capitalized, markdown, shorten};
use wire::event::Event;

/// A label made from an unknown kind: `session.context_injected` becomes `Context injected`.
pub fn kind_words(kind: &str) -> String {
    capitalized(&kind.split_once('.').map_or(kind, |(_, rest)| rest).replace(['.', '_'], " "))
}

/// The joined text parts of an event.
pub fn texts(parts: &[Part<'_>]) -> String {
    let found: Vec<&str> = parts
        .iter()
        .filter_map(|part| match part {
            Part::Text(text) | Part::Reasoning(text) => Some(&**text),
            _ => None,
        })
        .collect();
    found.join("\n")
}

/// The joined text parts of an event's content.
pub fn texts_of(event: &Event) -> String {
    texts(&parts(event))
}

/// Any event on one line, for lists.
pub fn one_line(event: &Event, chars_max: usize) -> String {
    let parts = parts(event);
    let text = texts(&parts);
    let line = match parts.first() {
        Some(Part::Call(call)) => format!("Calls {}", call.name),
        Some(Part::Answer(answer)) if answer.is_error => format!("{} failed", answer.name),
        Some(Part::Answer(answer)) => format!("{} answered", answer.name),
        _ => match event.body().sentence() {
            Some(sentence) => sentence,
            None if text.is_empty() => kind_words(&event.kind),
            None => return markdown::one_line(&text, chars_max),
        },
    };
    shorten::one_line(&line, chars_max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::fixture::{call, event};

    #[test]
    fn every_known_kind_says_something_even_when_its_payload_was_erased() {
        for kind in domain::event::Known::ALL {
            assert!(!one_line(&event(1, kind.as_str(), "[]", "{}"), 80).is_empty(), "{}", kind.as_str());
        }
        assert_eq!(one_line(&event(1, "acme.build_finished", "[]", "{}"), 80), "Build finished");
    }

    #[test]
    fn human_events_are_sentences() {
        let line = |kind: &str, content: &str, metadata: &str| one_line(&event(1, kind, content, metadata), 80);
        assert_eq!(line("human.navigate", "[]", r#"{"pathname":"/actions","at":"…"}"#), "Went to /actions");
        let note = r#"[{"type":"text","text":"drafting outreach\nto Acme"}]"#;
        assert_eq!(line("human.marker", note, "{}"), "Marker: “drafting outreach to Acme”");
        let id = "01890000-0000-7000-8000-000000000001";
        let seen = |more: &str| {
            line("human.entity_view", "[]", &format!(r#"{{"entityId":"{id}","pathname":"/entities/{id}"{more}}}"#))
        };
        assert_eq!(seen(r#","entityType":"companies""#), format!("Opened companies {id}"));
        assert_eq!(seen(""), format!("Opened {id}"));
        assert_eq!(line("human.task_switch", "[]", r#"{"title":"Sort mail"}"#), "Switched to Sort mail");
    }

    #[test]
    fn a_question_is_asked_and_other_items_wait_for_approval() {
        let said = r#"[{"type":"text","text":"Is this fair?"}]"#;
        let line = |kind: &str| {
            let metadata = format!(
                r#"{{"gateId":"01890000-0000-7000-8000-000000000001","kind":"{kind}","digest":"","task":{{}},"quorum":1}}"#
            );
            one_line(&event(1, "session.waiting_approval", said, &metadata), 80)
        };
        assert_eq!(line("question"), "Asked: Is this fair?");
        for kind in ["tool", "output", "fields", "memory"] {
            assert_eq!(line(kind), "Waiting for approval: Is this fair?");
        }
    }

    #[test]
    fn lines_name_what_matters() {
        assert_eq!(one_line(&call(1, "a", "find"), 80), "Calls find");
        let changed = |reason: &str| {
            let change = format!(r#"{{"from":"pending","to":"running","reason":"{reason}"}}"#);
            one_line(&event(1, "session.status_change", "[]", &change), 80)
        };
        assert_eq!(changed("dispatched"), "queued");
        assert_eq!(changed("claimed"), "started");
        assert_eq!(changed("completed by its worker"), "finished");
        assert_eq!(changed("<own words>"), "<own words>");
        assert_eq!(one_line(&event(1, "agent.message", r#"[{"type":"text","text":"a\nb"}]"#, "{}"), 80), "a b");
    }
}
