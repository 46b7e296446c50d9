//! Converts the approval settings of an action's form to `metadata.requiresApproval`, `metadata.approval` and
//! `outputConfig.criteria_set_ids`.

use super::form::Form;
use crate::problem::Problem;
use app::{
    FormState,
    action::{KEEP_SETS, parse_duration},
};
use domain::{issue::Issue, output::CRITERIA_SETS};
use ledger::{
    MemberRecord,
    action::{APPROVAL, REQUIRES_APPROVAL},
};
use serde_json::{Map, Value};

type Object = Map<String, Value>;

/// Fields for durations, and the settings that store them.
const SPANS: [(&str, &str); 3] = [
    ("expiresAfter", "expiresAfterSeconds"),
    ("remindAfter", "remindAfterSeconds"),
    ("escalateAfter", "escalateAfterSeconds"),
];

/// Adds the settings to the documents that were typed. `kept` are the present ids of criteria sets.
///
/// # Errors
/// If fields cannot be read. The error names all of them.
pub fn merge(
    form: &Form,
    members: &[MemberRecord],
    kept: &[Value],
    output_config: Option<String>,
    metadata: Option<String>,
) -> Result<(Option<String>, Option<String>), Problem> {
    if !form.has("approval") {
        return Ok((output_config, metadata));
    }
    let mut wrong = Vec::new();
    let approval = approval(form, members, &mut wrong);
    let required = form.has("requiresApproval");
    let sets = match form.optional("criteriaSet").as_deref() {
        None => Vec::new(),
        Some(KEEP_SETS) => kept.to_vec(),
        Some(id) => vec![id.into()],
    };
    let mut settings = Object::new();
    if required {
        settings.insert(REQUIRES_APPROVAL.into(), true.into());
    }
    if !approval.is_empty() {
        settings.insert(APPROVAL.into(), approval.into());
    }
    let mut contract = Object::new();
    if !sets.is_empty() {
        contract.insert(CRITERIA_SETS[0].into(), sets.into());
    }
    let metadata = with("metadata", metadata, &[REQUIRES_APPROVAL, APPROVAL], settings, &mut wrong);
    let output_config = with("outputConfig", output_config, &CRITERIA_SETS, contract, &mut wrong);
    if wrong.is_empty() { Ok((output_config, metadata)) } else { Err(ledger::Error::Invalid(wrong).into()) }
}

/// The ids of the criteria sets in an output contract.
pub fn criteria_sets(output_config: &str) -> Vec<Value> {
    let config: Object = serde_json::from_str(output_config).unwrap_or_default();
    CRITERIA_SETS.iter().find_map(|key| config.get(*key)?.as_array()).cloned().unwrap_or_default()
}

/// Adds the settings to a typed document. Without settings the document is returned unchanged.
fn with(field: &str, typed: Option<String>, keys: &[&str], settings: Object, wrong: &mut Vec<Issue>) -> Option<String> {
    let Ok(mut map) = serde_json::from_str::<Object>(typed.as_deref().unwrap_or("{}")) else {
        wrong.push(Issue::new(field, "an object"));
        return typed;
    };
    if let Some(key) = keys.iter().find(|key| map.contains_key(**key)) {
        wrong.push(Issue::new(field, format!("`{key}` has fields of its own, under Approval")));
    }
    if settings.is_empty() {
        return typed;
    }
    map.extend(settings);
    Some(Value::Object(map).to_string())
}

fn approval(form: &Form, members: &[MemberRecord], wrong: &mut Vec<Issue>) -> Object {
    let mut approval = Object::new();
    let mut reviewers: Vec<Value> = Vec::new();
    for (index, line) in form.text("reviewers").lines().enumerate() {
        match principal(line.trim(), members) {
            None => {}
            Some(Ok(who)) => reviewers.push(who.into()),
            Some(Err(message)) => wrong.push(Issue::new("reviewers", format!("line {}: {message}", index + 1))),
        }
    }
    if !reviewers.is_empty() {
        approval.insert("reviewers".into(), reviewers.into());
    }
    if let Some(quorum) = form.optional("quorum") {
        // A text that is not a number is passed on. The check of the settings refuses it and names the limits.
        approval.insert("quorum".into(), quorum.parse::<u64>().map_or_else(|_| quorum.into(), Value::from));
    }
    if !form.has("selfApproval") {
        approval.insert("selfApproval".into(), false.into());
    }
    for (field, key) in SPANS {
        let Some(text) = form.optional(field) else { continue };
        match parse_duration(&text) {
            Some(seconds) => {
                approval.insert(key.into(), seconds.into());
            }
            None => wrong.push(Issue::new(field, "a span such as 2d, 36h or 1h 30m")),
        }
    }
    match form.optional("escalateTo").as_deref().and_then(|text| principal(text, members)) {
        None => {}
        Some(Ok(who)) => {
            approval.insert("escalateTo".into(), who.into());
        }
        Some(Err(message)) => wrong.push(Issue::new("escalateTo", message)),
    }
    approval
}

/// Converts a typed reviewer to its stored form: an address becomes the id of its person. `None` for an empty line.
fn principal(text: &str, members: &[MemberRecord]) -> Option<Result<String, String>> {
    if text.is_empty() {
        return None;
    }
    if !text.contains('@') {
        return Some(Ok(text.to_owned()));
    }
    let found = members.iter().find(|member| member.email.eq_ignore_ascii_case(text));
    Some(found.map(|m| format!("user:{}", m.user_id)).ok_or_else(|| format!("no one in this workspace is `{text}`")))
}

/// The state of the refused form of an action.
pub fn refused(form: &Form, name: &str, problem: &Problem) -> FormState {
    let mut state = form.refused(name, problem);
    at_fields(&mut state);
    state
}

/// Moves error messages about settings to the fields in which they were typed.
fn at_fields(form: &mut FormState) {
    for error in &mut form.errors {
        let Some(field) = &error.field else { continue };
        let setting = field.strip_prefix("metadata.approval.").map(|s| s.split('[').next().unwrap_or_default());
        let named = match setting {
            Some(key) => SPANS.iter().find(|(_, k)| *k == key).map_or(key, |(name, _)| *name),
            None if field.starts_with("outputConfig.criteria_set_ids") => "criteriaSet",
            None => continue,
        };
        error.field = Some(named.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::{id::UserId, member::MemberStatus, role::Role};
    use serde_json::json;

    fn form(pairs: &[(&str, &str)]) -> Form {
        Form::of(pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect())
    }

    fn ann() -> MemberRecord {
        let id = UserId(uuid::Uuid::from_u128(7));
        MemberRecord {
            user_id: id,
            email: "ann@acme.test".into(),
            name: String::new(),
            role: Role::Member,
            status: MemberStatus::Active,
            created_at: Default::default(),
        }
    }

    #[test]
    fn settings_are_merged_into_what_was_typed() {
        let form = form(&[
            ("approval", "1"),
            ("requiresApproval", "on"),
            ("reviewers", "Ann@acme.test\n\ngroup:compliance\n"),
            ("quorum", "2"),
            ("expiresAfter", "2d"),
            ("criteriaSet", "c1"),
        ]);
        let (config, metadata) = merge(&form, &[ann()], &[], None, Some(r#"{"owner":"sales"}"#.into())).unwrap();
        let metadata: Value = serde_json::from_str(&metadata.unwrap()).unwrap();
        assert_eq!(
            metadata,
            json!({ "owner": "sales", "requiresApproval": true, "approval": {
                "reviewers": [format!("user:{}", ann().user_id), "group:compliance"], "quorum": 2,
                "selfApproval": false, "expiresAfterSeconds": 172_800 } })
        );
        assert_eq!(config.as_deref(), Some(r#"{"criteria_set_ids":["c1"]}"#));
    }

    #[test]
    fn without_settings_documents_stay_as_they_were_typed() {
        let form = form(&[("approval", "1"), ("selfApproval", "on")]);
        let typed = Some(r#"{ "a": 1.50 }"#.to_owned());
        assert_eq!(merge(&form, &[], &[], None, typed.clone()).unwrap(), (None, typed));
    }

    #[test]
    fn several_criteria_sets_are_kept() {
        let form = form(&[("approval", "1"), ("selfApproval", "on"), ("criteriaSet", KEEP_SETS)]);
        let (config, _) = merge(&form, &[], &["a".into(), "b".into()], None, None).unwrap();
        assert_eq!(config.as_deref(), Some(r#"{"criteria_set_ids":["a","b"]}"#));
    }

    #[test]
    fn unreadable_values_get_an_error_at_their_field() {
        let form = form(&[
            ("approval", "1"),
            ("reviewers", "anyone\nbob@acme.test"),
            ("remindAfter", "soon"),
            ("escalateTo", "bob@acme.test"),
        ]);
        let problem = merge(&form, &[ann()], &[], None, Some(r#"{"approval":{}}"#.into())).unwrap_err();
        let refused = form.refused("edit", &problem);
        assert_eq!(refused.error("reviewers"), Some("line 2: no one in this workspace is `bob@acme.test`"));
        assert!(refused.error("remindAfter").is_some() && refused.error("escalateTo").is_some());
        assert!(refused.error("metadata").unwrap().contains("fields of its own"));
        let problem = ledger::Error::Invalid(vec![
            Issue::new("metadata.approval.expiresAfterSeconds", "x"),
            Issue::new("metadata.approval.reviewers[1]", "y"),
            Issue::new("outputConfig.criteria_set_ids[0]", "z"),
        ]);
        let mut refused = form.refused("edit", &problem.into());
        at_fields(&mut refused);
        assert_eq!((refused.error("expiresAfter"), refused.error("reviewers")), (Some("x"), Some("y")));
        assert_eq!(refused.error("criteriaSet"), Some("z"));
    }
}
