//! What the picker does: optimistic, and taken back with a message where the server refuses. Only in the WASM build.

use super::{
    active::{Active, News},
    choice::Task,
    chooser, flush, marker, queue, recorder, state, widget,
};
use crate::browser::{dom, fetch, patch, times};
use std::cell::{Cell, RefCell};
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::spawn_local;
use web_sys::{Event, PageTransitionEvent};

/// A page that was hidden this long asks again what is worked on.
const STALE_MS: f64 = 15_000.0;
/// The session that a click has ended, until the server has confirmed the end; the task, while no session is known.
const STOPPING_KEY: &str = "shiftbook-stopping";
/// Tasks read at once.
const TASKS_MAX: &str = "200";

thread_local! {
    /// The start in flight whose session is to end as soon as the server confirms it.
    static STOP_WANTED: RefCell<Option<Active>> = const { RefCell::new(None) };
}

/// Wakes what people need on this page.
pub fn start() {
    let Some((owner, active)) = widget::read() else { return };
    state::start(owner, active.clone());
    widget::start();
    chooser::start();
    marker::start();
    recorder::start();
    read_day();
    let stopping = dom::session_storage().and_then(|storage| storage.get_item(STOPPING_KEY).ok().flatten());
    set_stopping(None);
    if let (Some(active), Some(stopping)) = (active, stopping)
        && (stopping == active.session_id || stopping == active.task_id)
    {
        stop();
    }
    crate::live::subscribe(|signal| match signal {
        crate::live::Signal::Session { id, is_running: false, .. }
            if state::active().is_some_and(|active| active.session_id == *id) =>
        {
            refresh();
        }
        crate::live::Signal::Resync if state::active().is_some() => refresh(),
        _ => {}
    });
    dom::on(&dom::window(), "pageshow", |event: PageTransitionEvent| {
        if event.persisted() {
            // The back/forward cache brought this page back as it was; much may have happened since.
            spawn_local(async {
                read_active().await;
                recorder::arrive();
            });
        }
    });
    let hidden_at = Cell::new(f64::MAX);
    dom::on(&dom::document(), "visibilitychange", move |_: Event| {
        let now = js_sys::Date::now();
        if dom::document().hidden() {
            hidden_at.set(now);
        } else if now - hidden_at.replace(f64::MAX) > STALE_MS {
            refresh();
        }
    });
}

/// Reads the person's day again, where the page shows it: only the browser knows when their day began.
pub fn read_day() {
    let Some(section) = dom::by_id("your-day") else { return };
    spawn_local(async move {
        let detail = section.get_attribute("data-detail").unwrap_or_default();
        let url = ["/working-on/day?detail=", &detail, "&timezone=", &times::zone()].concat();
        let Ok(html) = fetch::get_text(&url).await else { return };
        if let Some(new) = patch::parse(&html).and_then(|fragment| patch::children(&fragment).into_iter().next()) {
            patch::update(&section, &new);
        }
    });
}

/// Asks the server what is worked on, and shows that.
pub fn refresh() {
    spawn_local(read_active());
}

async fn read_active() {
    let Ok(answer) = fetch::get_json("/api/sessions/human/active").await else { return };
    state::show(parse(&answer));
}

/// `{session, task}` as the picker shows it.
fn parse(answer: &JsValue) -> Option<Active> {
    let (session, task) = (dom::member(answer, "session"), dom::member(answer, "task"));
    Some(Active {
        session_id: dom::text(&session, "id")?,
        task_id: dom::text(&task, "id")?,
        title: dom::text(&task, "name")?,
        started_at: dom::text(&session, "startedAt")?,
        started_words: String::new(),
    })
}

/// Posts an object; the answer where it was accepted, else says what came to nothing and why.
async fn ask(url: &str, object: &[(&str, &str)], failed: &str) -> Option<JsValue> {
    let body = js_sys::JSON::stringify(&dom::object(object)).map(String::from).unwrap_or_default();
    let answer = fetch::post(url, &body).await;
    match fetch::refusal(answer.as_ref()) {
        None => answer.map(|answer| answer.json),
        Some(why) => {
            widget::say(&[failed, " ", &why].concat(), true);
            None
        }
    }
}

/// Works on a task from now on.
pub fn begin(task: Task) {
    let before = state::active();
    if before.as_ref().is_some_and(|before| before.task_id == task.id) {
        return;
    }
    let asked =
        Active { task_id: task.id.clone(), title: task.title, started_at: recorder::now_text(), ..Active::default() };
    // A later start replaces the wish to stop an earlier one.
    if STOP_WANTED.take().is_some() {
        set_stopping(None);
    }
    state::show(Some(asked.clone()));
    spawn_local(async move {
        // What happened before belongs to the session that is about to end.
        recorder::send_now().await;
        let answer =
            ask("/api/sessions/human/start", &[("taskId", &task.id)], "The working session was not started.").await;
        let stop_wanted = STOP_WANTED.with_borrow(|wanted| wanted.as_ref() == Some(&asked));
        if stop_wanted {
            STOP_WANTED.set(None);
            set_stopping(None);
        }
        let now = state::active();
        let unchanged = if stop_wanted { now.is_none() } else { now.as_ref() == Some(&asked) };
        let before = if unchanged { before } else { now };
        match answer.as_ref().and_then(parse) {
            Some(started) => {
                let session_id = started.session_id.clone();
                state::tell(before, News::Started(started));
                if !stop_wanted {
                    recorder::session_began();
                } else if state::active().is_some_and(|active| active.session_id == session_id) {
                    stop();
                }
            }
            None => state::show(before),
        }
    });
}

/// Makes a task of this name, for the person themselves, and works on it.
pub fn create(name: String, user_id: String) {
    spawn_local(async move {
        let new = [("name", name.as_str()), ("assignedTo", user_id.as_str())];
        let made = ask("/api/actions", &new, "The task was not created.").await;
        if let Some(id) = made.and_then(|made| dom::text(&made, "id")) {
            begin(Task { id, title: name });
        }
    });
}

/// Ends the work, as soon as the server has confirmed its start.
pub fn stop() {
    let Some(active) = state::active() else { return };
    state::show(None);
    if active.is_confirmed() {
        set_stopping(Some(&active.session_id));
        spawn_local(end(active));
    } else {
        set_stopping(Some(&active.task_id));
        STOP_WANTED.set(Some(active));
    }
}

/// Ends a session. Waiting events are sent first: an ended session takes none.
async fn end(active: Active) {
    recorder::send_now().await;
    let session_id = [("sessionId", active.session_id.as_str())];
    let ended = ask("/api/sessions/human/stop", &session_id, "The working session was not stopped.").await;
    set_stopping(None);
    if ended.is_some() {
        state::tell(state::active(), News::Ended(active.session_id));
        read_day();
    } else if state::active().is_none() {
        state::show(Some(active));
    }
}

/// Keeps what is being stopped in this tab, so that a navigation right after the click does not lose it.
fn set_stopping(id: Option<&str>) {
    let Some(storage) = dom::session_storage() else { return };
    let _ = match id {
        Some(id) => storage.set_item(STOPPING_KEY, id),
        None => storage.remove_item(STOPPING_KEY),
    };
}

/// Reads the person's active tasks whose names have what was typed.
pub fn read_tasks(typed: String) {
    spawn_local(async move {
        let query = String::from(js_sys::encode_uri_component(typed.trim()));
        let q = if query.is_empty() { "" } else { "&q=" };
        let url = ["/api/actions?status=active&assignedTo=me&limit=", TASKS_MAX, q, &query].concat();
        let Ok(page) = fetch::get_json(&url).await else {
            widget::say(&["Your tasks could not be loaded. ", fetch::UNREACHABLE].concat(), true);
            return;
        };
        let items = js_sys::Array::from(&dom::member(&page, "items"));
        let task = |item: JsValue| Some(Task { id: dom::text(&item, "id")?, title: dom::text(&item, "name")? });
        let partial = query.is_empty().then(|| dom::text(&page, "nextCursor").is_some());
        chooser::set_tasks(items.iter().filter_map(task).collect(), partial);
    });
}

/// Forgets the events that were set aside.
pub fn dismiss_refused() {
    spawn_local(async {
        let owner = state::owner();
        if let Ok(rows) = queue::refused(&owner).await {
            let _ = queue::forget_refused(&owner, &rows).await;
        }
        flush::tell_refused().await;
    });
}
