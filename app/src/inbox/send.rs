//! Calls the server functions of the page's forms. The next item is shown first; an item whose decision is refused is
//! restored with the reason. Only in the WASM build.

use super::{
    api::{Decide, DecideMany, SnoozeItems, UndoDecisions, UndoOffer, item_of_field},
    content::Content,
    item::Row,
    item_element::{current_item, id_of, parse},
    reading::{Due, Reading},
    refusal, selecting,
    sent::Sent,
    shown_item,
    store::{CachedItem, Store},
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
    prelude::{GetUntracked as _, GetValue as _, Set as _, SetValue as _, Update as _, UpdateValue as _},
    server_fn::ServerFn as _,
};

/// Signals within this time cause one request, in milliseconds.
const GATHER_MS: i32 = 250;
/// A reviewer pauses if they decide nothing for this long, in milliseconds.
const PAUSE_MS: i32 = 1_000;
/// Shown if a decision got no response. It may have been recorded; sending it again then returns what was recorded.
const NO_RESPONSE: &str =
    "The server cannot be reached, so it is not known whether this was recorded. Send it again to make sure.";
/// The smallest status of a failure of the server, after which a decision can be sent again.
const SERVER_FAILED: u16 = 500;
/// How often reading the list is delayed until the reviewer pauses.
const DELAYS_MAX: u32 = 5;
/// Status of a refusal after the sign-in has ended.
const SIGNED_OUT: u16 = 401;

/// Handles the submit event of every form of the page.
pub fn on_submit(store: Store, event: &SubmitEvent) {
    let Some(form) = dom::closest(event, "form") else { return };
    let pressed = event.submitter();
    // Only a page of the server shows what a button of the form changes.
    let is_step = pressed.as_ref().is_some_and(|pressed| pressed.get_attribute("name").as_deref() == Some("step"));
    if is_step || has_file(&form) {
        if !is_step && pressed.as_ref().is_some_and(|pressed| needs_second_click(store, pressed)) {
            event.prevent_default();
        } else if let Some(item) = current_item(store) {
            tab_draft::forget(&id_of(&item));
        }
        return;
    }
    event.prevent_default();
    let own = form.get_attribute("action").unwrap_or_default();
    let action = pressed.as_ref().and_then(|pressed| pressed.get_attribute("formaction"));
    let path = action.as_ref().unwrap_or(&own).split('?').next().unwrap_or_default().to_owned();
    let item = current_item(store);
    let pressed = pressed.map(|pressed| visible_button(item.as_ref(), pressed));
    let is_batch = own == DecideMany::PATH;
    if path == selecting::PATH {
        return selecting::review(store);
    }
    let leaving = match path.as_str() {
        _ if is_batch => rows_of(store, &form),
        UndoDecisions::PATH => Vec::new(),
        _ => item.as_ref().and_then(|item| store.row(&id_of(item))).into_iter().collect(),
    };
    if is_batch && leaving.is_empty() {
        store.announce("Nothing is selected.");
        return;
    }
    if pressed.as_ref().is_some_and(|pressed| needs_second_click(store, pressed)) {
        return;
    }
    let Some(fields) = fetch::fields(&form, pressed.as_ref()) else { return };
    let first = dom::find(&form, "[name^=\"items[\"]").and_then(|field| field.get_attribute("name"));
    let undone = first.filter(|_| path == UndoDecisions::PATH);
    let undone = undone.and_then(|name| Some(item_of_field(&name)?.to_owned()));
    store.reading(Reading::decided);
    let selection = store.detail.child().filter(|_| is_batch);
    // Another decision about the same item takes the place of one that was not confirmed.
    store.forget_unconfirmed(&leaving);
    // While a decision is not confirmed, the view moves on only once the next one is.
    let waits = store.unsent.get_untracked() > 0;
    if !waits {
        advance(store, &leaving);
    }
    let item = if is_batch { selection } else { item };
    let sent = Sent { path, fields, undone, leaving, item };
    spawn_local(run(store, sent));
}

/// Whether a file was chosen.
fn has_file(form: &HtmlElement) -> bool {
    let files = dom::find_all(form, "[type=file]");
    files.iter().any(|file| dom::text(file, "value").is_some_and(|name| !name.is_empty()))
}

/// The rows that a form for several items names and has ticked.
fn rows_of(store: Store, form: &HtmlElement) -> Vec<Row> {
    let ticked = dom::find_all(form, "[name^=\"items[\"]:checked");
    let names = ticked.iter().filter_map(|tick| tick.get_attribute("name"));
    names.filter_map(|name| store.row(item_of_field(&name)?)).collect()
}

/// The button of the item that does what the hidden one does which Enter presses: only a visible button can show that
/// it needs a second press.
fn visible_button(item: Option<&HtmlElement>, pressed: HtmlElement) -> HtmlElement {
    let visible = "[form=gate-form][name=decision], #gate-form [name=decision]:not([hidden])";
    let of = item.filter(|_| pressed.has_attribute("hidden"));
    of.and_then(|item| dom::find(item, visible)).unwrap_or(pressed)
}

/// Some buttons need a second click, as that of a decision that cannot be undone: returns whether this was the first.
/// The button says so until it or another one is clicked.
fn needs_second_click(store: Store, pressed: &HtmlElement) -> bool {
    let mut is_second = false;
    if let Some((last, words)) = store.pressed_last.try_update_value(Option::take).flatten() {
        last.set_text_content(words.as_deref());
        is_second = last.is_same_node(Some(pressed));
    }
    let asks = pressed.get_attribute("data-confirm").filter(|_| !is_second);
    if let Some(words) = &asks {
        store.pressed_last.set_value(Some((pressed.clone(), pressed.text_content())));
        pressed.set_text_content(Some(words));
        store.announce(words);
    }
    asks.is_some()
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
        Some(next) => reveal(store, &next),
        None => {
            shown_item::show_nothing(store);
            store.detail.focus_title();
        }
    }
}

/// Shows an item and its row, which may be in a folded group.
fn reveal(store: Store, row: &Row) {
    store.unfold(row);
    shown_item::show(store, row);
    shown_item::focus(store, row);
}

/// Sends what was not confirmed once more.
pub fn again(store: Store) {
    for sent in store.take_unconfirmed() {
        for row in &sent.leaving {
            row.item.update(|item| item.refusal = None);
        }
        spawn_local(run(store, sent));
    }
}

/// Leaves what was not confirmed as the server has it.
pub fn discard(store: Store) {
    for row in store.take_unconfirmed().into_iter().flat_map(|sent| sent.leaving) {
        row.item.update(|item| item.refusal = None);
    }
    refresh_soon(store);
}

async fn run(store: Store, sent: Sent) {
    match submit::<Option<UndoOffer>>(&sent.path, sent.fields.clone()).await {
        Ok(offer) => {
            // Nothing that waited for this answer has moved on yet.
            if sent.leaving.iter().any(Row::is_open) {
                advance(store, &sent.leaving);
            }
            store.remove(&sent.leaving);
            if store.unsent.get_untracked() == 0 {
                store.failure.set(String::new());
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
    let why = match refusal.status {
        0 => NO_RESPONSE.to_owned(),
        SIGNED_OUT => fetch::SIGNED_OUT.to_owned(),
        _ => refusal::reason(refusal),
    };
    let is_unconfirmed = matches!(refusal.status, 0 | SIGNED_OUT) || refusal.status >= SERVER_FAILED;
    let names_items = refusal.errors.iter().any(|error| item_of_field(&error.field).is_some());
    let mut decided = Vec::new();
    for row in &sent.leaving {
        let own = refusal.errors.iter().find(|error| item_of_field(&error.field) == Some(&row.key));
        if own.is_none() && names_items {
            decided.push(row.clone());
        } else {
            refuse(store, row, own.map_or(&why, |error| &error.message));
        }
    }
    store.remove(&decided);
    let is_first = store.unsent.get_untracked() == 0;
    if is_unconfirmed {
        store.keep_unconfirmed(sent.clone());
    } else if sent.path == Decide::PATH {
        keep_refused_item(store, sent, refusal).await;
    }
    if let [row] = sent.leaving.as_slice()
        && is_first
    {
        reveal(store, row);
        refuse(store, row, &why);
    }
    if let Some(selection) = sent.item.as_ref().filter(|item| selecting::is_selection(item)) {
        shown_item::keep_shown_item(store);
        store.detail.put(selection);
    }
    store.failure.set(why);
    refresh_soon(store);
}

/// Shows a row again, with the reason.
fn refuse(store: Store, row: &Row, why: &str) {
    store.unfold(row);
    row.item.update(|item| (item.is_leaving, item.refusal) = (false, Some(why.to_owned())));
}

/// Keeps the item as it is now, with the typed text and the reasons, to be shown with its row.
async fn keep_refused_item(store: Store, sent: &Sent, refusal: &Refusal) {
    let Some(before) = &sent.item else { return };
    let now = shown_item::read(store, &id_of(before)).await.and_then(|html| parse(&html));
    let item = match now {
        // The rows of a form that buttons have changed are only in the form that was sent.
        Some(now) if dom::find(before, "[name*=\"~\"]").is_none() => {
            refusal::carry_over(before, &now);
            tab_draft::keep(&now);
            shown_item::values_changed(store, &now);
            now
        }
        _ => before.clone(),
    };
    refusal::show_errors(&item, refusal);
    if let [row] = sent.leaving.as_slice() {
        store.keep(&row.key, CachedItem::Typed(item));
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
    store.prune_unconfirmed();
    if let Some(row) = store.current() {
        shown_item::prefetch(store, &row);
    }
    store.set_offer(content.offer);
    for slot in [store.empty, store.pager, store.terminal] {
        slot.update(&new);
    }
    true
}
