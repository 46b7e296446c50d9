//! What the inbox's page does with keys, clicks and live updates: it opens items beside the list. Only in the WASM
//! build.

use super::{
    api::QuestionsOff,
    countdown,
    item::Row,
    send,
    store::{Kept, Store},
    tab_draft,
};
use crate::browser::task::spawn_local;
use crate::{
    browser::live::{self, Signal},
    browser::{dom, fetch, patch},
    palette::{act_on_waiting, step},
    server_function::submit,
    ui::skeleton,
};
use leptos::{prelude::*, server_fn::ServerFn as _};
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Element, Event, HtmlElement, HtmlFormElement, KeyboardEvent, MouseEvent};

/// Shown while the current item loads, before the rows of a skeleton. It has no controls, so that a shortcut cannot
/// decide another item.
const LOADING: &str = "<div class=\"skeleton inbox-nothing inbox-loading\" aria-busy=\"true\" data-keys-wait>\
    <p class=\"hidden-text\" id=\"gate-title\" tabindex=\"-1\">Loading…</p>";

/// Typing within this time asks the server once which questions apply, in milliseconds.
const HIDE_AFTER_MS: i32 = 300;

fn path() -> String {
    dom::window().location().pathname().unwrap_or_default()
}

/// The shown item; `None` while it loads, and if there is none.
pub fn shown(store: Store) -> Option<HtmlElement> {
    store.detail.child().filter(|item| item.has_attribute("data-id"))
}

/// The id of an item's element.
pub fn id_of(item: &HtmlElement) -> String {
    item.get_attribute("data-id").unwrap_or_default()
}

/// Brings the page to life.
pub fn start(store: Store) {
    store.path.set_value(path());
    dom::on(&dom::window(), "popstate", move |_: Event| {
        // Following a link to a fragment also fires popstate; then the path is the same.
        if store.path.get_value() != path() {
            let _ = dom::window().location().reload();
        }
    });
    restore_typed(store);
    follow(store);
    countdown::start(store);
    if let Some(row) = store.current() {
        prefetch(store, &row);
    }
}

/// Follows the live stream.
fn follow(store: Store) {
    live::subscribe(move |signal| {
        if signal.moves_queues() {
            send::refresh_soon(store);
        }
        let session = shown(store).and_then(|item| item.get_attribute("data-session"));
        let concerns = match signal {
            Signal::Session { id, .. } => session.as_deref() == Some(id),
            Signal::Resync | Signal::Opened => true,
            Signal::Counts => false,
        };
        if concerns {
            spawn_local(reload_item(store));
        }
    });
}

/// A click on what the server rendered of an item: a popover, or a link to the item's first field.
pub fn on_click(event: &MouseEvent) {
    if event.ctrl_key() || event.meta_key() || event.button() != 0 {
        return;
    }
    if let Some(summary) = dom::closest(event, ".popover > summary") {
        // The `details` element opens after this event. Then the focus moves to its first control.
        dom::after(0, move || {
            let first = summary
                .next_element_sibling()
                .and_then(|sheet| sheet.dyn_into::<HtmlElement>().ok())
                .filter(|sheet| sheet.offset_width() > 0);
            if let Some(first) = first.and_then(|sheet| dom::find(&sheet, "textarea, button")) {
                let _ = first.focus();
            }
        });
    } else if dom::closest(event, "a[data-key=edit], a[data-key=respond]").is_some() {
        event.prevent_default();
        let item = dom::closest(event, "[data-session]");
        if let Some(first) = item.and_then(|item| dom::find(&item, "form [name^='value.'], form [name^=answer]")) {
            let _ = first.focus();
        }
    }
}

/// Keys that move through the list, and Escape, which leads back to it.
pub fn on_key(store: Store, event: &KeyboardEvent) {
    let in_list = dom::closest(event, ".row-title").is_some();
    let by = match event.key().as_str() {
        "ArrowDown" if in_list => 1,
        "ArrowUp" if in_list => -1,
        "Escape" => {
            if let Some(more) = dom::closest(event, ".popover[open]") {
                let _ = more.remove_attribute("open");
            }
            if let Some(row) = store.current() {
                focus(store, &row);
            }
            return;
        }
        _ => return,
    };
    if step(by) {
        event.prevent_default();
    }
}

/// Something was typed into the shown item: it is kept when another one is opened.
pub fn on_input(store: Store, event: &Event) {
    let Some(item) = shown(store) else { return };
    let _ = item.set_attribute("data-typed", "");
    tab_draft::keep(&item);
    if dom::closest(event, "[data-part=values]").is_some() {
        values_changed(store, &item);
    }
}

/// Shows what was typed into the item before this page of the tab was loaded.
fn restore_typed(store: Store) {
    if let Some(item) = shown(store).filter(tab_draft::restore) {
        values_changed(store, &item);
    }
}

/// A value or an answer of the item was changed.
fn values_changed(store: Store, item: &HtmlElement) {
    if let Some(approve) = dom::find(item, ".gate-bar [data-key=approve]") {
        approve.set_text_content(Some("Approve with changes"));
    }
    if dom::find(item, "[data-question] .condition").is_some() {
        hide_questions_soon(store, item);
    }
}

/// Hides the questions that do not apply, once the reviewer pauses. The server says which: the rules are its own.
fn hide_questions_soon(store: Store, item: &HtmlElement) {
    let id = Some(id_of(item));
    if store.hiding.get_value() == id {
        return;
    }
    store.hiding.set_value(id.clone());
    let item = item.clone();
    dom::after(HIDE_AFTER_MS, move || {
        // Meanwhile something may have been typed into another item.
        if store.hiding.get_value() == id {
            store.hiding.set_value(None);
        }
        let form = dom::find(&item, "form[data-part=values]").and_then(|form| form.dyn_into::<HtmlFormElement>().ok());
        let Some(fields) = form.and_then(|form| fetch::fields(&form, None)) else { return };
        spawn_local(async move {
            let Ok(off) = submit::<Vec<String>>(QuestionsOff::PATH, fields).await else { return };
            for question in dom::find_all(&item, "[data-question]") {
                let key = question.get_attribute("data-question").unwrap_or_default();
                let _ = question.toggle_attribute_with_force("data-off", off.contains(&key));
            }
        });
    });
}

/// Selects every row from the one selected last to the one with the focus, or to the current one.
pub fn select_range(store: Store) {
    let focused = dom::document().active_element().and_then(|element| element.closest("[data-id]").ok()?);
    let focused = focused.and_then(|row| row.get_attribute("data-id"));
    let focused = focused.filter(|id| store.row(id).is_some());
    if let Some(key) = focused.or_else(|| Some(store.current()?.key)) {
        store.select_range(&key);
    }
}

/// Moves the focus to the link of a row, or to the shown item if the list is hidden (narrow screens).
pub fn focus(store: Store, row: &Row) {
    let list: Option<Element> = store.list.get_untracked().map(Into::into);
    let link = list.and_then(|list| dom::find(&list, &["[data-id=\"", &row.key, "\"] .row-title"].concat()));
    match link.filter(|link| link.offset_parent().is_some()) {
        Some(link) => {
            let _ = link.focus();
        }
        None => store.detail.focus_title(),
    }
}

/// Opens an item: its address becomes that of the page.
pub fn open(store: Store, row: &Row) {
    show(store, row);
    store.is_opened.set(true);
    if let Ok(history) = dom::window().history() {
        let _ = history.push_state_with_url(&JsValue::NULL, "", Some(&["/inbox/", &row.key].concat()));
    }
    store.path.set_value(path());
    store.detail.focus_title();
}

/// Shows an item in the detail pane, at once if it was prefetched.
pub fn show(store: Store, row: &Row) {
    if shown(store).is_some_and(|item| item.has_attribute("data-typed")) {
        keep_shown_item(store);
    }
    store.make_current(row);
    match store.kept(&row.key) {
        Some(Kept::Typed(item)) => store.detail.put(&item),
        Some(Kept::Html { html, is_outdated }) => {
            store.detail.show(&html);
            restore_typed(store);
            if is_outdated {
                spawn_local(reload_item(store));
            }
        }
        None => {
            store.detail.show(&[LOADING, skeleton::ROWS, "</div>"].concat());
            spawn_local(load(store, row.clone()));
        }
    }
    prefetch(store, row);
}

/// Loads the current item and shows it, or an error. The response is dropped if the item is no longer current or is
/// shown already.
async fn load(store: Store, row: Row) {
    let html = read(store, &row.key).await;
    if !row.get(|item| item.is_current) || shown(store).is_some() {
        return;
    }
    store.detail.show(&html.unwrap_or_else(|| {
        [
            "<p class=\"inbox-nothing\" id=\"gate-title\" tabindex=\"-1\">This item could not be loaded.</p>\
             <p><a class=\"button\" href=\"/inbox/",
            &row.key,
            "\">Try again</a></p>",
        ]
        .concat()
    }));
    restore_typed(store);
    act_on_waiting();
}

/// Keeps the shown item with what was typed into it.
pub fn keep_shown_item(store: Store) {
    if let (Some(item), Some(row)) = (shown(store), store.current())
        && id_of(&item) == row.key
    {
        store.keep(&row.key, Kept::Typed(item));
    }
}

/// Prefetches the item after this row, so that it can be shown at once.
pub fn prefetch(store: Store, row: &Row) {
    let Some(next) = store.next(row) else { return };
    if matches!(store.kept(&next.key), None | Some(Kept::Html { is_outdated: true, .. })) {
        spawn_local(async move {
            if let Some(html) = read(store, &next.key).await
                && !matches!(store.kept(&next.key), Some(Kept::Typed(_)))
            {
                store.keep(&next.key, Kept::Html { html, is_outdated: false });
            }
        });
    }
}

/// Reads the HTML of an item.
pub async fn read(store: Store, id: &str) -> Option<String> {
    let html = fetch::get_text(&["/inbox/", id, "/detail"].concat()).await;
    if html.is_err() {
        store.announce(fetch::UNREACHABLE);
    }
    html.ok()
}

/// The element that an answer consists of.
pub fn parse(html: &str) -> Option<HtmlElement> {
    patch::parse(html).and_then(|fragment| patch::children(&fragment).into_iter().next())
}

/// Reads the open item again, because another person may have decided it. Parts that the reviewer is editing are
/// kept.
async fn reload_item(store: Store) {
    let Some(item) = shown(store) else {
        // The current item could not be loaded before; tries again.
        if let Some(row) = store.current().filter(|row| !row.get(|item| item.is_leaving)) {
            load(store, row).await;
        }
        return;
    };
    let id = id_of(&item);
    let Ok(html) = fetch::get_text(&["/inbox/", &id, "/detail"].concat()).await else { return };
    let Some(item) = shown(store).filter(|item| id_of(item) == id) else { return };
    let Some(new) = parse(&html) else { return };
    let state = new.get_attribute("data-state").unwrap_or_default();
    let moved = item.get_attribute("data-state").as_deref() != Some(&state);
    let busy = item.has_attribute("data-typed") || dom::find(&item, ".popover[open]").is_some();
    let _ = item.set_attribute("data-state", &state);
    for part in ["head", "state", "values", "facts", "transcript", "bar"] {
        let own = matches!(part, "values" | "bar");
        if own && busy && !(moved && part == "bar") {
            continue;
        }
        let selector = ["[data-part=", part, "]"].concat();
        if let (Some(old), Some(new)) = (dom::find(&item, &selector), dom::find(&new, &selector)) {
            patch::update(&old, &new);
        }
    }
    if moved && let Some(said) = dom::find(&new, "[data-part=state] p").and_then(|line| line.text_content()) {
        store.announce(&said);
    }
}
