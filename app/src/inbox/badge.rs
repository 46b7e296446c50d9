//! How much waits: in the rail and in the title of every page. Only in the WASM build.

use crate::{
    browser::{dom, fetch},
    live,
};
use std::cell::Cell;
use wasm_bindgen_futures::spawn_local;

/// Signals within this time are answered together.
const GATHER_MS: i32 = 600;
/// `domain::limit::BADGE_COUNT_MAX`, which is not part of this build.
const MOST: f64 = 999.0;

thread_local! {
    static DUE: Cell<bool> = const { Cell::new(false) };
}

/// Keeps the number true for as long as the page lives.
pub fn start() {
    live::subscribe(|_| {
        if !DUE.replace(true) {
            dom::after(GATHER_MS, || {
                DUE.set(false);
                spawn_local(read());
            });
        }
    });
}

async fn read() {
    let Some(badge) = dom::by_id("needs-me") else { return };
    let Ok(count) = fetch::get_json("/api/approvals/count?atMost=1000").await else { return };
    let Some(open) = dom::number(&count, "open") else { return };
    // One more than is shown was asked for.
    let figure = [dom::whole(open.min(MOST)).as_str(), if open > MOST { "+" } else { "" }].concat();
    badge.set_hidden(open == 0.0);
    if let Some(number) = badge.first_child() {
        number.set_text_content(Some(&figure));
    }
    let document = dom::document();
    let title = document.title();
    let bare = title.strip_prefix('(').and_then(|rest| rest.split_once(") ")).map_or(title.as_str(), |(_, bare)| bare);
    let title = if open == 0.0 { bare.to_owned() } else { ["(", &figure, ") ", bare].concat() };
    document.set_title(&title);
}
