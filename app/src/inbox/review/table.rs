//! The table: one row for each item, one column for each value that differs.

use super::{
    cell::{Column, cell, field_of},
    edit::{cells_of, shown_field},
    sort::Sort,
};
use crate::{
    FormState,
    inbox::{
        api::item_field,
        item_text::{is_viewers_turn, row_subject, values, whose_turn},
        list::List,
        row::flags,
        selection::distinction,
        similar::{Difference, differences},
    },
    text::shorten::one_line,
    ui::icon::{Icon, icon},
};
use domain::gate::{GateKind, GateState};
use leptos::prelude::*;
use serde_json::Value;
use wire::approval::Approval;

/// Longest usual value beside a value that differs, characters.
const USUAL_CHARS_MAX: usize = 60;

/// An item, and what is unusual about it.
pub struct Entry<'a> {
    /// The approval that the row shows.
    pub item: &'a Approval,
    differs: Vec<Difference>,
}

impl Entry<'_> {
    /// Whether a person should look at the item before others are decided: it differs from them, or it has a flag.
    pub fn is_notable(&self) -> bool {
        !self.differs.is_empty() || !self.item.flags.is_empty()
    }

    /// Whether the row is selected at the start.
    pub fn starts_selected(&self) -> bool {
        !self.is_notable() && is_viewers_turn(self.item)
    }
}

/// The items in the order of their rows: those to look at, and the others.
pub fn entries<'a>(list: &'a List, sort: &Sort) -> (Vec<Entry<'a>>, Vec<Entry<'a>>) {
    let differences = differences(&list.items, &list.labels);
    let mut all: Vec<(Value, Entry<'a>)> = list
        .items
        .iter()
        .zip(differences)
        .map(|(item, differs)| {
            let key = sort.key.as_ref().and_then(|key| values(item).remove(key));
            (key.unwrap_or_default(), Entry { item, differs })
        })
        .collect();
    if sort.key.is_some() {
        all.sort_by(|(one, _), (other, _)| sort.compare(one, other, &list.titles));
    }
    all.into_iter().map(|(_, entry)| entry).partition(Entry::is_notable)
}

/// The field of a form that only asks for another order, or for another selection.
pub const ARRANGE: &str = "arrange";
/// Selects the rows that are selected at the start. Those to look at stay as they are.
pub(super) const SELECT_ALIKE: &str = "select_alike";
/// Selects no row.
pub(super) const SELECT_NONE: &str = "select_none";

/// What all rows need.
#[derive(Clone, Copy)]
pub struct Rows<'a> {
    /// The items, and what is known about their values.
    pub list: &'a List,
    /// Values that differ between the items, in the order of the table.
    pub columns: &'a [Column],
    /// The order of the rows.
    pub sort: &'a Sort,
    /// Address of the table without an order.
    pub href: &'a str,
    /// State of the form; the default if none was sent.
    pub form: &'a FormState,
}

impl Rows<'_> {
    /// Whether the row of an item is selected: as the form was sent, or else as it is at the start.
    pub fn is_selected(&self, entry: &Entry<'_>) -> bool {
        if self.form.form.is_empty() {
            return entry.starts_selected();
        }
        self.form.value(&item_field(&entry.item.id.to_string())).is_some()
    }
}

/// The form with the selection that its field [`ARRANGE`] asks for. A row whose proposal has changed since it was
/// rendered is not selected: no one has seen it.
pub fn arranged(mut form: FormState, list: &List) -> FormState {
    let how = form.value(ARRANGE).unwrap_or_default().to_owned();
    let (notable, alike) = entries(list, &Sort::default());
    for entry in notable.iter().chain(&alike) {
        let (item, row) = (entry.item, item_field(&entry.item.id.to_string()));
        let is_seen = form.value(&shown_field(item.id)).is_none_or(|shown| shown == item.digest);
        if how == SELECT_NONE {
            form.values.remove(&row);
        } else if how == SELECT_ALIKE && entry.starts_selected() && is_seen {
            form.values.insert(row, item.digest.clone());
        }
    }
    form
}

/// The table of these items.
pub fn table(rows: Rows<'_>, entries: &[Entry<'_>], caption: &'static str) -> impl IntoView + use<> {
    let heads: Vec<AnyView> = if rows.columns.is_empty() {
        let are_questions = entries.iter().all(|entry| entry.item.kind == GateKind::Question);
        let head = if are_questions { "Asked for" } else { "Change" };
        vec![view! { <th scope="col">{head}</th> }.into_any()]
    } else {
        rows.columns.iter().map(|column| head(rows, column).into_any()).collect()
    };
    let item_head = match rows.sort.key {
        Some(_) => sorting(rows.href.to_owned(), "Closest deadline first", "Item".to_owned()).into_any(),
        None => "Item".into_any(),
    };
    let lines: Vec<_> = entries.iter().map(|entry| line(rows, entry)).collect();
    view! {
        <div class="selection-scroll">
            <table class="selection-table review-table">
                <caption class="hidden-text">{caption}</caption>
                <thead><tr><td></td><th scope="col">{item_head}</th>{heads}</tr></thead>
                <tbody>{lines}</tbody>
            </table>
        </div>
    }
}

/// A heading that sorts the rows by its column.
fn head(rows: Rows<'_>, column: &Column) -> impl IntoView + use<> {
    let href = format!("{}{}", rows.href, rows.sort.pressed(&column.key).query());
    let button = sorting(href, "Sort by this column", column.label.clone());
    view! {
        <th scope="col" aria-sort=rows.sort.state_of(&column.key) data-number=column.is_number.then_some("")>
            {button}
        </th>
    }
}

/// A button that sends the form to the table in another order. A link would drop what was typed.
fn sorting(href: String, title: &'static str, label: String) -> impl IntoView + use<> {
    view! { <button type="submit" name=ARRANGE value="sort" formaction=href title=title>{label}</button> }
}

fn line(rows: Rows<'_>, entry: &Entry<'_>) -> impl IntoView + use<> {
    let Rows { list, columns, form, .. } = rows;
    let (item, id) = (entry.item, entry.item.id.to_string());
    let title = row_subject(item, &list.titles);
    let values = values(item);
    let cell_of = |column: &Column| cell(list, (item, title.as_str()), (column, values.get(&column.key)), form);
    let cells: Vec<AnyView> =
        if columns.is_empty() { vec![summary(list, item)] } else { columns.iter().map(cell_of).collect() };
    let fields: Vec<String> =
        columns.iter().filter_map(|column| field_of(list, item, column, values.get(&column.key))).collect();
    let reasons: Vec<_> = reasons(item, form, &fields)
        .into_iter()
        .map(|why| view! { <p class="field-error">{icon(Icon::Alert)}<span>{why}</span></p> })
        .collect();
    let turn = (!is_viewers_turn(item)).then(|| view! { <p class="meta">{whose_turn(item)}</p> });
    view! {
        <tr data-row data-id=id.clone() data-outlier=entry.is_notable().then_some("")>
            <td>{tick(item, &id, &title, rows.is_selected(entry))}</td>
            <th scope="row" class="table-main" dir="auto">
                <a href=list.item_href(&id)>{title}</a>
                {marks(entry)}
                {(!item.flags.is_empty()).then(|| flags(&item.flags))}
                {turn}
                {reasons}
            </th>
            {cells}
        </tr>
    }
}

/// The box that selects a row, with the digest of the proposal that the row shows. Nothing if the viewer may not decide
/// the item.
fn tick(item: &Approval, id: &str, title: &str, is_selected: bool) -> Option<impl IntoView + use<>> {
    let (digest, label) = (item.digest.clone(), format!("Select {title}"));
    let (name, shown) = (item_field(id), shown_field(item.id));
    (item.may_decide && item.state == GateState::Open).then(|| {
        view! {
            <input
                type="checkbox" name=name value=digest.clone() checked=is_selected data-key="select" aria-label=label
                title="Select (x)"
            />
            <input type="hidden" name=shown value=digest/>
        }
    })
}

/// What an item would change, where its values are no columns.
fn summary(list: &List, item: &Approval) -> AnyView {
    if item.kind == GateKind::Question {
        return view! { <td dir="auto">{distinction(item)}</td> }.into_any();
    }
    view! { <td dir="auto">{list.row_summary(item)}</td> }.into_any()
}

fn marks(entry: &Entry<'_>) -> Vec<AnyView> {
    let words = |differs: &Difference| {
        let usual = one_line(&differs.usual, USUAL_CHARS_MAX);
        let usual = if usual.is_empty() { "nothing".to_owned() } else { usual };
        let words = format!("{}, others {usual}", differs.label);
        view! { <span class="inbox-differs">{icon(Icon::Alert)}{words}</span> }.into_any()
    };
    entry.differs.iter().map(words).collect()
}

/// Why an item was refused: errors of the row, and of values that have no field here.
fn reasons(item: &Approval, form: &FormState, fields: &[String]) -> Vec<String> {
    let (row, cells) = (item_field(&item.id.to_string()), cells_of(item.id));
    let is_here = |field: &str| field == row || (field.starts_with(&cells) && !fields.iter().any(|name| name == field));
    let errors = form.errors.iter().filter(|error| error.field.as_deref().is_some_and(is_here));
    errors.map(|error| error.message.clone()).collect()
}
