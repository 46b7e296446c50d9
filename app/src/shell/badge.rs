//! Keeps the number of open inbox items current, in the rail and in the title of every page. Only in the WASM build.

use crate::{
    browser::{dom, fetch},
    live,
};
use std::cell::Cell;
use wasm_bindgen_futures::spawn_local;

/// Signals within this time cause one request, in milliseconds.
const GATHER_MS: i32 = 600;

thread_local! {
    static DUE: Cell<bool> = const { Cell::new(false) };
}

/// Subscribes to the live stream for the lifetime of the page.
pub fn start() {
    live::subscribe(|signal| {
        if signal.moves_queues() && !DUE.replace(true) {
            dom::after(GATHER_MS, || {
                DUE.set(false);
                spawn_local(read());
            });
        }
    });
}

async fn read() {
    let Some(badge) = dom::by_id("needs-me") else { return };
    // The server counts one more than the badge shows, so that the badge can end in a plus.
    let most = badge.get_attribute("data-most").and_then(|most| dom::figure(&most)).unwrap_or_default();
    let address = ["/api/approvals/count?atMost=", &dom::whole(most + 1.0)].concat();
    let Ok(count) = fetch::get_json(&address).await else { return };
    let Some(open) = dom::number(&count, "open") else { return };
    let figure = [dom::whole(open.min(most)).as_str(), if open > most { "+" } else { "" }].concat();
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
