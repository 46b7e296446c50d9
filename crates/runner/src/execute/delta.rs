//! Publishes a model's reply while it is being generated. Deltas are best-effort: after the first one that cannot be
//! sent, the rest of the reply is published only as the recorded event.

use super::{lease::Lease, limit};
use domain::limit::DELTA_BYTES_MAX;
use std::sync::Arc;
use tokio::{
    sync::watch,
    task::JoinSet,
    time::{sleep, timeout},
};
use wire::worker::Delta;

/// Publishes one reply in pieces. A task of its own sends them, so that reading from the model never waits for the
/// server.
#[derive(Debug)]
pub struct DeltaSender {
    reply: watch::Sender<String>,
    /// The sending task; dropping the sender aborts it.
    task: JoinSet<()>,
}

impl DeltaSender {
    /// Starts an empty reply for the session of `lease`.
    pub fn start(lease: Arc<Lease>) -> Self {
        let (reply, received) = watch::channel(String::new());
        let mut task = JoinSet::new();
        task.spawn(send_pieces(lease, received));
        Self { reply, task }
    }

    /// Appends text to the reply.
    pub fn push(&self, piece: &str) {
        self.reply.send_modify(|reply| reply.push_str(piece));
    }

    /// Stops sending and waits for a piece in flight, for at most [`limit::DELTA_LAST`]. No piece is sent afterwards,
    /// so none can arrive after the event that records the whole reply.
    pub async fn finish(mut self) {
        drop(self.reply);
        // On a timeout the task is aborted with its piece.
        let _ = timeout(limit::DELTA_LAST, self.task.join_next()).await;
    }
}

async fn send_pieces(lease: Arc<Lease>, mut received: watch::Receiver<String>) {
    let mut sent = 0;
    while received.changed().await.is_ok() {
        loop {
            let piece = next_piece(&received.borrow_and_update(), sent);
            let Some(text) = piece else { break };
            let offset = sent as u64;
            sent += text.len();
            let delta = Delta { attempt: lease.attempt, offset, text };
            let is_sent = lease.api.send_delta(lease.session_id, &delta).await.is_ok();
            if !is_sent || received.has_changed().is_err() {
                return;
            }
            sleep(limit::DELTA_PAUSE).await;
        }
    }
}

/// The text after the first `sent` bytes, cut at a character boundary within [`DELTA_BYTES_MAX`]; `None` at the end.
fn next_piece(reply: &str, sent: usize) -> Option<String> {
    let rest = reply.get(sent..).filter(|rest| !rest.is_empty())?;
    Some(rest[..rest.floor_char_boundary(DELTA_BYTES_MAX)].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_follow_each_other_and_cut_no_character() {
        let reply = "é".repeat(DELTA_BYTES_MAX) + "x";
        let mut sent = String::new();
        while let Some(piece) = next_piece(&reply, sent.len()) {
            assert!(piece.len() <= DELTA_BYTES_MAX);
            sent.push_str(&piece);
        }
        assert_eq!(sent, reply);
    }
}
