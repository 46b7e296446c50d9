//! Events as sentences.

use super::part::{Part, parts};
use crate::text::{json, label::capitalized, markdown, shorten};
use serde_json::value::RawValue;
use std::borrow::Cow;
use wire::event::Event;

/// The first of these members of an event's metadata, as text; numbers and strings only.
pub fn member<'a>(members: &[(Cow<'a, str>, &'a RawValue)], names: &[&str]) -> Option<Cow<'a, str>> {
    let (_, raw) = members.iter().find(|(key, _)| names.contains(&&**key))?;
    match raw.get() {
        "null" => None,
        text if text.starts_with(['{', '[']) => None,
        text => Some(json::string(raw).unwrap_or(Cow::Borrowed(text))),
    }
}

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

/// A small event as one sentence; `None` for an unknown kind.
pub fn note(kind: &str, text: &str, metadata: &str) -> Option<String> {
    let members = json::members(metadata);
    let get = |names: &[&str]| member(&members, names);
    let about = |lead: &str, rest: Option<Cow<'_, str>>| match rest {
        Some(rest) if !rest.is_empty() => format!("{lead} {rest}"),
        _ => lead.to_owned(),
    };
    let said = (!text.is_empty()).then_some(Cow::Borrowed(text));
    Some(match kind {
        "session.created" => match get(&["retryOf"]) {
            Some(_) => "Created to run an earlier session again".to_owned(),
            None => "Created".to_owned(),
        },
        "session.claimed" => {
            let worker = get(&["workerName", "worker"]).map(|worker| match worker.split_once(':') {
                Some(("token", _)) => Cow::Borrowed("by a worker"),
                Some(("user", _)) => Cow::Borrowed("by a person"),
                _ => Cow::Owned(format!("by {worker}")),
            });
            let who = about("Claimed", worker);
            about(&who, get(&["attempt"]).map(|n| Cow::Owned(format!("(attempt {n})"))))
        }
        "session.completed" => about("Completed", said),
        "session.lease_lost" => about(
            "The worker stopped responding, so its lease ran out",
            get(&["attempt"]).map(|n| Cow::Owned(format!("(attempt {n})"))),
        ),
        "session.released" => "Released by the worker".to_owned(),
        "session.waiting_approval" => {
            let lead = match get(&["kind"]).as_deref() {
                Some("question") => "Asked",
                _ => "Waiting for approval",
            };
            match said.or_else(|| get(&["detail", "reason", "toolName"])) {
                Some(what) => format!("{lead}: {what}"),
                None => lead.to_owned(),
            }
        }
        "session.feedback_requested" => match said.or_else(|| get(&["message"])) {
            Some(what) => format!("Asked people: {what}"),
            None => "Asked people".to_owned(),
        },
        "session.context_injected" => about("Context added", said.or_else(|| get(&["source", "title", "name"]))),
        "human.navigate" => about("Went to", said.or_else(|| get(&["pathname", "path", "url", "page", "title"]))),
        "human.entity_view" => {
            let title = said.or_else(|| get(&["entityTitle", "title", "entityName"]));
            match (title, get(&["entityType"]), get(&["entityId"])) {
                (Some(title), _, _) => format!("Opened {title}"),
                (None, Some(kind), Some(id)) => format!("Opened {kind} {id}"),
                (None, _, id) => about("Opened", id),
            }
        }
        "human.marker" => match said.or_else(|| get(&["label", "title", "marker"])) {
            Some(note) => format!("Marker: “{note}”"),
            None => "Marker".to_owned(),
        },
        "human.task_switch" => about("Switched to", said.or_else(|| get(&["to", "toTitle", "title", "actionName"]))),
        "tool.session_started" => about("Tool opened", said.or_else(|| get(&["toolName", "tool", "name"]))),
        "tool.field_changed" => about("Changed", said.or_else(|| get(&["field", "fieldName", "name"]))),
        "tool.composition_step.started" => about("Step started", said.or_else(|| get(&["step", "stepName", "name"]))),
        "tool.composition_step.completed" => {
            about("Step completed", said.or_else(|| get(&["step", "stepName", "name"])))
        }
        "external.event" => {
            match (get(&["source", "system"]), said.or_else(|| get(&["title", "message", "summary", "name"]))) {
                (Some(source), Some(said)) => format!("{source}: {said}"),
                (Some(only), None) | (None, Some(only)) => only.into_owned(),
                (None, None) => "External event".to_owned(),
            }
        }
        "state.patch" => about("State changed", said),
        _ => return None,
    })
}

/// Any event on one line, for lists.
pub fn one_line(event: &Event, chars_max: usize) -> String {
    let parts = parts(event);
    let text = texts(&parts);
    let line = match parts.first() {
        Some(Part::Call(call)) => format!("Calls {}", call.name),
        Some(Part::Answer(answer)) if answer.is_error => format!("{} failed", answer.name),
        Some(Part::Answer(answer)) => format!("{} answered", answer.name),
        _ if event.kind == "session.status_change" => {
            let members = json::members(event.metadata.get());
            member(&members, &["reason"]).map_or_else(|| "Status changed".to_owned(), Cow::into_owned)
        }
        _ => match note(&event.kind, &text, event.metadata.get()) {
            Some(note) => note,
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
    fn every_known_kind_says_something() {
        for kind in domain::event::KNOWN {
            assert!(!one_line(&event(1, kind, "[]", "{}"), 80).is_empty(), "{kind}");
        }
        assert_eq!(one_line(&event(1, "acme.build_finished", "[]", "{}"), 80), "Build finished");
    }

    #[test]
    fn human_events_are_sentences() {
        let line = |kind: &str, content: &str, metadata: &str| one_line(&event(1, kind, content, metadata), 80);
        assert_eq!(line("human.navigate", "[]", r#"{"pathname":"/actions","at":"…"}"#), "Went to /actions");
        let note = r#"[{"type":"text","text":"drafting outreach\nto Acme"}]"#;
        assert_eq!(line("human.marker", note, "{}"), "Marker: “drafting outreach to Acme”");
        let seen = |more: &str| line("human.entity_view", "[]", &format!(r#"{{"entityId":"0189"{more}}}"#));
        assert_eq!(seen(r#","entityType":"companies""#), "Opened companies 0189");
        assert_eq!(seen(r#","entityType":"companies","entityTitle":"Acme Corp""#), "Opened Acme Corp");
        assert_eq!(seen(""), "Opened 0189");
    }

    #[test]
    fn a_question_is_asked_and_other_items_wait_for_approval() {
        let said = r#"[{"type":"text","text":"Is this fair?"}]"#;
        let line = |kind: &str| {
            let metadata = format!(r#"{{"kind":"{kind}"}}"#);
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
        assert_eq!(one_line(&event(1, "human.marker", "[]", r#"{"label":"lunch"}"#), 80), "Marker: “lunch”");
        assert_eq!(one_line(&event(1, "session.status_change", "[]", r#"{"reason":"claimed"}"#), 80), "claimed");
        assert_eq!(one_line(&event(1, "agent.message", r#"[{"type":"text","text":"a\nb"}]"#, "{}"), 80), "a b");
    }
}
