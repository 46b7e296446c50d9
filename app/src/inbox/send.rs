//! Calls the server functions of the page's forms. The next item is shown first; an item whose decision is refused is
//! restored with the reason. Only in the WASM build.

use super::{
    api::{Decide, DecideMany, SnoozeItems, UndoDecisions, UndoOffer, item_of_field},
    content::Content,
    item::Row,
    item_element::{id_of, parse, shown},
    reading::{Due, Reading},
    refusal, shown_item,
    store::{Kept, Store},
    tab_draft,
};
use crate::{
    browser::{
        dom::{self, HtmlElement},
        fetch,
        reads::REPEAT_MS,
        task::spawn_local,
        times,
    },
    server_function::{Refusal, submit},
};
use leptos::{
    ev::SubmitEvent,
    prelude::{GetValue as _, Set as _, SetValue as _, Update as _, UpdateValue as _},
    server_fn::ServerFn as _,
};

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
    leaving: Vec<Row>,
    /// The item that was shown.
    item: Option<HtmlElement>,
}

/// Handles the submit event of every form of the page.
pub fn on_submit(store: Store, event: &SubmitEvent) {
    let Some(form) = dom::closest(event, "form") else { return };
    event.prevent_default();
    let pressed = event.submitter();
    let own = form.get_attribute("action").unwrap_or_default();
    let action = pressed.as_ref().and_then(|pressed| pressed.get_attribute("formaction"));
    let path = action.as_ref().unwrap_or(&own).split('?').next().unwrap_or_default().to_owned();
    let item = shown(store);
    let pressed = pressed.map(|pressed| visible_button(item.as_ref(), pressed));
    let is_batch = own == DecideMany::PATH;
    let leaving = match path.as_str() {
        _ if is_batch => store.selected(),
        UndoDecisions::PATH => Vec::new(),
        _ => item.as_ref().and_then(|item| store.row(&id_of(item))).into_iter().collect(),
    };
    if is_batch && leaving.is_empty() {
        store.announce("Nothing is selected.");
        return;
    }
    if pressed.as_ref().is_some_and(|pressed| needs_second_click(store, item.as_ref(), pressed)) {
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

/// The button of the item that does what the hidden one does which Enter presses: only a visible button can show that
/// it needs a second press.
fn visible_button(item: Option<&HtmlElement>, pressed: HtmlElement) -> HtmlElement {
    let visible = "[form=gate-form][name=decision], #gate-form [name=decision]:not([hidden])";
    let of = item.filter(|_| pressed.has_attribute("hidden"));
    of.and_then(|item| dom::find(item, visible)).unwrap_or(pressed)
}

/// Decisions that cannot be undone need a second click: returns whether this was the first. The button says so until it
/// or another one is clicked.
fn needs_second_click(store: Store, item: Option<&HtmlElement>, pressed: &HtmlElement) -> bool {
    let mut is_second = false;
    if let Some((last, words)) = store.pressed_last.try_update_value(Option::take).flatten() {
        last.set_text_content(words.as_deref());
        is_second = last.is_same_node(Some(pressed));
    }
    let at_once = item.is_some_and(|item| item.get_attribute("data-undo").as_deref() == Some("0"))
        || pressed.get_attribute("value").as_deref() == Some("cancel");
    let decides = pressed.get_attribute("name").as_deref() == Some("decision");
    let asks = at_once && decides && !is_second;
    if asks {
        store.pressed_last.set_value(Some((pressed.clone(), pressed.text_content())));
        pressed.set_text_content(Some("Press again: this cannot be undone"));
    }
    asks
}

/// Hides the decided rows and shows the next item, before the request is sent.
fn advance(store: Store, leaving: &[Row]) {
    let Some(last) = leaving.last() else { return };
    for row in leaving {
        row.item.update(|item| (item.is_leaving, item.refusal) = (true, None));
    }
    if store.current().is_some_and(|row| row.is_open()) {
        return;
    }
    shown_item::keep_shown_item(store);
    match store.next(last) {
        Some(next) => {
            shown_item::show(store, &next);
            shown_item::focus(store, &next);
        }
        None => {
            let nothing =
                "<p class=\"inbox-nothing meta\" id=\"gate-title\" tabindex=\"-1\">No other item is waiting.</p>";
            store.detail.show(nothing);
            store.detail.focus_title();
        }
    }
}

async fn run(store: Store, sent: Sent) {
    match submit::<Option<UndoOffer>>(&sent.path, sent.fields.clone()).await {
        Ok(offer) => {
            store.remove(&sent.leaving);
            store.refused.set(Vec::new());
            if sent.path == DecideMany::PATH {
                clear_reason(store);
            }
            if sent.path != SnoozeItems::PATH {
                sent.leaving.iter().for_each(|row| tab_draft::forget(&row.key));
            }
            let done = if sent.path == Decide::PATH { "Recorded." } else { "" };
            store.announce(offer.as_ref().map_or(done, |offer| &offer.title));
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
        Err(refusal) => restore(store, &sent, &refusal).await,
    }
}

/// Empties and closes the reason of a batch: it was about the items that are decided.
fn clear_reason(store: Store) {
    let [buttons, _] = store.fixed;
    if let Some(reason) = buttons.find("[name=note]") {
        let _ = js_sys::Reflect::set(&reason, &"value".into(), &"".into());
    }
    if let Some(open) = buttons.find("details[open]") {
        let _ = open.remove_attribute("open");
    }
}

/// Shows the item that waits for a decision again.
async fn show_undone(store: Store, id: &str) {
    read_list(store).await;
    if let Some(row) = store.row(id) {
        shown_item::show(store, &row);
        dom::after(0, move || shown_item::focus(store, &row));
        store.announce("Undone. The item is waiting for a decision again.");
    }
}

/// Restores the rows that were refused, each with its reason. Those of a batch that were not refused are gone.
async fn restore(store: Store, sent: &Sent, refusal: &Refusal) {
    let is_unknown = refusal.status == 0;
    let is_signed_out = refusal.status == SIGNED_OUT;
    let why = match refusal.status {
        0 => NO_RESPONSE.to_owned(),
        SIGNED_OUT => fetch::SIGNED_OUT.to_owned(),
        _ => refusal::reason(refusal),
    };
    let names_items = refusal.errors.iter().any(|error| item_of_field(&error.field).is_some());
    let mut decided = Vec::new();
    for row in &sent.leaving {
        let own = refusal.errors.iter().find(|error| item_of_field(&error.field) == Some(&row.key));
        if own.is_none() && names_items {
            decided.push(row.clone());
        } else {
            refuse(row, own.map_or(&why, |error| &error.message));
        }
    }
    store.remove(&decided);
    store.announce(&[if is_unknown { "" } else { "Not done. " }, &why].concat());
    if sent.path == Decide::PATH && !is_unknown && !is_signed_out {
        show_refused_item(store, sent, refusal).await;
    } else if let [row] = sent.leaving.as_slice()
        && row.get(|item| item.is_current)
    {
        shown_item::show(store, row);
        refuse(row, &why);
    } else if sent.leaving.is_empty() {
        store.refused.set(vec![why]);
    }
    refresh_soon(store);
}

/// Shows a row again, with the reason.
fn refuse(row: &Row, why: &str) {
    row.item.update(|item| (item.is_leaving, item.refusal) = (false, Some(why.to_owned())));
}

/// Shows the item as it is now, with what was typed and the reasons. If another item is shown, it is stored with its
/// row.
async fn show_refused_item(store: Store, sent: &Sent, refusal: &Refusal) {
    let Some(before) = &sent.item else { return };
    let now = shown_item::read(store, &id_of(before)).await.and_then(|html| parse(&html));
    let item = match now {
        Some(now) => {
            refusal::carry_over(before, &now);
            tab_draft::keep(&now);
            shown_item::values_changed(store, &now);
            now
        }
        None => before.clone(),
    };
    refusal::show_errors(&item, refusal);
    if let [row] = sent.leaving.as_slice() {
        store.keep(&row.key, Kept::Typed(item.clone()));
        if !row.get(|item| item.is_current) {
            return;
        }
    }
    let is_looked_at = store.detail.contains_focus();
    store.detail.put(&item);
    if is_looked_at && let Some(wrong) = dom::find(&item, "[aria-invalid=true]") {
        let _ = wrong.focus();
    }
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
        Some(Due::Now) => spawn_local(read_list_or_repeat(store)),
        None => {}
    }
}

/// Reads the list, and once more after a pause if that fails: no signal may follow that would cause another read.
async fn read_list_or_repeat(store: Store) {
    if !read_list(store).await {
        dom::pause(REPEAT_MS).await;
        read_list(store).await;
    }
}

/// Reads the list and shows it, unless the response to a later request is shown already. Returns whether the server
/// answered.
async fn read_list(store: Store) -> bool {
    let request = store.reading(Reading::next_request).unwrap_or_default();
    let Ok(html) = fetch::get_text(&["/inbox/list?", &store.query.get_value()].concat()).await else { return false };
    let Some(new) = parse(&html) else { return false };
    if store.reading(|reading| reading.shows(request)) != Some(true) {
        refresh_soon(store);
        return true;
    }
    times::refine(&new);
    let content = Content::read(&new);
    store.set_rows(content.rows);
    if let Some(row) = store.current() {
        shown_item::prefetch(store, &row);
    }
    store.set_offer(content.offer);
    for slot in [store.empty, store.pager, store.terminal] {
        slot.update(&new);
    }
    true
}
