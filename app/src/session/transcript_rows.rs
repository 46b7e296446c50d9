//! The list of rows in the DOM: appending, prepending, joining results with calls, folding. Only in the WASM build.

use super::tail::kinds_of;
use crate::browser::task::spawn_local;
use crate::browser::{dom, fetch, patch, times};
use js_sys::Date;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Event, HtmlElement, MouseEvent, Node};

/// Most rows on the page. Beyond it the oldest rows are removed; they can be loaded again.
const ROWS_MAX: usize = 2_000;
/// Number of rows removed at once.
const ROWS_DROPPED: usize = 400;

fn list() -> Option<HtmlElement> {
    dom::by_id("transcript")
}

fn rows() -> Vec<HtmlElement> {
    list().map(|list| patch::children(&list)).unwrap_or_default()
}

fn sequence(row: &HtmlElement) -> f64 {
    row.get_attribute("data-sequence").and_then(|n| dom::figure(&n)).unwrap_or_default()
}

/// Whether the whole log is on the page.
pub fn is_complete() -> bool {
    list().is_some_and(|list| list.has_attribute("data-complete"))
}

/// Attaches the handlers of "Load earlier events" and of raw JSON.
pub fn start(session_id: &str, kinds: &str) {
    let Some(list) = list() else { return };
    let id = session_id.to_owned();
    dom::on_capture(&list, "toggle", move |event: Event| {
        if let Some(raw) = dom::closest(&event, "details.raw[open]") {
            spawn_local(show_raw(id.clone(), vec![raw]));
        }
    });
    let (id, kinds) = (session_id.to_owned(), kinds.to_owned());
    if let Some(top) = dom::by_id("transcript-top") {
        dom::on(&top, "click", move |event: MouseEvent| {
            let Some(link) = dom::closest(&event, "#earlier") else { return };
            if event.ctrl_key() || event.meta_key() || event.shift_key() {
                return;
            }
            event.prevent_default();
            if link.get_attribute("aria-disabled").is_none() {
                let _ = link.set_attribute("aria-disabled", "true");
                spawn_local(load_earlier(id.clone(), kinds.clone()));
            }
        });
    }
}

/// Appends rows that are newer than the last one. Returns how many were added.
pub fn append(html: &str) -> u32 {
    let (Some(list), Some(fragment)) = (list(), patch::parse(html)) else { return 0 };
    let last = rows().last().map_or(0.0, sequence);
    let mut added = 0;
    for row in patch::children(&fragment) {
        if sequence(&row) <= last {
            continue;
        }
        times::refine(&row);
        added += 1;
        if !join_answers(&row) {
            let _ = list.append_child(&row);
        }
    }
    if rows().len() > ROWS_MAX {
        // The browser's scroll anchoring keeps the reader's position.
        for row in rows().into_iter().take(ROWS_DROPPED) {
            row.remove();
        }
        let _ = list.remove_attribute("data-complete");
        offer_earlier();
    }
    added
}

/// Moves results to their calls. Returns whether the row is empty then.
fn join_answers(row: &HtmlElement) -> bool {
    let Some(list) = list() else { return false };
    let mut moved = 0;
    let answers = dom::find_all(row, "details[data-answers]");
    for answer in &answers {
        let Some(id) = answer.get_attribute("data-answers") else { continue };
        let call = dom::find_all(&list, "details[data-tool-call-id][data-state=waiting]")
            .into_iter()
            .find(|call| call.get_attribute("data-tool-call-id").as_deref() == Some(&id));
        if let Some(call) = call {
            join(&call, answer, row);
            moved += 1;
        }
    }
    let is_left = dom::find_all(row, ".event-body > :not(.raw)").len() > answers.len();
    moved > 0 && moved == answers.len() && !is_left
}

/// Puts a result into the empty element of its call.
fn join(call: &HtmlElement, answer: &HtmlElement, row: &HtmlElement) {
    let (Some(place), Some(side)) = (dom::find(call, ".tool-answer"), dom::find(answer, ".tool-answer")) else {
        return;
    };
    side.set_id(&row.id());
    let _ = place.replace_with_with_node_1(&side);
    let state = answer.get_attribute("data-state").unwrap_or_else(|| "done".to_owned());
    let _ = call.set_attribute("data-state", &state);
    let (Some(shown), Some(outcome)) = (dom::find(call, ".tool-outcome"), dom::find(answer, ".tool-outcome")) else {
        return;
    };
    let asked = call.closest("li").ok().flatten().and_then(|li| at(li.unchecked_ref()));
    let words = outcome.text_content().unwrap_or_default();
    shown.set_text_content(Some(&match (asked, at(row)) {
        (Some(asked), Some(answered)) if answered >= asked => format!("{words}, {}", lasted(answered - asked)),
        _ => words,
    }));
    answer.remove();
}

fn at(row: &HtmlElement) -> Option<f64> {
    let time = dom::find(row, ".event-time")?.get_attribute("datetime")?;
    Some(Date::parse(&time)).filter(|ms| !ms.is_nan())
}

fn lasted(ms: f64) -> String {
    match ms {
        ms if ms < 1_000.0 => format!("{} ms", dom::whole(ms)),
        ms if ms < 60_000.0 => format!("{}.{} s", (ms / 1_000.0) as u64, (ms / 100.0) as u64 % 10),
        ms => format!("{} min {} s", (ms / 60_000.0) as u64, (ms / 1_000.0) as u64 % 60),
    }
}

/// Loads the rows before the first one and keeps the scroll position.
async fn load_earlier(session_id: String, kinds: String) {
    let Some(list) = list() else { return };
    let first = rows().into_iter().next();
    let before = first.as_ref().map_or(0.0, sequence);
    let url = format!("/sessions/{session_id}/rows?beforeSequence={}{}", dom::whole(before), kinds_of(&kinds));
    let Ok(response) = fetch::get(&url).await else {
        offer_earlier();
        return;
    };
    let has_more = fetch::header(&response, "x-has-more").as_deref() == Some("true");
    let Ok(html) = fetch::text(&response).await else { return };
    let Some(fragment) = patch::parse(&html) else { return };
    let top_before = first.as_ref().map(|row| row.get_bounding_client_rect().top());
    let anchor: Option<Node> = list.first_element_child().map(|row| row.unchecked_into());
    for row in patch::children(&fragment).into_iter().filter(|row| before == 0.0 || sequence(row) < before) {
        times::refine(&row);
        let _ = list.insert_before(&row, anchor.as_ref());
    }
    // Results of the new calls may be further down, in rows of their own.
    for answer in dom::find_all(&list, "details[data-answers]") {
        if let Some(row) = answer.closest("li").ok().flatten().and_then(|li| li.dyn_into::<HtmlElement>().ok())
            && join_answers(&row)
        {
            row.remove();
        }
    }
    if let (Some(first), Some(top)) = (first, top_before)
        && first.is_connected()
    {
        let moved = first.get_bounding_client_rect().top() - top;
        dom::window().scroll_by_with_x_and_y(0.0, moved);
    }
    if has_more {
        offer_earlier();
    } else if let Some(link) = dom::by_id("earlier") {
        link.remove();
    }
}

/// Shows the link to the events before the first row.
fn offer_earlier() {
    let (Some(top), Ok(path)) = (dom::by_id("transcript-top"), dom::window().location().pathname()) else { return };
    let before = rows().first().map_or(0.0, sequence);
    let link = dom::by_id("earlier").or_else(|| {
        let link: HtmlElement = dom::document().create_element("a").ok()?.dyn_into().ok()?;
        link.set_id("earlier");
        link.set_class_name("button");
        let _ = link.set_attribute("data-size", "small");
        link.set_text_content(Some("Load earlier events"));
        top.append_child(&link).ok()?;
        Some(link)
    });
    if let Some(link) = link {
        let _ = link.set_attribute("href", &format!("{path}?before={}", dom::whole(before)));
        let _ = link.remove_attribute("aria-disabled");
    }
}

/// Shows the text below the last row.
pub fn say_end(is_final: bool) {
    if let Some(end) = dom::by_id("transcript-end") {
        let words = if is_final { "End of the log" } else { "Later events follow" };
        if end.text_content().as_deref() != Some(words) && (is_final || !rows().is_empty()) {
            end.set_text_content(Some(words));
        }
    }
}

/// Unfolds or folds all rows, except raw JSON.
pub fn fold_all(open: bool) {
    let Some(list) = list() else { return };
    for details in dom::find_all(&list, "details:not(.raw)") {
        let _ = if open { details.set_attribute("open", "") } else { details.remove_attribute("open") };
    }
}

/// Unfolds or folds the raw JSON of every visible row.
pub fn raw_all(session_id: &str, open: bool) {
    let Some(list) = list() else { return };
    let raws = dom::find_all(&list, "details.raw");
    if !open {
        for raw in raws {
            let _ = raw.remove_attribute("open");
        }
        return;
    }
    let height = dom::window().inner_height().ok().and_then(|h| h.as_f64()).unwrap_or_default();
    let seen: Vec<_> = raws
        .into_iter()
        .filter(|raw| {
            let place = raw.parent_element().map(|p| p.get_bounding_client_rect());
            place.is_some_and(|p| p.height() > 0.0 && p.bottom() > 0.0 && p.top() < height)
        })
        .collect();
    spawn_local(show_raw(session_id.to_owned(), seen));
}

/// Replaces the links to raw JSON by the JSON, with one request for all of them.
async fn show_raw(session_id: String, raws: Vec<HtmlElement>) {
    let wanted: Vec<(f64, HtmlElement)> = raws
        .into_iter()
        .filter_map(|raw| {
            let row: HtmlElement = raw.closest("li").ok()??.dyn_into().ok()?;
            Some((sequence(&row), raw))
        })
        .collect();
    for (_, raw) in &wanted {
        let _ = raw.set_attribute("open", "");
    }
    let wanted: Vec<_> = wanted.into_iter().filter(|(_, raw)| dom::find(raw, "pre").is_none()).collect();
    let (Some(first), Some(last)) = (wanted.first().map(|w| w.0), wanted.last().map(|w| w.0)) else { return };
    let url = format!(
        "/api/sessions/{session_id}/events?afterSequence={}&limit={}",
        dom::whole(first - 1.0),
        dom::whole((last - first + 1.0).min(1_000.0))
    );
    let Ok(answer) = fetch::get_json(&url).await else { return };
    let events =
        js_sys::Reflect::get(&answer, &"events".into()).map(|events| js_sys::Array::from(&events)).unwrap_or_default();
    for event in events.iter() {
        let Some(number) = dom::number(&event, "sequence") else { continue };
        let Some((_, raw)) = wanted.iter().find(|(sequence, _)| *sequence == number) else { continue };
        let Ok(text) = js_sys::JSON::stringify_with_replacer_and_space(&event, &JsValue::NULL, &JsValue::from(2))
        else {
            continue;
        };
        let Ok(pre) = dom::document().create_element("pre") else { continue };
        pre.set_class_name("payload");
        let _ = pre.set_attribute("tabindex", "0");
        pre.set_text_content(Some(&String::from(text)));
        let _ = raw.append_child(&pre);
    }
}

/// Toggles a filter chip (the first one: all) and hides the rows that do not match.
pub fn toggle_chip(chip: &HtmlElement) {
    let Some(list) = list() else { return };
    let name = chip.get_attribute("data-chip").unwrap_or_default();
    let chips = dom::root().map(|root| dom::find_all(&root, "[data-chip]")).unwrap_or_default();
    let is_on = |chip: &HtmlElement| chip.has_attribute("aria-current");
    let set = |chip: &HtmlElement, on: bool| {
        let _ = if on { chip.set_attribute("aria-current", "true") } else { chip.remove_attribute("aria-current") };
    };
    if name.is_empty() {
        chips.iter().for_each(|chip| set(chip, false));
    } else {
        set(chip, !is_on(chip));
    }
    let named = |chip: &&HtmlElement| chip.get_attribute("data-chip").is_some_and(|n| !n.is_empty());
    let any = chips.iter().filter(named).any(is_on);
    chips.iter().filter(|chip| !named(chip)).for_each(|chip| set(chip, !any));
    let hidden: Vec<_> = chips
        .iter()
        .filter(named)
        .filter(|chip| any && !is_on(chip))
        .filter_map(|chip| chip.get_attribute("data-chip"))
        .collect();
    let _ = list.set_attribute("data-hide", &hidden.join(" "));
}
