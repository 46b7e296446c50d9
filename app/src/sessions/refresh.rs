//! Reads rows again that moved, and puts them where they were. Only in the WASM build.

use crate::{
    browser::{dom, fetch, patch},
    live::{self, Signal},
};
use std::{
    cell::{Cell, RefCell},
    collections::BTreeSet,
    rc::Rc,
};
use wasm_bindgen_futures::spawn_local;
use web_sys::HtmlElement;

const GATHER_MS: i32 = 250;
/// Rows asked for in one request; the server refuses more.
const IDS_MAX: usize = 100;

/// Subscribes the page's rows.
pub fn start() {
    let moved = Rc::new(RefCell::new(BTreeSet::<String>::new()));
    let due = Rc::new(Cell::new(false));
    live::subscribe(move |signal| {
        match signal {
            Signal::Session { id, .. } => {
                if row(id).is_some() {
                    moved.borrow_mut().insert(id.clone());
                }
            }
            Signal::Resync => {
                moved.borrow_mut().extend(rows().into_iter().filter_map(|r| r.get_attribute("data-session-id")))
            }
            Signal::Counts => {}
        }
        if moved.borrow().is_empty() || due.replace(true) {
            return;
        }
        let (moved, due) = (moved.clone(), due.clone());
        dom::after(GATHER_MS, move || {
            due.set(false);
            let ids: Vec<_> = std::mem::take(&mut *moved.borrow_mut()).into_iter().take(IDS_MAX).collect();
            spawn_local(read(ids));
        });
    });
}

async fn read(ids: Vec<String>) {
    let Ok(html) = fetch::get_text(&format!("/sessions/rows?ids={}", ids.join(","))).await else { return };
    let Some(fragment) = patch::parse(&html) else { return };
    for new in patch::children(&fragment) {
        if let Some(old) = new.get_attribute("data-session-id").and_then(|id| row(&id)) {
            patch::update(&old, &new);
        }
    }
}

fn rows() -> Vec<HtmlElement> {
    dom::root().map(|root| dom::find_all(&root, "tr[data-session-id]")).unwrap_or_default()
}

fn row(id: &str) -> Option<HtmlElement> {
    rows().into_iter().find(|row| row.get_attribute("data-session-id").as_deref() == Some(id))
}
