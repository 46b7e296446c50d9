//! Values that are edited in cells of the table. A cell is named `value.ID.KEY`, with the key as in the form of a
//! single item.

use crate::{
    FieldError, FormState,
    inbox::{
        api::item_field,
        control_name::control_name,
        error_control::control_of,
        item_text::{Labels, field_text, label_of, values},
        outdated::only_typed,
        values::{edited, rows, same_text},
    },
};
use domain::{gate::Verdict, id::GateId};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use wire::approval::{Approval, ApprovalDetail, Decision};

/// Prefix of the names of controls for values in the form of a single item.
const VALUE: &str = "value.";
/// What the row of an item says whose proposal has changed since the page was opened.
const CHANGED: &str = "The proposal has changed since this page was opened. Check it again.";

/// Name of the field with the digest of the proposal that a row shows. It is sent for every row, selected or not.
pub fn shown_field(id: GateId) -> String {
    format!("shown[{id}]")
}

/// Prefix of the names of all cells of an item.
pub fn cells_of(id: GateId) -> String {
    format!("{VALUE}{id}.")
}

/// Name of the cell for the value with this key.
pub fn cell_field(id: GateId, key: &str) -> String {
    at_row(id, &control_name("value", key))
}

/// Name of the cell for a control of the form of a single item.
fn at_row(id: GateId, control: &str) -> String {
    format!("{}{}", cells_of(id), control.strip_prefix(VALUE).unwrap_or(control))
}

/// The item without the definitions of its fields. The server checks each edit against them when it is decided.
fn bare(item: &Approval, decisions: Vec<Decision>) -> ApprovalDetail {
    ApprovalDetail {
        approval: item.clone(),
        entity: None,
        entity_then: None,
        fields: Vec::new(),
        dimensions: Vec::new(),
        decisions,
        denials: Vec::new(),
        denials_max: 0,
        handovers: Vec::new(),
        undo_seconds: 0,
        document: None,
        turns: Vec::new(),
    }
}

/// The values that an approval of this item sends; empty if its cells change nothing. `shown` is the digest of the
/// proposal that its row shows.
///
/// # Errors
/// One error for each cell whose text cannot be parsed, with the name of the cell.
pub fn edited_cells(item: &Approval, shown: &str, form: &FormState) -> Result<Map<String, Value>, Vec<FieldError>> {
    let typed = |control: &str| form.value(&at_row(item.id, control)).map(|text| text.replace("\r\n", "\n"));
    let edit = edited(&bare(item, Vec::new()), Some(shown), typed);
    edit.map_err(|wrong| wrong.into_iter().map(|error| at_cell(item.id, error)).collect())
}

/// The error of a control of the form of a single item, at its cell.
fn at_cell(id: GateId, error: FieldError) -> FieldError {
    FieldError { field: error.field.map(|control| at_row(id, &control)), message: error.message }
}

/// The item with the values that its cells propose. Cells that cannot be parsed change nothing.
pub fn with_edits(item: &Approval, form: &FormState) -> Approval {
    match edited_cells(item, &item.digest, form) {
        Ok(edit) if !edit.is_empty() => {
            let mut proposed = values(item);
            proposed.extend(edit);
            Approval { proposed: serde_json::value::to_raw_value(&proposed).ok(), ..item.clone() }
        }
        _ => item.clone(),
    }
}

/// Labels and texts of the cells that hold something else than what is proposed for the item.
pub fn typed_changes(item: &Approval, form: &FormState, labels: &Labels) -> Vec<(String, String)> {
    let changed = |(key, value): (&String, &Value)| {
        let typed = form.value(&cell_field(item.id, key))?;
        (!same_text(typed, &field_text(value))).then(|| (label_of(key, labels), typed.to_owned()))
    };
    values(item).iter().filter_map(changed).collect()
}

/// The field at which an error of a decision on this item is shown: a cell, the reason, or the row. `path` is how the
/// refusal names the value.
pub fn cell_of(item: &Approval, path: &str) -> String {
    let control = control_of(&bare(item, Vec::new()), path);
    if control == "note" {
        control
    } else if control.starts_with(VALUE) {
        at_row(item.id, &control)
    } else {
        item_field(&item.id.to_string())
    }
}

/// The form with only what was typed into the row of an item, if the row was rendered for an earlier proposal. The row
/// is then not selected, and says so. `decisions` are all decisions on the item.
pub fn refreshed(mut form: FormState, item: &Approval, decisions: Vec<Decision>) -> FormState {
    let shown = form.value(&shown_field(item.id)).filter(|shown| *shown != item.digest).map(str::to_owned);
    let Some(shown) = shown else { return form };
    let detail = bare(item, decisions);
    let rows = rows(&detail);
    let typed = rows.iter().filter_map(|row| {
        let text = form.value(&at_row(item.id, &row.name))?;
        Some((row.name.clone(), text.to_owned()))
    });
    let mut values: BTreeMap<String, String> = typed.collect();
    values.insert("digest".to_owned(), shown);
    let own = FormState { form: Verdict::Approve.as_str().to_owned(), values, errors: Vec::new() };
    let kept = only_typed(&detail, &rows, &own);
    for row in rows.iter().filter(|row| kept.value(&row.name).is_none()) {
        form.values.remove(&at_row(item.id, &row.name));
    }
    form.errors.extend(kept.errors.into_iter().map(|error| at_cell(item.id, error)));
    let row = item_field(&item.id.to_string());
    if form.values.remove(&row).is_some() && form.error(&row).is_none() {
        form.errors.push(FieldError { field: Some(row), message: CHANGED.to_owned() });
    }
    form
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inbox::fixture::{output, person, raw, tool};
    use domain::gate::canonical_digest;
    use serde_json::json;

    fn form(cells: &[(&Approval, &str, &str)]) -> FormState {
        let cell = |(item, key, text): &(&Approval, &str, &str)| (cell_field(item.id, key), (*text).to_owned());
        FormState { form: "review".into(), values: cells.iter().map(cell).collect(), errors: Vec::new() }
    }

    #[test]
    fn a_cell_edits_the_value_of_its_own_row() {
        let items = [1, 2].map(|n| tool(n, json!({"amount": 5, "a[b]": "x"})));
        let form = form(&[(&items[0], "amount", "4,5"), (&items[0], "a[b]", "x"), (&items[1], "a[b]", "y")]);
        let edit = |item: &Approval| edited_cells(item, &item.digest, &form).map(Value::from);
        assert_eq!(edit(&items[0]), Ok(json!({"amount": 4.5})));
        assert_eq!(edit(&items[1]), Ok(json!({"a[b]": "y"})));
        assert_eq!(typed_changes(&items[1], &form, &Labels::new()), [("A[b]".to_owned(), "y".to_owned())]);
        assert_eq!(values(&with_edits(&items[0], &form)).get("amount"), Some(&json!(4.5)));
    }

    #[test]
    fn an_error_leads_to_the_cell_or_else_to_the_row() {
        let item = output(1, json!({"amount": 5}));
        let wrong = edited_cells(&item, &item.digest, &form(&[(&item, "amount", "many")])).unwrap_err();
        assert_eq!(wrong[0].field.as_deref(), Some(&*cell_field(item.id, "amount")));
        assert_eq!(cell_of(&item, "result.amount"), cell_field(item.id, "amount"));
        assert_eq!(cell_of(&item, "note"), "note");
        assert_eq!(cell_of(&item, "x"), item_field(&item.id.to_string()));
    }

    #[test]
    fn a_row_of_an_earlier_proposal_keeps_only_what_was_typed_and_is_not_selected() {
        let mut item = output(1, json!({"amount": 2, "note": "a"}));
        let shown = canonical_digest(&json!({"amount": 2, "note": "a"})).to_string();
        item.proposed = Some(raw(&json!({"amount": 2, "note": "b"})));
        item.digest = canonical_digest(&json!({"amount": 2, "note": "b"})).to_string();
        let edit = Decision {
            number: 1,
            decision: Some(Verdict::Edit),
            undoes: None,
            user_id: Some(person(2)),
            email: "mia@acme.test".into(),
            value: Some(raw(&json!({"note": "b"}))),
            note: None,
            at: item.opened_at,
        };
        let mut sent = form(&[(&item, "amount", "3"), (&item, "note", "a")]);
        let row = item_field(&item.id.to_string());
        sent.values.extend([(shown_field(item.id), shown.clone()), (row.clone(), shown)]);
        let kept = refreshed(sent, &item, vec![edit]);
        assert_eq!(kept.value(&cell_field(item.id, "amount")), Some("3"));
        assert_eq!((kept.value(&cell_field(item.id, "note")), kept.value(&row)), (None, None));
        assert_eq!(kept.error(&row), Some(CHANGED));
    }
}
