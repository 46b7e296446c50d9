//! What the tabs of one browser tell each other about the working session, and what they keep for the next page. Only
//! in the WASM build.
//!
//! Tabs synchronize over a BroadcastChannel. Every message names its owner.

use super::{
    Active, Work,
    active::{ActiveChange, after},
    work::Waiting,
};
use crate::browser::{channel::Channel, dom};
use leptos::prelude::{GetUntracked as _, ReadUntracked as _, Set as _, UpdateValue as _, WithValue as _};

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

/// Pauses or resumes recording, in every tab: the others get a storage event.
pub fn set_paused(work: Work, paused: bool) {
    work.paused.set(paused);
    dom::store(PAUSED_KEY, paused.then_some("1"));
}

/// Whether an earlier page of this person left events in the queue. Reads local storage, not the database.
pub fn was_queued(work: Work) -> bool {
    dom::stored(&waiting_key(work)).is_some_and(|left| left != "0")
}

/// Sets the number of queued events here, in the other tabs, and for the next page.
pub fn set_waiting(work: Work, now: Waiting) {
    found_waiting(work, now);
    send(work, if now.full { "full" } else { "waiting" }, &now.count.to_string());
}

/// Sets the number of queued events here and for the next page, if the other tabs know it already.
pub fn found_waiting(work: Work, now: Waiting) {
    // The next page only needs to know whether the queue is empty. Each write causes an event in every other tab.
    let is_waiting = now.count > 0;
    if was_queued(work) != is_waiting {
        dom::store(&waiting_key(work), Some(if is_waiting { "1" } else { "0" }));
    }
    if *work.waiting.read_untracked() != now {
        work.waiting.set(now);
    }
}

fn waiting_key(work: Work) -> String {
    ["shiftbook-waiting ", &work.owner()].concat()
}

/// Shows a change here and sends it to the other tabs. The server has confirmed it. `before` is the earlier state.
pub fn publish(work: Work, before: Option<Active>, change: ActiveChange) {
    match &change {
        ActiveChange::Started(active) => {
            let rest = [active.session_id.as_str(), &active.task_id, &active.started_at, &active.title].join("\n");
            send(work, "started", &rest);
        }
        ActiveChange::Ended(session_id) => send(work, "ended", session_id),
    }
    work.show(after(before, change));
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
            found_waiting(work, Waiting { count: first.parse().unwrap_or_default(), full: word == "full" });
        }
    }
}
