//! Records which pages a person opens while a working session is active. Only in the WASM build.
//!
//! It records two kinds of events: opening a page, and viewing an entity, once per session. No keystrokes, scrolling
//! or pointer movement. Without an active session it attaches no listeners and opens no database.

use super::{
    Work, channel,
    entity_ref::extract_entity_ref_from_path,
    flush::{self, Ended},
    left::{self, Left},
    queue::{self, Added, Row, Stored},
    work::Waiting,
};
use crate::{
    browser::{dom, id::new_id, task::spawn_local, times::now_text},
    server_function::Refusal,
};
use leptos::prelude::{GetUntracked as _, UpdateValue as _};

/// Interval between two flushes of the queue, in milliseconds.
const SEND_EVERY_MS: i32 = 5_000;
/// Attribute of the root element: the path of the page, once it is recorded. Tests wait for it.
const RECORDED: &str = "data-recorded";
/// Session storage key of this tab's id, which is kept across its pages.
const TAB_KEY: &str = "shiftbook-tab";

/// Runs once per page: records it if a session is active, and sends what earlier pages queued.
pub fn start(work: Work) {
    let is_active = work.active_now().is_some();
    let left = left::take(&work.owner());
    if !is_active && left.is_empty() && !channel::was_queued(work) {
        return;
    }
    let document = dom::document();
    // A browser may prerender a page and never show it.
    let is_ahead = dom::member(&document, "prerendering").is_truthy();
    if is_active && is_ahead {
        dom::when(&document, "prerenderingchange", move || arrive(work));
    }
    listen(work, is_active && !is_ahead, left);
}

/// Starts recording, because a session has started on this page.
pub fn session_began(work: Work) {
    listen(work, true, Vec::new());
}

/// Attaches the listeners of the page; every navigation loads a new page. Records the pages that were left before, and
/// then this page if it is visible.
fn listen(work: Work, arrived: bool, left: Vec<Left>) {
    if work.tab.try_update_value(|tab| std::mem::replace(&mut tab.is_listening, true)) == Some(true) {
        if arrived {
            arrive(work);
        }
        return;
    }
    let window = dom::window();
    dom::when(&dom::document(), "visibilitychange", move || {
        if dom::document().hidden() {
            send(work);
        }
    });
    dom::when(&window, "pagehide", move || flush::hint(work));
    dom::when(&window, "online", move || send(work));
    dom::every(SEND_EVERY_MS, move || send(work));
    spawn_local(async move {
        keep_left(work, left).await;
        let mut found = if arrived { record(work, true).await } else { None };
        if found.is_none() {
            found = queue::all(&work.owner()).await.ok();
        }
        if let Some(found) = found {
            flush::begin(work, &tab(), found);
        }
        if work.waiting.get_untracked().count > 0 {
            let due = f64::from(SEND_EVERY_MS) - flush::since_sent();
            dom::after(due.clamp(0.0, f64::from(SEND_EVERY_MS)) as i32, move || send(work));
        }
    });
}

/// Flushes the queue, unless another tab does.
fn send(work: Work) {
    if work.waiting.get_untracked().count > 0 {
        spawn_local(async move {
            flush::flush(work, false).await;
        });
    }
}

/// Flushes the queue. Reads the database, because messages from other tabs may be late.
///
/// # Errors
/// Events still wait. Has only the message to show.
pub async fn send_now(work: Work) -> Result<(), Refusal> {
    let why = match flush::flush(work, true).await {
        Ended::Empty | Ended::Elsewhere => return Ok(()),
        Ended::Unreachable => "Events could not be sent yet.",
        Ended::SignedOut => "You are signed out.",
    };
    Err(Refusal { title: why.to_owned(), ..Refusal::default() })
}

/// Records the current page.
pub fn arrive(work: Work) {
    spawn_local(async move {
        record(work, false).await;
    });
}

/// Records the current page. With `look` it returns all queued rows; `None` if the database failed.
async fn record(work: Work, look: bool) -> Option<Stored> {
    let root = dom::root()?;
    if channel::is_paused() || dom::find(&root, "[data-unrecorded]").is_some() {
        return None;
    }
    let session_id = work.confirmed()?.session_id;
    let path = dom::window().location().pathname().ok()?;
    let at = now_text();
    let visit = Visit { event: event("human.navigate", &at, &[("pathname", &path)]), session_id, path, at };
    // If the page is left before the database has answered, its first script keeps the event.
    let _ = root.remove_attribute(RECORDED);
    let _ = root.set_attribute("data-event", &visit.event);
    let path = visit.path.clone();
    let known = keep(work, visit, look).await;
    let _ = root.set_attribute(RECORDED, &path);
    known
}

/// Queues the pages that were left before they were recorded, unless the database had their events all the same.
async fn keep_left(work: Work, left: Vec<Left>) {
    if left.is_empty() {
        return;
    }
    let queued = queue::all(&work.owner()).await.map(|found| found.waiting).unwrap_or_default();
    for visit in left.into_iter().map(Visit::of_left) {
        if queued.iter().all(|row| row.json != visit.event) {
            keep(work, visit, false).await;
        }
    }
}

/// A page that was opened, with its event.
struct Visit {
    session_id: String,
    path: String,
    at: String,
    event: String,
}

impl Visit {
    fn of_left(left: Left) -> Self {
        let Left { session_id, path, at, event: made } = left;
        let made = made.unwrap_or_else(|| event("human.navigate", &at, &[("pathname", &path)]));
        Self { event: made, session_id, path, at }
    }
}

/// Queues the events of a page. With `look` it returns all queued rows; `None` if the database failed.
async fn keep(work: Work, visit: Visit, look: bool) -> Option<Stored> {
    let Visit { session_id, path, at, event: navigated } = visit;
    let tab = tab();
    let row = |json| Row { number: 0.0, session_id: session_id.clone(), tab: tab.clone(), json };
    let always = row(navigated);
    let once = extract_entity_ref_from_path(&path).map(|entity| {
        let id = entity.entity_id.to_ascii_lowercase();
        // An entity's page names its type in an attribute, because its path may not have it.
        let is_here = dom::window().location().pathname().is_ok_and(|here| here == path);
        let marked = dom::root().filter(|_| is_here).and_then(|root| dom::find(&root, "[data-entity-type]"));
        let marked = marked.and_then(|element| element.get_attribute("data-entity-type"));
        let entity_type = entity.entity_type.map(str::to_owned).or(marked);
        let mut members = vec![("entityId", id.as_str())];
        members.extend(entity_type.as_deref().map(|kind| ("entityType", kind)));
        members.push(("pathname", &path));
        let name = [&session_id, " ", &id].concat();
        (name, row(event("human.entity_view", &at, &members)))
    });
    let mut known = None;
    match queue::keep(&work.owner(), always, once, look).await {
        Ok((Added::Queued(rows), found)) => {
            let count = match &found {
                Some(found) => found.waiting.len() as u32,
                None => work.waiting.get_untracked().count + rows.len() as u32,
            };
            rows.into_iter().for_each(|row| flush::remember(work, row));
            channel::set_waiting(work, Waiting { count, full: false });
            known = found;
        }
        Ok((Added::Full, _)) => {
            channel::set_waiting(work, Waiting { full: true, ..work.waiting.get_untracked() });
            let count = queue::QUEUED_MAX.to_string();
            let words = " events are waiting for the server, the most that this browser keeps. Pages are not recorded until it can be reached.";
            work.say([&count, words].concat(), true);
        }
        Err(_) => {
            work.say("This browser does not store data for Shiftbook, so pages are not recorded.".to_owned(), true);
        }
    }
    known
}

/// An event in the form of the API, with a new id and with its time in the metadata.
fn event(kind: &str, at: &str, members: &[(&str, &str)]) -> String {
    let metadata = dom::object(&[members, &[("at", at)]].concat());
    let event = dom::object(&[("id", &new_id()), ("type", kind), ("at", at)]);
    let _ = js_sys::Reflect::set(&event, &"metadata".into(), &metadata);
    js_sys::JSON::stringify(&event).map(String::from).unwrap_or_default()
}

/// This tab's id, created on its first page.
fn tab() -> String {
    let Some(storage) = dom::session_storage() else { return String::new() };
    storage.get_item(TAB_KEY).ok().flatten().unwrap_or_else(|| {
        let name = new_id();
        let _ = storage.set_item(TAB_KEY, &name);
        name
    })
}
