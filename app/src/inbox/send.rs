//! Submits the forms of the page with fetch. The next item is shown first; an item whose decision is refused is
//! restored with the reason. Only in the WASM build.

use super::{list_dom as rows, triage};
use crate::browser::{dom, fetch, patch};
use std::cell::Cell;
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

thread_local! {
    /// Whether reading the list is scheduled.
    static DUE: Cell<bool> = const { Cell::new(false) };
    static DELAYS: Cell<u32> = const { Cell::new(0) };
    /// Whether a decision was made since the last delay.
    static DECIDED: Cell<bool> = const { Cell::new(false) };
    /// Counts requests. The response to an older request than the one shown is dropped.
    static REQUESTS: Cell<u32> = const { Cell::new(0) };
    static SHOWN_REQUEST: Cell<u32> = const { Cell::new(0) };
}

fn next_request() -> u32 {
    REQUESTS.set(REQUESTS.get() + 1);
    REQUESTS.get()
}

/// Announces a text to screen readers.
pub fn announce(words: &str) {
    if let Some(line) = dom::by_id("inbox-announcement") {
        line.set_text_content(Some(words));
    }
}

/// Handles the submit event of every form of the page.
pub fn on_submit(event: Event) {
    let Some(form) = dom::closest(&event, "form").and_then(|form| form.dyn_into::<HtmlFormElement>().ok()) else {
        return;
    };
    event.prevent_default();
    let pressed: Option<HtmlElement> = dom::member(&event, "submitter").dyn_into().ok();
    let leaving = match form.id().as_str() {
        "inbox-batch" => rows::selected(),
        _ if form.has_attribute("data-left") => Vec::new(),
        _ => dom::by_id("gate").and_then(|gate| rows::by_id(&gate.get_attribute("data-id")?)).into_iter().collect(),
    };
    if form.id() == "inbox-batch" && leaving.is_empty() {
        announce("Nothing is selected.");
        return;
    }
    if let Some(pressed) = pressed.as_ref().filter(|pressed| needs_second_click(pressed)) {
        pressed.set_text_content(Some("Press again: this cannot be undone"));
        announce("This cannot be undone. Press again to confirm.");
        return;
    }
    let Some(body) = fetch::fields(&form, pressed.as_ref()) else { return };
    let query = dom::by_id("inbox").and_then(|inbox| inbox.get_attribute("data-query")).unwrap_or_default();
    let url = [&form.get_attribute("action").unwrap_or_default(), "?", &query].concat();
    let undone = dom::find(&form, "[name^='item.']").filter(|_| form.has_attribute("data-left"));
    let undone = undone.and_then(|field| field.get_attribute("name"));
    DECIDED.set(true);
    advance(&leaving);
    spawn_local(async move {
        let request = next_request();
        let response = fetch::post_form(&url, &body).await;
        handle_response(&leaving, request, response);
        if let Some(row) = undone.and_then(|name| rows::by_id(name.trim_start_matches("item."))) {
            triage::show(&row);
            rows::focus(&row);
            announce("Undone. The item is waiting for a decision again.");
        }
    });
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
fn advance(leaving: &[HtmlElement]) {
    let Some(last) = leaving.last() else { return };
    for row in leaving {
        let _ = row.set_attribute(rows::LEAVING, "");
        rows::clear_reason(row);
    }
    rows::show_count();
    let shown = rows::current();
    if shown.is_some_and(|row| !row.has_attribute(rows::LEAVING)) {
        return;
    }
    triage::store_open_item();
    match rows::next(last) {
        Some(next) => {
            triage::show(&next);
            rows::focus(&next);
        }
        None => triage::show_html(
            "<p class=\"inbox-nothing meta\" id=\"gate-title\" tabindex=\"-1\">No other item is waiting.</p>",
        ),
    }
}

fn handle_response(leaving: &[HtmlElement], request: u32, response: Result<(u16, String), fetch::Failed>) {
    let mut refused = None;
    match response {
        Ok((200..=299, html)) => {
            leaving.iter().for_each(|row| row.remove());
            show(&html, request);
            if let Some(held) = dom::by_id("inbox-list").and_then(|list| dom::find(&list, "[data-part=held] p")) {
                announce(&held.text_content().unwrap_or_default());
            }
        }
        Ok((401, _)) => {
            let _ = dom::window().location().reload();
        }
        Ok((_, html)) => refused = Some(html),
        Err(_) => refused = Some(String::new()),
    }
    for row in leaving {
        let _ = row.remove_attribute(rows::LEAVING);
    }
    if let Some(html) = refused {
        restore(leaving, &html);
    }
    rows::show_count();
}

/// Restores the rows with the reason. `html` is the item with its errors; empty if the server did not respond.
fn restore(leaving: &[HtmlElement], html: &str) {
    let item = patch::parse(html).and_then(|fragment| patch::children(&fragment).into_iter().next());
    let why = item.and_then(|item| item.get_attribute("data-refused"));
    let why = why.unwrap_or_else(|| if html.is_empty() { NO_RESPONSE } else { "It was refused." }.to_owned());
    let is_open = leaving.iter().any(|row| row.has_attribute("aria-current"));
    match (leaving, html) {
        ([row], "") if is_open => triage::show(row),
        (_, "") => {}
        ([row], html) => {
            rows::store(row, &html.into());
            if is_open {
                triage::show_html(html);
            }
        }
        // The item is not in the list, so no next item was shown.
        (_, html) => triage::show_html(html),
    }
    for row in leaving {
        let _ = row.set_attribute(rows::REFUSAL, &why);
    }
    rows::show_reasons();
    announce(&[if html.is_empty() { "" } else { "Not done. " }, &why].concat());
}

/// Schedules reading the list. It waits for a pause of the reviewer, because rendering 200 rows would delay their
/// next key.
pub fn refresh_soon() {
    if !DUE.replace(true) {
        DELAYS.set(0);
        dom::after(GATHER_MS, refresh_when_idle);
    }
}

fn refresh_when_idle() {
    if DECIDED.replace(false) && DELAYS.get() < DELAYS_MAX {
        DELAYS.set(DELAYS.get() + 1);
        dom::after(PAUSE_MS, refresh_when_idle);
        return;
    }
    DUE.set(false);
    refresh();
}

fn refresh() {
    let Some(query) = dom::by_id("inbox").and_then(|inbox| inbox.get_attribute("data-query")) else { return };
    spawn_local(async move {
        let request = next_request();
        if let Ok(html) = fetch::get_text(&["/inbox/list?", &query].concat()).await {
            show(&html, request);
        }
    });
}

/// Shows the list, or the parts of it that a response holds. Responses to older requests are dropped.
fn show(html: &str, request: u32) {
    let Some(new) = patch::parse(html).and_then(|fragment| patch::children(&fragment).into_iter().next()) else {
        return;
    };
    let (Some(old), Some(list)) = (dom::by_id("inbox-list"), dom::by_id("inbox-rows")) else { return };
    match dom::find(&new, ".inbox-rows") {
        Some(_) if request < SHOWN_REQUEST.get() => return refresh_soon(),
        Some(new) => {
            SHOWN_REQUEST.set(request);
            rows::mark_outdated();
            rows::unfold(&new);
            patch::list(&list, &new.inner_html(), "data-key-id");
            if let Some(row) = rows::current() {
                triage::prefetch(&row);
            }
        }
        None => {
            SHOWN_REQUEST.set(next_request());
            refresh_soon();
        }
    }
    for part in ["held", "refused", "empty", "pager", "terminal"] {
        let selector = ["[data-part=", part, "]"].concat();
        if let (Some(old), Some(new)) = (dom::find(&old, &selector), dom::find(&new, &selector)) {
            patch::update(&old, &new);
        }
    }
    rows::show_reasons();
    rows::show_count();
}

/// Decrements the seconds left to undo.
pub fn count_down() {
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
