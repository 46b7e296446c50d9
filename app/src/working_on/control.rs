//! Starts and ends working sessions. The picker shows a change at once, and takes it back with a message where the
//! server refuses it. Only in the WASM build.

use super::{
    Active, Work,
    active::ActiveChange,
    api::{ActiveWork, CreateTask, StartWork, StopWork},
    channel, flush, queue, recorder,
};
use crate::{
    browser::{dom, id::new_id, task::spawn_local, times::now_text},
    server_function::{Refusal, call},
};
use leptos::prelude::{GetValue as _, Set as _, SetValue as _};
use std::cell::Cell;

/// A page that was hidden this long asks again what is worked on.
const STALE_MS: f64 = 15_000.0;
/// The session that a click has ended, until the server has confirmed the end; the task, while no session is known.
const STOPPING_KEY: &str = "shiftbook-stopping";
/// The creation of a task that has no answer yet: its key, then the name on a line of its own.
const CREATING_KEY: &str = "shiftbook-creating";
const NOT_CREATED: &str = "The task was not created.";

/// Follows the page and the other tabs. Ends what an earlier page of this tab was asked to end.
pub fn start(work: Work) {
    work.paused.set(channel::is_paused());
    let stopping = dom::session_storage().and_then(|storage| storage.get_item(STOPPING_KEY).ok().flatten());
    set_stopping(None);
    if let (Some(active), Some(stopping)) = (work.active_now(), stopping)
        && (stopping == active.session_id || stopping == active.task_id)
    {
        stop(work);
    }
    crate::browser::live::subscribe(move |signal| match signal {
        crate::browser::live::Signal::Session { id, is_running: false, .. }
            if work.active_now().is_some_and(|active| active.session_id == *id) =>
        {
            refresh(work);
        }
        crate::browser::live::Signal::Resync | crate::browser::live::Signal::Opened if work.active_now().is_some() => {
            refresh(work);
        }
        _ => {}
    });
    dom::on_restored(move || {
        // Much may have happened since the page was left.
        spawn_local(async move {
            read_active(work).await;
            recorder::arrive(work);
        });
    });
    let hidden_at = Cell::new(f64::MAX);
    dom::when(&dom::document(), "visibilitychange", move || {
        let now = js_sys::Date::now();
        if dom::document().hidden() {
            hidden_at.set(now);
        } else if now - hidden_at.replace(f64::MAX) > STALE_MS {
            refresh(work);
        }
    });
}

/// Asks the server what is worked on, and shows that.
pub fn refresh(work: Work) {
    spawn_local(read_active(work));
}

async fn read_active(work: Work) {
    let before = work.active_now();
    // An answer from before a click says less than the click.
    if let Ok(active) = call(ActiveWork {}).await
        && work.active_now() == before
    {
        work.show(active);
    }
}

/// Says what came to nothing and why.
fn refused(work: Work, what: &str, refusal: &Refusal) {
    work.say([what, " ", &refusal.message()].concat(), true);
}

/// Works on a task from now on.
pub fn begin(work: Work, task: super::Task) {
    let before = work.active_now();
    if before.as_ref().is_some_and(|before| before.task_id == task.id) {
        return;
    }
    let wanted = Active { task_id: task.id.clone(), title: task.title, started_at: now_text(), ..Active::default() };
    forget_wish_to_stop(work);
    work.show(Some(wanted.clone()));
    spawn_local(async move {
        // What happened before belongs to the session that is about to end.
        let answer = match recorder::send_now(work).await {
            Ok(()) => call(StartWork { task_id: task.id }).await,
            Err(refusal) => Err(refusal),
        };
        let is_stop_wanted = work.stop_wanted.get_value().as_ref() == Some(&wanted);
        if is_stop_wanted {
            forget_wish_to_stop(work);
        }
        let now = work.active_now();
        let unchanged = if is_stop_wanted { now.is_none() } else { now.as_ref() == Some(&wanted) };
        let before = if unchanged { before } else { now };
        match answer {
            Ok(started) => began(work, before, started, is_stop_wanted),
            Err(refusal) => {
                refused(work, "The working session was not started.", &refusal);
                work.show(before);
            }
        }
    });
}

/// The server has started a session.
fn began(work: Work, before: Option<Active>, started: Active, is_stop_wanted: bool) {
    let session_id = started.session_id.clone();
    channel::publish(work, before, ActiveChange::Started(started));
    if !is_stop_wanted {
        recorder::session_began(work);
    } else if work.active_now().is_some_and(|active| active.session_id == session_id) {
        stop(work);
    }
}

/// A later start replaces the wish to stop an earlier one.
fn forget_wish_to_stop(work: Work) {
    if work.stop_wanted.get_value().is_some() {
        work.stop_wanted.set_value(None);
        set_stopping(None);
    }
}

/// Creates a task of this name, for the person themselves, and works on it. If no answer comes, creating the same name
/// again in this tab repeats the request, so the task is made once.
pub fn create(work: Work, name: String) {
    spawn_local(async move {
        if let Err(refusal) = recorder::send_now(work).await {
            return refused(work, NOT_CREATED, &refusal);
        }
        let storage = dom::session_storage();
        let kept = storage.as_ref().and_then(|storage| storage.get_item(CREATING_KEY).ok().flatten());
        let kept = kept.as_ref().and_then(|kept| kept.split_once('\n')).filter(|(_, of)| *of == name);
        let key = kept.map_or_else(new_id, |(key, _)| key.to_owned());
        if let Some(storage) = &storage {
            let _ = storage.set_item(CREATING_KEY, &[&key, "\n", &name].concat());
        }
        let answer = call(CreateTask { name, key: Some(key) }).await;
        let is_unknown = answer.as_ref().is_err_and(|refusal| matches!(refusal.status, 0 | 500..));
        if let Some(storage) = storage.filter(|_| !is_unknown) {
            let _ = storage.remove_item(CREATING_KEY);
        }
        match answer {
            Ok(started) => began(work, work.active_now(), started, false),
            Err(refusal) if is_unknown => {
                let what = "It is not known whether the task was created. Create it again: it is made only once.";
                refused(work, what, &refusal);
            }
            Err(refusal) => refused(work, NOT_CREATED, &refusal),
        }
    });
}

/// Ends the work, as soon as the server has confirmed its start.
pub fn stop(work: Work) {
    let Some(active) = work.active_now() else { return };
    work.show(None);
    if active.is_confirmed() {
        set_stopping(Some(&active.session_id));
        spawn_local(end(work, active));
    } else {
        set_stopping(Some(&active.task_id));
        work.stop_wanted.set_value(Some(active));
    }
}

/// Ends a session. Waiting events are sent first: an ended session takes none.
async fn end(work: Work, active: Active) {
    let ended = match recorder::send_now(work).await {
        Ok(()) => call(StopWork { session_id: active.session_id.clone() }).await,
        Err(refusal) => Err(refusal),
    };
    set_stopping(None);
    match ended {
        Ok(()) => channel::publish(work, work.active_now(), ActiveChange::Ended(active.session_id)),
        Err(refusal) => {
            refused(work, "The working session was not stopped.", &refusal);
            if work.active_now().is_none() {
                work.show(Some(active));
            }
        }
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

/// Forgets the events that were set aside.
pub fn dismiss_refused(work: Work) {
    spawn_local(async move {
        let owner = work.owner();
        if let Ok(rows) = queue::refused(&owner).await {
            let _ = queue::forget_refused(&owner, &rows).await;
        }
        flush::read_refused(work).await;
    });
}
