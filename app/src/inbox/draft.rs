//! Restores what a reviewer had typed when they undo their decision.

use super::{
    answer_form::{ANSWER, AnswerForm},
    control_name::control_name,
    item_text::field_text,
    values::rows,
};
use crate::{FormState, schema_form::STEP};
use domain::{
    gate::{GateState, Verdict},
    id::UserId,
    schema_form::{Form, write},
};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use wire::approval::{ApprovalDetail, Decision};

/// The form state of the viewer's last decision, if they have undone it and no one has decided since.
pub fn undone_form(detail: &ApprovalDetail, viewer_id: UserId) -> Option<FormState> {
    let withdrawal = detail.decisions.last().filter(|_| detail.approval.state == GateState::Open)?;
    let undone =
        detail.decisions.iter().find(|d| Some(d.number) == withdrawal.undoes && d.user_id == Some(viewer_id))?;
    let note = undone.note.clone().map(|note| ("note".to_owned(), note));
    let (form, values) = match undone.decision? {
        Verdict::Approve => return None,
        Verdict::Edit => ("approve", edits(detail, undone)),
        Verdict::Deny => ("deny", note.into_iter().collect()),
        Verdict::Respond => ("respond", answer(detail, undone).unwrap_or_default()),
    };
    Some(FormState { form: form.to_owned(), values, errors: Vec::new() })
}

fn edits(detail: &ApprovalDetail, undone: &Decision) -> BTreeMap<String, String> {
    let changed: Map<String, Value> =
        undone.value.as_ref().and_then(|json| serde_json::from_str(json.get()).ok()).unwrap_or_default();
    let typed = rows(detail).into_iter().filter_map(|row| Some((row.name, field_text(changed.get(&row.key)?))));
    typed.collect()
}

/// Form fields of an answer.
fn answer(detail: &ApprovalDetail, undone: &Decision) -> Option<BTreeMap<String, String>> {
    let value: Value = serde_json::from_str(undone.value.as_ref()?.get()).ok()?;
    if let AnswerForm::Schema(schema) = AnswerForm::of(&detail.approval) {
        let texts = write(Form::new(&schema, ANSWER), &value);
        // A form without any field and without this one begins with the defaults.
        let texts = texts.iter().chain([(STEP, "")]).map(|(name, text)| (name.to_owned(), text.to_owned()));
        return Some(texts.collect());
    }
    let mut typed = BTreeMap::from([(ANSWER.to_owned(), field_text(&value))]);
    for (key, value) in value.as_object().into_iter().flatten() {
        let name = control_name(ANSWER, key);
        // A rating has a control for each dimension.
        let dimensions = value.as_object().into_iter().flatten();
        typed.extend(dimensions.map(|(slug, value)| (control_name(&name, slug), field_text(value))));
        typed.insert(name, lines(value));
    }
    Some(typed)
}

/// A value as the text of a control. A list of texts has one on each line.
fn lines(value: &Value) -> String {
    let lines: Option<Vec<&str>> =
        value.as_array().map(|list| list.iter().map(|one| one.as_str()).collect()).unwrap_or_default();
    lines.map_or_else(|| field_text(value), |lines| lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inbox::fixture::{detail, output, person, question, raw};
    use serde_json::json;

    fn decision(number: u32, verdict: Option<Verdict>, undoes: Option<u32>, value: Option<Value>) -> Decision {
        Decision {
            number,
            decision: verdict,
            undoes,
            user_id: Some(person(1)),
            email: "ada@acme.test".into(),
            value: value.as_ref().map(raw),
            note: Some("Too early".into()),
            at: "2026-11-21T07:00:00Z".parse().unwrap(),
        }
    }

    #[test]
    fn an_undone_edit_is_restored_for_its_author() {
        let mut item = detail(output(1, json!({"stage": "Won", "amount": 3})));
        item.decisions =
            vec![decision(1, Some(Verdict::Edit), None, Some(json!({"amount": 4}))), decision(2, None, Some(1), None)];
        let form = undone_form(&item, person(1)).unwrap();
        assert_eq!(
            (form.form.as_str(), form.value("value.amount"), form.value("value.stage")),
            ("approve", Some("4"), None)
        );
        assert_eq!(undone_form(&item, person(2)), None);
        item.decisions.push(decision(3, Some(Verdict::Edit), None, Some(json!({"amount": 5}))));
        assert_eq!(undone_form(&item, person(1)), None, "something was decided since");
    }

    #[test]
    fn an_undone_answer_to_a_schema_is_restored_as_its_controls_show_it() {
        let schema = json!({"properties": {
            "any": {}, "at": {"type": "string", "format": "date-time"},
            "stops": {"type": "array", "items": {"type": "string"}}, "left": {"type": "string", "default": "x"},
        }});
        let mut question = question(1);
        question.task = raw(&json!({"kind": "question", "question": {"message": "?", "schema": schema}}));
        let mut item = detail(question);
        let given = json!({"any": "12", "at": "2026-03-01T09:30:00+02:00", "stops": ["Kyoto", "Nara"]});
        item.decisions = vec![decision(1, Some(Verdict::Respond), None, Some(given)), decision(2, None, Some(1), None)];
        let form = undone_form(&item, person(1)).unwrap();
        let texts = ["any", "at", "at.~zone", "stops"].map(|key| form.value(&format!("answer.{key}")));
        assert_eq!(texts, ["\"12\"", "2026-03-01T09:30", "+02:00", "Kyoto\nNara"].map(Some));
        assert_eq!(form.value("answer.left"), None, "the default was taken out");
    }

    #[test]
    fn an_undone_denial_keeps_its_reason() {
        let mut item = detail(output(1, json!({"stage": "Won"})));
        item.decisions = vec![decision(1, Some(Verdict::Deny), None, None), decision(2, None, Some(1), None)];
        let form = undone_form(&item, person(1)).unwrap();
        assert_eq!((form.form.as_str(), form.value("note"), form.is_refused()), ("deny", Some("Too early"), false));
        item.approval.state = GateState::Settled;
        assert_eq!(undone_form(&item, person(1)), None);
    }
}
