//! Event handlers of the inbox: keys, mouse and live stream. Only in the WASM build.

use super::{
    api::UndoOffer,
    list_dom as rows, send,
    store::Store,
    undo_notice::{LiveRefusal, LiveUndoNotice},
};
use crate::{
    browser::{dom, fetch, patch},
    live::{self, Signal},
    palette::{act_on_waiting, step},
};
use leptos::{mount::mount_to, prelude::*, serde_json};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::spawn_local;
use web_sys::{Element, Event, FocusEvent, HtmlElement, KeyboardEvent, MouseEvent};

/// Shown while the current item loads. It has no controls, so that a shortcut cannot decide another item.
const LOADING: &str =
    "<p class=\"inbox-nothing inbox-loading meta\" id=\"gate-title\" tabindex=\"-1\" data-keys-wait>Loading…</p>";

fn path() -> String {
    dom::window().location().pathname().unwrap_or_default()
}

/// What can be undone, as the server wrote it into the list.
pub fn offer_of(list: &Element) -> Option<UndoOffer> {
    let json = dom::find(list, "[data-part=held]")?.get_attribute("data-offer")?;
    serde_json::from_str(&json).ok()
}

/// Brings the page to life. `query` is the query with which the list is read, `announcement` what screen readers are
/// told.
pub fn start(query: String, announcement: RwSignal<String>) {
    let Some(inbox) = dom::by_id("inbox") else { return };
    let store = Store::new(path(), query, announcement);
    attach(store, &inbox);
    mount(store, &inbox);
    follow(store);
    dom::every(1_000, move || send::count_down(store));
    rows::count(store);
    if let Some(row) = rows::current() {
        prefetch(store, &row);
    }
}

/// Replaces the parts that the server rendered for browsers without scripts.
fn mount(store: Store, inbox: &HtmlElement) {
    store.set_offer(offer_of(inbox));
    if let Some(held) = dom::find(inbox, "[data-part=held]") {
        held.set_text_content(None);
        mount_to(held, move || view! { <LiveUndoNotice store/> }).forget();
    }
    if let Some(refused) = dom::find(inbox, "[data-part=refused]") {
        mount_to(refused, move || view! { <LiveRefusal store/> }).forget();
    }
    Effect::new(move |_| {
        let selected = store.selected.get().to_string();
        if let (Some(form), Some(words)) = (dom::by_id("inbox-batch"), dom::by_id("inbox-selected")) {
            let _ = form.set_attribute("data-selected", &selected);
            words.set_text_content(Some(&[&selected, " selected"].concat()));
        }
    });
}

fn attach(store: Store, inbox: &HtmlElement) {
    dom::on(inbox, "submit", move |event| send::on_submit(store, event));
    dom::on(inbox, "click", move |event| on_click(store, event));
    dom::on(inbox, "focusin", move |event: FocusEvent| {
        if let Some(row) = dom::closest(&event, "[data-open-item]").and_then(|link| rows::row_of(&link))
            && !row.has_attribute("aria-current")
        {
            show(store, &row);
        }
    });
    dom::on(inbox, "keydown", on_key);
    dom::on(inbox, "change", move |event: Event| {
        if let Some(row) = dom::closest(&event, "[data-id]") {
            rows::on_select(store, &row);
        }
    });
    dom::on(inbox, "input", |event: Event| {
        if let Some(gate) = dom::closest(&event, "#gate") {
            let _ = gate.set_attribute("data-typed", "");
            if dom::closest(&event, "#gate-form").is_some()
                && let Some(approve) = dom::find(&gate, ".gate-bar [data-key=approve]")
            {
                approve.set_text_content(Some("Approve with changes"));
            }
        }
    });
    dom::on(&dom::window(), "popstate", move |_: Event| {
        // Following a link to a fragment also fires popstate; then the path is the same.
        if store.path.get_value() != path() {
            let _ = dom::window().location().reload();
        }
    });
}

/// Follows the live stream.
fn follow(store: Store) {
    live::subscribe(move |signal| {
        if signal.moves_queues() {
            send::refresh_soon(store);
        }
        let gate = dom::by_id("gate").and_then(|gate| gate.get_attribute("data-session"));
        let concerns = match signal {
            Signal::Session { id, .. } => gate.as_deref() == Some(id),
            Signal::Resync => true,
            Signal::Counts | Signal::Opened => false,
        };
        if concerns {
            spawn_local(reload_item(store));
        }
    });
}

fn on_click(store: Store, event: MouseEvent) {
    if event.ctrl_key() || event.meta_key() || event.button() != 0 {
        return;
    }
    if let Some(link) = dom::closest(&event, "[data-select], [data-fold]") {
        event.prevent_default();
        if let Some(head) = rows::row_of(&link) {
            rows::click_group(store, &head, link.has_attribute("data-select"));
        }
    } else if let Some(row) = dom::closest(&event, "[data-open-item]").and_then(|link| rows::row_of(&link)) {
        event.prevent_default();
        show(store, &row);
        if let (Some(inbox), Some(id)) = (dom::by_id("inbox"), rows::id(&row)) {
            let _ = inbox.set_attribute("data-opened", "");
            let address = ["/inbox/", &id].concat();
            if let Ok(history) = dom::window().history() {
                let _ = history.push_state_with_url(&JsValue::NULL, "", Some(&address));
            }
            store.path.set_value(path());
        }
        focus_title();
    } else if let Some(summary) = dom::closest(&event, ".popover > summary") {
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
    } else if dom::closest(&event, "a[data-key=edit], a[data-key=respond]").is_some() {
        event.prevent_default();
        if let Some(first) =
            dom::by_id("gate-form").and_then(|form| dom::find(&form, "[name^='value.'], [name^=answer]"))
        {
            let _ = first.focus();
        }
    } else if dom::closest(&event, "#inbox-all").is_some() {
        rows::select_all(store);
    } else if dom::closest(&event, "#inbox-range").is_some() {
        rows::select_range(store);
    }
}

fn on_key(event: KeyboardEvent) {
    let in_list = dom::closest(&event, ".row-title").is_some();
    let by = match event.key().as_str() {
        "ArrowDown" if in_list => 1,
        "ArrowUp" if in_list => -1,
        "Escape" => {
            if let Some(more) = dom::closest(&event, ".popover[open]") {
                let _ = more.remove_attribute("open");
            }
            if let Some(row) = rows::current() {
                rows::focus(&row);
            }
            return;
        }
        _ => return,
    };
    if step(by) {
        event.prevent_default();
    }
}

/// Shows an item in the detail pane, at once if it was prefetched.
pub fn show(store: Store, row: &HtmlElement) {
    if dom::by_id("gate").is_some_and(|gate| gate.has_attribute("data-typed")) {
        store_open_item();
    }
    rows::set_current(row);
    rows::clear_reason(row);
    match rows::stored(row) {
        kept if kept.is_object() => show_element(kept.unchecked_ref()),
        kept => match kept.as_string() {
            Some(html) => {
                show_html(&html);
                if rows::is_outdated(row) {
                    spawn_local(reload_item(store));
                }
            }
            None => {
                show_html(LOADING);
                spawn_local(load(store, row.clone()));
            }
        },
    }
    prefetch(store, row);
}

/// Loads the current item and shows it, or an error. The response is dropped if the item is no longer current or is
/// shown already.
async fn load(store: Store, row: HtmlElement) {
    let html = read(store, &rows::id(&row).unwrap_or_default()).await;
    if !row.has_attribute("aria-current") || dom::by_id("gate").is_some() {
        return;
    }
    let address = ["/inbox/", &rows::id(&row).unwrap_or_default()].concat();
    show_html(&html.unwrap_or_else(|| {
        [
            "<p class=\"inbox-nothing\" id=\"gate-title\" tabindex=\"-1\">This item could not be loaded.</p>\
             <p><a class=\"button\" href=\"",
            &address,
            "\">Try again</a></p>",
        ]
        .concat()
    }));
    act_on_waiting();
}

/// Stores the open item, with what was typed into it, on its row.
pub fn store_open_item() {
    if let (Some(gate), Some(row)) = (dom::by_id("gate"), rows::current())
        && gate.get_attribute("data-id") == rows::id(&row)
    {
        rows::store(&row, &gate);
    }
}

fn replace_item(fill: impl FnOnce(&HtmlElement)) {
    if let Some(detail) = dom::by_id("inbox-detail") {
        let had_focus = detail.contains(dom::document().active_element().as_deref());
        detail.set_text_content(None);
        fill(&detail);
        crate::browser::times::refine(&detail);
        detail.set_scroll_top(0);
        if had_focus {
            focus_title();
        }
    }
}

/// Shows an item from its HTML.
pub fn show_html(html: &str) {
    replace_item(|detail| detail.set_inner_html(html));
}

/// Shows an item that was made before.
pub fn show_element(item: &HtmlElement) {
    replace_item(|detail| {
        let _ = detail.append_child(item);
    });
}

/// Moves the focus to the title of the shown item.
pub fn focus_title() {
    if let Some(title) = dom::by_id("gate-title") {
        let _ = title.focus();
    }
}

/// Prefetches the item after this row, so that it can be shown at once.
pub fn prefetch(store: Store, row: &HtmlElement) {
    if let Some(next) = rows::next(row)
        && (rows::stored(&next).is_falsy() || rows::is_outdated(&next))
    {
        spawn_local(async move {
            if let Some(html) = read(store, &rows::id(&next).unwrap_or_default()).await
                && !rows::stored(&next).is_object()
            {
                rows::store(&next, &html.into());
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
async fn reload_item(store: Store) {
    let Some(id) = dom::by_id("gate").and_then(|gate| gate.get_attribute("data-id")) else {
        // The current item could not be loaded before; tries again.
        if let Some(row) = rows::current().filter(|row| !row.has_attribute(rows::LEAVING)) {
            load(store, row).await;
        }
        return;
    };
    let Ok(html) = fetch::get_text(&["/inbox/", &id, "/detail"].concat()).await else { return };
    let Some(gate) = dom::by_id("gate").filter(|gate| gate.get_attribute("data-id").as_deref() == Some(&id)) else {
        return;
    };
    let Some(new) = patch::parse(&html).and_then(|fragment| patch::children(&fragment).into_iter().next()) else {
        return;
    };
    let state = new.get_attribute("data-state").unwrap_or_default();
    let moved = gate.get_attribute("data-state").as_deref() != Some(&state);
    let busy = gate.has_attribute("data-typed") || dom::find(&gate, ".popover[open]").is_some();
    let _ = gate.set_attribute("data-state", &state);
    for part in ["head", "state", "values", "facts", "transcript", "bar"] {
        let own = matches!(part, "values" | "bar");
        if own && busy && !(moved && part == "bar") {
            continue;
        }
        let selector = ["[data-part=", part, "]"].concat();
        if let (Some(old), Some(new)) = (dom::find(&gate, &selector), dom::find(&new, &selector)) {
            patch::update(&old, &new);
        }
    }
    if moved && let Some(said) = dom::find(&new, "[data-part=state] p").and_then(|line| line.text_content()) {
        store.announce(&said);
    }
}
