//! The rows of the list in the DOM: current row, selected rows, and the item HTML stored with a row. Only in the WASM
//! build.

use super::store::Store;
use crate::browser::dom;
use leptos::prelude::{GetValue as _, Set as _, SetValue as _};
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Element, HtmlElement, HtmlInputElement};

/// Property of a row that holds its item: a string if it was prefetched, an element if the reviewer typed into it.
const STORED: &str = "item";
/// Attribute of a row that was decided here, until the server has answered.
pub const LEAVING: &str = "data-leaving";
/// Attribute of a row whose item was prefetched before the list was last read.
const OUTDATED: &str = "data-outdated";
/// Attribute of a group's heading row that the reader unfolded. The client sets it, so updates of the list keep it.
const UNFOLDED: &str = "data-unfolded";
/// Attribute of a row whose decision was refused; its value is the reason. Updates of the list keep it.
pub const REFUSAL: &str = "data-refusal";

/// Rows of items, including those in folded groups.
fn items() -> Vec<HtmlElement> {
    dom::by_id("inbox-rows").map(|list| dom::find_all(&list, "[data-id]:not([data-leaving])")).unwrap_or_default()
}

fn same(one: &HtmlElement, other: &HtmlElement) -> bool {
    one.is_same_node(Some(other))
}

/// The closest ancestor row of an element, or the element itself.
pub fn row_of(element: &HtmlElement) -> Option<HtmlElement> {
    element.closest("[data-row]").ok()??.dyn_into().ok()
}

/// The id of the item of a row; `None` for the heading of a group.
pub fn id(row: &HtmlElement) -> Option<String> {
    row.get_attribute("data-id")
}

/// The row of the item with this id.
pub fn by_id(id: &str) -> Option<HtmlElement> {
    dom::by_id("inbox-rows").and_then(|list| dom::find(&list, &["[data-id=\"", id, "\"]"].concat()))
}

/// The row whose item is shown in the detail pane.
pub fn current() -> Option<HtmlElement> {
    dom::by_id("inbox-rows").and_then(|list| dom::find(&list, "[data-id][aria-current]"))
}

/// Makes this row the only current one.
pub fn set_current(row: &HtmlElement) {
    while let Some(before) = current() {
        let _ = before.remove_attribute("aria-current");
    }
    let _ = row.set_attribute("aria-current", "true");
}

/// Moves the focus to the link of a row, or to the shown item if the list is hidden (narrow screens).
pub fn focus(row: &HtmlElement) {
    match dom::find(row, ".row-title").filter(|link| link.offset_parent().is_some()) {
        Some(link) => {
            let _ = link.focus();
        }
        None => super::triage::focus_title(),
    }
}

/// The row to open after this one: the next visible one, else the previous one. Checks only the rows in between.
pub fn next(row: &HtmlElement) -> Option<HtmlElement> {
    nearest(row, Element::next_element_sibling).or_else(|| nearest(row, Element::previous_element_sibling))
}

fn nearest(row: &HtmlElement, step: fn(&Element) -> Option<Element>) -> Option<HtmlElement> {
    let mut beside = step(row);
    while let Some(other) = beside {
        if other.has_attribute("data-id") && !other.has_attribute("hidden") && !other.has_attribute(LEAVING) {
            return other.dyn_into().ok();
        }
        beside = step(&other);
    }
    None
}

/// The item stored with a row: a string, an element, or undefined.
pub fn stored(row: &HtmlElement) -> JsValue {
    dom::member(row, STORED)
}

/// Stores an item with a row and marks it as current.
pub fn store(row: &HtmlElement, item: &JsValue) {
    let _ = row.remove_attribute(OUTDATED);
    let _ = js_sys::Reflect::set(row, &STORED.into(), item);
}

/// Marks prefetched items as outdated after the list has changed. Typed text and refused items are not marked.
pub fn mark_outdated() {
    for row in items().iter().filter(|row| stored(row).is_string() && !row.has_attribute(REFUSAL)) {
        let _ = row.set_attribute(OUTDATED, "");
    }
}

/// Whether the stored item is outdated: it is shown, and read again.
pub fn is_outdated(row: &HtmlElement) -> bool {
    row.has_attribute(OUTDATED)
}

/// Shows the reason on each row whose decision was refused, until the item is decided or opened.
pub fn show_reasons() {
    let Some(list) = dom::by_id("inbox-rows") else { return };
    for reason in dom::find_all(&list, "[data-id]:not([data-leaving]) [data-reason]:not([hidden])") {
        if let Some(row) = row_of(&reason) {
            let _ = row.set_attribute(REFUSAL, &reason.text_content().unwrap_or_default());
        }
    }
    for row in dom::find_all(&list, "[data-id][data-refusal]:not([data-leaving])") {
        if let (Some(reason), Some(why)) = (dom::find(&row, "[data-reason][hidden]"), row.get_attribute(REFUSAL)) {
            reason.set_text_content(Some(&why));
            reason.set_hidden(false);
        }
    }
}

/// Removes the reason of a refusal: the item is decided again, or is open and shows the reason itself.
pub fn clear_reason(row: &HtmlElement) {
    let _ = row.remove_attribute(REFUSAL);
    if let Some(reason) = dom::find(row, "[data-reason]") {
        reason.set_hidden(true);
    }
}

fn checkbox(row: &HtmlElement) -> Option<HtmlInputElement> {
    dom::find(row, "input[type=checkbox]")?.dyn_into().ok()
}

/// Rows whose checkbox is checked.
pub fn selected() -> Vec<HtmlElement> {
    let Some(list) = dom::by_id("inbox-rows") else { return Vec::new() };
    let ticked = dom::find_all(&list, "[data-id]:not([data-leaving]) input:checked");
    ticked.iter().filter_map(row_of).collect()
}

/// Counts the selected rows.
pub fn count(store: Store) {
    store.selected.set(selected().len());
}

/// Handles a change of a row's checkbox.
pub fn on_select(store: Store, row: &HtmlElement) {
    store.selected_last.set_value(id(row));
    count(store);
}

/// Selects every row from the one selected last to the current one.
pub fn select_range(store: Store) {
    let focused = dom::document().active_element().and_then(|element| row_of(element.unchecked_ref()));
    let last = store.selected_last.get_value().and_then(|id| by_id(&id));
    let (Some(last), Some(here)) = (last, focused.or_else(current)) else { return };
    let all = items();
    let place = |row: &HtmlElement| all.iter().position(|other| same(other, row));
    if let (Some(one), Some(other)) = (place(&last), place(&here)) {
        let (from, to) = (one.min(other), one.max(other));
        let range = all.iter().take(to + 1).skip(from);
        range.filter_map(checkbox).for_each(|tick| tick.set_checked(true));
    }
    count(store);
}

/// Selects every item, or clears the selection if all are selected.
pub fn select_all(store: Store) {
    toggle_selection(store, &items());
}

fn toggle_selection(store: Store, rows: &[HtmlElement]) {
    let ticks: Vec<_> = rows.iter().filter_map(checkbox).collect();
    let all = ticks.iter().all(HtmlInputElement::checked);
    ticks.iter().for_each(|tick| tick.set_checked(!all));
    count(store);
}

/// Handles a click on a group's heading: selects its items, or folds and unfolds them.
pub fn click_group(store: Store, head: &HtmlElement, select: bool) {
    let (Some(list), Some(key)) = (dom::by_id("inbox-rows"), head.get_attribute("data-group")) else { return };
    let members = members(&list, &key);
    if select {
        toggle_selection(store, &members);
    } else {
        let folds = members.iter().any(|row| !row.hidden());
        let _ = head.toggle_attribute_with_force(UNFOLDED, !folds);
        fold(&list, &key, folds);
    }
}

fn members(list: &HtmlElement, group: &str) -> Vec<HtmlElement> {
    dom::find_all(list, &["[data-in=\"", group, "\"]:not([data-leaving])"].concat())
}

fn fold(list: &HtmlElement, group: &str, folds: bool) {
    members(list, group).iter().for_each(|row| row.set_hidden(folds));
    if let Some(link) = dom::find(list, &["[data-group=\"", group, "\"] [data-fold]"].concat()) {
        let _ = link.set_attribute("aria-expanded", if folds { "false" } else { "true" });
    }
}

/// Unfolds in `new` the groups that are unfolded on the page. It runs before `new` is shown, so that the focus is
/// kept.
pub fn unfold(new: &HtmlElement) {
    let Some(list) = dom::by_id("inbox-rows") else { return };
    for head in dom::find_all(&list, "[data-unfolded]") {
        fold(new, &head.get_attribute("data-group").unwrap_or_default(), false);
    }
}
