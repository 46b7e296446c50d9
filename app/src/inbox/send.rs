//! Calls the server functions of the page's forms. The next item is shown first; an item whose decision is refused is
//! restored with the reason. Only in the WASM build.

use super::{
    api::{Decide, UndoDecisions, UndoOffer, item_of_field},
    list_dom as rows,
    reading::{Due, Reading},
    refusal,
    store::Store,
    triage,
};
use crate::{
    browser::{dom, fetch, patch},
    server_function::{Refusal, submit},
};
use leptos::{
    prelude::{GetValue as _, Set as _},
    server_fn::ServerFn as _,
};
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::spawn_local;
use web_sys::{Event, HtmlElement, HtmlFormElement};

/// Signals within this time cause one request, in milliseconds.
const GATHER_MS: i32 = 250;
/// A reviewer pauses if they decide nothing for this long, in milliseconds.
const PAUSE_MS: i32 = 1_000;
/// Shown if a decision got no response. It may have been recorded; sending it again then returns what was recorded.
const NO_RESPONSE: &str =
    "The server cannot be reached, so it is not known whether this was recorded. Send it again to make sure.";
/// How often reading the list is delayed until the reviewer pauses.
const DELAYS_MAX: u32 = 5;
/// Status of a refusal after the sign-in has ended.
const SIGNED_OUT: u16 = 401;

/// A form that was submitted.
struct Sent {
    /// Path of its server function.
    path: String,
    /// Its encoded fields.
    fields: String,
    /// The item whose decision is undone.
    undone: Option<String>,
    /// The rows that it changes.
    leaving: Vec<HtmlElement>,
    /// The item that was shown.
    item: Option<HtmlElement>,
}

/// Handles the submit event of every form of the page.
pub fn on_submit(store: Store, event: Event) {
    let Some(form) = dom::closest(&event, "form").and_then(|form| form.dyn_into::<HtmlFormElement>().ok()) else {
        return;
    };
    event.prevent_default();
    let pressed: Option<HtmlElement> = dom::member(&event, "submitter").dyn_into().ok();
    let action = pressed.as_ref().and_then(|pressed| pressed.get_attribute("formaction"));
    let action = action.or_else(|| form.get_attribute("action")).unwrap_or_default();
    let path = action.split('?').next().unwrap_or_default().to_owned();
    let item = dom::by_id("gate");
    // The property `id` of a form is its control with that name, if it has one.
    let is_batch = form.get_attribute("id").as_deref() == Some("inbox-batch");
    let leaving = match path.as_str() {
        _ if is_batch => rows::selected(),
        UndoDecisions::PATH => Vec::new(),
        _ => item.as_ref().and_then(|item| rows::by_id(&item.get_attribute("data-id")?)).into_iter().collect(),
    };
    if is_batch && leaving.is_empty() {
        store.announce("Nothing is selected.");
        return;
    }
    if let Some(pressed) = pressed.as_ref().filter(|pressed| needs_second_click(pressed)) {
        pressed.set_text_content(Some("Press again: this cannot be undone"));
        store.announce("This cannot be undone. Press again to confirm.");
        return;
    }
    let Some(fields) = fetch::fields(&form, pressed.as_ref()) else { return };
    let first = dom::find(&form, "[name^=\"items[\"]").and_then(|field| field.get_attribute("name"));
    let undone = first.filter(|_| path == UndoDecisions::PATH);
    let undone = undone.and_then(|name| Some(item_of_field(&name)?.to_owned()));
    store.reading(Reading::decided);
    advance(store, &leaving);
    let sent = Sent { path, fields, undone, leaving, item };
    spawn_local(run(store, sent));
}

/// Decisions that cannot be undone need a second click: returns whether this was the first.
fn needs_second_click(pressed: &HtmlElement) -> bool {
    let at_once = dom::by_id("gate").is_some_and(|gate| gate.get_attribute("data-undo").as_deref() == Some("0"));
    let decides = pressed.get_attribute("name").as_deref() == Some("decision");
    let first = at_once && decides && !pressed.has_attribute("data-sure");
    let _ = pressed.set_attribute("data-sure", "");
    first
}

/// Hides the decided rows and shows the next item, before the request is sent.
fn advance(store: Store, leaving: &[HtmlElement]) {
    let Some(last) = leaving.last() else { return };
    for row in leaving {
        let _ = row.set_attribute(rows::LEAVING, "");
        rows::clear_reason(row);
    }
    rows::count(store);
    let shown = rows::current();
    if shown.is_some_and(|row| !row.has_attribute(rows::LEAVING)) {
        return;
    }
    triage::store_open_item();
    match rows::next(last) {
        Some(next) => {
            triage::show(store, &next);
            rows::focus(&next);
        }
        None => triage::show_html(
            "<p class=\"inbox-nothing meta\" id=\"gate-title\" tabindex=\"-1\">No other item is waiting.</p>",
        ),
    }
}

async fn run(store: Store, sent: Sent) {
    match submit::<Option<UndoOffer>>(&sent.path, &sent.fields).await {
        Ok(offer) => {
            sent.leaving.iter().for_each(|row| row.remove());
            store.refused.set(Vec::new());
            store.announce(offer.as_ref().map_or("", |offer| &offer.title));
            store.set_offer(offer);
            // A list that was asked for before would show the items again.
            if let Some(request) = store.reading(Reading::next_request) {
                store.reading(|reading| reading.shows(request));
            }
            match &sent.undone {
                Some(id) => show_undone(store, id).await,
                None => refresh_soon(store),
            }
        }
        Err(Refusal { status: SIGNED_OUT, .. }) => {
            let _ = dom::window().location().reload();
        }
        Err(refusal) => restore(store, &sent, &refusal).await,
    }
    rows::count(store);
}

/// Shows the item that waits for a decision again.
async fn show_undone(store: Store, id: &str) {
    read_list(store).await;
    if let Some(row) = rows::by_id(id) {
        triage::show(store, &row);
        rows::focus(&row);
        store.announce("Undone. The item is waiting for a decision again.");
    }
}

/// Restores the rows that were refused, each with its reason. Those of a batch that were not refused are gone.
async fn restore(store: Store, sent: &Sent, refusal: &Refusal) {
    let is_unknown = refusal.status == 0;
    let why = if is_unknown { NO_RESPONSE.to_owned() } else { refusal::reason(refusal) };
    let names_items = refusal.errors.iter().any(|error| item_of_field(&error.field).is_some());
    for row in &sent.leaving {
        let id = rows::id(row);
        let own = refusal.errors.iter().find(|error| item_of_field(&error.field) == id.as_deref());
        let _ = row.remove_attribute(rows::LEAVING);
        match own {
            None if names_items => row.remove(),
            own => {
                let _ = row.set_attribute(rows::REFUSAL, own.map_or(&why, |error| &error.message));
            }
        }
    }
    rows::show_reasons();
    store.announce(&[if is_unknown { "" } else { "Not done. " }, &why].concat());
    if sent.path == Decide::PATH && !is_unknown {
        show_refused_item(store, sent, refusal).await;
    } else if let [row] = sent.leaving.as_slice()
        && row.has_attribute("aria-current")
    {
        triage::show(store, row);
        let _ = row.set_attribute(rows::REFUSAL, &why);
        rows::show_reasons();
    } else if sent.leaving.is_empty() {
        store.refused.set(vec![why]);
    }
    refresh_soon(store);
}

/// Shows the item as it is now, with what was typed and the reasons. If another item is shown, it is stored with its
/// row.
async fn show_refused_item(store: Store, sent: &Sent, refusal: &Refusal) {
    let Some(before) = &sent.item else { return };
    let id = before.get_attribute("data-id").unwrap_or_default();
    let now = triage::read(store, &id).await.and_then(|html| patch::parse(&html));
    let now = now.and_then(|fragment| patch::children(&fragment).into_iter().next());
    let item = match now {
        Some(now) => {
            refusal::carry_over(before, &now);
            now
        }
        None => before.clone(),
    };
    refusal::show_errors(&item, refusal);
    if let [row] = sent.leaving.as_slice() {
        rows::store(row, &item);
        if !row.has_attribute("aria-current") {
            return;
        }
    }
    triage::show_element(&item);
}

/// Schedules reading the list. It waits for a pause of the reviewer, because rendering 200 rows would delay their
/// next key.
pub fn refresh_soon(store: Store) {
    if store.reading(Reading::schedule) == Some(true) {
        dom::after(GATHER_MS, move || refresh_when_idle(store));
    }
}

fn refresh_when_idle(store: Store) {
    match store.reading(|reading| reading.due(DELAYS_MAX)) {
        Some(Due::Later) => dom::after(PAUSE_MS, move || refresh_when_idle(store)),
        Some(Due::Now) => spawn_local(read_list(store)),
        None => {}
    }
}

/// Reads the list and shows it, unless the response to a later request is shown already.
async fn read_list(store: Store) {
    let request = store.reading(Reading::next_request).unwrap_or_default();
    let Ok(html) = fetch::get_text(&["/inbox/list?", &store.query.get_value()].concat()).await else { return };
    let Some(new) = patch::parse(&html).and_then(|fragment| patch::children(&fragment).into_iter().next()) else {
        return;
    };
    if store.reading(|reading| reading.shows(request)) != Some(true) {
        return refresh_soon(store);
    }
    let (Some(old), Some(list)) = (dom::by_id("inbox-list"), dom::by_id("inbox-rows")) else { return };
    if let Some(new_rows) = dom::find(&new, ".inbox-rows") {
        rows::mark_outdated();
        rows::unfold(&new_rows);
        patch::list(&list, &new_rows.inner_html(), "data-key-id");
        if let Some(row) = rows::current() {
            triage::prefetch(store, &row);
        }
    }
    store.set_offer(triage::offer_of(&new));
    for part in ["empty", "pager", "terminal"] {
        let selector = ["[data-part=", part, "]"].concat();
        if let (Some(old), Some(new)) = (dom::find(&old, &selector), dom::find(&new, &selector)) {
            patch::update(&old, &new);
        }
    }
    rows::show_reasons();
    rows::count(store);
}

/// Decrements the seconds left to undo, in the notice and in the bar of an item.
pub fn count_down(store: Store) {
    store.count_down();
    let Some(inbox) = dom::by_id("inbox") else { return };
    for form in dom::find_all(&inbox, "[data-left]") {
        let left = form.get_attribute("data-left").and_then(|left| dom::figure(&left)).unwrap_or_default() - 1.0;
        form.set_hidden(left < 0.0);
        let left = dom::whole(left.max(0.0));
        let _ = form.set_attribute("data-left", &left);
        if let Some(words) = dom::find(&form, "[data-count]") {
            words.set_text_content(Some(&[" (", &left, " s)"].concat()));
        }
    }
}
