//! What the tabs of one browser tell each other about the working session, and what they keep for the next page. Only
//! in the WASM build.

use super::{
    Active, Work,
    active::{ActiveChange, after},
    work::Waiting,
};
use crate::browser::{channel::Channel, dom};
use leptos::prelude::{GetUntracked as _, Set as _, UpdateValue as _, WithValue as _};

const CHANNEL_NAME: &str = "shiftbook-working";
const PAUSED_KEY: &str = "shiftbook-recorder-paused";

/// Follows the messages of the other tabs.
pub fn follow(work: Work) {
    let joined = Channel::join(CHANNEL_NAME, move |message| receive(work, message));
    work.tab.update_value(|tab| tab.channel = joined);
    dom::on_stored(PAUSED_KEY, move || work.paused.set(is_paused()));
}

/// Whether recording is paused in this browser.
pub fn is_paused() -> bool {
    dom::stored(PAUSED_KEY).is_some()
}

/// Keeps whether recording is paused. The other tabs get a storage event.
pub fn keep_paused(paused: bool) {
    dom::store(PAUSED_KEY, paused.then_some("1"));
}

/// Whether an earlier page of this person left events in the queue. Reads local storage, not the database.
pub fn was_queued(work: Work) -> bool {
    dom::stored(&waiting_key(work)).is_some_and(|left| left != "0")
}

/// Keeps for the next page whether events are queued.
pub fn save_queued(work: Work, is_waiting: bool) {
    dom::store(&waiting_key(work), Some(if is_waiting { "1" } else { "0" }));
}

fn waiting_key(work: Work) -> String {
    ["shiftbook-waiting ", &work.owner()].concat()
}

/// Sends a change of the active session to the other tabs.
pub fn send_change(work: Work, change: &ActiveChange) {
    match change {
        ActiveChange::Started(active) => {
            let rest = [active.session_id.as_str(), &active.task_id, &active.started_at, &active.title].join("\n");
            send(work, "started", &rest);
        }
        ActiveChange::Ended(session_id) => send(work, "ended", session_id),
    }
}

/// Sends the number of queued events to the other tabs.
pub fn send_waiting(work: Work, now: Waiting) {
    send(work, if now.full { "full" } else { "waiting" }, &now.count.to_string());
}

fn send(work: Work, word: &str, rest: &str) {
    let message = [&work.owner(), word, rest].join("\n");
    work.tab.with_value(|tab| {
        if let Some(channel) = &tab.channel {
            channel.send(&message);
        }
    });
}

fn receive(work: Work, message: &str) {
    let mut lines = message.splitn(6, '\n');
    let mut next = || lines.next().unwrap_or_default().to_owned();
    if next() != work.owner() {
        return;
    }
    let (word, first) = (next(), next());
    match word.as_str() {
        "started" => {
            let (task_id, started_at) = (next(), next());
            let started =
                Active { session_id: first, task_id, title: next(), started_at, started_words: String::new() };
            work.show(after(work.active.get_untracked(), ActiveChange::Started(started)));
        }
        "ended" => work.show(after(work.active.get_untracked(), ActiveChange::Ended(first))),
        word => {
            work.found_waiting(Waiting { count: first.parse().unwrap_or_default(), full: word == "full" });
        }
    }
}
