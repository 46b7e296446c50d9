//! An answer while it is being given: told to whoever follows the session. Nothing depends on a piece arriving, so a piece
//! that cannot be told is the last one of its answer.

use super::{lease::Lease, limit};
use domain::limit::DELTA_BYTES_MAX;
use std::sync::Arc;
use tokio::{
    sync::watch,
    task::JoinSet,
    time::{sleep, timeout},
};
use wire::worker::Delta;

/// What was said so far, told in pieces by a task of its own: a model is never kept waiting.
#[derive(Debug)]
pub struct Voice {
    said: watch::Sender<String>,
    /// Ends with it.
    telling: JoinSet<()>,
}

impl Voice {
    /// Begins an answer.
    pub fn begin(lease: Arc<Lease>) -> Self {
        let (said, heard) = watch::channel(String::new());
        let mut telling = JoinSet::new();
        telling.spawn(tell(lease, heard));
        Self { said, telling }
    }

    /// Goes on with it.
    pub fn say(&self, piece: &str) {
        self.said.send_modify(|said| said.push_str(piece));
    }

    /// Falls silent: no piece arrives after this, so none behind the whole answer.
    pub async fn end(mut self) {
        drop(self.said);
        // A piece that hangs is given up: the whole answer does not wait for it.
        let _ = timeout(limit::DELTA_LAST, self.telling.join_next()).await;
    }
}

async fn tell(lease: Arc<Lease>, mut heard: watch::Receiver<String>) {
    let mut told = 0;
    while heard.changed().await.is_ok() {
        loop {
            let piece = next_piece(&heard.borrow_and_update(), told);
            let Some(text) = piece else { break };
            let offset = told as u64;
            told += text.len();
            let delta = Delta { attempt: lease.attempt, offset, text };
            let is_told = lease.desk.tell_delta(&lease.session_id, &delta).await.is_ok();
            if !is_told || heard.has_changed().is_err() {
                return;
            }
            sleep(limit::DELTA_PAUSE).await;
        }
    }
}

/// What was said after the first `told` bytes, as far as one piece goes.
fn next_piece(said: &str, told: usize) -> Option<String> {
    let rest = said.get(told..).filter(|rest| !rest.is_empty())?;
    Some(rest[..rest.floor_char_boundary(DELTA_BYTES_MAX)].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_follow_each_other_and_cut_no_character() {
        let said = "é".repeat(DELTA_BYTES_MAX) + "x";
        let mut told = String::new();
        while let Some(piece) = next_piece(&said, told.len()) {
            assert!(piece.len() <= DELTA_BYTES_MAX);
            told.push_str(&piece);
        }
        assert_eq!(told, said);
    }
}
