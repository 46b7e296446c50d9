//! Browser notifications about new inbox items, for people who enabled them. The tab that leads the live stream shows
//! them, and only while no tab is visible. Only in the WASM build.

use crate::browser::task::spawn_local;
use crate::{
    browser::live::{self, Signal},
    browser::{dom, fetch, lock, notification},
};
use js_sys::{Function, Promise};
use std::{
    cell::{Cell, RefCell},
    rc::Rc,
};
use wasm_bindgen_futures::JsFuture;

/// Key in local storage: set if this browser shows notifications.
const WANTED: &str = "shiftbook-notify";

/// Name of the Web Lock that a visible tab holds.
const VISIBLE_LOCK: &str = "shiftbook-visible";

/// The notifications of one page. A clone is the same state.
#[derive(Clone, Default)]
struct Notices {
    /// Keys of the notifications shown so far, so that each is shown once.
    shown: Rc<RefCell<Vec<String>>>,
    /// Resolves the promise that holds the lock of visible tabs.
    release: Rc<Cell<Option<Function>>>,
}

fn wanted() -> bool {
    notification::are_allowed() && dom::stored(WANTED).is_some()
}

/// Attaches the notification buttons and subscribes to the live stream.
pub fn start() {
    label_buttons();
    dom::when(&dom::window(), "storage", label_buttons);
    dom::on_click("[data-notify]", || spawn_local(toggle()));
    let notices = Notices::default();
    let seen = notices.clone();
    dom::when(&dom::document(), "visibilitychange", move || update_visible_lock(&seen));
    update_visible_lock(&notices);
    live::subscribe(move |signal| {
        let Signal::Session { id, waits: true, .. } = signal else { return };
        if live::is_leader() && wanted() {
            let (id, notices) = (id.clone(), notices.clone());
            // Runs only if no visible tab holds the lock.
            spawn_local(lock::exclusive(VISIBLE_LOCK, false, async move { notify(&notices, &id).await }));
        }
    });
}

/// Acquires the lock of visible tabs if this tab is visible, else releases it.
fn update_visible_lock(notices: &Notices) {
    if let Some(release) = notices.release.take() {
        let _ = release.call0(&wasm_bindgen::JsValue::NULL);
    }
    if !dom::document().hidden() {
        let hidden = Promise::new(&mut |release, _| notices.release.set(Some(release)));
        spawn_local(lock::exclusive(VISIBLE_LOCK, true, async move {
            let _ = JsFuture::from(hidden).await;
        }));
    }
}

/// Turns notifications off, or asks for permission and turns them on. Browsers allow the request only after a click.
async fn toggle() {
    if wanted() {
        dom::store(WANTED, None);
    } else if notification::ask().await {
        dom::store(WANTED, Some("1"));
    }
    label_buttons();
}

/// Labels the buttons with what a click does.
fn label_buttons() {
    let Some(root) = dom::root() else { return };
    let blocked = notification::are_blocked();
    let words = match (blocked, wanted()) {
        (true, _) => "This browser blocks notifications",
        (false, true) => "Stop notifying in this browser",
        (false, false) => "Notify in this browser",
    };
    for button in dom::find_all(&root, "[data-notify]") {
        button.set_text_content(Some(words));
        let _ = button.toggle_attribute_with_force("disabled", blocked);
    }
}

/// Shows a notification about the item that this session waits for, unless it was shown before.
async fn notify(notices: &Notices, session_id: &str) {
    let Ok(notice) = fetch::get_json(&["/inbox/waiting/", session_id].concat()).await else { return };
    let text = |name| dom::text(&notice, name).unwrap_or_default();
    let (path, key) = (text("path"), text("key"));
    if path.is_empty() || notices.shown.borrow().contains(&key) {
        return;
    }
    notices.shown.borrow_mut().push(key.clone());
    notification::show(&text("title"), &text("body"), &key, path);
}
