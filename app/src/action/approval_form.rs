//! The approval settings of a task, as fields of its form.
//!
//! Fields: `approval` (marks that the fields below were sent), `requiresApproval` (on), `reviewers` (one per line: an
//! e-mail address, `group:` and a slug, or `anyone`), `quorum`, `selfApproval` (on), `expiresAfter`, `remindAfter`,
//! `escalateAfter` (durations), `escalateTo`, `criteriaSet` (an id, empty, or `keep`).

use super::duration_text;
use crate::{
    FormState,
    text::number::counted,
    ui::{
        field::{Choice, Field, Input, Select, TextArea},
        popover::Sheet,
    },
};
use domain::output::CRITERIA_SETS;
use leptos::prelude::*;
use serde_json::{Map, Value};
use wire::{access::Member, action::Action};

/// Names of the fields.
pub const SHOWN: [&str; 7] =
    ["reviewers", "quorum", "expiresAfter", "remindAfter", "escalateAfter", "escalateTo", "criteriaSet"];
/// The option that keeps several criteria sets unchanged.
pub const KEEP_SETS: &str = "keep";
/// Metadata keys that have fields of their own.
pub const METADATA_KEYS: [&str; 2] = ["requiresApproval", "approval"];

/// Options of the approval settings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReviewOptions {
    /// Slugs of the workspace's groups.
    pub groups: Vec<String>,
    /// Criteria sets, `(id, name)`.
    pub criteria_sets: Vec<(String, String)>,
}

/// A JSON object of the task, without the keys that have fields of their own.
pub fn rest(json: &str, keys: &[&str]) -> String {
    match serde_json::from_str::<Map<String, Value>>(json) {
        Ok(mut map) if keys.iter().any(|key| map.contains_key(*key)) => {
            map.retain(|key, _| !keys.contains(&key.as_str()));
            Value::Object(map).to_string()
        }
        _ => json.to_owned(),
    }
}

/// Start values of the fields.
struct Start {
    required: bool,
    approval: Map<String, Value>,
    sets: Vec<String>,
}

impl Start {
    fn of(action: Option<&Action>) -> Self {
        let object = |json: &str| serde_json::from_str::<Map<String, Value>>(json).unwrap_or_default();
        let metadata = action.map(|a| object(a.metadata.get())).unwrap_or_default();
        let config = action.map(|a| object(a.output_config.get())).unwrap_or_default();
        let sets = CRITERIA_SETS.iter().find_map(|key| config.get(*key)?.as_array()).cloned().unwrap_or_default();
        Self {
            required: metadata.get("requiresApproval") == Some(&Value::Bool(true)),
            approval: metadata.get("approval").and_then(Value::as_object).cloned().unwrap_or_default(),
            sets: sets.iter().filter_map(|id| id.as_str().map(str::to_owned)).collect(),
        }
    }

    fn seconds(&self, key: &str) -> String {
        self.approval.get(key).and_then(Value::as_i64).map(duration_text::format).unwrap_or_default()
    }

    fn principal(value: Option<&Value>, members: &[Member]) -> String {
        let text = value.and_then(Value::as_str).unwrap_or_default();
        let member = text.strip_prefix("user:").and_then(|id| members.iter().find(|m| m.id.to_string() == id));
        member.map_or_else(|| text.to_owned(), |m| m.email.clone())
    }

    fn reviewers(&self, members: &[Member]) -> String {
        let list = self.approval.get("reviewers").and_then(Value::as_array);
        let lines = list.into_iter().flatten().map(|value| Self::principal(Some(value), members));
        lines.collect::<Vec<_>>().join("\n")
    }
}

/// The fields, folded until they are opened.
pub fn approval_fields(
    action: Option<&Action>,
    members: &[Member],
    reviewing: &ReviewOptions,
    form: &FormState,
) -> impl IntoView + use<> {
    let scope = if action.is_some() { "edit" } else { "create" };
    let start = Start::of(action);
    // A refused form restores which boxes were checked; an unchecked box sends no field.
    let typed = form.value("approval").is_some();
    let ticked = |name: &str, start: bool| if typed { form.value(name).is_some() } else { start };
    let requires = ticked("requiresApproval", start.required);
    let own = ticked("selfApproval", start.approval.get("selfApproval") != Some(&Value::Bool(false)));
    let quorum = start.approval.get("quorum").and_then(Value::as_u64).map(|n| n.to_string()).unwrap_or_default();
    let groups = match reviewing.groups.as_slice() {
        [] => "There are no groups yet. Create groups in the settings.".to_owned(),
        groups => format!("Groups: {}.", groups.join(", ")),
    };
    let hint = format!(
        "One per line: an e-mail address, group:slug, or anyone. If empty, the person whom the task is assigned to, or any reviewer. {groups}"
    );
    let mut sets = vec![(String::new(), "None".to_owned())];
    sets.extend(reviewing.criteria_sets.iter().cloned());
    let chosen = match start.sets.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        several => {
            sets.push((
                KEEP_SETS.to_owned(),
                format!("Keep the current {}", counted(several.len() as u64, "criteria set")),
            ));
            KEEP_SETS.to_owned()
        }
    };
    if !sets.iter().any(|(id, _)| *id == chosen) {
        sets.push((chosen.clone(), "A different criteria set".to_owned()));
    }
    let is_open = requires || !chosen.is_empty() || SHOWN.iter().any(|field| form.error(field).is_some());
    let escalate_to = Start::principal(start.approval.get("escalateTo"), members);
    let span_hint = "For example 2d, 36h or 1h 30m.";
    view! {
        <Sheet summary="Approval" open=is_open>
            <div class="form">
                <input type="hidden" name="approval" value="1"/>
                <Choice name="requiresApproval" checked=requires>"People must approve its output before it is used"</Choice>
                <TextArea scope=scope field=Field::new("reviewers", "Reviewers").hint(&hint) value=start.reviewers(members) form=form/>
                <div class="form-row">
                    <Input scope=scope field=Field::new("quorum", "Approvals needed").hint("Each by a different person. 1 if left empty.") value=&quorum form=form/>
                    <Select scope=scope field=Field::new("criteriaSet", "Criteria set").hint("The output is checked against this set. A hard block stops it before anyone is asked.") options=sets value=&chosen form=form/>
                </div>
                <Choice name="selfApproval" checked=own>"The person who started a session may approve its output"</Choice>
                <div class="form-row">
                    <Input scope=scope field=Field::new("expiresAfter", "Expires after").hint(span_hint) value=start.seconds("expiresAfterSeconds") form=form/>
                    <Input scope=scope field=Field::new("remindAfter", "Remind after").hint(span_hint) value=start.seconds("remindAfterSeconds") form=form/>
                </div>
                <div class="form-row">
                    <Input scope=scope field=Field::new("escalateAfter", "Escalate after").hint(span_hint) value=start.seconds("escalateAfterSeconds") form=form/>
                    <Input scope=scope field=Field::new("escalateTo", "Escalate to").hint("An e-mail address, group:slug, or anyone.") value=&escalate_to form=form/>
                </div>
            </div>
        </Sheet>
    }
}

#[cfg(test)]
mod tests {
    use super::rest;

    #[test]
    fn keys_with_fields_of_their_own_are_left_out_and_the_rest_stays_as_it_was_sent() {
        assert_eq!(rest(r#"{ "a": 1.50 }"#, &["approval"]), r#"{ "a": 1.50 }"#);
        assert_eq!(rest(r#"{"a":1,"approval":{}}"#, &["approval"]), r#"{"a":1}"#);
    }
}
