//! One live stream per browser, however many tabs it has. Only in the WASM build.
//!
//! The tab that holds the Web Lock reads `GET /api/live` and forwards signals to the other tabs over a
//! BroadcastChannel. Signals carry no content: listeners read what they show again. After a gap all listeners read
//! again, so no signal has to arrive.

mod hub;
mod leader;

pub use hub::{Signal, State, is_leader, subscribe};

use crate::browser::{lock, task::spawn_local};

/// Joins the stream; `watch` is called with its state.
pub fn start(watch: impl Fn(State) + 'static) {
    hub::watch(watch);
    hub::open_channel(leader::open_if_signed_out);
    // The lock is held until this page is closed. A browser without Web Locks reads a stream in each tab.
    spawn_local(lock::exclusive("shiftbook-live", true, async {
        leader::lead();
        std::future::pending::<()>().await;
    }));
}
