//! What the picker and the marker do: optimistic, and taken back with a message where the server refuses.
//! Only in the WASM build.

use super::{
    active::{Active, News},
    choice::Task,
    flush::Ended,
    queue, recorder,
    state::{self, Signals},
};
use crate::browser::{dom, fetch, patch, times};
use leptos::prelude::*;
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::spawn_local;
use web_sys::{Event, PageTransitionEvent};

/// A page that was away this long asks again what is worked on.
const STALE_MS: f64 = 15_000.0;
/// The draft of a marker: its id, then its text.
const DRAFT_KEY: &str = "shiftbook-marker";
/// A session that a click has ended, until the server has said so.
const STOPPING_KEY: &str = "shiftbook-stopping";
/// Tasks read at once.
const TASKS_MAX: u32 = 200;
const UNREACHABLE: &str = "The server cannot be reached.";

/// Wakes what the picker needs on this page.
pub fn start(owner: String, signals: Signals) {
    state::start(owner, signals);
    recorder::start();
    read_day();
    // The day's list shows what the picker shows.
    let before = std::cell::RefCell::new(state::active());
    Effect::new(move |_| {
        let now = signals.active.get().filter(Active::is_confirmed);
        if before.replace(now.clone()).map(|a| a.session_id) != now.map(|a| a.session_id) {
            read_day();
        }
    });
    let stopping = dom::session_storage().and_then(|storage| storage.get_item(STOPPING_KEY).ok().flatten());
    if let Some(active) = state::active()
        && stopping.as_deref() == Some(&active.session_id)
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
    let hidden_at = std::cell::Cell::new(f64::MAX);
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
fn read_day() {
    let Some(section) = dom::by_id("your-day") else { return };
    spawn_local(async move {
        let detail = section.get_attribute("data-detail").unwrap_or_default();
        let url = format!("/working-on/day?detail={detail}&timezone={}", times::zone());
        let Ok(html) = fetch::get_text(&url).await else { return };
        if let Some(new) = patch::parse(&html).and_then(|fragment| patch::children(&fragment).into_iter().next()) {
            patch::update(&section, &new);
        }
    });
}

fn refresh() {
    spawn_local(async {
        read_active().await;
    });
}

/// Asks the server what is worked on, and shows that.
async fn read_active() {
    let Ok(answer) = fetch::get_json("/api/sessions/human/active").await else { return };
    state::show(parse(&answer));
}

/// `{session, task}` as the picker shows it.
fn parse(answer: &JsValue) -> Option<Active> {
    let (session, task) = (dom::member(answer, "session"), dom::member(answer, "task"));
    let started_at = dom::text(&session, "startedAt").unwrap_or_default();
    Some(Active {
        session_id: dom::text(&session, "id")?,
        task_id: dom::text(&task, "id")?,
        title: dom::text(&task, "name")?,
        started_words: String::new(),
        started_at,
    })
}

fn body(key: &str, value: &str) -> String {
    let object = js_sys::Object::new();
    let _ = js_sys::Reflect::set(&object, &key.into(), &value.into());
    js_sys::JSON::stringify(&object).map(String::from).unwrap_or_default()
}

/// Works on a task from now on.
pub fn begin(task: Task) {
    let before = state::active();
    if before.as_ref().is_some_and(|before| before.task_id == task.id) {
        return;
    }
    let now = String::from(js_sys::Date::new_0().to_iso_string());
    let asked = Active { task_id: task.id.clone(), title: task.title, started_at: now, ..Active::default() };
    state::show(Some(asked.clone()));
    spawn_local(async move {
        // What happened before belongs to the session that is about to end.
        recorder::send_now().await;
        let answer = fetch::post("/api/sessions/human/start", &body("taskId", &task.id)).await;
        match answer {
            Some(answer) if answer.is_good() => {
                if let Some(started) = parse(&answer.json) {
                    if state::active().as_ref() == Some(&asked) {
                        state::show(before.filter(|before| before.session_id > started.session_id));
                    }
                    state::tell(News::Started(started));
                    recorder::session_began();
                }
            }
            refused => {
                if state::active().as_ref() == Some(&asked) {
                    state::show(before);
                }
                let why = refused.map_or_else(|| UNREACHABLE.to_owned(), |answer| answer.words());
                state::say(format!("Nothing was started. {why}"), true);
            }
        }
    });
}

/// Makes a task of this name, for the person themselves, and works on it.
pub fn create(name: String, user_id: String) {
    spawn_local(async move {
        let object = js_sys::Object::new();
        let _ = js_sys::Reflect::set(&object, &"name".into(), &name.as_str().into());
        let _ = js_sys::Reflect::set(&object, &"assignedTo".into(), &user_id.into());
        let made = js_sys::JSON::stringify(&object).map(String::from).unwrap_or_default();
        match fetch::post("/api/actions", &made).await {
            Some(answer) if answer.is_good() => {
                if let Some(id) = dom::text(&answer.json, "id") {
                    begin(Task { id, title: name });
                }
            }
            refused => {
                let why = refused.map_or_else(|| UNREACHABLE.to_owned(), |answer| answer.words());
                state::say(format!("The task was not created. {why}"), true);
            }
        }
    });
}

/// Ends the work. What waits is sent first: an ended session takes no events.
pub fn stop() {
    let Some(active) = state::active().filter(Active::is_confirmed) else { return };
    let storage = dom::session_storage();
    if let Some(storage) = &storage {
        // A navigation right after the click must not lose it.
        let _ = storage.set_item(STOPPING_KEY, &active.session_id);
    }
    state::show(None);
    spawn_local(async move {
        recorder::send_now().await;
        let answer = fetch::post("/api/sessions/human/stop", &body("sessionId", &active.session_id)).await;
        if let Some(storage) = &storage {
            let _ = storage.remove_item(STOPPING_KEY);
        }
        match answer {
            Some(answer) if answer.is_good() => state::tell(News::Ended(active.session_id)),
            refused => {
                if state::active().is_none() {
                    state::show(Some(active));
                }
                let why = refused.map_or_else(|| UNREACHABLE.to_owned(), |answer| answer.words());
                state::say(format!("The work was not ended. {why}"), true);
            }
        }
    });
}

/// Reads the person's active tasks. With more of them than are read at once, `typed` goes to the server too.
pub fn read_tasks(tasks: RwSignal<Option<Vec<Task>>>, partial: RwSignal<bool>, typed: &str) {
    let query = String::from(js_sys::encode_uri_component(typed.trim()));
    let query = if query.is_empty() { query } else { format!("&q={query}") };
    spawn_local(async move {
        let url = format!("/api/actions?status=active&assignedTo=me&limit={TASKS_MAX}{query}");
        let Ok(page) = fetch::get_json(&url).await else {
            if tasks.get_untracked().is_none() {
                tasks.set(Some(Vec::new()));
                state::say(format!("Your tasks could not be read. {UNREACHABLE}"), true);
            }
            return;
        };
        let items = js_sys::Array::from(&dom::member(&page, "items"));
        let task = |item: JsValue| Some(Task { id: dom::text(&item, "id")?, title: dom::text(&item, "name")? });
        tasks.set(Some(items.iter().filter_map(task).collect()));
        if query.is_empty() {
            partial.set(dom::text(&page, "nextCursor").is_some());
        }
    });
}

/// The draft of a marker that was not recorded yet.
pub fn draft() -> String {
    let stored = dom::session_storage().and_then(|storage| storage.get_item(DRAFT_KEY).ok().flatten());
    stored.and_then(|stored| stored.split_once('\n').map(|(_, text)| text.to_owned())).unwrap_or_default()
}

/// Keeps the draft. A text that changes is another event.
pub fn keep_draft(text: &str) {
    let Some(storage) = dom::session_storage() else { return };
    let _ = if text.is_empty() {
        storage.remove_item(DRAFT_KEY)
    } else {
        storage
            .set_item(DRAFT_KEY, &format!("{} {}\n{text}", recorder::new_id(), js_sys::Date::new_0().to_iso_string()))
    };
}

/// Records a marker. Resolves when the server has it; otherwise says why not.
pub async fn record_marker(text: &str) -> Result<(), String> {
    let active = state::active().filter(Active::is_confirmed);
    let Some(active) = active else { return Err("You are not working on anything any more.".to_owned()) };
    // A repeat of what may have arrived unheard must be the same event: id and time were made with the draft.
    let stored = dom::session_storage().and_then(|storage| storage.get_item(DRAFT_KEY).ok().flatten());
    let kept = stored.as_deref().and_then(|stored| stored.split_once('\n')).filter(|(_, kept)| *kept == text);
    let (id, at) = match kept.and_then(|(head, _)| head.split_once(' ')) {
        Some((id, at)) => (id.to_owned(), at.to_owned()),
        None => (recorder::new_id(), String::from(js_sys::Date::new_0().to_iso_string())),
    };
    // Pages opened before the note come before it in the log.
    match recorder::send_now().await {
        Ended::Unreachable => return Err(UNREACHABLE.to_owned()),
        Ended::SignedOut => return Err("You are signed out.".to_owned()),
        Ended::Empty | Ended::Elsewhere => {}
    }
    let metadata = js_sys::Object::new();
    let _ = js_sys::Reflect::set(&metadata, &"at".into(), &at.as_str().into());
    let event = recorder::event_json(&id, "human.marker", &at, &metadata.into(), Some(text));
    let url = format!("/api/sessions/{}/events", active.session_id);
    match fetch::post(&url, &format!("{{\"events\":[{event}]}}")).await {
        Some(answer) if answer.is_good() => Ok(()),
        Some(answer) if matches!(answer.status, 404 | 409) => {
            refresh();
            Err(format!("{} Start working on a task again, then record it there.", answer.words()))
        }
        Some(answer) => Err(answer.words()),
        None => Err(UNREACHABLE.to_owned()),
    }
}

/// Forgets the events that were set aside.
pub fn dismiss_refused() {
    spawn_local(async {
        if let Ok(rows) = queue::refused(&state::owner()).await {
            let _ = queue::forget_refused(&rows).await;
        }
        state::set_refused(Vec::new());
    });
}
