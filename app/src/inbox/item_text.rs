//! Texts about an item: its subject, what it would change, and what was decided.

use crate::{
    agent_href::agent_word,
    session::{Titles, named, verdict_word},
    text::{
        label::slug_label,
        number::{counted, grouped_digits},
        shorten::one_line,
    },
};
use domain::{
    entity::FIELD_TITLE,
    gate::{GateKind, MemoryProposal, ReviewerKind, Task},
    memory_writer::{evidence::new_lines, text::says_something},
};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use wire::approval::{Approval, Decision};

/// Longest subject, characters.
const SUBJECT_CHARS_MAX: usize = 120;
/// Most values named in a summary of changes.
const SUMMARY_VALUES_MAX: usize = 2;
/// Longest argument of a call that can be its subject, characters.
const SHORT_CHARS_MAX: usize = 60;
/// Words in the names of numbers that are amounts, so that their sum says something.
const AMOUNTS: [&str; 6] = ["amount", "total", "price", "sum", "cost", "refund"];
/// Parts of names of arguments that say what a call is about, the most telling first.
const TELLING: [&str; 14] = [
    "recipient",
    "to",
    "email",
    "customer",
    "subject",
    "title",
    "name",
    "amount",
    "charge",
    "path",
    "url",
    "query",
    "command",
    "id",
];

/// Names of fields by their slug. Others get a label made from the slug.
pub type Labels = BTreeMap<String, String>;

/// The label of a field.
pub fn label_of(slug: &str, labels: &Labels) -> String {
    labels.get(slug).cloned().unwrap_or_else(|| slug_label(slug))
}

/// A value as the start text of its form field; arrays and objects as indented JSON.
pub fn field_text(value: &Value) -> String {
    match value {
        Value::Object(_) | Value::Array(_) => serde_json::to_string_pretty(value).unwrap_or_default(),
        plain => domain::entity::display_text(plain),
    }
}

/// The proposed values; empty for questions.
pub fn values(approval: &Approval) -> Map<String, Value> {
    approval.proposed.as_ref().and_then(|json| serde_json::from_str(json.get()).ok()).unwrap_or_default()
}

/// The task as the agent staged it; `None` if it cannot be parsed.
pub fn task(approval: &Approval) -> Option<domain::gate::Task> {
    domain::gate::Task::parse(approval.task.get()).ok()
}

/// The name of a gate kind in the interface.
pub const fn kind_word(kind: GateKind) -> &'static str {
    match kind {
        GateKind::Tool => "Tool call",
        GateKind::Output => "Output",
        GateKind::Fields => "Fields",
        GateKind::Question => "Question",
        GateKind::Memory => "Memory",
    }
}

/// The agent's slug, which is its name on every page, that a tool is run, or `An agent`.
pub fn agent_name(approval: &Approval) -> String {
    approval.agent_slug.as_deref().map_or_else(|| "An agent".to_owned(), agent_word)
}

/// What the item is about, on one line: the record, or the title of the item.
pub fn subject(approval: &Approval) -> String {
    let values = values(approval);
    let named = match approval.kind {
        GateKind::Question | GateKind::Memory => None,
        GateKind::Tool => approval.entity_title.as_deref(),
        // A record that does not exist yet has only a proposed title.
        _ => approval.entity_title.as_deref().or_else(|| values.get(FIELD_TITLE)?.as_str()),
    };
    one_line(named.unwrap_or(&approval.title), SUBJECT_CHARS_MAX)
}

/// The document that a proposal would change: a person of the workspace by name, others by path. `None` for other
/// items.
pub fn proposed_document(approval: &Approval, titles: &Titles) -> Option<String> {
    let Some(Task::Memory(proposal)) = task(approval) else { return None };
    let named = titles.get(&proposal.path).unwrap_or(&proposal.path);
    Some(one_line(named, SUBJECT_CHARS_MAX))
}

/// The subject, with a person whose document a proposal would change by name.
pub fn named_subject(approval: &Approval, titles: &Titles) -> String {
    proposed_document(approval, titles).map_or_else(|| subject(approval), |document| format!("Memory: {document}"))
}

/// What an item is about for its row in the list, where many items share a title: of a call, its most telling
/// arguments.
pub fn row_subject(approval: &Approval, titles: &Titles) -> String {
    if approval.kind != GateKind::Tool {
        return named_subject(approval, titles);
    }
    let arguments = values(approval);
    let is_word = |key: &str, telling: &str| key.split(['_', '-']).any(|word| word.eq_ignore_ascii_case(telling));
    let place = |key: &str| TELLING.iter().position(|telling| is_word(key, telling));
    let mut telling: Vec<(usize, String)> = arguments
        .iter()
        .filter(|(_, value)| is_short(value))
        .map(|(key, value)| (place(key).unwrap_or(TELLING.len()), figure(key, value, titles)))
        .collect();
    telling.sort_by_key(|(place, _)| *place);
    let said = approval.entity_title.iter().cloned().chain(telling.into_iter().map(|(_, text)| text));
    let said: Vec<String> = said.take(SUMMARY_VALUES_MAX).collect();
    if said.is_empty() { subject(approval) } else { one_line(&said.join(" · "), SUBJECT_CHARS_MAX) }
}

/// Whether a value fits into a line.
fn is_short(value: &Value) -> bool {
    match value {
        Value::String(text) => {
            !text.trim().is_empty() && text.chars().count() <= SHORT_CHARS_MAX && !text.contains('\n')
        }
        Value::Number(_) => true,
        _ => false,
    }
}

/// Whether a name is that of an amount.
pub fn is_amount(name: &str) -> bool {
    let name = name.to_lowercase();
    AMOUNTS.iter().any(|word| name.contains(word))
}

/// A value in a line: amounts and large numbers with groups of three digits. Another small number may be a year.
fn figure(key: &str, value: &Value, titles: &Titles) -> String {
    match value {
        Value::Number(number) if is_amount(key) => grouped_digits(&number.to_string()),
        other => named(other, titles),
    }
}

/// A summary of the changes, with records by title, without the values under the keys `same`. Empty for questions,
/// whose subject says it all.
pub fn changes(approval: &Approval, titles: &Titles, labels: &Labels, same: &BTreeSet<String>) -> String {
    let joint = match approval.kind {
        GateKind::Tool => ": ",
        GateKind::Output | GateKind::Fields => " → ",
        GateKind::Question => return String::new(),
        GateKind::Memory => return memory_change(approval),
    };
    let mut values = values(approval);
    values.retain(|key, _| !same.contains(key));
    if values.is_empty() && !same.is_empty() {
        return "Changes nothing".to_owned();
    }
    let mut changes: Vec<String> = values
        .iter()
        .take(SUMMARY_VALUES_MAX)
        .map(|(key, value)| format!("{}{joint}{}", label_of(key, labels), figure(key, value, titles)))
        .collect();
    if values.len() > SUMMARY_VALUES_MAX {
        changes.push(format!("{} more", values.len() - SUMMARY_VALUES_MAX));
    }
    let lead = (approval.kind == GateKind::Tool && approval.entity_title.is_some()).then(|| approval.title.clone());
    lead.into_iter().chain((!changes.is_empty()).then(|| changes.join(", "))).collect::<Vec<_>>().join(" · ")
}

/// The first new line of a memory proposal and the number of the others.
fn memory_change(approval: &Approval) -> String {
    let Some(Task::Memory(proposal)) = task(approval) else { return String::new() };
    let body = MemoryProposal::body_of(&values(approval));
    let new = new_lines(&proposal.base, &body);
    let said: Vec<_> = new.iter().filter(|(_, line)| says_something(line)).collect();
    match said.as_slice() {
        [] => "Removes text".to_owned(),
        [(_, only)] => one_line(only, SUBJECT_CHARS_MAX),
        [(_, first), more @ ..] => format!("{}, {} more", one_line(first, SUBJECT_CHARS_MAX), more.len()),
    }
}

/// Subject and changes on one line, without the values under the keys `same`.
pub fn summary(approval: &Approval, labels: &Labels, same: &BTreeSet<String>) -> String {
    let (subject, changes) = (subject(approval), changes(approval, &Titles::default(), labels, same));
    if changes.is_empty() { subject } else { format!("{subject}: {changes}") }
}

/// The labels of the fields that would change; `None` if there are none.
pub fn field_names(approval: &Approval, labels: &Labels) -> Option<String> {
    let names: Vec<String> = values(approval).keys().map(|key| label_of(key, labels)).collect();
    match names.as_slice() {
        [] => None,
        [one] => Some(one.clone()),
        [one, other] => Some(format!("{one} and {other}")),
        [one, other, ..] => Some(format!("{one}, {other} and {} more", names.len() - SUMMARY_VALUES_MAX)),
    }
}

/// What a decision did, as a past tense verb.
pub fn decision_word(decision: &Decision) -> &'static str {
    decision.decision.map_or("undid the decision", verdict_word)
}

/// Title and body of a notification about an item.
pub fn notification(approval: &Approval) -> (String, String) {
    let kind = match approval.kind {
        GateKind::Tool => "wants to call a tool",
        GateKind::Output | GateKind::Fields => "asks you to approve its output",
        GateKind::Question => "asks you a question",
        GateKind::Memory => "proposes a change of its memory",
    };
    let name = approval.action_name.as_deref().map(|name| one_line(name, SUBJECT_CHARS_MAX)).unwrap_or_default();
    (format!("{} {kind}", agent_name(approval)), name)
}

/// Why admins may decide an item for which others were asked.
const FEW_REVIEWERS: &str = "too few of its reviewers are left";

/// Whether admins may decide an item for which others were asked.
fn admins_may(approval: &Approval) -> bool {
    approval.reviewers.iter().any(|reviewer| reviewer.kind == ReviewerKind::Admins)
}

/// States that admins may decide an item for which others were asked first, and why.
pub fn admins_may_decide(approval: &Approval) -> Option<&'static str> {
    admins_may(approval).then_some("Too few of its reviewers are left: admins may decide.")
}

/// Whether the item waits for a decision of the viewer, and not only for those of others.
pub fn is_viewers_turn(approval: &Approval) -> bool {
    approval.may_decide && !approval.approved_by_caller
}

/// Who has to decide.
pub fn whose_turn(approval: &Approval) -> String {
    if approval.may_decide && approval.approved_by_caller {
        let missing = approval.quorum.saturating_sub(approval.approvals).max(1);
        return format!("You approved; waiting for {} by others", counted(missing.into(), "approval"));
    }
    if approval.may_decide {
        return if admins_may(approval) { format!("Your turn: {FEW_REVIEWERS}") } else { "Your turn".to_owned() };
    }
    let names: Vec<_> = approval.reviewers.iter().map(|r| r.name.as_str()).collect();
    if names.is_empty() { "Waiting for a reviewer".to_owned() } else { format!("Waiting for {}", names.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inbox::fixture::{memory, output, question, tool};
    use serde_json::json;

    #[test]
    fn a_row_says_what_would_change() {
        let item = output(1, json!({"amount": 1200, "close-date": "2026-12-01", "stage": "Won"}));
        let titles = Titles::from([("0189".to_owned(), "Acme Corp".to_owned())]);
        let changes = |item: &Approval| changes(item, &titles, &Labels::default(), &BTreeSet::new());
        assert_eq!(changes(&item), "Amount → 1,200, Close date → 2026-12-01, 1 more");
        assert_eq!(changes(&output(1, json!({"parent": "0189"}))), "Parent → Acme Corp");
        assert_eq!(subject(&item), "Acme Corp 1");
        let mut made = output(1, json!({"title": "New deal"}));
        made.entity_title = None;
        assert_eq!(subject(&made), "New deal");
        let call = tool(1, json!({"attachments": [1, 2], "to": "lee@customer.example"}));
        assert_eq!(changes(&call), "Attachments: 2 items, To: lee@customer.example");
        assert_eq!(subject(&call), "send_mail");
        assert_eq!((changes(&question(1)), subject(&question(1))), (String::new(), "Which region?".into()));
    }

    #[test]
    fn a_person_whose_memory_would_change_is_named() {
        let item = memory(1);
        let path = "people/shiftbook-alice.md".to_owned();
        let titles = Titles::from([(path.clone(), "Alice".to_owned())]);
        assert_eq!(named_subject(&item, &titles), "Memory: Alice");
        assert_eq!(named_subject(&item, &Titles::default()), format!("Memory: {path}"));
        assert_eq!(named_subject(&question(1), &titles), "Which region?");
    }

    #[test]
    fn the_fields_of_an_item_are_listed_as_text() {
        let named = |values| field_names(&output(1, values), &Labels::default());
        assert_eq!(named(json!({})), None);
        assert_eq!(named(json!({"stage": 1})).as_deref(), Some("Stage"));
        assert_eq!(named(json!({"amount": 1, "stage": 1})).as_deref(), Some("Amount and Stage"));
        let four = json!({"amount": 1, "close-date": 1, "risk": 1, "stage": 1});
        assert_eq!(named(four).as_deref(), Some("Amount, Close date and 2 more"));
    }

    #[test]
    fn values_are_typed_as_they_are_shown() {
        let shown = [json!("a\nb"), json!(1.5), json!(true), json!(null), json!([1])].map(|v| field_text(&v));
        assert_eq!(shown, ["a\nb", "1.5", "true", "", "[\n  1\n]"]);
    }

    #[test]
    fn rows_of_calls_of_one_tool_differ_in_their_subject() {
        let subject = |input| row_subject(&tool(1, input), &Titles::default());
        let mail = json!({"body": "Dear Kim,\nsorry.", "subject": "Your refund", "to": "kim3@northwind.example"});
        assert_eq!(subject(mail), "kim3@northwind.example · Your refund");
        assert_eq!(subject(json!({"amount": 1_290_000, "charge": "ch_3P", "reason": "x"})), "1,290,000 · ch_3P");
        assert_eq!(subject(json!({"customer": "Acme", "total": 5})), "Acme · 5");
        assert_eq!(subject(json!({"rows": [1, 2], "note": ""})), "send_mail");
    }

    #[test]
    fn whose_turn_it_is_names_the_reviewers() {
        let mut item = output(1, json!({"stage": "Won"}));
        assert_eq!(whose_turn(&item), "Your turn");
        let approved = Approval { quorum: 2, approvals: 1, approved_by_caller: true, ..output(1, json!({})) };
        assert_eq!(whose_turn(&approved), "You approved; waiting for 1 approval by others");
        assert!(is_viewers_turn(&item) && !is_viewers_turn(&approved));
        item.may_decide = false;
        assert_eq!(whose_turn(&item), "Waiting for legal");
    }

    #[test]
    fn an_item_that_admins_were_given_says_why() {
        let mut item = output(1, json!({"stage": "Won"}));
        assert_eq!(admins_may_decide(&item), None);
        let admins = wire::approval::Reviewer { kind: ReviewerKind::Admins, id: None, name: "admins".into() };
        item.reviewers.push(admins);
        assert_eq!(whose_turn(&item), "Your turn: too few of its reviewers are left");
        assert_eq!(admins_may_decide(&item), Some("Too few of its reviewers are left: admins may decide."));
        item.may_decide = false;
        assert_eq!(whose_turn(&item), "Waiting for legal, admins");
    }
}
