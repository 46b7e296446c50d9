//! The leading tab, which reads the stream. It reconnects with backoff and jitter, and restarts a silent stream.

use super::hub::{self, State};
use crate::browser::task::spawn_local;
use crate::browser::{
    dom,
    fetch::{self, Failed},
};
use std::cell::{Cell, RefCell};
use web_sys::{Event, EventSource, MessageEvent};

/// Longest silence before the stream is restarted, in milliseconds. The server sends something every 15 s.
const SILENCE_MS_MAX: f64 = 45_000.0;
/// Longest time until a new stream opens, in milliseconds. Proxies may swallow a request.
const OPENING_MS_MAX: f64 = 10_000.0;
const BACKOFF_MS_MIN: f64 = 500.0;
const BACKOFF_MS_MAX: f64 = 30_000.0;
/// Failures in a row after which the server is asked whether the person is still signed in.
const FAILURES_BEFORE_SIGN_IN_CHECK: u32 = 3;

thread_local! {
    static SOURCE: RefCell<Option<EventSource>> = const { RefCell::new(None) };
    static LAST_MESSAGE_AT: Cell<f64> = const { Cell::new(0.0) };
    static FAILURES: Cell<u32> = const { Cell::new(0) };
    static WAS_OPEN: Cell<bool> = const { Cell::new(false) };
    /// Whether another tab read the stream before, until the first position shows whether something was missed.
    static IS_HANDED_OVER: Cell<bool> = const { Cell::new(false) };
    /// Counts opened streams. Messages of older streams are ignored.
    static GENERATION: Cell<u32> = const { Cell::new(0) };
}

/// Reads the stream for the lifetime of the page.
pub fn lead() {
    hub::become_leader();
    IS_HANDED_OVER.set(!hub::is_at(""));
    let window = dom::window();
    dom::on(&window, "online", |_: Event| {
        hub::broadcast_state(State::Reconnecting);
        open();
    });
    dom::on(&window, "offline", |_: Event| {
        close();
        hub::broadcast_state(State::Offline);
    });
    // A page in the back/forward cache must not hold a connection.
    dom::on(&window, "pagehide", |_: Event| close());
    dom::on(&window, "pageshow", |_: Event| {
        if SOURCE.with_borrow(Option::is_none) && WAS_OPEN.get() {
            open();
        }
    });
    dom::on(&dom::document(), "visibilitychange", |_: Event| open_if_signed_out());
    dom::every(5_000, || {
        let silent = js_sys::Date::now() - LAST_MESSAGE_AT.get() > SILENCE_MS_MAX;
        if silent && SOURCE.with_borrow(Option::is_some) {
            lost();
        }
    });
    open();
}

/// Tries again when a page is opened or the tab is looked at: the person may have signed in again, in any tab.
pub fn open_if_signed_out() {
    if hub::is_signed_out() {
        open();
    }
}

fn close() {
    GENERATION.set(GENERATION.get().wrapping_add(1));
    if let Some(source) = SOURCE.take() {
        source.close();
    }
}

fn heard() {
    LAST_MESSAGE_AT.set(js_sys::Date::now());
}

fn open() {
    close();
    let Ok(source) = EventSource::new("/api/live") else { return };
    let generation = GENERATION.get();
    let current = move || GENERATION.get() == generation;
    LAST_MESSAGE_AT.set(js_sys::Date::now() - SILENCE_MS_MAX + OPENING_MS_MAX);
    dom::on(&source, "open", move |_: Event| {
        if !current() {
            return;
        }
        heard();
        FAILURES.set(0);
        hub::broadcast_state(State::Live);
        // Changes may have been missed while no stream was open.
        if WAS_OPEN.replace(true) {
            hub::broadcast("resync", "");
        }
    });
    dom::on(&source, "session", move |event: MessageEvent| {
        if current() {
            heard();
            hub::broadcast("session", &event.data().as_string().unwrap_or_default());
        }
    });
    dom::on(&source, "counts", move |_: MessageEvent| {
        if current() {
            heard();
            hub::broadcast("counts", "");
        }
    });
    dom::on(&source, "mark", move |event: MessageEvent| {
        if current() {
            heard();
            let data = event.data().as_string().unwrap_or_default();
            let mark = data.trim_matches('"');
            if IS_HANDED_OVER.take() && !hub::is_at(mark) {
                hub::broadcast("resync", "");
            }
            hub::broadcast_position(mark);
        }
    });
    dom::on(&source, "beat", move |_: MessageEvent| {
        if current() {
            heard();
        }
    });
    // The server is stopping: reconnect at once.
    dom::on(&source, "bye", move |_: MessageEvent| {
        if current() {
            lost();
        }
    });
    dom::on(&source, "resync", move |_: MessageEvent| {
        if current() {
            heard();
            hub::broadcast("resync", "");
        }
    });
    dom::on(&source, "error", move |_: Event| {
        if current() {
            lost();
        }
    });
    SOURCE.set(Some(source));
}

/// Handles a broken or silent stream: reconnects later, unless the person is signed out. Failures are counted on then,
/// so that the next failure asks about the sign-in at once.
fn lost() {
    close();
    let failures = FAILURES.get() + 1;
    FAILURES.set(failures);
    let online = dom::window().navigator().on_line();
    hub::broadcast_state(if online { State::Reconnecting } else { State::Offline });
    let longest = (BACKOFF_MS_MIN * f64::from(2_u32.saturating_pow(failures.min(8)))).min(BACKOFF_MS_MAX);
    let delay = longest * (0.5 + js_sys::Math::random() / 2.0);
    let generation = GENERATION.get();
    spawn_local(async move {
        if failures >= FAILURES_BEFORE_SIGN_IN_CHECK && fetch::get("/api/me").await.err() == Some(Failed::Status(401)) {
            hub::broadcast_state(State::SignedOut);
            return;
        }
        dom::after(delay as i32, move || {
            if GENERATION.get() == generation {
                open();
            }
        });
    });
}
