//! Columns of the table, and the cells in which values are edited.

use super::edit::cell_field;
use crate::{
    FormState,
    inbox::{
        item_text::{Labels, field_text, label_of, values},
        list::List,
        selection::{self, Compared},
        values::LINE_CHARS_MAX,
    },
    ui::icon::{Icon, icon},
};
use domain::gate::{GateKind, GateState};
use leptos::prelude::*;
use serde_json::Value;
use std::collections::BTreeSet;
use wire::approval::Approval;

/// Most columns of values that differ.
const COLUMNS_MAX: usize = 8;
/// Most cells with a field. A form has room for 1,024 fields, and each of 200 rows has two more.
const CELLS_MAX: usize = 600;

/// A value that differs between the items.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Key of the value.
    pub key: String,
    /// Name of the field.
    pub label: String,
    /// Whether every item has a number or nothing.
    pub is_number: bool,
    /// Whether its cells can have fields.
    is_editable: bool,
    /// Place of the column.
    at: usize,
}

/// The columns for these items, and how many more values differ than the table has columns.
pub fn columns(items: &[Approval], compared: &Compared, labels: &Labels) -> (Vec<Column>, usize) {
    let takes_edits = |item: &Approval| matches!(item.kind, GateKind::Tool | GateKind::Output | GateKind::Fields);
    let editable = if items.iter().all(takes_edits) { CELLS_MAX / items.len().max(1) } else { 0 };
    let column = |(at, key): (usize, &String)| Column {
        key: key.clone(),
        label: label_of(key, labels),
        // Numbers are first.
        is_number: at < compared.numbers.len(),
        is_editable: at < editable,
        at,
    };
    let columns = compared.columns.iter().enumerate().take(COLUMNS_MAX).map(column).collect();
    (columns, compared.columns.len().saturating_sub(COLUMNS_MAX))
}

/// Adds the columns of values that were sent and do not differ any more, so that nothing that was typed is lost.
pub fn with_sent(mut compared: Compared, items: &[Approval], form: &FormState, labels: &Labels) -> Compared {
    let mut sent = BTreeSet::new();
    for item in items {
        let keys = values(item).into_iter().map(|(key, _)| key);
        sent.extend(keys.filter(|key| form.value(&cell_field(item.id, key)).is_some()));
    }
    sent.retain(|key| !compared.columns.contains(key));
    for key in sent {
        let label = label_of(&key, labels);
        compared.shared.retain(|(shared, _)| *shared != label);
        compared.columns.push(key);
    }
    compared
}

/// Whether a value fits into a field of one line, which shows it whole and sends it back as it is. A record is chosen
/// on the page of its item.
fn is_line(value: &Value, column: &Column, list: &List) -> bool {
    match value {
        Value::Bool(_) | Value::Number(_) => true,
        Value::Null => !column.is_number,
        Value::String(text) => {
            let is_short = text.chars().count() <= LINE_CHARS_MAX && !text.chars().any(char::is_control);
            is_short && !list.titles.contains_key(text)
        }
        Value::Array(_) | Value::Object(_) => false,
    }
}

/// The name of the cell, if the value can be edited there.
pub fn field_of(list: &List, item: &Approval, column: &Column, value: Option<&Value>) -> Option<String> {
    let is_open = item.may_decide && item.state == GateState::Open;
    let is_field = is_open && column.is_editable && value.is_some_and(|value| is_line(value, column, list));
    is_field.then(|| cell_field(item.id, &column.key))
}

/// The cell of a value: a field, or the value alone. `title` is what the item is about.
pub fn cell(
    list: &List,
    (item, title): (&Approval, &str),
    (column, value): (&Column, Option<&Value>),
    form: &FormState,
) -> AnyView {
    let number = column.is_number.then_some("");
    match (field_of(list, item, column, value), value) {
        (Some(name), Some(value)) => {
            let id = format!("cell-{}-{}", item.id, column.at);
            let label = format!("{} of {title}", column.label);
            view! { <td data-number=number>{field(Names { name, id, label }, value, form)}</td> }.into_any()
        }
        (_, value) => view! { <td data-number=number dir="auto">{selection::cell(value, list)}</td> }.into_any(),
    }
}

/// The names of the field of a cell.
struct Names {
    /// Name under which its value is sent.
    name: String,
    /// Id of its element.
    id: String,
    /// Label for screen readers: nothing beside the field says which item it belongs to.
    label: String,
}

/// A field with its error. Its label is the heading of its column, so screen readers get a label of its own.
fn field(names: Names, value: &Value, form: &FormState) -> impl IntoView + use<> {
    let Names { name, id, label } = names;
    let text = form.value_or(&name, &field_text(value));
    let error = form.error(&name).map(str::to_owned);
    let (is_wrong, error_id) = (error.is_some(), format!("{id}-error"));
    let invalid = is_wrong.then_some("true");
    let described_by = is_wrong.then(|| error_id.clone());
    let control = if value.is_boolean() {
        let options = [("true", "True"), ("false", "False"), ("", "—")];
        let options: Vec<_> = options
            .into_iter()
            .map(|(value, label)| view! { <option value=value selected=value == text>{label}</option> })
            .collect();
        view! {
            <select
                class="input" id=id name=name aria-label=label aria-invalid=invalid aria-describedby=described_by
                autofocus=is_wrong
            >
                {options}
            </select>
        }
        .into_any()
    } else {
        view! {
            <input
                class="input" id=id name=name type="text" value=text autocomplete="off" dir="auto" aria-label=label
                aria-invalid=invalid aria-describedby=described_by autofocus=is_wrong
            />
        }
        .into_any()
    };
    let error = error.map(|message| {
        view! { <p class="field-error" id=error_id>{icon(Icon::Alert)}<span>{message}</span></p> }
    });
    view! { {control}{error} }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inbox::{
        fixture::{memory, tool},
        selection::compared,
    };
    use serde_json::json;

    #[test]
    fn a_column_whose_cells_were_sent_stays_when_its_values_are_equal() {
        let items = [tool(1, json!({ "amount": 5 }))];
        let name = cell_field(items[0].id, "amount");
        let labels = Labels::new();
        let compared = || compared(&items.iter().collect::<Vec<_>>(), &labels);
        assert_eq!((compared().columns.len(), compared().shared.len()), (0, 1));
        let form = FormState { values: [(name, "55".to_owned())].into(), ..FormState::default() };
        let kept = with_sent(compared(), &items, &form, &labels);
        assert_eq!((kept.columns, kept.shared.len()), (vec!["amount".to_owned()], 0));
    }

    #[test]
    fn few_cells_of_many_rows_have_fields_and_numbers_come_first() {
        let call = |n: u32| tool(n, json!({"a": format!("a{n}"), "b": n, "c": format!("c{n}"), "d": n, "same": 1}));
        let of = |count: u32| {
            let items: Vec<_> = (0..count).map(call).collect();
            let compared = compared(&items.iter().collect::<Vec<_>>(), &Labels::new());
            columns(&items, &compared, &Labels::new()).0
        };
        let keys: Vec<_> = of(3).iter().map(|column| column.key.clone()).collect();
        assert_eq!(keys, ["b", "d", "a", "c"]);
        assert_eq!(of(200).iter().filter(|column| column.is_editable).count(), 3);
        assert!(of(150).iter().all(|column| column.is_editable));
        let items = [memory(1), memory(2)];
        assert_eq!(columns(&items, &Compared::default(), &Labels::new()), (Vec::new(), 0));
    }

    #[test]
    fn only_a_value_of_one_line_has_a_field() {
        let column = Column { key: "v".into(), label: "V".into(), is_number: false, is_editable: true, at: 0 };
        let list = List { titles: [("id-1".to_owned(), "Acme".to_owned())].into(), ..List::default() };
        let is = |value: &Value| is_line(value, &column, &list);
        assert!(is(&json!("x")) && is(&json!(1.5)) && is(&json!(true)) && is(&Value::Null));
        let long = "x".repeat(LINE_CHARS_MAX + 1);
        assert!(!is(&json!("a\nb")) && !is(&json!(long)) && !is(&json!("id-1")) && !is(&json!([1])));
    }
}
