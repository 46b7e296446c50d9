//! The live tail: appends new rows by sequence and keeps the reader's scroll position. Only in the WASM build.

use super::{controls::BEYOND_TARGET, transcript_dom as transcript};
use crate::browser::task::spawn_local;
use crate::{
    browser::live::{self, Signal},
    browser::{dom, fetch, patch},
};
use leptos::prelude::*;
use std::{cell::Cell, rc::Rc};
use web_sys::{Event, MouseEvent};

/// A reader within this distance of the end of the page follows new rows, pixels.
const FOLLOWING_PX: f64 = 96.0;

/// The state of the tail of one transcript.
struct Tail {
    session_id: String,
    kinds: String,
    last_sequence: Cell<f64>,
    /// Newest sequence that a signal has announced.
    head_sequence: Cell<f64>,
    /// Whether signals may have been missed. The next read that starts after this was set clears it.
    is_head_unknown: Cell<bool>,
    at_head: bool,
    is_reading: Cell<bool>,
    is_summary_due: Cell<bool>,
    arrived: RwSignal<u32>,
}

/// Starts the live tail of a page's transcript.
pub fn start(session_id: &str, kinds: &str, last_sequence: u64, at_head: bool, arrived: RwSignal<u32>) {
    let tail = Rc::new(Tail {
        session_id: session_id.to_owned(),
        kinds: kinds.to_owned(),
        last_sequence: Cell::new(last_sequence as f64),
        head_sequence: Cell::new(last_sequence as f64),
        is_head_unknown: Cell::new(false),
        at_head,
        is_reading: Cell::new(false),
        is_summary_due: Cell::new(false),
        arrived,
    });
    transcript::start(session_id, kinds);
    if let Some(page) = dom::by_id("main") {
        patch::remember(&page);
    }
    let listening = tail.clone();
    live::subscribe(move |signal| match signal {
        Signal::Session { id, head_sequence, .. } if *id == listening.session_id => {
            listening.head_sequence.set(listening.head_sequence.get().max(*head_sequence));
            listening.read();
            listening.read_summary();
        }
        Signal::Resync | Signal::Opened => {
            listening.is_head_unknown.set(true);
            listening.read();
            listening.read_summary();
        }
        _ => {}
    });
    let scrolled = tail;
    dom::on(&dom::window(), "scroll", move |_: Event| {
        if scrolled.arrived.get_untracked() > 0 && is_following() {
            scrolled.arrived.set(0);
        }
    });
    open_first();
    open_target();
    dom::on(&dom::window(), "hashchange", |_: Event| open_target());
    dom::on(&dom::document(), "click", |event: MouseEvent| chip_clicked(&event));
}

impl Tail {
    /// Whether there may be rows after the last one.
    fn is_behind(&self) -> bool {
        self.is_head_unknown.get() || self.head_sequence.get() > self.last_sequence.get()
    }

    /// Reads the rows after the last one, page by page, one request at a time. Signals that arrive during a request
    /// are handled after it.
    fn read(self: &Rc<Self>) {
        if !self.at_head || self.is_reading.get() || !self.is_behind() {
            return;
        }
        self.is_reading.set(true);
        let tail = self.clone();
        spawn_local(async move {
            loop {
                let was_unknown = tail.is_head_unknown.take();
                match tail.read_page().await {
                    Ok(has_more) => {
                        if !has_more && !tail.is_behind() {
                            break;
                        }
                    }
                    Err(_) => {
                        tail.is_head_unknown.set(was_unknown || tail.is_head_unknown.get());
                        break;
                    }
                }
            }
            tail.is_reading.set(false);
        });
    }

    /// Reads one page of rows. Returns whether there are more.
    async fn read_page(&self) -> Result<bool, fetch::Failed> {
        let after = self.last_sequence.get();
        let (from, kinds) = (dom::whole(after), kinds_of(&self.kinds));
        let url = ["/sessions/", &self.session_id, "/rows?afterSequence=", &from, &kinds].concat();
        let response = fetch::get(&url).await?;
        let figure = |name: &str| fetch::header(&response, name).and_then(|text| dom::figure(&text));
        let last = figure("x-last-sequence").unwrap_or(after);
        let head = figure("x-head-sequence").unwrap_or(last);
        let has_more = fetch::header(&response, "x-has-more").as_deref() == Some("true");
        let is_final = fetch::header(&response, "x-status")
            .is_some_and(|s| matches!(s.as_str(), "completed" | "failed" | "abandoned" | "expired"));
        let html = fetch::text(&response).await?;
        let follow = is_following();
        let added = transcript::append(&html);
        // With a filter, the head moves past rows that are not shown.
        self.last_sequence.set(if has_more { last.max(after) } else { head.max(last).max(after) });
        if added > 0 {
            if follow {
                scroll_to_end();
            } else {
                self.arrived.update(|n| *n += added);
            }
        }
        transcript::say_end(is_final && !has_more);
        Ok(has_more)
    }

    /// Reads the header again, one request at a time. A signal during a request causes one more request.
    fn read_summary(self: &Rc<Self>) {
        if self.is_summary_due.replace(true) {
            return;
        }
        let tail = self.clone();
        dom::after(400, move || {
            tail.is_summary_due.set(false);
            spawn_local(async move {
                let Ok(html) = fetch::get_text(&format!("/sessions/{}/summary", tail.session_id)).await else { return };
                show_summary(&html);
            });
        });
    }
}

/// The filter as a query parameter; empty without a filter.
pub fn kinds_of(kinds: &str) -> String {
    if kinds.is_empty() {
        String::new()
    } else {
        format!("&kinds={}", String::from(js_sys::encode_uri_component(kinds)))
    }
}

fn show_summary(html: &str) {
    let Some(new) = patch::parse(html).and_then(|f| patch::children(&f).into_iter().next()) else { return };
    if let Some(page) = dom::by_id("main") {
        patch::parts(&page, &new);
    }
}

/// Distance between the bottom of the viewport and the end of the page, pixels.
fn distance_to_end() -> f64 {
    let window = dom::window();
    let height = dom::root().map_or(0, |root| root.scroll_height());
    let seen = window.inner_height().ok().and_then(|h| h.as_f64()).unwrap_or_default();
    f64::from(height) - window.scroll_y().unwrap_or_default() - seen
}

fn is_following() -> bool {
    distance_to_end() < FOLLOWING_PX
}

fn scroll_to_end() {
    if let Some(root) = dom::root() {
        dom::window().scroll_to_with_x_and_y(0.0, f64::from(root.scroll_height()));
    }
}

/// Scrolls to the newest event, or opens the page that has it.
pub fn jump_to_newest(at_head: bool) {
    if at_head {
        scroll_to_end();
    } else if let Ok(path) = dom::window().location().pathname() {
        let _ = dom::window().location().set_href(&[&path, "?at=end"].concat());
    }
}

/// Scrolls to the initial row, unless the address or the reader has chosen a position.
fn open_first() {
    let at = dom::by_id("transcript").and_then(|list| list.get_attribute("data-begin"));
    let is_chosen = dom::window().location().hash().is_ok_and(|hash| !hash.is_empty());
    let Some(at) = at.filter(|_| !is_chosen && dom::window().scroll_y().is_ok_and(|y| y == 0.0)) else { return };
    if at == "end" {
        scroll_to_end();
    } else if let Some(row) = dom::by_id(&at) {
        row.scroll_into_view();
    }
}

/// Follows the fragment of the address: unfolds the row that it names, or loads the page that has its event.
fn open_target() {
    let location = dom::window().location();
    let Ok(hash) = location.hash() else { return };
    let name = hash.trim_start_matches('#');
    let Some(target) = dom::by_id(name) else {
        if let Some(sequence) = name.strip_prefix("seq-").and_then(dom::figure) {
            let wanted = ["?before=", &dom::whole(sequence + BEYOND_TARGET as f64)].concat();
            if location.search().is_ok_and(|search| search != wanted) {
                let path = location.pathname().unwrap_or_default();
                let _ = location.replace(&[path.as_str(), &wanted, &hash].concat());
            }
        }
        return;
    };
    if let Ok(Some(around)) = target.closest("details") {
        let _ = around.set_attribute("open", "");
        target.scroll_into_view();
    }
}

/// Filters rows in place if the whole log is on the page; otherwise the chip's link is followed.
fn chip_clicked(event: &MouseEvent) {
    let Some(chip) = dom::closest(event, "[data-chip]") else { return };
    if event.ctrl_key() || event.meta_key() || event.shift_key() || !transcript::is_complete() {
        return;
    }
    event.prevent_default();
    transcript::toggle_chip(&chip);
}
