//! The rows of the list: which is current, which are ticked, what is kept with them. Only in the WASM build.

use crate::browser::dom;
use std::cell::RefCell;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Element, HtmlElement, HtmlInputElement};

/// Where a row keeps the item that was read ahead (a text) or typed into (an element).
const KEPT: &str = "item";
/// On a row that was decided here, until the server has answered.
pub const LEAVING: &str = "data-leaving";
/// On a row whose item was read ahead before the list was last read.
const OLD: &str = "data-old";
/// On a group's line that the reader unfolded. An attribute of ours outlives a list that is read again.
const UNFOLDED: &str = "data-unfolded";
/// On a row whose decision was refused: why. An attribute of ours outlives a list that is read again.
pub const WHY: &str = "data-why";

thread_local! {
    /// The row that was ticked last.
    static LAST: RefCell<Option<HtmlElement>> = const { RefCell::new(None) };
}

/// Rows that stand for one item, folded ones included.
fn items() -> Vec<HtmlElement> {
    dom::by_id("inbox-rows").map(|list| dom::find_all(&list, "[data-id]:not([data-leaving])")).unwrap_or_default()
}

fn same(one: &HtmlElement, other: &HtmlElement) -> bool {
    one.is_same_node(Some(other))
}

/// The row around an element.
pub fn row_of(element: &HtmlElement) -> Option<HtmlElement> {
    element.closest("[data-row]").ok()??.dyn_into().ok()
}

/// The id of a row's item.
pub fn id(row: &HtmlElement) -> Option<String> {
    row.get_attribute("data-id")
}

/// The row of an item.
pub fn by_id(id: &str) -> Option<HtmlElement> {
    dom::by_id("inbox-rows").and_then(|list| dom::find(&list, &["[data-id=\"", id, "\"]"].concat()))
}

/// The row whose item is shown.
pub fn current() -> Option<HtmlElement> {
    dom::by_id("inbox-rows").and_then(|list| dom::find(&list, "[data-id][aria-current]"))
}

/// Marks it, and no other.
pub fn set_current(row: &HtmlElement) {
    while let Some(before) = current() {
        let _ = before.remove_attribute("aria-current");
    }
    let _ = row.set_attribute("aria-current", "true");
}

/// Moves the focus to a row; to its item where the list is not shown.
pub fn focus(row: &HtmlElement) {
    match dom::find(row, ".row-title").filter(|link| link.offset_parent().is_some()) {
        Some(link) => {
            let _ = link.focus();
        }
        None => super::triage::focus_title(),
    }
}

/// The row to go on with: the next one that is left, or else the one before. Only those on the way are looked at.
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

/// What a row keeps.
pub fn kept(row: &HtmlElement) -> JsValue {
    dom::member(row, KEPT)
}

/// Keeps it.
pub fn keep(row: &HtmlElement, item: &JsValue) {
    let _ = row.remove_attribute(OLD);
    let _ = js_sys::Reflect::set(row, &KEPT.into(), item);
}

/// What was read ahead may have changed since; what was typed and what was refused stays as it is.
pub fn grow_old() {
    for row in items().iter().filter(|row| kept(row).is_string() && !row.has_attribute(WHY)) {
        let _ = row.set_attribute(OLD, "");
    }
}

/// Whether what the row keeps is shown only until it has been read again.
pub fn is_old(row: &HtmlElement) -> bool {
    row.has_attribute(OLD)
}

/// Says on each row why it was refused, as long as it is neither decided nor opened.
pub fn tell_why() {
    let Some(list) = dom::by_id("inbox-rows") else { return };
    for reason in dom::find_all(&list, "[data-id]:not([data-leaving]) [data-reason]:not([hidden])") {
        if let Some(row) = row_of(&reason) {
            let _ = row.set_attribute(WHY, &reason.text_content().unwrap_or_default());
        }
    }
    for row in dom::find_all(&list, "[data-id][data-why]:not([data-leaving])") {
        if let (Some(reason), Some(why)) = (dom::find(&row, "[data-reason][hidden]"), row.get_attribute(WHY)) {
            reason.set_text_content(Some(&why));
            reason.set_hidden(false);
        }
    }
}

/// The row is decided anew, or its item is open and says it itself.
pub fn forgive(row: &HtmlElement) {
    let _ = row.remove_attribute(WHY);
    if let Some(reason) = dom::find(row, "[data-reason]") {
        reason.set_hidden(true);
    }
}

fn tick(row: &HtmlElement) -> Option<HtmlInputElement> {
    dom::find(row, "input[type=checkbox]")?.dyn_into().ok()
}

/// The rows that are ticked.
pub fn selected() -> Vec<HtmlElement> {
    let Some(list) = dom::by_id("inbox-rows") else { return Vec::new() };
    let ticked = dom::find_all(&list, "[data-id]:not([data-leaving]) input:checked");
    ticked.iter().filter_map(row_of).collect()
}

/// Says how many are ticked, and shows what can be done with them.
pub fn count() {
    let selected = selected().len();
    if let (Some(form), Some(words)) = (dom::by_id("inbox-batch"), dom::by_id("inbox-selected")) {
        let _ = form.set_attribute("data-selected", &selected.to_string());
        words.set_text_content(Some(&[&selected.to_string(), " selected"].concat()));
    }
}

/// A row was ticked or not.
pub fn ticked(row: &HtmlElement) {
    LAST.set(Some(row.clone()));
    count();
}

/// Ticks everything from the row ticked last to the current one.
pub fn tick_range() {
    let focused = dom::document().active_element().and_then(|element| row_of(element.unchecked_ref()));
    let (Some(last), Some(here)) = (LAST.with_borrow(Clone::clone), focused.or_else(current)) else { return };
    let all = items();
    let place = |row: &HtmlElement| all.iter().position(|other| same(other, row));
    if let (Some(one), Some(other)) = (place(&last), place(&here)) {
        let (from, to) = (one.min(other), one.max(other));
        let range = all.iter().take(to + 1).skip(from);
        range.filter_map(tick).for_each(|tick| tick.set_checked(true));
    }
    count();
}

/// Ticks every item, or none where all are ticked already.
pub fn tick_all() {
    tick_or_not(&items());
}

fn tick_or_not(rows: &[HtmlElement]) {
    let ticks: Vec<_> = rows.iter().filter_map(tick).collect();
    let all = ticks.iter().all(HtmlInputElement::checked);
    ticks.iter().for_each(|tick| tick.set_checked(!all));
    count();
}

/// A group's line was pressed: ticks its items, or folds and unfolds them.
pub fn press_group(head: &HtmlElement, select: bool) {
    let (Some(list), Some(key)) = (dom::by_id("inbox-rows"), head.get_attribute("data-group")) else { return };
    let members = members(&list, &key);
    if select {
        tick_or_not(&members);
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

/// Groups that the reader unfolded are so in a list that comes again: before it is shown, or the focus would be lost.
pub fn unfold(new: &HtmlElement) {
    let Some(list) = dom::by_id("inbox-rows") else { return };
    for head in dom::find_all(&list, "[data-unfolded]") {
        fold(new, &head.get_attribute("data-group").unwrap_or_default(), false);
    }
}
