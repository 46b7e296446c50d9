//! Reports of a worker's progress.

use std::fmt::Debug;

/// Receives what a worker does with its sessions. Every started session is followed by one call of
/// [`Observer::session_ended`] or [`Observer::session_left`].
pub trait Observer: Debug + Send + Sync + 'static {
    /// Work on a session starts.
    fn session_started(&self);

    /// The session is recorded as completed or, if `completed` is false, as failed.
    fn session_ended(&self, completed: bool);

    /// The session was yielded, released or lost: this worker neither completed nor failed it.
    fn session_left(&self);

    /// The server acknowledged `count` events.
    fn events_appended(&self, count: usize);

    /// Shows or logs a message for the operator: one line of text.
    fn message(&self, text: &str);
}

/// Writes the messages to the server's log at level info and ignores everything else.
#[derive(Debug)]
pub struct LogObserver;

impl Observer for LogObserver {
    fn session_started(&self) {}

    fn session_ended(&self, _completed: bool) {}

    fn session_left(&self) {}

    fn events_appended(&self, _count: usize) {}

    fn message(&self, text: &str) {
        tracing::info!("{text}");
    }
}
