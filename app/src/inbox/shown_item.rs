//! The item beside the list: shows it, reads it again, and keeps what the reviewer typed. Only in the WASM build.

use super::{
    api::QuestionsOff,
    item::Row,
    item_element::{current_item, id_of, parse},
    refusal::{append_text, typed},
    store::{CachedItem, Store},
    tab_draft,
};
use crate::{
    browser::{
        address,
        dom::{self, HtmlElement},
        element, fetch, patch,
        task::spawn_local,
    },
    palette::act_on_waiting,
    server_function::submit,
    ui::skeleton,
};
use leptos::{prelude::*, server_fn::ServerFn as _};

/// Shown while the current item loads, before the rows of a skeleton. It has no controls, so that a shortcut cannot
/// decide another item.
const LOADING: &str = "<div class=\"skeleton inbox-nothing inbox-loading\" aria-busy=\"true\" data-keys-wait>\
    <p class=\"hidden-text\" id=\"gate-title\" tabindex=\"-1\">Loading…</p>";

/// Typing within this time asks the server once which questions apply, in milliseconds.
const HIDE_AFTER_MS: i32 = 300;

/// Shows an item in the detail pane, at once if it was prefetched.
pub fn show(store: Store, row: &Row) {
    if current_item(store).is_some_and(|item| item.has_attribute("data-typed")) {
        keep_shown_item(store);
    }
    store.make_current(row);
    if is_pane_shown(store) {
        address::amend(&row.get(|item| item.href.clone()));
        store.path.set_value(address::path());
    }
    match store.cached(&row.key) {
        Some(CachedItem::Typed(item)) => store.detail.put(&item),
        Some(CachedItem::Html { html, is_outdated }) => {
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

/// Whether the item has a place on the screen: a narrow one shows the list or the item.
fn is_pane_shown(store: Store) -> bool {
    let root = store.detail.root();
    root.and_then(|root| element::parent(&root)).is_some_and(|pane| pane.offset_width() > 0)
}

/// Shows that nothing is left to decide.
pub fn show_nothing(store: Store) {
    store
        .detail
        .show("<p class=\"inbox-nothing meta\" id=\"gate-title\" tabindex=\"-1\">No other item is waiting.</p>");
}

/// Loads the current item and shows it, or an error. The response is dropped if the item is no longer current or is
/// shown already.
async fn load(store: Store, row: Row) {
    let html = read(store, &row.key).await;
    if !row.get(|item| item.is_current) || current_item(store).is_some() {
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

/// Keeps the shown item with the text typed into it.
pub fn keep_shown_item(store: Store) {
    if let (Some(item), Some(row)) = (current_item(store), store.current())
        && id_of(&item) == row.key
    {
        store.keep(&row.key, CachedItem::Typed(item));
    }
}

/// Prefetches the item after this row, so that it can be shown at once.
pub fn prefetch(store: Store, row: &Row) {
    let Some(next) = store.next(row) else { return };
    if matches!(store.cached(&next.key), None | Some(CachedItem::Html { is_outdated: true, .. })) {
        spawn_local(async move {
            if let Some(html) = read(store, &next.key).await
                && !matches!(store.cached(&next.key), Some(CachedItem::Typed(_)))
            {
                store.keep(&next.key, CachedItem::Html { html, is_outdated: false });
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

/// Reads the open item again, because another person may have decided it. Parts that the reviewer is editing are
/// kept.
pub async fn reload_item(store: Store) {
    let Some(item) = current_item(store) else {
        // The current item could not be loaded before; tries again.
        if let Some(row) = store.current().filter(|row| !row.get(|item| item.is_leaving)) {
            load(store, row).await;
        }
        return;
    };
    let id = id_of(&item);
    let Ok(html) = fetch::get_text(&["/inbox/", &id, "/detail"].concat()).await else { return };
    let Some(item) = current_item(store).filter(|item| id_of(item) == id) else { return };
    let Some(new) = parse(&html) else { return };
    let state = new.get_attribute("data-state").unwrap_or_default();
    let moved = item.get_attribute("data-state").as_deref() != Some(&state);
    let is_typed = item.has_attribute("data-typed");
    let busy = !moved && (is_typed || dom::find(&item, ".popover[open]").is_some());
    let unsent = if moved && is_typed { typed_texts(&item) } else { Vec::new() };
    let _ = item.set_attribute("data-state", &state);
    keep_next(&item, &new);
    if !moved {
        keep_folds(&item, &new);
    }
    for part in ["head", "state", "values", "facts", "transcript", "bar"] {
        if busy && matches!(part, "values" | "bar") {
            continue;
        }
        let selector = ["[data-part=", part, "]"].concat();
        if let (Some(old), Some(new)) = (dom::find(&item, &selector), dom::find(&new, &selector)) {
            patch::update(&old, &new);
        }
    }
    if !unsent.is_empty() {
        show_unsent(&item, &unsent);
        let _ = item.remove_attribute("data-typed");
        tab_draft::forget(&id);
    }
    if moved && let Some(said) = dom::find(&new, "[data-part=state] p").and_then(|line| line.text_content()) {
        store.announce(&said);
    }
}

/// The text typed into the item, each text with its label.
fn typed_texts(item: &HtmlElement) -> Vec<String> {
    let text = |control: &HtmlElement| {
        let text = typed(control)?.1.as_string().filter(|text| !text.trim().is_empty())?;
        let label = element::closest(control, ".field").and_then(|field| dom::find(&field, ".field-label"));
        Some([&label.and_then(|label| label.text_content()).unwrap_or_default(), ": ", &text].concat())
    };
    dom::find_all(item, "[id][name]").iter().filter_map(text).collect()
}

/// Shows the typed text that was not sent, when someone else decided the item.
fn show_unsent(item: &HtmlElement, texts: &[String]) {
    let (Some(state), Some(notice), Some(body)) =
        (dom::find(item, "[data-part=state]"), dom::make("div", "notice"), dom::make("div", "notice-body"))
    else {
        return;
    };
    let texts = texts.join("\n");
    let _ = notice.set_attribute("data-tone", "wait");
    append_text(&body, "p", "This was decided while you were typing. Your unsent text:");
    append_text(&body, "pre", &texts);
    let _ = notice.append_child(&body);
    if let Some(copy) = append_text(&notice, "button", "Copy") {
        copy.set_class_name("button");
        let _ = copy.set_attribute("type", "button");
        let _ = copy.set_attribute("data-copy", &texts);
    }
    element::put_after(&state, &notice);
}

/// Gives the forms of `new` the next item that those of `old` name. Only a page with a list knows it, and buttons must
/// not be replaced for it: a button that is replaced between press and release loses the click.
fn keep_next(old: &HtmlElement, new: &HtmlElement) {
    for (old, new) in dom::find_all(old, "[name=next]").iter().zip(dom::find_all(new, "[name=next]")) {
        let of = |input: &HtmlElement| input.get_attribute("value").unwrap_or_default();
        let (was, now) = (of(old), of(&new));
        // After a decision other forms are here, which lead to pages with another notice.
        if was.split_once('?').map(|parts| parts.1) == now.split_once('?').map(|parts| parts.1) {
            let _ = new.set_attribute("value", &was);
        }
    }
}

/// Opens and closes the folds of `new` as the reviewer has those of `old`.
fn keep_folds(old: &HtmlElement, new: &HtmlElement) {
    let [old, new] = [old, new].map(|item| dom::find_all(item, "details"));
    if old.len() == new.len() {
        for (old, new) in old.iter().zip(new) {
            let _ = match old.has_attribute("open") {
                true => new.set_attribute("open", ""),
                false => new.remove_attribute("open"),
            };
        }
    }
}

/// Shows the text typed into the item before this page of the tab was loaded.
pub fn restore_typed(store: Store) {
    if let Some(item) = current_item(store).filter(tab_draft::restore) {
        values_changed(store, &item);
    }
}

/// A value or an answer of the item was changed, perhaps back to what is proposed.
pub fn values_changed(store: Store, item: &HtmlElement) {
    if let Some(approve) = dom::find(item, ".gate-bar [data-key=approve]") {
        let fields = dom::find_all(item, "[data-part=values] [id][name]");
        let fields: Vec<_> = fields.into_iter().filter(|field| typed(field).is_some()).collect();
        for source in fields.iter().filter_map(|field| element::closest(field, "details")) {
            let _ = source.set_attribute("open", "");
        }
        // A form that is shown with edits again has them as its values.
        let is_edited = !fields.is_empty() || dom::find(item, "[data-edited]").is_some();
        approve.set_text_content(Some(if is_edited { "Approve with changes" } else { "Approve" }));
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
        let form = dom::find(&item, "form[data-part=values]");
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

/// Moves the focus to the link of a row, or to the shown item if the list is hidden (narrow screens).
pub fn focus(store: Store, row: &Row) {
    let list: Option<HtmlElement> = store.list.get_untracked().map(Into::into);
    let link = list.and_then(|list| dom::find(&list, &["[data-id=\"", &row.key, "\"] .row-title"].concat()));
    match link.filter(|link| link.offset_parent().is_some()) {
        Some(link) => {
            let _ = link.focus();
        }
        None => store.detail.focus_title(),
    }
}
