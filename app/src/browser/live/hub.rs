//! The listeners of this page, and the channel between tabs.

use crate::browser::{channel::Channel, dom};
use std::{
    cell::{Cell, RefCell},
    rc::Rc,
};

/// A change that the live stream reports.
#[derive(Debug, Clone, PartialEq)]
pub enum Signal {
    /// A session's log or status has changed.
    Session {
        /// Id of the session.
        id: String,
        /// Its newest sequence.
        head_sequence: f64,
        /// Whether it is running.
        is_running: bool,
        /// Whether it waits for a person.
        waits: bool,
    },
    /// The counts of the work queue have changed.
    Counts,
    /// The stream had a gap, so anything may have changed.
    Resync,
    /// Something changed after the page was rendered and before this listener was registered: the page had not joined
    /// the stream yet, or the listener's part of the page had not loaded.
    Opened,
}

impl Signal {
    /// Whether the work queue and its counts may have changed. False for further events of a running session; a
    /// status change sends a signal of its own.
    pub const fn moves_queues(&self) -> bool {
        !matches!(self, Self::Session { is_running: true, .. })
    }
}

/// The state of the live stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Not connected yet.
    Connecting,
    /// Connected.
    Live,
    /// Connection lost; trying again.
    Reconnecting,
    /// The browser is offline.
    Offline,
    /// The person is signed out.
    SignedOut,
}

impl State {
    /// The name of the state in markup and in messages between tabs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Connecting => "connecting",
            Self::Live => "live",
            Self::Reconnecting => "reconnecting",
            Self::Offline => "offline",
            Self::SignedOut => "signed_out",
        }
    }

    fn parse(text: &str) -> Option<Self> {
        [Self::Connecting, Self::Live, Self::Reconnecting, Self::Offline, Self::SignedOut]
            .into_iter()
            .find(|state| state.as_str() == text)
    }
}

type Listener = Rc<dyn Fn(&Signal)>;
type Watcher = Rc<dyn Fn(State)>;

thread_local! {
    static LISTENERS: RefCell<Vec<Listener>> = const { RefCell::new(Vec::new()) };
    static WATCHERS: RefCell<Vec<Watcher>> = const { RefCell::new(Vec::new()) };
    static CHANNEL: RefCell<Option<Channel>> = const { RefCell::new(None) };
    static STATE: Cell<State> = const { Cell::new(State::Connecting) };
    static IS_LEADER: Cell<bool> = const { Cell::new(false) };
    /// Whether a signal has been delivered on this page.
    static HAS_CHANGED: Cell<bool> = const { Cell::new(false) };
    /// The position of the stream, once it is known.
    static POSITION: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Adds a listener for all signals, for the lifetime of the page. Parts of a page load at different times: one that
/// comes after the first signal gets [`Signal::Opened`] once the caller has returned.
pub fn subscribe(listener: impl Fn(&Signal) + 'static) {
    let listener: Listener = Rc::new(listener);
    LISTENERS.with_borrow_mut(|all| all.push(listener.clone()));
    if HAS_CHANGED.get() {
        dom::after(0, move || listener(&Signal::Opened));
    }
}

/// Adds a watcher for changes of the stream's state.
pub fn watch(watcher: impl Fn(State) + 'static) {
    WATCHERS.with_borrow_mut(|all| all.push(Rc::new(watcher)));
}

/// Joins the channel and asks the leading tab for its state. Calls `on_hello` when this tab leads and another one asks.
pub fn open_channel(on_hello: impl Fn() + 'static) {
    let joined = Channel::join("shiftbook-live", move |message| {
        let (word, rest) = message.split_once(' ').unwrap_or((message, ""));
        match word {
            "hello" if IS_LEADER.get() => {
                on_hello();
                post(&["state ", STATE.get().as_str()].concat());
                POSITION.with_borrow(|mark| post(&["mark ", mark].concat()));
            }
            "state" => State::parse(rest).into_iter().for_each(show),
            "mark" => set_position(rest),
            "session" => session(rest).iter().for_each(deliver),
            "counts" => deliver(&Signal::Counts),
            "resync" => deliver(&Signal::Resync),
            _ => {}
        }
    });
    CHANNEL.set(joined);
    post("hello");
}

/// Makes this tab the leader, which reads the stream.
pub fn become_leader() {
    IS_LEADER.set(true);
}

/// Whether the person is signed out, as far as the leader knows.
pub fn is_signed_out() -> bool {
    STATE.get() == State::SignedOut
}

/// Whether this tab is the leader.
pub fn is_leader() -> bool {
    IS_LEADER.get()
}

/// Sends a signal to this page and to every other tab. `data` is the JSON of a session signal.
pub fn broadcast(word: &'static str, data: &str) {
    post(&format!("{word} {data}"));
    match word {
        "session" => session(data).iter().for_each(deliver),
        "counts" => deliver(&Signal::Counts),
        _ => deliver(&Signal::Resync),
    }
}

/// Whether this is the last known position of the stream. It is empty before the first one.
pub fn is_at(mark: &str) -> bool {
    POSITION.with_borrow(|position| position == mark)
}

/// Sends the position of the stream to this page and to every other tab.
pub fn broadcast_position(mark: &str) {
    post(&["mark ", mark].concat());
    set_position(mark);
}

/// Sets the position. If the first one differs from the position that the page was rendered at, it has missed changes.
fn set_position(mark: &str) {
    if mark.is_empty() {
        return;
    }
    let is_first = POSITION.replace(mark.to_owned()).is_empty();
    let made_at = dom::root().and_then(|root| root.get_attribute("data-mark"));
    if is_first && made_at.as_deref() != Some(mark) {
        deliver(&Signal::Opened);
    }
}

/// Sets the stream's state here and in every other tab.
pub fn broadcast_state(state: State) {
    if STATE.get() != state {
        post(&format!("state {}", state.as_str()));
    }
    show(state);
}

fn post(message: &str) {
    CHANNEL.with_borrow(|channel| {
        if let Some(channel) = channel {
            channel.send(message);
        }
    });
}

fn session(json: &str) -> Option<Signal> {
    let moved = js_sys::JSON::parse(json).ok()?;
    let status = dom::text(&moved, "status").unwrap_or_default();
    Some(Signal::Session {
        id: dom::text(&moved, "sessionId")?,
        head_sequence: dom::number(&moved, "headSequence")?,
        is_running: status == "running",
        waits: matches!(&*status, "waiting_human" | "awaiting_tool"),
    })
}

fn deliver(signal: &Signal) {
    HAS_CHANGED.set(true);
    // Cloned, because a listener may add another listener.
    for listener in LISTENERS.with_borrow(Clone::clone) {
        listener(signal);
    }
}

fn show(state: State) {
    STATE.set(state);
    for watcher in WATCHERS.with_borrow(Clone::clone) {
        watcher(state);
    }
}
