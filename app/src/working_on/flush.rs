//! Sends queued events to the server. Only in the WASM build.
//!
//! One tab at a time holds the Web Lock `shiftbook-recorder` and sends the oldest events of one session, in order.
//! Events are deleted from the queue only after the server has acknowledged them. An event that is sent twice (lost
//! response, closed page) is recorded once, because its id is created here.

use super::{
    Work,
    api::RecordEvents,
    channel,
    queue::{self, Row, Stored},
    work::{Waiting, owner_of},
};
use crate::{
    browser::{dom, fetch, lock},
    server_function::call,
};
use leptos::prelude::{GetUntracked as _, Set as _, UpdateValue as _, WithValue as _};
use std::{cell::Cell, rc::Rc};

/// Most events in one request.
const BATCH_EVENTS_MAX: u32 = 100;
/// Local storage key: when any tab of this browser last sent events. Pages that follow each other quickly send
/// together.
const SENT_AT_KEY: &str = "shiftbook-recorder-sent-at";
const LOCK: &str = "shiftbook-recorder";
/// Status of a call that recorded its events.
const RECORDED: u16 = 200;

/// The result of a flush.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// The queue of this person is empty.
    Empty,
    /// The server is unreachable or busy; try again later.
    Unreachable,
    /// The person is signed out; try again after the next sign-in.
    SignedOut,
    /// Another tab is sending.
    Elsewhere,
}

/// Keeps an event of this tab in memory, in addition to the database.
pub fn remember(work: Work, row: Row) {
    work.tab.update_value(|tab| {
        if let Err(place) = tab.own.binary_search_by(|other| other.number.total_cmp(&row.number)) {
            tab.own.insert(place, row);
        }
    });
}

/// Takes over what is queued when the page starts: the count, this tab's events, and the refused ones.
pub fn begin(work: Work, tab: &str, found: Stored) {
    channel::found_waiting(work, waiting(found.waiting.len() as u32));
    found.waiting.into_iter().filter(|row| row.tab == tab).for_each(|row| remember(work, row));
    work.tab.update_value(|tab| tab.is_known = true);
    show_refused(work, found.refused);
}

fn waiting(count: u32) -> Waiting {
    Waiting { count, full: count >= queue::QUEUED_MAX }
}

/// Milliseconds since any tab last sent events.
pub fn since_sent() -> f64 {
    let stored = dom::stored(SENT_AT_KEY).and_then(|at| at.parse::<u64>().ok());
    js_sys::Date::now() - stored.unwrap_or_default() as f64
}

fn mark_sent() {
    dom::store(SENT_AT_KEY, Some(&(js_sys::Date::now() as u64).to_string()));
}

/// Sends all queued events of this person. With `wait` it waits while another tab is sending.
pub async fn flush(work: Work, wait: bool) -> Ended {
    let ended = Rc::new(Cell::new(Ended::Elsewhere));
    let result = ended.clone();
    lock::exclusive(LOCK, wait, async move {
        work.tab.update_value(|tab| tab.is_sending = true);
        result.set(send_all(work).await);
        work.tab.update_value(|tab| tab.is_sending = false);
    })
    .await;
    ended.get()
}

async fn send_all(work: Work) -> Ended {
    let owner = work.owner();
    let mut batch_max = BATCH_EVENTS_MAX;
    loop {
        let rows = match queue::first(&owner, batch_max).await {
            Ok(rows) => rows,
            // Without a database nothing is queued, so nothing has to be sent before a marker.
            Err(_) if work.waiting.get_untracked().count == 0 => return Ended::Empty,
            Err(_) => return Ended::Unreachable,
        };
        let batch = one_request(rows);
        let Some(first) = batch.first() else {
            read_count(work).await;
            return Ended::Empty;
        };
        mark_sent();
        let status = match call(RecordEvents { session_id: first.session_id.clone(), append: body(&batch) }).await {
            Ok(()) => RECORDED,
            Err(refusal) => refusal.status,
        };
        let settled = match status {
            RECORDED => queue::recorded(&owner, &batch).await,
            401 => return Ended::SignedOut,
            // Another person has signed in, or the workspace was switched. This page belongs to the previous owner.
            403 | 404 | 409 if !is_still(&owner).await => return Ended::SignedOut,
            0 | 408 | 429 | 500.. => {
                read_count(work).await;
                return Ended::Unreachable;
            }
            // The server refuses a batch as a whole, so the events are sent one by one and valid ones are recorded.
            _ if batch.len() > 1 => {
                batch_max = 1;
                continue;
            }
            _ => queue::refuse(&owner, first).await,
        };
        let Ok(left) = settled else { return Ended::Unreachable };
        forget_own(work, &batch);
        channel::set_waiting(work, waiting(left));
        if status != RECORDED {
            read_refused(work).await;
        }
        if left == 0 {
            return Ended::Empty;
        }
    }
}

/// Whether this owner is still signed in.
async fn is_still(owner: &str) -> bool {
    let Ok(me) = fetch::get_json("/api/me").await else { return false };
    let id = |part: &str| dom::text(&dom::member(&me, part), "id").unwrap_or_default();
    owner == owner_of(&id("tenant"), &id("user"))
}

/// The rows of one request: the first ones, all of one session, up to the body size that `keepalive` allows.
fn one_request(rows: Vec<Row>) -> Vec<Row> {
    let session_id = rows.first().map(|row| row.session_id.clone()).unwrap_or_default();
    let mut bytes = body(&[]).len();
    let mut is_first = true;
    let fits = |row: &Row| {
        // The server function sends the text inside a JSON string, where each quotation mark is escaped.
        bytes += row.json.len() + row.json.matches(['"', '\\']).count() + 1;
        let fits = row.session_id == session_id && bytes <= fetch::KEEPALIVE_BYTES_MAX;
        std::mem::replace(&mut is_first, false) || fits
    };
    let mut fits = fits;
    rows.into_iter().take_while(|row| fits(row)).collect()
}

fn body(rows: &[Row]) -> String {
    let events: Vec<&str> = rows.iter().map(|row| row.json.as_str()).collect();
    ["{\"events\":[", &events.join(","), "]}"].concat()
}

fn forget_own(work: Work, batch: &[Row]) {
    work.tab.update_value(|tab| tab.own.retain(|row| !batch.iter().any(|sent| sent.number == row.number)));
}

/// Reads how many events are queued, and shows it.
pub async fn read_count(work: Work) {
    if let Ok(count) = queue::count(&work.owner()).await {
        channel::set_waiting(work, waiting(count));
    }
}

/// Reads the refused events, and shows them.
pub async fn read_refused(work: Work) {
    if let Ok(rows) = queue::refused(&work.owner()).await {
        show_refused(work, rows);
    }
}

fn show_refused(work: Work, rows: Vec<Row>) {
    work.refused.set(rows.into_iter().map(|row| row.json).collect());
}

/// On pagehide: sends this tab's events again from the first one, in order, without reading the response. The rows
/// stay queued until a response confirms them.
pub fn hint(work: Work) {
    let (own, is_complete) = work.tab.with_value(|tab| (tab.own.clone(), tab.is_known && !tab.is_sending));
    if !is_complete || work.active_now().is_none() {
        return;
    }
    let batch = one_request(own.into_iter().take(BATCH_EVENTS_MAX as usize).collect());
    if let Some(first) = batch.first() {
        mark_sent();
        let call = call(RecordEvents { session_id: first.session_id.clone(), append: body(&batch) });
        // The request is made before the page goes: the first poll of a local task follows the event at once.
        crate::browser::task::spawn_local(async move {
            let _ = call.await;
        });
    }
}
