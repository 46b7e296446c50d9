//! Browser notifications, for who asked for them: the tab that reads the live stream tells what newly waits while nobody
//! looks at any of the tabs. Only in the WASM build.

use crate::{
    browser::{dom, fetch, lock},
    live::{self, Signal},
};
use js_sys::{Function, Promise};
use std::cell::{Cell, RefCell};
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{Event, MouseEvent, Notification, NotificationOptions, NotificationPermission};

/// Where this browser keeps that its person wants them.
const WANTED: &str = "shiftbook-notify";

/// Held by one of the tabs that somebody looks at, for as long as they do.
const LOOKED_AT: &str = "shiftbook-looked-at";

thread_local! {
    /// What was told already: one notification for each time that something begins to wait.
    static TOLD: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    /// Lets the lock of looked-at tabs go.
    static LET_GO: Cell<Option<Function>> = const { Cell::new(None) };
}

fn has_notifications() -> bool {
    !dom::member(&dom::window(), "Notification").is_undefined()
}

fn wanted() -> bool {
    has_notifications()
        && Notification::permission() == NotificationPermission::Granted
        && dom::stored(WANTED).is_some()
}

/// Listens to the buttons that ask for notifications, and to what begins to wait.
pub fn start() {
    show();
    dom::on(&dom::window(), "storage", |_: Event| show());
    dom::on(&dom::document(), "click", |event: MouseEvent| {
        if dom::closest(&event, "[data-notify]").is_some() {
            spawn_local(toggle());
        }
    });
    dom::on(&dom::document(), "visibilitychange", |_: Event| looked_at());
    looked_at();
    live::subscribe(|signal| {
        let Signal::Session { id, waits: true, .. } = signal else { return };
        if live::leads() && wanted() {
            let id = id.clone();
            // Only where no tab that somebody looks at has the lock.
            spawn_local(lock::exclusive(LOOKED_AT, false, async move { tell(&id).await }));
        }
    });
}

/// Takes the lock of looked-at tabs, or lets it go.
fn looked_at() {
    if let Some(let_go) = LET_GO.take() {
        let _ = let_go.call0(&wasm_bindgen::JsValue::NULL);
    }
    if !dom::document().hidden() {
        let away = Promise::new(&mut |let_go, _| LET_GO.set(Some(let_go)));
        spawn_local(lock::exclusive(LOOKED_AT, true, async move {
            let _ = JsFuture::from(away).await;
        }));
    }
}

/// Asks for permission, which browsers allow after a click alone; or wants none any more.
async fn toggle() {
    if wanted() {
        dom::store(WANTED, None);
    } else if has_notifications()
        && let Ok(asked) = Notification::request_permission()
        && JsFuture::from(asked).await.is_ok()
    {
        dom::store(WANTED, Some("1"));
    }
    show();
}

/// The buttons say what pressing them does.
fn show() {
    let Some(root) = dom::root() else { return };
    let blocked = !has_notifications() || Notification::permission() == NotificationPermission::Denied;
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

/// Tells what waits for the viewer in a session, if it is anything that was not told yet.
async fn tell(session_id: &str) {
    let Ok(notice) = fetch::get_json(&["/inbox/waiting/", session_id].concat()).await else { return };
    let text = |name| dom::text(&notice, name).unwrap_or_default();
    let (path, key) = (text("path"), text("key"));
    if path.is_empty() || TOLD.with_borrow(|told| told.contains(&key)) {
        return;
    }
    TOLD.with_borrow_mut(|told| told.push(key.clone()));
    let options = NotificationOptions::new();
    options.set_body(&text("body"));
    options.set_tag(&key);
    let Ok(shown) = Notification::new_with_options(&text("title"), &options) else { return };
    dom::on(&shown, "click", move |event: Event| {
        let _ = dom::window().focus();
        let _ = dom::window().location().set_href(&path);
        if let Some(shown) = event.target().and_then(|target| target.dyn_into::<Notification>().ok()) {
            shown.close();
        }
    });
}
