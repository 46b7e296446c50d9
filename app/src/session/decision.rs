//! The text of decisions at gates, and of what an approved output wrote.

use super::value_text::{Titles, named};
use crate::{
    result::write_value,
    text::{html::Html, label::slug_label, shorten},
};
use domain::{
    event::{
        Body,
        kind::{Completed, Decision, WriteEffect, WrittenEntity},
    },
    gate::{MEMORY_BASE, MEMORY_BODY, Verdict},
};
use serde_json::{Value, value::RawValue};
use wire::event::Event;

/// Most changed values named in the sentence; more are counted.
const VALUES_MAX: usize = 3;
/// Actor of what the server does.
const SYSTEM: &str = "system";
/// Longest reason or answer in the sentence, characters.
const WORDS_CHARS_MAX: usize = 400;

/// A verdict as a past participle.
pub const fn verdict_word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Approve => "approved",
        Verdict::Edit => "approved with changes",
        Verdict::Deny => "denied",
        Verdict::Respond => "answered",
    }
}

/// The name of an actor.
fn who<'a>(titles: &'a Titles, actor: &'a str) -> &'a str {
    match titles.get(actor) {
        Some(name) => name,
        None if actor.starts_with("user:") => "A former member",
        None if actor.starts_with("token:") => "An API token",
        None => actor.strip_prefix("agent:").unwrap_or("Shiftbook"),
    }
}

/// Writes `mia@acme.test approved with changes: Stage → Won`, with the reason below it.
pub fn write_decision(html: &mut Html, event: &Event, decision: &Decision, titles: &Titles) {
    let verdict = decision.decision;
    let verb = match verdict {
        Some(verdict) => verdict_word(verdict),
        None if decision.undoes.is_some() => "undid the decision",
        None => "decided",
    };
    // Only people who answer by a link have no account that the log could name.
    let by_link = verdict == Some(Verdict::Respond) && event.actor == SYSTEM && decision.value.is_some();
    let name = if by_link { "Someone with the link" } else { who(titles, &event.actor) };
    html.raw("<p><strong>");
    match decision.rule {
        Some(rule) => {
            let href = format!("/rules/{}", rule.id);
            html.raw("<a href=\"").text(&href).raw("\">A rule</a>").raw("</strong> ").text(verb);
        }
        None => {
            html.text(name).raw("</strong> ").text(verb);
        }
    }
    if let Some(tool) = &decision.tool_name {
        html.raw(" <code>").text(&shorten::one_line(tool, WORDS_CHARS_MAX)).raw("</code>");
    }
    if let Some(value) = &decision.value {
        html.raw(": <span dir=\"auto\">").text(&decision_text(verdict, value, titles)).raw("</span>");
    }
    html.raw("</p>");
    if let Some(note) = &decision.note {
        html.raw("<p class=\"gate-note\" dir=\"auto\">").text(&shorten::one_line(note, WORDS_CHARS_MAX)).raw("</p>");
    }
    if let Some(value) = decision.value.as_ref().filter(|value| value.is_object() || value.is_array()) {
        html.raw("<details class=\"fold\"><summary><span class=\"fold-more\">Values</span></summary>");
        write_value(html, RawValue::from_string(value.to_string()).ok().as_deref(), None);
        html.raw("</details>");
    }
}

/// The name of a field of an entity, or a label made from its slug.
fn field_name(slug: &str, titles: &Titles) -> String {
    titles.get(&format!("field:{slug}")).cloned().unwrap_or_else(|| slug_label(slug))
}

fn decision_text(verdict: Option<Verdict>, value: &Value, titles: &Titles) -> String {
    match (verdict, value.as_object()) {
        (Some(Verdict::Approve | Verdict::Edit), Some(changed)) => {
            let is_memory = changed.keys().all(|key| matches!(key.as_str(), MEMORY_BODY | MEMORY_BASE));
            let label = |key: &str, value: &Value| match key {
                MEMORY_BODY if is_memory => format!("Document → {}", named(value, titles)),
                MEMORY_BASE if is_memory => format!("based on version {}", named(value, titles)),
                _ => format!("{} → {}", field_name(key, titles), named(value, titles)),
            };
            let mut words: Vec<String> =
                changed.iter().take(VALUES_MAX).map(|(key, value)| label(key, value)).collect();
            if changed.len() > VALUES_MAX {
                words.push(format!("{} more", changed.len() - VALUES_MAX));
            }
            words.join(", ")
        }
        _ => shorten::one_line(&value.as_str().map_or_else(|| value.to_string(), str::to_owned), WORDS_CHARS_MAX),
    }
}

/// Writes links to the records that a completion wrote; nothing if it wrote none.
pub fn write_written(html: &mut Html, event: &Event) {
    let Body::SessionCompleted(Completed { written: Some(written), .. }) = event.body() else { return };
    for WrittenEntity { entity_id, version, effect, .. } in written {
        let verb = match effect {
            WriteEffect::Created => "Created",
            WriteEffect::Updated => "Changed",
            WriteEffect::Unchanged => "Not changed:",
        };
        html.raw("<p>")
            .raw(verb)
            .raw(" <a href=\"/entities/")
            .text(&entity_id.to_string())
            .raw("\">version ")
            .number(version);
        html.raw(" of the record</a></p>");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::{fixture::event, rows_fragment};

    #[test]
    fn a_changed_field_has_its_own_name() {
        let mut edit = event(
            1,
            "user.output_approval",
            "[]",
            r#"{"gateId":"01890000-0000-7000-8000-000000000002","kind":"output","number":1,"digest":"","decision":"edit","value":{"arr":7}}"#,
        );
        edit.actor = "user:ada".into();
        let titles = Titles::from([("field:arr".to_owned(), "ARR".to_owned())]);
        let html = rows_fragment("s", &[edit], &titles);
        assert!(html.contains("ARR → 7"), "{html}");
    }

    fn html_of(kind: &str, content: &str, metadata: &str) -> String {
        let mut event = event(1, kind, content, metadata);
        event.actor = "user:ada".into();
        rows_fragment("s", &[event], &Titles::from([("user:ada".to_owned(), "ada@acme.test".to_owned())]))
    }

    #[test]
    fn a_decision_says_who_did_what_and_why() {
        let edit = r#"{"gateId":"01890000-0000-7000-8000-000000000002","kind":"output","digest":"","number":1,"decision":"edit","value":{"stage":"Won","a":1,"b":2,"c":3}}"#;
        let html = html_of("user.output_approval", r#"[{"type":"text","text":"As agreed"}]"#, edit);
        assert!(html.contains("<strong>ada@acme.test</strong> approved with changes: "), "{html}");
        assert!(html.contains("Stage → Won, A → 1, B → 2, 1 more") && html.contains("As agreed"), "{html}");
        let edit = r#"{"gateId":"01890000-0000-7000-8000-000000000002","kind":"output","digest":"","number":1,"decision":"edit","value":{"baseVersion":9,"body":"- tea"}}"#;
        let html = html_of("user.output_approval", "[]", edit);
        assert!(html.contains("based on version 9, Document → - tea"), "{html}");
        let newer = r#"{"gateId":"01890000-0000-7000-8000-000000000002","kind":"output","digest":"","number":1,"decision":"approve","value":{"baseVersion":3}}"#;
        let newer = html_of("user.output_approval", "[]", newer);
        assert!(newer.contains("approved: ") && newer.contains("based on version 3"), "{newer}");
        let undo = html_of(
            "user.output_approval",
            "[]",
            r#"{"gateId":"01890000-0000-7000-8000-000000000002","kind":"output","digest":"","number":2,"undoes":1}"#,
        );
        assert!(undo.contains("ada@acme.test</strong> undid the decision"), "{undo}");
        let call = html_of(
            "user.tool_confirmation",
            "[]",
            r#"{"gateId":"01890000-0000-7000-8000-000000000002","kind":"tool","number":1,"digest":"","decision":"deny","toolName":"<b>mail"}"#,
        );
        assert!(call.contains("denied <code>&lt;b&gt;mail</code>"), "{call}");
        let answer = html_of(
            "user.form_submit",
            "[]",
            r#"{"gateId":"01890000-0000-7000-8000-000000000002","kind":"question","number":1,"digest":"","decision":"respond","value":"EMEA"}"#,
        );
        assert!(answer.contains("answered: <span dir=\"auto\">EMEA</span>"), "{answer}");
    }

    #[test]
    fn an_answer_of_the_server_is_that_of_someone_with_the_link() {
        let metadata = r#"{"gateId":"01890000-0000-7000-8000-000000000002","kind":"question","number":1,"digest":"","decision":"respond","value":"EMEA"}"#;
        let mut answer = event(1, "user.form_submit", "[]", metadata);
        answer.actor = "system".into();
        let html = rows_fragment("s", &[answer], &Titles::default());
        assert!(html.contains("<strong>Someone with the link</strong> answered"), "{html}");
    }

    #[test]
    fn what_was_written_is_a_link() {
        let html = html_of(
            "session.completed",
            "[]",
            r#"{"hasResult":true,"written":[{"entityId":"01890000-0000-7000-8000-0000000000e1","entityType":"deals","version":2,"effect":"updated"}]}"#,
        );
        assert!(
            html.contains(
                "Changed <a href=\"/entities/01890000-0000-7000-8000-0000000000e1\">version 2 of the record</a>"
            ),
            "{html}"
        );
    }

    #[test]
    fn former_members_and_tokens_have_names() {
        let titles = Titles::new();
        assert_eq!(
            ["user:x", "token:x", "system"].map(|actor| who(&titles, actor)),
            ["A former member", "An API token", "Shiftbook"]
        );
    }
}
