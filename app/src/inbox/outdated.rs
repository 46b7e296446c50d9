//! The form of an approval that was refused because the proposal had changed since it was shown. A browser without
//! scripts sends every value of the form, also those that the reviewer left alone. Shown again as they were sent, they
//! would take back the other reviewer's edit with the next press.

use super::{
    item_text::{field_text, task},
    values::{Row, same_text},
};
use crate::{FieldError, FormState, text::shorten::one_line};
use domain::gate::{MEMORY_BASE, Verdict, canonical_digest, merge};
use serde_json::{Map, Value};
use wire::approval::ApprovalDetail;

/// Most characters of the present value in a message.
const VALUE_CHARS_MAX: usize = 200;

/// The form with only what the reviewer typed, if it was rendered for an earlier proposal. What they left alone shows
/// what is proposed now. A value that both changed keeps the typed text, and its message has the other one.
pub fn only_typed(detail: &ApprovalDetail, rows: &[Row], form: &FormState) -> FormState {
    let mut kept = form.clone();
    let Some(before) = shown_before(detail, form) else { return kept };
    for row in rows.iter().filter(|row| row.key != MEMORY_BASE) {
        let Some(typed) = form.value(&row.name) else { continue };
        let was = before.get(&row.key).map(field_text).unwrap_or_default();
        if same_text(typed, &was) || same_text(typed, &row.proposed) {
            kept.values.remove(&row.name);
        } else if !same_text(&was, &row.proposed) {
            kept.errors.push(FieldError { field: Some(row.name.clone()), message: changed_message(row) });
        }
    }
    kept
}

/// The values for which the form was rendered; `None` if they are those that are proposed now, or if no proposal had
/// the digest that the form carries.
fn shown_before(detail: &ApprovalDetail, form: &FormState) -> Option<Map<String, Value>> {
    let digest = form.value("digest").filter(|digest| *digest != detail.approval.digest)?;
    if form.form != Verdict::Approve.as_str() {
        return None;
    }
    let task = task(&detail.approval)?;
    let staged = task.editable()?;
    let edits = detail.decisions.iter().filter(|decision| decision.decision == Some(Verdict::Edit));
    let changes = edits.filter_map(|edit| serde_json::from_str::<Map<String, Value>>(edit.value.as_ref()?.get()).ok());
    let mut proposals = std::iter::once(staged.clone()).chain(changes.map(|changed| merge(staged, &changed)));
    proposals.find(|values| canonical_digest(&task.bound_value_with(values)).to_string() == digest)
}

fn changed_message(row: &Row) -> String {
    let now = one_line(&row.display, VALUE_CHARS_MAX);
    let change = if now.is_empty() { "emptied".to_owned() } else { format!("changed to “{now}”") };
    format!("Since the page was opened, this was {change}. What you typed is kept here.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inbox::{
        fixture::{detail, output, person, raw},
        values::rows,
    };
    use serde_json::json;
    use wire::approval::Decision;

    /// An item that another reviewer has edited, and the digest of what was staged.
    fn edited_item() -> (ApprovalDetail, String) {
        let mut item = detail(output(1, json!({"amount": 2, "note": "a", "stage": "Won"})));
        item.approval.proposed = Some(raw(&json!({"amount": 2, "note": "b", "stage": "Lost"})));
        item.decisions = vec![Decision {
            number: 1,
            decision: Some(Verdict::Edit),
            undoes: None,
            user_id: Some(person(2)),
            email: "mia@acme.test".into(),
            value: Some(raw(&json!({"note": "b", "stage": "Lost"}))),
            note: None,
            at: item.approval.opened_at,
        }];
        let digest = |values: Value| canonical_digest(&values).to_string();
        item.approval.digest = digest(json!({"amount": 2, "note": "b", "stage": "Lost"}));
        (item, digest(json!({"amount": 2, "note": "a", "stage": "Won"})))
    }

    fn form(digest: &str, typed: &[(&str, &str)]) -> FormState {
        let values = typed.iter().map(|(key, text)| (format!("value.{key}"), (*text).to_owned()));
        FormState {
            form: "approve".into(),
            values: values.chain([("digest".to_owned(), digest.to_owned())]).collect(),
            errors: vec![FieldError { field: None, message: "The proposal has changed.".into() }],
        }
    }

    #[test]
    fn what_was_left_alone_shows_what_is_proposed_now() {
        let (item, staged) = edited_item();
        let sent = form(&staged, &[("amount", "3"), ("note", "c"), ("stage", "Won")]);
        let kept = only_typed(&item, &rows(&item), &sent);
        let value = |key: &str| kept.value(key).map(str::to_owned);
        assert_eq!(value("value.stage"), None, "the reviewer left it alone");
        assert_eq!((value("value.amount").as_deref(), kept.error("value.amount")), (Some("3"), None));
        assert_eq!(value("value.note").as_deref(), Some("c"));
        assert!(kept.error("value.note").is_some_and(|message| message.contains("changed to “b”")), "{kept:?}");
    }

    #[test]
    fn a_form_of_the_present_proposal_keeps_everything() {
        let (item, _) = edited_item();
        let sent = form(&item.approval.digest, &[("amount", "many"), ("stage", "Won")]);
        assert_eq!(only_typed(&item, &rows(&item), &sent), sent);
        let unknown = form(&"0".repeat(64), &[("stage", "Won")]);
        assert_eq!(only_typed(&item, &rows(&item), &unknown), unknown);
    }

    #[test]
    fn an_edit_that_was_undone_is_known_too() {
        let (mut item, staged) = edited_item();
        let edited = std::mem::replace(&mut item.approval.digest, staged);
        item.approval.proposed = Some(raw(&json!({"amount": 2, "note": "a", "stage": "Won"})));
        let sent = form(&edited, &[("amount", "2"), ("note", "b"), ("stage", "Lead")]);
        let kept = only_typed(&item, &rows(&item), &sent);
        assert_eq!((kept.value("value.note"), kept.value("value.stage")), (None, Some("Lead")));
    }
}
