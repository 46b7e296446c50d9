//! Selects rows of a list by key and by click, and presses the buttons of the page that name a key. The check boxes
//! belong to a form, which works without scripts. Only in the WASM build.

use crate::{
    browser::{
        checkbox,
        dom::{self, HtmlElement},
    },
    fragment::Slot,
    palette::TEXT_FIELDS,
};
use leptos::ev::{KeyboardEvent, MouseEvent};
use std::{cell::RefCell, rc::Rc};

/// Check boxes of rows.
const TICK: &str = "[data-tick]";
const TICKED: &str = "[data-tick]:checked";
/// The check box of everything that matches, on this page or not.
const ALL: &str = "[data-tick-all]";
/// Shows the number of selected rows.
const COUNT: &str = "[data-tick-count]";
/// Controls that name their key.
const KEYED: &str = "[data-list-key]";
/// Of several controls with one key, the one for selected rows.
const OF_TICKED: &str = "data-of-ticked";
/// What contains a check box and the link that has the focus.
const ROW: &str = "tr, li";

/// Follows keys and clicks, if rows of the list can be selected or controls name their key.
pub fn start(at: Slot) {
    let Some(root) = at.root().filter(|_| at.find(TICK).or_else(|| at.find(KEYED)).is_some()) else { return };
    // The value of the check box that was changed last. Its row can be replaced meanwhile.
    let anchor = Rc::new(RefCell::new(String::new()));
    let clicked = anchor.clone();
    dom::on(&root, "click", move |event: MouseEvent| {
        if let Some(tick) = dom::closest(&event, TICK) {
            changed(at, &clicked, &tick, event.shift_key());
        }
    });
    dom::on(&dom::document(), "keydown", move |event: KeyboardEvent| {
        let is_other = event.is_composing() || event.default_prevented() || event.repeat();
        let is_held = event.ctrl_key() || event.meta_key() || event.alt_key();
        if is_other || is_held || dom::closest(&event, TEXT_FIELDS).is_some() {
            return;
        }
        if press(at, &anchor, &event.key()) {
            event.prevent_default();
        }
    });
    show_count(at);
}

/// Handles a key. Returns whether it is one of this list.
fn press(at: Slot, anchor: &RefCell<String>, key: &str) -> bool {
    let control = match key {
        "x" | "X" => tick_of_focused_row(),
        "*" => at.find(ALL),
        _ => keyed(at, key),
    };
    let Some(control) = control else { return false };
    match key {
        "*" => checkbox::set(&control, !is_ticked(&control)),
        "X" => {
            checkbox::set(&control, true);
            changed(at, anchor, &control, true);
        }
        "x" => {
            checkbox::set(&control, !is_ticked(&control));
            changed(at, anchor, &control, false);
        }
        _ => control.click(),
    }
    true
}

/// The control of the page with this key: the one for selected rows if there are some, or else the one in the row that
/// has the focus, or the one that is in no row.
fn keyed(at: Slot, key: &str) -> Option<HtmlElement> {
    let here = dom::document().active_element().and_then(|focused| focused.closest(ROW).ok().flatten());
    let root = dom::root()?;
    let mut found = dom::find_all(&root, KEYED);
    found.retain(|control| {
        let row = control.closest(ROW).ok().flatten();
        let is_near = row.is_none_or(|row| here.as_ref().is_some_and(|here| row.is_same_node(Some(here))));
        is_near && control.get_attribute("data-list-key").is_some_and(|own| own == key)
    });
    let of_ticked = found.iter().position(|control| control.has_attribute(OF_TICKED));
    let of_ticked = of_ticked.map(|place| found.remove(place));
    let is_any = at.find(TICKED).is_some() || at.find(ALL).is_some_and(|all| is_ticked(&all));
    of_ticked.filter(|_| is_any).or_else(|| found.into_iter().next())
}

fn tick_of_focused_row() -> Option<HtmlElement> {
    let row = dom::document().active_element()?.closest(ROW).ok()??;
    dom::find(&row, TICK)
}

fn is_ticked(tick: &HtmlElement) -> bool {
    tick.closest(":checked").is_ok_and(|found| found.is_some())
}

fn value(tick: &HtmlElement) -> String {
    tick.get_attribute("value").unwrap_or_default()
}

/// A check box was changed. For a range, those from the last one that was changed to this one get its state.
fn changed(at: Slot, anchor: &RefCell<String>, tick: &HtmlElement, is_range: bool) {
    let last = anchor.replace(value(tick));
    if is_range {
        let ticks = at.find_all(TICK);
        let place = |wanted: &str| ticks.iter().position(|tick| value(tick) == wanted);
        if let (Some(from), Some(to)) = (place(&last), place(&value(tick))) {
            let state = is_ticked(tick);
            for tick in ticks.iter().skip(from.min(to)).take(from.abs_diff(to) + 1) {
                checkbox::set(tick, state);
            }
        }
    }
    show_count(at);
}

fn show_count(at: Slot) {
    if let Some(place) = at.find(COUNT) {
        let count = at.find_all(TICKED).len();
        let words = if count == 0 { String::new() } else { [&count.to_string(), " selected"].concat() };
        place.set_text_content(Some(&words));
    }
}

/// Updates a row. Its check box keeps its state.
pub fn keep_tick(row: &HtmlElement, update: impl FnOnce()) {
    let was_ticked = dom::find(row, TICKED).is_some();
    update();
    if let Some(tick) = dom::find(row, TICK).filter(|_| was_ticked) {
        checkbox::set(&tick, true);
    }
}
