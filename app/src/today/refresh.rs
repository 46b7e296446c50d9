//! Keeps counts and sections current, and selects a bucket without loading a page. Only in the WASM build.

use super::{
    bucket::{self, BUCKETS},
    queue::Queue,
};
use crate::browser::task::spawn_local;
use crate::{
    browser::live::{self, Signal},
    browser::{address, dom, fetch, patch, times},
    fragment,
};
use leptos::prelude::Set as _;
use std::{cell::Cell, rc::Rc};
use wasm_bindgen::JsValue;

/// Signals within this time cause one request, in milliseconds.
const GATHER_MS: i32 = 400;
/// The same for the hourly counts, which cost as much as the counts but change slowly.
const GATHER_TRENDS_MS: i32 = 5_000;

/// Pause between two questions whether an agent is connected, in milliseconds.
const CONNECTION_MS: i32 = 2_000;
/// Most such questions of one page: 30 minutes.
const CONNECTION_READS_MAX: u32 = 900;

/// Reads the hourly counts now, and everything after each signal. The page itself is current, unless it was rendered
/// for another time zone than the reader's.
pub fn start(queue: Queue, timezone: &str) {
    if times::zone_name() != timezone {
        read_counts(queue);
        read_section(queue, "done_today");
    }
    read_trends(queue);
    await_connection(queue, CONNECTION_READS_MAX);
    gathered(GATHER_TRENDS_MS, move || read_trends(queue));
    gathered(GATHER_MS, move || {
        read_counts(queue);
        BUCKETS.into_iter().for_each(|bucket| read_section(queue, bucket.name));
        read_questions(queue);
    });
}

/// The query of every fragment: time zone, and whose work.
fn query(queue: Queue) -> String {
    ["?timezone=", &times::zone(), "&assignedTo=", if queue.everyone { "all" } else { "me" }].concat()
}

/// Calls `read` once for all signals within the time.
fn gathered(millis: i32, read: impl Fn() + Clone + 'static) {
    let due = Rc::new(Cell::new(false));
    live::subscribe(move |signal: &Signal| {
        if !signal.moves_queues() || due.replace(true) {
            return;
        }
        let (due, read) = (due.clone(), read.clone());
        dom::after(millis, move || {
            due.set(false);
            read();
        });
    });
}

fn read_counts(queue: Queue) {
    spawn_local(async move {
        let url = ["/api/today/work-queue-counts", &query(queue)].concat();
        let Ok(json) = fetch::get_json(&url).await else { return };
        queue.counts.set(BUCKETS.map(|bucket| dom::number(&json, bucket.count).map(|n| n as u32)));
    });
}

fn read_trends(queue: Queue) {
    spawn_local(async move {
        let Ok(html) = fetch::get_text(&["/today/courses", &query(queue)].concat()).await else { return };
        let Some(trends) = patch::parse(&html) else { return };
        for trend in patch::children(&trends) {
            let name = trend.get_attribute("data-trend").unwrap_or_default();
            if let Some(at) = BUCKETS.iter().position(|bucket| bucket.name == name) {
                queue.trends.get(at).inspect(|place| place.show(&trend.inner_html()));
            }
        }
    });
}

/// The section of a bucket.
fn section(queue: Queue, name: &str) -> Option<dom::HtmlElement> {
    queue.sections.find(&["[data-section=", name, "]"].concat())
}

fn read_section(queue: Queue, name: &'static str) {
    let Some(section) = section(queue, name) else { return };
    if section.hidden() {
        return;
    }
    spawn_local(async move {
        let url = ["/today/section/", name, &query(queue)].concat();
        let Some(new) = fragment::read(&url).await else { return };
        // An empty section has a sentence in the place of its rows.
        let has_rows = |section: &dom::HtmlElement| dom::find(section, ".rows").is_some();
        if has_rows(&section) == has_rows(&new) {
            patch::parts(&section, &new);
        } else {
            patch::update(&section, &new);
        }
    });
}

/// Reads whether an agent is connected until it is, at most this many times. No signal tells: it has no session yet.
fn await_connection(queue: Queue, reads: u32) {
    let Some(state) = queue.sections.find("[data-connection=waiting]").filter(|_| reads > 0) else { return };
    dom::after(CONNECTION_MS, move || {
        spawn_local(async move {
            if let Some(new) = fragment::read("/today/connection").await {
                patch::update(&state, &new);
            }
            await_connection(queue, reads - 1);
        });
    });
}

/// Reads the questions for which no session waits. Their section is on the page without any, hidden.
fn read_questions(queue: Queue) {
    let Some(section) = queue.sections.find("[data-section=questions]") else { return };
    spawn_local(async move {
        let Some(new) = fragment::read("/today/questions").await else { return };
        patch::parts(&section, &new);
        section.set_hidden(new.hidden() || hides_questions());
    });
}

/// Whether the address selects a bucket that open questions do not belong to.
fn hides_questions() -> bool {
    let query = address::query();
    query.contains("bucket=") && !query.contains("bucket=needs_me")
}

/// Shows the selected bucket, or all of them, and moves the focus there. What is shown is read again, because hidden
/// sections follow no signals.
pub fn show(queue: Queue, picked: &str) {
    for bucket in BUCKETS {
        if let Some(section) = section(queue, bucket.name) {
            section.set_hidden(!picked.is_empty() && picked != bucket.name);
        }
        read_section(queue, bucket.name);
    }
    let address = bucket::address(queue.everyone, picked);
    if let Ok(history) = dom::window().history() {
        let _ = history.replace_state_with_url(&JsValue::NULL, "", Some(&address));
    }
    read_questions(queue);
    if picked.is_empty() {
        return;
    }
    if let Some(heading) = section(queue, picked).and_then(|section| dom::find(&section, "h2")) {
        let _ = heading.focus();
        heading.scroll_into_view();
    }
}
