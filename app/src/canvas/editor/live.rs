//! Follows the log of the canvas: patches of others, the end, and what was missed.

use super::{
    answer::{MissingPatches, OpenCanvas, patch_of, suggestions},
    model::{Arrival, Need},
    notice::Notice,
    state::Editor,
    status::{Connection, Mode},
};
use crate::{
    browser::{
        dom,
        fetch::{self, Failed},
        live::{self, Signal},
        stream::{Report, Stream},
        task::spawn_local,
    },
    canvas::{
        json,
        offline::{Outbox, Rejected, Typed},
    },
};
use domain::{
    canvas::{Patch, Path, edit::Spot},
    session::Status,
};
use leptos::{ev::Event, prelude::*};
use serde_json::Value;
use std::{
    cell::{Cell, RefCell},
    rc::Rc,
};

/// Pause before the canvas is read again when that failed, milliseconds.
const OPEN_AGAIN_MS: i32 = 2_000;
/// Most lists of missing patches that are read. The server lists 500 at once.
const LISTS_MAX: usize = 10;
/// What a person reads who could have changed the canvas when there are more.
const UNREAD: &str = "Very many changes were made meanwhile. If someone replaced a change of yours, Versions shows it.";
/// Why the text of a composition is shown again.
const COMPOSED: &str = "This text was not finished when the page was closed.";
/// First pause before the stream is opened again, milliseconds. It doubles with each failure.
const PAUSE_MS_MIN: i32 = 500;
/// Longest pause, milliseconds.
const PAUSE_MS_MAX: i32 = 15_000;
const SIGNED_OUT: u16 = 401;

/// The stream of the page.
#[derive(Default)]
struct Follower {
    stream: RefCell<Option<Stream>>,
    failures: Cell<u32>,
}

/// Opens the canvas and follows it for the lifetime of the page.
pub fn start(editor: Editor) {
    let follower = Rc::new(Follower::default());
    editor.set_reader(move |need| match need {
        Need::Patches => catch_up(editor),
        Need::Document => reload(editor),
        Need::Suggestions => read_suggestions(editor),
    });
    spawn_local(async move {
        let kept = Outbox::open(&editor.id.get_value()).await;
        while !editor.is_open.get_untracked() && !read(editor, Some(kept.clone())).await {
            dom::pause(OPEN_AGAIN_MS).await;
        }
        tell_composed(editor, &kept).await;
        follow(editor, &follower);
        read_suggestions(editor);
        on_window(editor, &follower);
    });
    live::subscribe(move |signal| match signal {
        _ if !editor.is_open.get_untracked() => {}
        // After a gap of the browser's stream anything may have changed, also the role of the viewer. The patches come
        // first: they say whose change someone replaced, and the document does not.
        Signal::Resync => spawn_local(async move {
            if read_missing(editor).await {
                reload(editor);
            }
        }),
        // A suggestion is no event of the log: a new one changes what waits in the workspace.
        Signal::Counts => read_suggestions_later(editor),
        _ => {}
    });
}

/// Tells the person of texts that were being composed when an earlier page was closed. They are in no change, and
/// others may have written there since, so the person decides. They are kept until that notice is closed, as rejected
/// changes are.
async fn tell_composed(editor: Editor, kept: &Outbox) {
    for Typed { path, text } in kept.texts().await {
        let spot = Path::parse(&path).ok().and_then(|path| Spot::of(&path));
        let ops = spot.map(|spot| editor.read(|document| spot.typed(document, &text))).unwrap_or_default();
        if !ops.is_empty() {
            let patch = Patch { op_id: Editor::new_id(), base: editor.version(), ops, is_strict: false };
            kept.reject(patch.clone(), COMPOSED);
            editor.tell(Notice::earlier(Rejected { patch, why: COMPOSED.to_owned() }));
        }
        kept.keep_text(&path, None);
    }
}

fn on_window(editor: Editor, follower: &Rc<Follower>) {
    let window = dom::window();
    let again = follower.clone();
    dom::when(&window, "online", move || follow(editor, &again));
    let offline = follower.clone();
    dom::when(&window, "offline", move || {
        offline.close();
        editor.connect(Connection::Offline);
    });
    // A page that is left or hidden sends what was typed. It holds no connection: a browser has six for a server.
    let left = follower.clone();
    dom::when(&window, "pagehide", move || {
        editor.flush();
        left.close();
    });
    dom::on(&window, "beforeunload", move |event: Event| {
        if editor.would_lose() {
            event.prevent_default();
        }
    });
    let looked_at = follower.clone();
    dom::when(&dom::document(), "visibilitychange", move || {
        editor.flush();
        if dom::document().hidden() {
            looked_at.close();
        } else {
            follow(editor, &looked_at);
        }
    });
    let restored = follower.clone();
    dom::on_restored(move || follow(editor, &restored));
}

impl Follower {
    fn close(&self) {
        if let Some(stream) = self.stream.take() {
            stream.close();
        }
    }
}

/// Opens the stream behind the last patch that was read, in place of the one that is open, unless the canvas has ended.
fn follow(editor: Editor, follower: &Rc<Follower>) {
    if matches!(editor.mode.get_untracked(), Mode::Ended(_)) {
        return;
    }
    follower.close();
    let after = editor.read_to().to_string();
    let address = editor.id.with_value(|id| ["/api/sessions/", id, "/events/stream?afterSequence=", &after].concat());
    let this = follower.clone();
    let stream = Stream::open(&address, "presence", move |report| match report {
        Report::Open => {
            this.failures.set(0);
            editor.connect(Connection::Live);
            read_suggestions(editor);
        }
        Report::Named(json) => editor.presence.receive(&json),
        Report::Message(event) => {
            if let Some(patch) = patch_of(&event) {
                editor.receive(Arrival::Patch(patch));
                if !editor.suggestions.with_untracked(Vec::is_empty) {
                    read_suggestions_later(editor);
                }
            }
        }
        Report::End(data) => end(editor, &data),
        Report::Lost => lost(editor, &this),
    });
    *follower.stream.borrow_mut() = stream;
}

fn lost(editor: Editor, follower: &Rc<Follower>) {
    editor.connect(Connection::Reconnecting);
    let failures = follower.failures.get();
    follower.failures.set(failures.saturating_add(1));
    let longest = PAUSE_MS_MIN.saturating_mul(2_i32.saturating_pow(failures.min(8))).min(PAUSE_MS_MAX);
    let pause = f64::from(longest) * (0.5 + js_sys::Math::random() / 2.0);
    let again = follower.clone();
    dom::after(pause as i32, move || {
        if dom::window().navigator().on_line() && !dom::document().hidden() {
            follow(editor, &again);
        }
    });
}

/// The canvas has ended.
fn end(editor: Editor, data: &str) {
    let status = js_sys::JSON::parse(data).ok().and_then(|data| dom::text(&data, "status"));
    let status = status.and_then(|status| Status::parse(&status)).unwrap_or(Status::Completed);
    editor.mode.set(Mode::Ended(status));
}

/// Reads the newest document, the status and the role, and then the patches that were skipped.
pub fn reload(editor: Editor) {
    spawn_local(async move {
        if read(editor, None).await && editor.read_to() < editor.version() {
            read_missing(editor).await;
        }
    });
}

/// Returns whether the canvas could be read.
async fn read(editor: Editor, kept: Option<Outbox>) -> bool {
    match get(&editor.address(""), OpenCanvas::read).await {
        Ok(canvas) => {
            editor.open(canvas, kept);
            editor.connect(Connection::Live);
            true
        }
        Err(Failed::Status(SIGNED_OUT)) => {
            editor.connect(Connection::SignedOut);
            false
        }
        Err(_) => {
            editor.connect(Connection::Reconnecting);
            false
        }
    }
}

/// Reads the patches that are missing.
fn catch_up(editor: Editor) {
    spawn_local(async move {
        read_missing(editor).await;
    });
}

/// Reads the patches that are missing, one list after the other. If they are too many, or cannot be read, it reads the
/// newest document. Returns whether it has read all of them.
async fn read_missing(editor: Editor) -> bool {
    let mut after = editor.read_to();
    for _ in 0..LISTS_MAX {
        let address = editor.address(&["/patches?after=", &after.to_string()].concat());
        let Ok(found) = get(&address, |answer| MissingPatches::read(&answer)).await else {
            // The stream has them when it is opened again.
            let _ = read(editor, None).await;
            return false;
        };
        after = found.patches.last().map_or(after, |last| last.sequence);
        found.patches.into_iter().for_each(|patch| editor.receive(Arrival::Patch(patch)));
        editor.release();
        if !found.has_more {
            return true;
        }
    }
    if read(editor, None).await {
        editor.skip_unread();
        if editor.can_type() {
            editor.say(UNREAD);
        }
    }
    false
}

/// Time in which several events cause one request for the suggestions, milliseconds.
const GATHER_MS: i32 = 250;

/// The list may have changed: something waits or waits no more, or an accepted suggestion is one of the patches.
fn read_suggestions_later(editor: Editor) {
    if editor.are_suggestions_due.get_value() {
        return;
    }
    editor.are_suggestions_due.set_value(true);
    dom::after(GATHER_MS, move || {
        editor.are_suggestions_due.set_value(false);
        read_suggestions(editor);
    });
}

/// Reads the suggestions that wait for a decision.
pub fn read_suggestions(editor: Editor) {
    spawn_local(async move {
        if let Ok(found) = get(&editor.address("/suggestions"), |answer| suggestions(&answer)).await
            && editor.suggestions.with_untracked(|shown| *shown != found)
        {
            editor.suggestions.set(found);
        }
    });
}

/// Reads from the API.
pub async fn get<T>(address: &str, read: impl FnOnce(Value) -> Option<T>) -> Result<T, Failed> {
    json::read(&fetch::get_text(address).await?).and_then(read).ok_or(Failed::Unreachable)
}
