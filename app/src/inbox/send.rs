//! Sending the page's forms without leaving it: the next item first, then the answer; refused items come back with the
//! reason. Only in the WASM build.

use super::{dom_list as rows, triage};
use crate::browser::{dom, fetch, patch};
use std::cell::Cell;
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::spawn_local;
use web_sys::{Event, HtmlElement, HtmlFormElement};

/// Signals within this time are answered together.
const GATHER_MS: i32 = 250;
/// Somebody who decides one item after the other pauses when nothing was decided for this long.
const PAUSE_MS: i32 = 1_000;
/// Said of a decision that got no answer: it may have been recorded, and a repeat is answered with what is recorded.
const UNANSWERED: &str =
    "The server cannot be reached, so it is not known whether this was recorded. Send it again to make sure.";
/// How often reading the list is put off until then.
const PUT_OFF_MAX: u32 = 5;

thread_local! {
    /// Whether the list is going to be read, and how often that was put off.
    static DUE: Cell<bool> = const { Cell::new(false) };
    static PUT_OFF: Cell<u32> = const { Cell::new(0) };
    /// Whether something was decided since it was last put off.
    static DECIDED: Cell<bool> = const { Cell::new(false) };
    /// Counts requests; a list that was asked for before the one that is shown is not shown any more.
    static ASKED: Cell<u32> = const { Cell::new(0) };
    static SHOWN: Cell<u32> = const { Cell::new(0) };
}

fn ask() -> u32 {
    ASKED.set(ASKED.get() + 1);
    ASKED.get()
}

/// Tells those who do not see the page.
pub fn say(words: &str) {
    if let Some(line) = dom::by_id("inbox-said") {
        line.set_text_content(Some(words));
    }
}

/// A form of the page is about to be posted.
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
        say("Nothing is selected.");
        return;
    }
    if let Some(pressed) = pressed.as_ref().filter(|pressed| is_first_press(pressed)) {
        pressed.set_text_content(Some("Press again: this cannot be undone"));
        say("This cannot be undone. Press again to confirm.");
        return;
    }
    let Some(body) = fetch::fields(&form, pressed.as_ref()) else { return };
    let query = dom::by_id("inbox").and_then(|inbox| inbox.get_attribute("data-query")).unwrap_or_default();
    let url = [&form.get_attribute("action").unwrap_or_default(), "?", &query].concat();
    let undone = dom::find(&form, "[name^='item.']").filter(|_| form.has_attribute("data-left"));
    let undone = undone.and_then(|field| field.get_attribute("name"));
    DECIDED.set(true);
    go_on(&leaving);
    spawn_local(async move {
        let asked = ask();
        let answer = fetch::post_form(&url, &body).await;
        settle(&leaving, asked, answer);
        if let Some(row) = undone.and_then(|name| rows::by_id(name.trim_start_matches("item."))) {
            triage::show(&row);
            rows::focus(&row);
            say("Undone. The item is waiting for a decision again.");
        }
    });
}

/// Where decisions take effect at once, one press must not be enough.
fn is_first_press(pressed: &HtmlElement) -> bool {
    let at_once = dom::by_id("gate").is_some_and(|gate| gate.get_attribute("data-undo").as_deref() == Some("0"));
    let decides = pressed.get_attribute("name").as_deref() == Some("decision");
    let first = at_once && decides && !pressed.has_attribute("data-sure");
    let _ = pressed.set_attribute("data-sure", "");
    first
}

/// The rows leave and the next item is shown, before anybody was asked.
fn go_on(leaving: &[HtmlElement]) {
    let Some(last) = leaving.last() else { return };
    for row in leaving {
        let _ = row.set_attribute(rows::LEAVING, "");
        rows::forgive(row);
    }
    rows::count();
    let shown = rows::current();
    if shown.is_some_and(|row| !row.has_attribute(rows::LEAVING)) {
        return;
    }
    triage::keep_open();
    match rows::next(last) {
        Some(next) => {
            triage::show(&next);
            rows::focus(&next);
        }
        None => triage::put_html(
            "<p class=\"inbox-nothing meta\" id=\"gate-title\" tabindex=\"-1\">No other item is waiting.</p>",
        ),
    }
}

fn settle(leaving: &[HtmlElement], asked: u32, answer: Result<(u16, String), fetch::Failed>) {
    let mut refused = None;
    match answer {
        Ok((200..=299, html)) => {
            leaving.iter().for_each(|row| row.remove());
            show(&html, asked);
            if let Some(held) = dom::by_id("inbox-list").and_then(|list| dom::find(&list, "[data-part=held] p")) {
                say(&held.text_content().unwrap_or_default());
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
        put_back(leaving, &html);
    }
    rows::count();
}

/// The items stay, and say why. `html` is the item with the refusal on it; empty where nobody answered.
fn put_back(leaving: &[HtmlElement], html: &str) {
    let item = patch::parse(html).and_then(|fragment| patch::children(&fragment).into_iter().next());
    let why = item.and_then(|item| item.get_attribute("data-refused"));
    let why = why.unwrap_or_else(|| if html.is_empty() { UNANSWERED } else { "It was refused." }.to_owned());
    let is_open = leaving.iter().any(|row| row.has_attribute("aria-current"));
    match (leaving, html) {
        ([row], "") if is_open => triage::show(row),
        (_, "") => {}
        ([row], html) => {
            rows::keep(row, &html.into());
            if is_open {
                triage::put_html(html);
            }
        }
        // The item is not in the list, so nothing went ahead of the answer.
        (_, html) => triage::put_html(html),
    }
    for row in leaving {
        let _ = row.set_attribute(rows::WHY, &why);
    }
    rows::tell_why();
    say(&[if html.is_empty() { "" } else { "Not done. " }, &why].concat());
}

/// Reads the list soon: not between the keys of somebody who decides quickly, who would wait for its 200 rows.
pub fn refresh_soon() {
    if !DUE.replace(true) {
        PUT_OFF.set(0);
        dom::after(GATHER_MS, refresh_in_a_pause);
    }
}

fn refresh_in_a_pause() {
    if DECIDED.replace(false) && PUT_OFF.get() < PUT_OFF_MAX {
        PUT_OFF.set(PUT_OFF.get() + 1);
        dom::after(PAUSE_MS, refresh_in_a_pause);
        return;
    }
    DUE.set(false);
    refresh();
}

fn refresh() {
    let Some(query) = dom::by_id("inbox").and_then(|inbox| inbox.get_attribute("data-query")) else { return };
    spawn_local(async move {
        let asked = ask();
        if let Ok(html) = fetch::get_text(&["/inbox/list?", &query].concat()).await {
            show(&html, asked);
        }
    });
}

/// Shows the list, or the parts of it that an answer brings. Lists that were asked for earlier are not shown any more.
fn show(html: &str, asked: u32) {
    let Some(new) = patch::parse(html).and_then(|fragment| patch::children(&fragment).into_iter().next()) else {
        return;
    };
    let (Some(old), Some(list)) = (dom::by_id("inbox-list"), dom::by_id("inbox-rows")) else { return };
    match dom::find(&new, ".inbox-rows") {
        Some(_) if asked < SHOWN.get() => return refresh_soon(),
        Some(new) => {
            SHOWN.set(asked);
            rows::grow_old();
            rows::unfold(&new);
            patch::list(&list, &new.inner_html(), "data-key-id");
            if let Some(row) = rows::current() {
                triage::prefetch(&row);
            }
        }
        None => {
            SHOWN.set(ask());
            refresh_soon();
        }
    }
    for part in ["held", "refused", "empty", "pager", "elsewhere"] {
        let selector = ["[data-part=", part, "]"].concat();
        if let (Some(old), Some(new)) = (dom::find(&old, &selector), dom::find(&new, &selector)) {
            patch::update(&old, &new);
        }
    }
    rows::tell_why();
    rows::count();
}

/// One second less to undo.
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
