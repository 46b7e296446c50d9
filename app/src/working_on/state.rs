//! The state of this tab: the owner, the active working session, and the number of queued events. Only in the WASM
//! build.
//!
//! Tabs synchronize over a BroadcastChannel. Every message names its owner.

use super::{
    active::{Active, News, after},
    control, widget,
};
use crate::browser::dom;
use std::{
    cell::{Cell, RefCell},
    rc::Rc,
};
use wasm_bindgen::JsValue;
use web_sys::{BroadcastChannel, MessageEvent};

const CHANNEL_NAME: &str = "shiftbook-working";
const PAUSED_KEY: &str = "shiftbook-recorder-paused";

/// The number of queued events.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Waiting {
    /// Queued events of this person.
    pub count: u32,
    /// Whether the queue is full.
    pub full: bool,
}

type Watcher = Rc<dyn Fn(Waiting)>;

thread_local! {
    static OWNER: RefCell<String> = const { RefCell::new(String::new()) };
    static ACTIVE: RefCell<Option<Active>> = const { RefCell::new(None) };
    static WAITING: Cell<Waiting> = const { Cell::new(Waiting { count: 0, full: false }) };
    static WATCHERS: RefCell<Vec<Watcher>> = const { RefCell::new(Vec::new()) };
    static CHANNEL: RefCell<Option<BroadcastChannel>> = const { RefCell::new(None) };
}

/// The owner of events: workspace and person in one text.
pub fn owner_of(tenant_id: &str, user_id: &str) -> String {
    [tenant_id, "/", user_id].concat()
}

/// Joins the channel. `owner` is workspace and person.
pub fn start(owner: String, active: Option<Active>) {
    OWNER.set(owner);
    ACTIVE.set(active);
    let Ok(channel) = BroadcastChannel::new(CHANNEL_NAME) else { return };
    dom::on(&channel, "message", |event: MessageEvent| {
        if let Some(message) = event.data().as_string() {
            hear(&message);
        }
    });
    CHANNEL.set(Some(channel));
    dom::on(&dom::window(), "storage", |event: web_sys::StorageEvent| {
        if event.key().as_deref() == Some(PAUSED_KEY) {
            widget::show_paused(is_paused());
        }
    });
}

/// Workspace and person, as set by [`start`].
pub fn owner() -> String {
    OWNER.with_borrow(Clone::clone)
}

/// The active working session.
pub fn active() -> Option<Active> {
    ACTIVE.with_borrow(Clone::clone)
}

/// Shows a change here and sends it to the other tabs if the server has confirmed it. `before` is what was shown.
pub fn tell(before: Option<Active>, news: News) {
    match &news {
        News::Started(a) => post("started", &[a.session_id.as_str(), &a.task_id, &a.started_at, &a.title].join("\n")),
        News::Ended(session_id) => post("ended", session_id),
    }
    show(after(before, news));
}

/// Shows this working session, whatever was shown before.
pub fn show(now: Option<Active>) {
    let before = ACTIVE.replace(now.clone());
    if before == now {
        return;
    }
    widget::show_active(now.as_ref());
    if now.as_ref().is_none_or(Active::is_confirmed) {
        control::read_day();
    }
}

/// Whether recording is paused in this browser.
pub fn is_paused() -> bool {
    dom::stored(PAUSED_KEY).is_some()
}

/// Pauses or resumes recording, in every tab.
pub fn set_paused(paused: bool) {
    dom::store(PAUSED_KEY, paused.then_some("1"));
    widget::show_paused(paused);
}

/// The number of queued events.
pub fn waiting() -> Waiting {
    WAITING.get()
}

/// Calls the watcher now and on every change of the number of queued events.
pub fn watch_waiting(watcher: impl Fn(Waiting) + 'static) {
    watcher(WAITING.get());
    WATCHERS.with_borrow_mut(|all| all.push(Rc::new(watcher)));
}

/// Sets the number of queued events here, in the other tabs, and for the next page.
pub fn set_waiting(now: Waiting) {
    found_waiting(now);
    post(if now.full { "full" } else { "waiting" }, &now.count.to_string());
}

/// Sets the number of queued events here and for the next page, if the other tabs know it already.
pub fn found_waiting(now: Waiting) {
    // The next page only needs to know whether the queue is empty. Each write causes an event in every other tab.
    if left_waiting() != (now.count > 0) {
        dom::store(&waiting_key(), Some(if now.count > 0 { "1" } else { "0" }));
    }
    hear_waiting(now);
}

/// Whether an earlier page of this person left events in the queue. Reads local storage, not the database.
pub fn left_waiting() -> bool {
    dom::stored(&waiting_key()).is_some_and(|left| left != "0")
}

fn waiting_key() -> String {
    ["shiftbook-waiting ", &owner()].concat()
}

fn hear_waiting(now: Waiting) {
    if WAITING.replace(now) != now {
        for watcher in WATCHERS.with_borrow(Clone::clone) {
            watcher(now);
        }
    }
}

fn post(word: &str, rest: &str) {
    let message = [&owner(), word, rest].join("\n");
    CHANNEL.with_borrow(|channel| {
        if let Some(channel) = channel {
            let _ = channel.post_message(&JsValue::from_str(&message));
        }
    });
}

fn hear(message: &str) {
    let mut lines = message.splitn(6, '\n');
    let mut next = || lines.next().unwrap_or_default().to_owned();
    if next() != owner() {
        return;
    }
    let (word, first) = (next(), next());
    match word.as_str() {
        "started" => {
            let (task_id, started_at) = (next(), next());
            let started_words = String::new();
            let told = Active { session_id: first, task_id, title: next(), started_at, started_words };
            show(after(active(), News::Started(told)));
        }
        "ended" => show(after(active(), News::Ended(first))),
        word => hear_waiting(Waiting { count: first.parse().unwrap_or_default(), full: word == "full" }),
    }
}
