//! Reads rows of sessions and conversations again after a change. Only in the WASM build.

use crate::browser::task::spawn_local;
use crate::{
    browser::live::{self, Signal},
    browser::{dom, patch, reads::Reads},
    fragment::Slot,
};
use std::{
    cell::{Cell, RefCell},
    collections::BTreeSet,
    rc::Rc,
};

const GATHER_MS: i32 = 250;
/// Rows that are updated.
const ROW: &str = "[data-session-id]";
/// Most rows in one request; the server refuses more.
const IDS_MAX: usize = 100;

/// Subscribes the rows of the page to the live stream.
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
}

/// Reads rows and shows them. Returns whether it did.
async fn read(at: Slot, reads: Reads, ids: Vec<String>) -> bool {
    let from = at.find("[data-rows]").and_then(|rows| rows.get_attribute("data-rows"));
    let from = from.unwrap_or_else(|| "/sessions/rows?ids=".to_owned());
    let html = reads.text(&[from, ids.join(",")].concat()).await;
    let Some(fragment) = html.and_then(|html| patch::parse(&html)) else { return false };
    for new in patch::children(&fragment) {
        if let Some(old) = new.get_attribute("data-session-id").and_then(|id| row(at, &id)) {
            patch::update(&old, &new);
        }
    }
    true
}

fn row(at: Slot, id: &str) -> Option<dom::HtmlElement> {
    at.find(&["[data-session-id=\"", id, "\"]"].concat())
}
