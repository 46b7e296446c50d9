//! Publishes how far a command is. Progress is best-effort: of several within a pause only the newest is sent.

use super::{lease::Lease, limit};
use std::sync::Arc;
use tokio::{sync::watch, task::JoinSet, time::sleep};
use wire::worker::Progress;

/// Publishes the progress of one session. A task of its own sends it, so that reading from the command never waits for
/// the server.
#[derive(Debug)]
pub struct ProgressSender {
    newest: watch::Sender<Option<Progress>>,
    /// The sending task; dropping the sender aborts it.
    _task: JoinSet<()>,
}

impl ProgressSender {
    /// Starts without progress for the session of `lease`.
    pub fn start(lease: Arc<Lease>) -> Self {
        let (newest, received) = watch::channel(None);
        let mut task = JoinSet::new();
        task.spawn(send(lease, received));
        Self { newest, _task: task }
    }

    /// Replaces the progress that is sent next.
    pub fn push(&self, progress: Progress) {
        self.newest.send_modify(|newest| *newest = Some(progress));
    }
}

/// Sends until the sender is dropped. A refusal, such as that of a server of an earlier version, ends it.
async fn send(lease: Arc<Lease>, mut received: watch::Receiver<Option<Progress>>) {
    while received.changed().await.is_ok() {
        let Some(progress) = received.borrow_and_update().clone() else { continue };
        let progress = Progress { attempt: lease.attempt, ..progress };
        if lease.api.send_progress(lease.session_id, &progress).await.is_err() {
            return;
        }
        sleep(limit::PROGRESS_PAUSE).await;
    }
}
