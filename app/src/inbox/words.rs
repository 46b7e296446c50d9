//! Items in words: what waits, about what, what would change.

use crate::{session::Titles, text::shorten::one_line};
use domain::{
    entity::FIELD_TITLE,
    gate::{GateKind, Verdict},
    id::EntityId,
};
use serde_json::{Map, Value};
use wire::approval::{Approval, Decision};

/// Longest value in a phrase, characters.
const VALUE_CHARS_MAX: usize = 40;
/// Longest subject, characters.
const SUBJECT_CHARS_MAX: usize = 120;
/// Values named in a phrase.
const PHRASE_VALUES_MAX: usize = 2;

/// A value as it stands in a field of the form.
pub fn start_text(value: &Value) -> String {
    match value {
        Value::Object(_) | Value::Array(_) => serde_json::to_string_pretty(value).unwrap_or_default(),
        plain => domain::entity::shown(plain),
    }
}

/// What is proposed now, as an object; empty for questions.
pub fn values(approval: &Approval) -> Map<String, Value> {
    approval.proposed.as_ref().and_then(|json| serde_json::from_str(json.get()).ok()).unwrap_or_default()
}

/// Ids among the values that are proposed: maybe of records.
pub fn ids_proposed(approval: &Approval) -> Vec<EntityId> {
    values(approval).values().filter_map(|value| value.as_str()?.parse().ok()).collect()
}

/// The record that the item holds, as it was staged.
pub fn task(approval: &Approval) -> Option<domain::gate::Task> {
    domain::gate::Task::parse(approval.task.get()).ok()
}

/// A field's slug as a label, where nothing names it better: `close-date` → `Close date`.
pub fn field_word(slug: &str) -> String {
    let words = slug.replace(['-', '_'], " ");
    let mut chars = words.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

/// What a kind is called.
pub const fn kind_word(kind: GateKind) -> &'static str {
    match kind {
        GateKind::Tool => "Tool call",
        GateKind::Output => "Output",
        GateKind::Fields => "Fields",
        GateKind::Question => "Question",
    }
}

/// Who asks.
pub fn agent(approval: &Approval) -> String {
    approval.agent_slug.as_deref().map_or_else(|| "An agent".to_owned(), field_word)
}

/// What the item is about, on one line.
pub fn subject(approval: &Approval) -> String {
    let values = values(approval);
    let named = match approval.kind {
        GateKind::Question => None,
        GateKind::Tool => approval.entity_title.as_deref(),
        // A record that is to be made has no title yet but the proposed one.
        _ => approval.entity_title.as_deref().or_else(|| values.get(FIELD_TITLE)?.as_str()),
    };
    one_line(named.unwrap_or(&approval.title), SUBJECT_CHARS_MAX)
}

/// What would change, in a phrase, records by their titles. Empty for questions: their subject says all.
pub fn phrase(approval: &Approval, titles: &Titles) -> String {
    let joint = match approval.kind {
        GateKind::Tool => ": ",
        GateKind::Output | GateKind::Fields => " → ",
        GateKind::Question => return String::new(),
    };
    let values = values(approval);
    let mut phrase: Vec<String> = values
        .iter()
        .take(PHRASE_VALUES_MAX)
        .map(|(key, value)| format!("{}{joint}{}", field_word(key), named(value, titles)))
        .collect();
    if values.len() > PHRASE_VALUES_MAX {
        phrase.push(format!("{} more", values.len() - PHRASE_VALUES_MAX));
    }
    let lead = (approval.kind == GateKind::Tool && approval.entity_title.is_some()).then(|| approval.title.clone());
    lead.into_iter().chain((!phrase.is_empty()).then(|| phrase.join(", "))).collect::<Vec<_>>().join(" · ")
}

/// What an item is about and what would change, in a line.
pub fn about(approval: &Approval) -> String {
    let (subject, phrase) = (subject(approval), phrase(approval, &Titles::default()));
    if phrase.is_empty() { subject } else { format!("{subject}: {phrase}") }
}

/// The fields that would change, by their names; none for an item without any.
pub fn fields_named(approval: &Approval) -> Option<String> {
    let names: Vec<String> = values(approval).keys().map(|key| field_word(key)).collect();
    match names.as_slice() {
        [] => None,
        [one] => Some(one.clone()),
        [one, other] => Some(format!("{one} and {other}")),
        [one, other, ..] => Some(format!("{one}, {other} and {} more", names.len() - PHRASE_VALUES_MAX)),
    }
}

/// The same; the id of a record as its title.
pub fn named(value: &Value, titles: &Titles) -> String {
    let title = value.as_str().and_then(|id| titles.get(id));
    title.map_or_else(|| short(value), |title| one_line(title, VALUE_CHARS_MAX))
}

/// A value, short enough for a sentence.
pub fn short(value: &Value) -> String {
    match value {
        Value::Null => "nothing".to_owned(),
        Value::String(text) if text.trim().is_empty() => "nothing".to_owned(),
        Value::Array(items) => crate::text::number::counted(items.len() as u64, "item"),
        Value::Object(map) => crate::text::number::counted(map.len() as u64, "value"),
        plain => one_line(&domain::entity::shown(plain), VALUE_CHARS_MAX),
    }
}

/// A decision as a verb.
pub const fn verdict_word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Approve => "approved",
        Verdict::Edit => "approved with changes",
        Verdict::Deny => "denied",
        Verdict::Respond => "answered",
    }
}

/// What somebody did about it.
pub fn decision_word(decision: &Decision) -> &'static str {
    decision.decision.map_or("undid the decision", verdict_word)
}

/// What a notification says: who waits, and for what kind of answer. Title and body.
pub fn notice(approval: &Approval) -> (String, String) {
    let kind = match approval.kind {
        GateKind::Tool => "wants to call a tool",
        GateKind::Output | GateKind::Fields => "wants its output approved",
        GateKind::Question => "asks you a question",
    };
    let name = approval.action_name.as_deref().map(|name| one_line(name, SUBJECT_CHARS_MAX)).unwrap_or_default();
    (format!("{} {kind}", agent(approval)), name)
}

/// Whose turn it is.
pub fn turn(approval: &Approval) -> String {
    if approval.may_decide {
        return "Your turn".to_owned();
    }
    let names: Vec<_> = approval.reviewers.iter().map(|r| r.name.as_str()).collect();
    if names.is_empty() { "Waiting for a reviewer".to_owned() } else { format!("Waiting for {}", names.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inbox::fixture::{output, question, tool};
    use serde_json::json;

    #[test]
    fn a_row_says_what_would_change() {
        let item = output(1, json!({"amount": 1200, "close-date": "2026-12-01", "stage": "Won"}));
        let phrase = |item: &Approval| phrase(item, &Titles::from([("0189".to_owned(), "Acme Corp".to_owned())]));
        assert_eq!(phrase(&item), "Amount → 1200, Close date → 2026-12-01, 1 more");
        assert_eq!(phrase(&output(1, json!({"parent": "0189"}))), "Parent → Acme Corp");
        assert_eq!(subject(&item), "Acme Corp 1");
        let mut made = output(1, json!({"title": "New deal"}));
        made.entity_title = None;
        assert_eq!(subject(&made), "New deal");
        let call = tool(1, json!({"attachments": [1, 2], "to": "lee@customer.example"}));
        assert_eq!(phrase(&call), "Attachments: 2 items, To: lee@customer.example");
        assert_eq!(subject(&call), "send_mail");
        assert_eq!((phrase(&question(1)), subject(&question(1))), (String::new(), "Which region?".into()));
    }

    #[test]
    fn the_fields_of_an_item_are_named_as_people_list_things() {
        let named = |values| fields_named(&output(1, values));
        assert_eq!(named(json!({})), None);
        assert_eq!(named(json!({"stage": 1})).as_deref(), Some("Stage"));
        assert_eq!(named(json!({"amount": 1, "stage": 1})).as_deref(), Some("Amount and Stage"));
        let four = json!({"amount": 1, "close-date": 1, "risk": 1, "stage": 1});
        assert_eq!(named(four).as_deref(), Some("Amount, Close date and 2 more"));
    }

    #[test]
    fn values_are_typed_as_they_are_shown() {
        let shown = [json!("a\nb"), json!(1.5), json!(true), json!(null), json!([1])].map(|v| start_text(&v));
        assert_eq!(shown, ["a\nb", "1.5", "true", "", "[\n  1\n]"]);
    }

    #[test]
    fn whose_turn_it_is_names_the_reviewers() {
        let mut item = output(1, json!({"stage": "Won"}));
        assert_eq!(turn(&item), "Your turn");
        item.may_decide = false;
        assert_eq!(turn(&item), "Waiting for legal");
    }
}
