//! Performs shortcuts on the page that is shown. Only in the WASM build.

use super::{
    catalog::Command,
    state::{Keys, Operation},
};
use crate::{
    browser::dom::{self, HtmlElement},
    working_on,
};
use wasm_bindgen::JsCast;

/// Links of the rows that `j` and `k` move between.
const ROW_LINKS: &str = ".row-title, .table-main a, .search-link, .event-seq a";
/// Elements in which letters are no shortcuts: text fields, popovers, and the whole page while a dialog is open. Every
/// dialog is modal, and a click on its text takes the focus out of it. `:is` ignores `:has` in a browser without it.
pub const TEXT_FIELDS: &str = "input:not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable], \
     [popover], :is(:root:has(dialog[open]))";
/// The field that `/` leads to.
const SEARCH_FIELD: &str = "[action='/sessions'] [name=q]";

/// Performs a shortcut. Returns false if it does not apply here.
pub fn act(keys: Keys, command: Command) -> bool {
    match command {
        Command::Go(href) => {
            let _ = dom::window().location().set_href(href);
            true
        }
        Command::Press(key) => press_control(key),
        Command::Palette => {
            keys.open();
            true
        }
        Command::Keys => {
            keys.play(Operation::KeysRequested);
            true
        }
        Command::Search => focus_search(),
        Command::Step(by) => step(by),
        Command::Marker => working_on::Work::of_page().is_some_and(working_on::Work::open_marker),
        Command::Decide => press_control("approve"),
    }
}

/// The `data-keys` of the page.
pub fn here() -> String {
    let page = dom::root().and_then(|root| dom::find(&root, "[data-keys]"));
    page.and_then(|page| page.get_attribute("data-keys")).unwrap_or_default()
}

/// The visible control of the page with this `data-key`. Of controls in rows, the one of the current row.
pub fn control(key: &str) -> Option<HtmlElement> {
    let root = dom::root()?;
    let row = |element: &HtmlElement| element.closest("[data-row]").ok().flatten();
    let focused = dom::document().active_element().and_then(|focused| row(focused.unchecked_ref()));
    let current = focused.or_else(|| dom::find(&root, "[data-row][aria-current]").map(Into::into));
    dom::find_all(&root, &["[data-key=", key, "]"].concat()).into_iter().find(|control| {
        let in_place = row(control).is_none_or(|row| current.as_ref().is_some_and(|here| row.is_same_node(Some(here))));
        in_place && control.offset_width() > 0
    })
}

fn press_control(key: &str) -> bool {
    let control = control(key);
    if let Some(control) = &control {
        control.click();
    }
    control.is_some()
}

fn focus_search() -> bool {
    match dom::root().and_then(|root| dom::find(&root, SEARCH_FIELD)) {
        Some(field) => {
            let _ = field.focus();
        }
        None => {
            let _ = dom::window().location().set_href("/sessions#filter-q");
        }
    }
    true
}

/// Moves the focus to the next or previous visible row; starts from the current row if no row has the focus.
pub fn step(by: i32) -> bool {
    let Some(root) = dom::root() else { return false };
    let rows = dom::find_all(&root, ROW_LINKS);
    // Reading `offset_parent` forces layout, so only the rows on the way are tested.
    let is_shown = |row: &&HtmlElement| row.offset_parent().is_some();
    let focused = dom::document().active_element();
    let at = rows.iter().position(|row| focused.as_ref().is_some_and(|f| row.is_same_node(Some(f.unchecked_ref()))));
    let at =
        at.or_else(|| rows.iter().position(|row| row.closest("[aria-current=true]").is_ok_and(|row| row.is_some())));
    let next = match (at, by) {
        (Some(at), 1) => rows.iter().skip(at + 1).find(is_shown),
        (Some(at), _) => rows.iter().take(at).rev().find(is_shown),
        (None, _) => rows.iter().find(is_shown),
    };
    if let Some(row) = next {
        let _ = row.focus();
    }
    at.is_some() || next.is_some()
}
