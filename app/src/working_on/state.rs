//! What this tab knows: who works on what, how many events wait, what went wrong. Only in the WASM build.
//!
//! Tabs tell each other over a BroadcastChannel, and every message names its owner.

use super::{
    active::{Active, News, after},
    said::Said,
};
use crate::browser::dom;
use leptos::prelude::*;
use std::{
    cell::{Cell, RefCell},
    rc::Rc,
};
use wasm_bindgen::JsValue;
use web_sys::{BroadcastChannel, MessageEvent};

const CHANNEL_NAME: &str = "shiftbook-working";
const PAUSED_KEY: &str = "shiftbook-recorder-paused";

/// The signals of the picker; one set per page.
#[derive(Clone, Copy)]
pub struct Signals {
    /// What is worked on.
    pub active: RwSignal<Option<Active>>,
    /// Whether pages are not recorded.
    pub paused: RwSignal<bool>,
    /// What to tell the person.
    pub said: RwSignal<Option<Said>>,
    /// Events that were set aside, as JSON to copy.
    pub refused: RwSignal<Vec<String>>,
}

/// Events that wait.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Waiting {
    /// How many of this person's.
    pub count: u32,
    /// Whether there is no room for more.
    pub full: bool,
}

type Watcher = Rc<dyn Fn(Waiting)>;

thread_local! {
    static SIGNALS: Cell<Option<Signals>> = const { Cell::new(None) };
    static OWNER: RefCell<String> = const { RefCell::new(String::new()) };
    static WAITING: Cell<Waiting> = const { Cell::new(Waiting { count: 0, full: false }) };
    static WATCHERS: RefCell<Vec<Watcher>> = const { RefCell::new(Vec::new()) };
    static CHANNEL: RefCell<Option<BroadcastChannel>> = const { RefCell::new(None) };
}

/// Joins the other tabs. `owner` is workspace and person.
pub fn start(owner: String, signals: Signals) {
    OWNER.set(owner);
    SIGNALS.set(Some(signals));
    signals.paused.set(is_paused());
    let Ok(channel) = BroadcastChannel::new(CHANNEL_NAME) else { return };
    dom::on(&channel, "message", |event: MessageEvent| {
        if let Some(message) = event.data().as_string() {
            hear(&message);
        }
    });
    CHANNEL.set(Some(channel));
    dom::on(&dom::window(), "storage", move |event: web_sys::StorageEvent| {
        if event.key().as_deref() == Some(PAUSED_KEY) {
            signals.paused.set(is_paused());
        }
    });
}

/// Workspace and person.
pub fn owner() -> String {
    OWNER.with_borrow(Clone::clone)
}

/// What is worked on.
pub fn active() -> Option<Active> {
    SIGNALS.get().and_then(|signals| signals.active.get_untracked())
}

/// Shows it here and tells the other tabs, where the server has confirmed it.
pub fn tell(news: News) {
    match &news {
        News::Started(a) => {
            let told = [a.session_id.as_str(), &a.task_id, &a.started_at, &a.started_words, &a.title].join("\n");
            post("started", &told);
        }
        News::Ended(session_id) => post("ended", session_id),
    }
    take(news);
}

/// Shows news in this tab alone.
pub fn take(news: News) {
    if let Some(signals) = SIGNALS.get() {
        let now = after(signals.active.get_untracked(), news);
        show(now);
    }
}

/// Shows this, whatever was shown.
pub fn show(now: Option<Active>) {
    if let Some(signals) = SIGNALS.get()
        && signals.active.get_untracked() != now
    {
        signals.active.set(now);
    }
}

/// Says something to the person.
pub fn say(words: impl Into<String>, bad: bool) {
    if let Some(signals) = SIGNALS.get() {
        signals.said.set(Some(Said { words: words.into(), bad }));
    }
}

/// Events that were set aside, as they are now.
pub fn set_refused(events: Vec<String>) {
    if let Some(signals) = SIGNALS.get() {
        signals.refused.set(events);
    }
}

/// Whether pages are not recorded. Kept in this browser.
pub fn is_paused() -> bool {
    dom::local_storage().and_then(|storage| storage.get_item(PAUSED_KEY).ok().flatten()).is_some()
}

/// Pauses or goes on, in every tab.
pub fn set_paused(paused: bool) {
    if let Some(storage) = dom::local_storage() {
        let _ = if paused { storage.set_item(PAUSED_KEY, "1") } else { storage.remove_item(PAUSED_KEY) };
    }
    if let Some(signals) = SIGNALS.get() {
        signals.paused.set(paused);
    }
}

/// Events that wait.
pub fn waiting() -> Waiting {
    WAITING.get()
}

/// Hears how many events wait, now and whenever that changes.
pub fn watch_waiting(watcher: impl Fn(Waiting) + 'static) {
    watcher(WAITING.get());
    WATCHERS.with_borrow_mut(|all| all.push(Rc::new(watcher)));
}

/// The number of events that wait, here, in every other tab, and for the next page.
pub fn set_waiting(now: Waiting) {
    if let Some(storage) = dom::local_storage() {
        let _ = storage.set_item(&format!("shiftbook-waiting {}", owner()), &now.count.to_string());
    }
    post("waiting", &format!("{} {}", now.count, u8::from(now.full)));
    hear_waiting(now);
}

/// What an earlier page of this person's left waiting; 0 where there was none. Asks no database.
pub fn left_waiting() -> u32 {
    let stored = dom::local_storage()
        .and_then(|storage| storage.get_item(&format!("shiftbook-waiting {}", owner())).ok().flatten());
    stored.and_then(|count| count.parse().ok()).unwrap_or_default()
}

fn hear_waiting(now: Waiting) {
    if WAITING.replace(now) != now {
        for watcher in WATCHERS.with_borrow(Clone::clone) {
            watcher(now);
        }
    }
}

fn post(word: &str, rest: &str) {
    let message = format!("{}\n{word}\n{rest}", owner());
    CHANNEL.with_borrow(|channel| {
        if let Some(channel) = channel {
            let _ = channel.post_message(&JsValue::from_str(&message));
        }
    });
}

fn hear(message: &str) {
    let mut lines = message.splitn(3, '\n');
    let (Some(from), Some(word), Some(rest)) = (lines.next(), lines.next(), lines.next()) else { return };
    if from != owner() {
        return;
    }
    match word {
        "started" => {
            let mut fields = rest.splitn(5, '\n').map(str::to_owned);
            let mut next = || fields.next().unwrap_or_default();
            let (session_id, task_id, started_at, started_words) = (next(), next(), next(), next());
            take(News::Started(Active { session_id, task_id, started_at, started_words, title: next() }));
        }
        "ended" => take(News::Ended(rest.to_owned())),
        "waiting" => {
            let (count, full) = rest.split_once(' ').unwrap_or((rest, "0"));
            hear_waiting(Waiting { count: count.parse().unwrap_or_default(), full: full == "1" });
        }
        _ => {}
    }
}
