//! Keeps the number of open inbox items current, in the rail and in the title of every page. Only in the WASM build.

use crate::browser::task::spawn_local;
use crate::{
    browser::live,
    browser::{dom, fetch},
};
use std::{cell::Cell, rc::Rc};

/// Signals within this time cause one request, in milliseconds.
const GATHER_MS: i32 = 600;

/// Subscribes to the live stream for the lifetime of the page.
pub fn start() {
    let due = Rc::new(Cell::new(false));
    live::subscribe(move |signal| {
        if signal.moves_queues() && !due.replace(true) {
            let due = due.clone();
            dom::after(GATHER_MS, move || {
                due.set(false);
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
    let bare = title
        .strip_prefix('(')
        .and_then(|rest| rest.split_once(')'))
        .map_or(title.as_str(), |(_, bare)| bare.trim_start());
    let title = if open == 0.0 { bare.to_owned() } else { ["(", &figure, ") ", bare].concat() };
    document.set_title(&title);
}
