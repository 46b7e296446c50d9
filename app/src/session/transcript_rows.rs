//! The rows of a transcript: appending, prepending, joining results with calls, folding. Only in the WASM build.

use super::transcript::Transcript;
use crate::browser::{
    dom::{self, HtmlElement},
    element, fetch, patch,
    task::spawn_local,
    times, viewport,
};
use js_sys::Date;
use leptos::prelude::*;
use wasm_bindgen::JsValue;

/// Most rows on the page. Beyond it the oldest rows are removed; they can be loaded again.
const ROWS_MAX: usize = 2_000;
/// Number of rows removed at once.
const ROWS_DROPPED: usize = 400;

impl Transcript {
    /// The list of rows. `None` before it is mounted.
    fn element(self) -> Option<HtmlElement> {
        self.list.get_untracked().map(Into::into)
    }

    fn rows(self) -> Vec<HtmlElement> {
        self.element().map(|list| patch::children(&list)).unwrap_or_default()
    }
}

fn sequence(row: &HtmlElement) -> f64 {
    row.get_attribute("data-sequence").and_then(|n| dom::figure(&n)).unwrap_or_default()
}

/// Attaches the handler of raw JSON.
pub fn start(transcript: Transcript) {
    let Some(list) = transcript.element() else { return };
    element::on_toggle(&list, "details.raw[open]", move |raw| spawn_local(show_raw(transcript, vec![raw])));
}

/// Appends rows that are newer than the last one. Returns how many were added.
pub fn append(transcript: Transcript, html: &str) -> u32 {
    let (Some(list), Some(fragment)) = (transcript.element(), patch::parse(html)) else { return 0 };
    let last = transcript.rows().last().map_or(0.0, sequence);
    let mut added = 0;
    for row in patch::children(&fragment) {
        if sequence(&row) <= last {
            continue;
        }
        times::refine(&row);
        added += 1;
        if !join_answers(&list, &row) {
            let _ = list.append_child(&row);
        }
    }
    let rows = transcript.rows();
    if rows.len() > ROWS_MAX {
        // The browser's scroll anchoring keeps the reader's position.
        for row in rows.into_iter().take(ROWS_DROPPED) {
            row.remove();
        }
        transcript.is_complete.set(false);
        offer_earlier(transcript);
    }
    added
}

/// Moves results to their calls. Returns whether the row is empty then.
fn join_answers(list: &HtmlElement, row: &HtmlElement) -> bool {
    let mut moved = 0;
    let answers = dom::find_all(row, "details[data-answers]");
    for answer in &answers {
        let Some(id) = answer.get_attribute("data-answers") else { continue };
        let call = dom::find_all(list, "details[data-tool-call-id][data-state=waiting]")
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
    let asked = element::closest(call, "li").and_then(|row| at(&row));
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
        ms if ms < 1_000.0 => format!("{} ms", dom::integer_text(ms)),
        ms if ms < 60_000.0 => format!("{}.{} s", (ms / 1_000.0) as u64, (ms / 100.0) as u64 % 10),
        ms => format!("{} min {} s", (ms / 60_000.0) as u64, (ms / 1_000.0) as u64 % 60),
    }
}

/// Loads the rows before the first one, unless they are being loaded.
pub fn load_earlier(transcript: Transcript) {
    if !transcript.is_loading_earlier.get_untracked() {
        transcript.is_loading_earlier.set(true);
        spawn_local(async move {
            let has_more = read_earlier(transcript).await;
            transcript.is_loading_earlier.set(false);
            match has_more {
                Some(false) => transcript.earlier.set(None),
                _ => offer_earlier(transcript),
            }
        });
    }
}

/// Shows the rows before the first one and keeps the scroll position. Returns whether there are more; `None` if they
/// could not be read.
async fn read_earlier(transcript: Transcript) -> Option<bool> {
    let list = transcript.element()?;
    let first = transcript.rows().into_iter().next();
    let before = first.as_ref().map_or(0.0, sequence);
    let from = ["/rows?beforeSequence=", &dom::integer_text(before), &transcript.kinds_query()].concat();
    let response = fetch::get(&transcript.address(&from)).await.ok()?;
    let has_more = fetch::header(&response, "x-has-more").as_deref() == Some("true");
    let fragment = patch::parse(&fetch::text(&response).await.ok()?)?;
    let top_before = first.as_ref().map(viewport::top_of);
    let anchor = transcript.rows().into_iter().next();
    for row in patch::children(&fragment).into_iter().filter(|row| before == 0.0 || sequence(row) < before) {
        times::refine(&row);
        element::insert(&list, &row, anchor.as_ref());
    }
    // Results of the new calls may be further down, in rows of their own.
    for answer in dom::find_all(&list, "details[data-answers]") {
        if let Some(row) = element::closest(&answer, "li")
            && join_answers(&list, &row)
        {
            row.remove();
        }
    }
    if let (Some(first), Some(top)) = (first, top_before)
        && first.is_connected()
    {
        viewport::scroll_by(viewport::top_of(&first) - top);
    }
    Some(has_more)
}

/// Shows the link to the events before the first row.
fn offer_earlier(transcript: Transcript) {
    let before = transcript.rows().first().map_or(0.0, sequence);
    let from = ["?before=", &dom::integer_text(before), &transcript.kinds_query()].concat();
    transcript.earlier.set(Some(transcript.address(&from)));
}

/// Says below the last row whether more will come.
pub fn show_end(transcript: Transcript, is_final: bool) {
    let words = if is_final { "End of the log" } else { "Waiting for new events" };
    if transcript.end.with_untracked(|said| said != words) && (is_final || !transcript.rows().is_empty()) {
        transcript.end.set(words.to_owned());
    }
}

/// Unfolds or folds all rows, except raw JSON.
pub fn fold_all(transcript: Transcript, open: bool) {
    let Some(list) = transcript.element() else { return };
    for details in dom::find_all(&list, "details:not(.raw)") {
        let _ = if open { details.set_attribute("open", "") } else { details.remove_attribute("open") };
    }
}

/// Unfolds or folds the raw JSON of every visible row.
pub fn raw_all(transcript: Transcript, open: bool) {
    let Some(list) = transcript.element() else { return };
    let raws = dom::find_all(&list, "details.raw");
    if !open {
        for raw in raws {
            let _ = raw.remove_attribute("open");
        }
        return;
    }
    let is_seen = |raw: &HtmlElement| element::parent(raw).is_some_and(|body| viewport::shows(&body));
    spawn_local(show_raw(transcript, raws.into_iter().filter(is_seen).collect()));
}

/// Set on raw JSON that was asked for. Unfolding it here calls the handler of [`start`] too, before there is an answer.
const ASKED: &str = "data-asked";

/// Replaces the links to raw JSON by the JSON, with one request for all of them.
async fn show_raw(transcript: Transcript, raws: Vec<HtmlElement>) {
    let wanted: Vec<(f64, HtmlElement)> = raws
        .into_iter()
        .filter_map(|raw| {
            let row = element::closest(&raw, "li")?;
            Some((sequence(&row), raw))
        })
        .collect();
    for (_, raw) in &wanted {
        let _ = raw.set_attribute("open", "");
    }
    let wanted: Vec<_> = wanted.into_iter().filter(|(_, raw)| !raw.has_attribute(ASKED)).collect();
    for (_, raw) in &wanted {
        let _ = raw.set_attribute(ASKED, "");
    }
    let (Some(first), Some(last)) = (wanted.first().map(|w| w.0), wanted.last().map(|w| w.0)) else { return };
    let (after, limit) = (dom::integer_text(first - 1.0), dom::integer_text((last - first + 1.0).min(1_000.0)));
    let from = ["/events?afterSequence=", &after, "&limit=", &limit].concat();
    let url = ["/api", &transcript.address(&from)].concat();
    let Ok(answer) = fetch::get_json(&url).await else {
        // The next unfolding asks again.
        wanted.iter().for_each(|(_, raw)| drop(raw.remove_attribute(ASKED)));
        return;
    };
    let events =
        js_sys::Reflect::get(&answer, &"events".into()).map(|events| js_sys::Array::from(&events)).unwrap_or_default();
    for event in events.iter() {
        let Some(number) = dom::number(&event, "sequence") else { continue };
        let Some((_, raw)) = wanted.iter().find(|(sequence, _)| *sequence == number) else { continue };
        let Ok(text) = js_sys::JSON::stringify_with_replacer_and_space(&event, &JsValue::NULL, &JsValue::from(2))
        else {
            continue;
        };
        let Some(pre) = dom::make("pre", "payload") else { continue };
        let _ = pre.set_attribute("tabindex", "0");
        pre.set_text_content(Some(&String::from(text)));
        let _ = raw.append_child(&pre);
    }
}

/// Toggles a filter chip (the first one: all) and hides the rows that do not match.
pub fn toggle_chip(transcript: Transcript, chip: &HtmlElement) {
    let chips = transcript.chips.find_all("[data-chip]");
    let name = |chip: &HtmlElement| chip.get_attribute("data-chip").unwrap_or_default();
    let is_on = |chip: &HtmlElement| chip.has_attribute("aria-current");
    let set = |chip: &HtmlElement, on: bool| {
        let _ = if on { chip.set_attribute("aria-current", "true") } else { chip.remove_attribute("aria-current") };
    };
    if name(chip).is_empty() {
        chips.iter().for_each(|chip| set(chip, false));
    } else {
        set(chip, !is_on(chip));
    }
    let (of_groups, all): (Vec<_>, Vec<_>) = chips.iter().partition(|chip| !name(chip).is_empty());
    let any = of_groups.iter().any(|chip| is_on(chip));
    all.into_iter().for_each(|chip| set(chip, !any));
    let hidden = of_groups.into_iter().filter(|chip| any && !is_on(chip)).map(name);
    transcript.hidden_groups.set(hidden.collect::<Vec<_>>().join(" "));
}
