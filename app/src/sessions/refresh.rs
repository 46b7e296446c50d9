//! Reads rows of sessions and conversations again after a change, and says how many are new. Only in the WASM build.

use super::select;
use crate::browser::task::spawn_local;
use crate::{
    browser::live::{self, Signal},
    browser::{dom, fetch, patch, reads::Reads},
    fragment::Slot,
};
use std::{
    cell::{Cell, RefCell},
    collections::BTreeSet,
    rc::Rc,
};

const GATHER_MS: i32 = 250;
/// Signals of new sessions within this time cause one request, in milliseconds.
const GATHER_FRESH_MS: i32 = 1_000;
/// Rows that are updated.
const ROW: &str = "[data-session-id]";
/// Most rows in one request; the server refuses more.
const IDS_MAX: usize = 100;

/// Signals within this time cause one request for the numbers of saved searches, milliseconds. The server keeps each
/// number for as long.
const GATHER_SAVED_MS: i32 = 20_000;
/// The links to saved searches in the navigation: at the side, and under "More".
const SAVED: &str = "[data-saved]";

/// The link to sessions that are newer than the page. Lists without it do not say what is new.
const FRESH: &str = "[data-fresh]";

/// Subscribes the rows of the page to the live stream, and lets them be selected.
pub fn start(at: Slot) {
    // Rows stay in it until an answer has shown them, so each read asks for all that an older one may not show.
    let moved = Rc::new(RefCell::new(BTreeSet::<String>::new()));
    let due = Rc::new(Cell::new(false));
    let reads = Reads::default();
    let gather = move |signal: &Signal| {
        match signal {
            Signal::Session { id, .. } if row(at, id).is_some() => {
                moved.borrow_mut().insert(id.clone());
            }
            Signal::Resync | Signal::Opened => moved
                .borrow_mut()
                .extend(at.find_all(ROW).into_iter().filter_map(|r| r.get_attribute("data-session-id"))),
            Signal::Session { .. } | Signal::Counts => return,
        }
        if moved.borrow().is_empty() || due.replace(true) {
            return;
        }
        let (moved, due) = (moved.clone(), due.clone());
        dom::after(GATHER_MS, move || {
            due.set(false);
            let ids: Vec<_> = moved.borrow().iter().take(IDS_MAX).cloned().collect();
            spawn_local(async move {
                // A row that moved meanwhile is read again.
                if read(at, reads, ids).await && !due.get() {
                    moved.borrow_mut().clear();
                }
            });
        });
    };
    live::subscribe(gather);
    watch_fresh(at);
    select::start(at);
    watch_saved();
}

/// Asks how many sessions are newer than the page when a signal names one. Ids of sessions grow with time.
fn watch_fresh(at: Slot) {
    let Some(link) = at.find(FRESH) else { return };
    let after = link.get_attribute("data-after").unwrap_or_default();
    let due = Rc::new(Cell::new(false));
    live::subscribe(move |signal: &Signal| {
        let is_new = match signal {
            Signal::Session { id, .. } => *id > after,
            Signal::Resync | Signal::Opened => true,
            Signal::Counts => false,
        };
        if !is_new || due.replace(true) {
            return;
        }
        let due = due.clone();
        dom::after(GATHER_FRESH_MS, move || {
            due.set(false);
            spawn_local(show_fresh(at));
        });
    });
}

/// Asks for the numbers of the saved searches in the navigation when sessions have changed.
fn watch_saved() {
    if saved_links().is_empty() {
        return;
    }
    let due = Rc::new(Cell::new(false));
    live::subscribe(move |signal: &Signal| {
        if matches!(signal, Signal::Counts | Signal::Opened) || due.replace(true) {
            return;
        }
        let due = due.clone();
        dom::after(GATHER_SAVED_MS, move || {
            due.set(false);
            spawn_local(show_saved());
        });
    });
}

fn saved_links() -> Vec<dom::HtmlElement> {
    dom::root().map(|root| dom::find_all(&root, SAVED)).unwrap_or_default()
}

async fn show_saved() {
    let Ok(html) = fetch::get_text("/sessions/rows?ids=&saved=on").await else { return };
    // Without an answer of this form the numbers stay: the last search may just have been deleted.
    let Some(new) = patch::parse(&html).and_then(|fragment| patch::children(&fragment).into_iter().next()) else {
        return;
    };
    saved_links().iter().for_each(|old| patch::update(old, &new));
}

async fn show_fresh(at: Slot) {
    let Some(link) = at.find(FRESH) else { return };
    let from = link.get_attribute("data-fresh").unwrap_or_default();
    let Ok(words) = fetch::get_text(&from).await else { return };
    link.set_hidden(words.is_empty());
    link.set_text_content(Some(&words));
}

/// Reads rows and shows them. Returns whether it did.
async fn read(at: Slot, reads: Reads, ids: Vec<String>) -> bool {
    let from = at.find("[data-rows]").and_then(|rows| rows.get_attribute("data-rows"));
    let from = from.unwrap_or_else(|| "/sessions/rows?ids=".to_owned());
    let html = reads.text(&[from, ids.join(",")].concat()).await;
    let Some(fragment) = html.and_then(|html| patch::parse(&html)) else { return false };
    for new in patch::children(&fragment) {
        if let Some(old) = new.get_attribute("data-session-id").and_then(|id| row(at, &id)) {
            select::keep_tick(&old, || patch::update(&old, &new));
        }
    }
    true
}

fn row(at: Slot, id: &str) -> Option<dom::HtmlElement> {
    at.find(&["[data-session-id=\"", id, "\"]"].concat())
}
