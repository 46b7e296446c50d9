//! Who is on a canvas now, and at which block. It is never stored: a report counts for 30 s.

use crate::limit::{CANVAS_PEERS_MAX, CANVAS_PRESENCE_MS_MAX, CANVAS_PRESENCE_PAUSE_MS, CANVAS_PRESENCE_PER_SECOND};
use serde::{Deserialize, Serialize};

/// A range of the text of a block, in UTF-16 units, as browsers count them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Selection {
    /// Where it begins.
    pub start: u32,
    /// Where it ends; the same as `start` for a caret.
    pub end: u32,
}

/// Where a participant is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Presence {
    /// The participant, as the actor of events.
    pub by: String,
    /// Their name, at most [`crate::limit::CANVAS_PEER_NAME_CHARS_MAX`] characters.
    pub name: String,
    /// Id of the block; `None` if they are at none.
    pub block: Option<String>,
    /// The selected part of its text.
    pub selection: Option<Selection>,
    /// Whether they are still on the canvas.
    pub is_here: bool,
}

/// Why a report is not sent to others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotSent {
    /// The last one of this participant is less than [`CANVAS_PRESENCE_PAUSE_MS`] ago, or there were
    /// [`CANVAS_PRESENCE_PER_SECOND`] in this second.
    TooSoon,
    /// There are [`CANVAS_PEERS_MAX`] others.
    Full,
}

/// The participants who are on one canvas now. A participant is there once, whatever number of tabs they have.
#[derive(Debug, Clone, Default)]
pub struct Peers {
    /// The newest report of each, and when it came (milliseconds since 1970), in the order of their ids. They are few,
    /// and a map would bring its code into the browser's WASM.
    known: Vec<(Presence, i64)>,
    /// The second in which the newest report was sent, and the number of reports sent in it.
    sent: (i64, u32),
}

impl Peers {
    /// Takes a report that is to be sent to others.
    ///
    /// # Errors
    /// [`NotSent`]; nothing changes then. That someone left is always sent.
    pub fn mark(&mut self, presence: Presence, now_ms: i64) -> Result<(), NotSent> {
        self.forget(now_ms);
        let last = self.place(&presence.by).ok().and_then(|place| self.known.get(place)).map(|(_, at)| *at);
        if presence.is_here {
            if last.is_none() && self.known.len() >= CANVAS_PEERS_MAX {
                return Err(NotSent::Full);
            }
            let second = now_ms.div_euclid(1_000);
            let sent = if self.sent.0 == second { self.sent.1 } else { 0 };
            let is_early = last.is_some_and(|at| now_ms - at < CANVAS_PRESENCE_PAUSE_MS);
            if is_early || sent >= CANVAS_PRESENCE_PER_SECOND {
                return Err(NotSent::TooSoon);
            }
            self.sent = (second, sent + 1);
        }
        self.take(presence, now_ms);
        Ok(())
    }

    /// Takes a report that was sent, here or by another server. One more than [`CANVAS_PEERS_MAX`] is left out.
    pub fn take(&mut self, presence: Presence, at_ms: i64) {
        match self.place(&presence.by) {
            Ok(place) if presence.is_here => self.known[place] = (presence, at_ms),
            Ok(place) => drop(self.known.remove(place)),
            Err(place) if presence.is_here && self.known.len() < CANVAS_PEERS_MAX => {
                self.known.insert(place, (presence, at_ms));
            }
            Err(_) => {}
        }
    }

    /// Where the participant is in `known`, or where they would be added.
    fn place(&self, by: &str) -> Result<usize, usize> {
        self.known.binary_search_by(|(known, _)| known.by.as_str().cmp(by))
    }

    /// Forgets those whose last report is older than [`CANVAS_PRESENCE_MS_MAX`]. Returns whether anyone is there.
    pub fn forget(&mut self, now_ms: i64) -> bool {
        self.known.retain(|(_, at)| now_ms - *at < CANVAS_PRESENCE_MS_MAX);
        !self.known.is_empty()
    }

    /// Those who are there, in the order of their ids.
    pub fn here(&self, now_ms: i64) -> impl Iterator<Item = &Presence> {
        let is_here = move |(_, at): &&(Presence, i64)| now_ms - *at < CANVAS_PRESENCE_MS_MAX;
        self.known.iter().filter(is_here).map(|(presence, _)| presence)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(by: &str, block: &str) -> Presence {
        Presence { by: by.into(), name: by.into(), block: Some(block.into()), selection: None, is_here: true }
    }

    fn here(peers: &Peers, now_ms: i64) -> Vec<(&str, &str)> {
        peers.here(now_ms).map(|one| (one.by.as_str(), one.block.as_deref().unwrap_or_default())).collect()
    }

    #[test]
    fn one_report_in_100_ms_is_sent_and_the_newest_counts_for_30_s() {
        let mut peers = Peers::default();
        assert_eq!(peers.mark(at("user:ada", "b1"), 0), Ok(()));
        assert_eq!(peers.mark(at("user:ada", "b2"), 99), Err(NotSent::TooSoon));
        assert_eq!(peers.mark(at("user:bo", "b1"), 99), Ok(()), "another participant");
        assert_eq!(peers.mark(at("user:ada", "b3"), 100), Ok(()));
        assert_eq!(here(&peers, 100), [("user:ada", "b3"), ("user:bo", "b1")]);
        assert_eq!(here(&peers, 30_099), [("user:ada", "b3")]);
        assert_eq!(here(&peers, 30_100), []);
        assert!(!peers.forget(30_100));
    }

    #[test]
    fn those_who_leave_are_gone_at_once() {
        let mut peers = Peers::default();
        peers.mark(at("user:ada", "b1"), 0).unwrap();
        let gone = Presence { is_here: false, ..at("user:ada", "b1") };
        assert_eq!(peers.mark(gone, 1), Ok(()));
        assert_eq!(here(&peers, 1), []);
        assert_eq!(peers.mark(at("user:ada", "b2"), 2), Ok(()), "they come back");
    }

    #[test]
    fn a_canvas_has_a_bounded_number_of_reports_and_of_people() {
        let mut peers = Peers::default();
        let name = |n: usize| format!("user:{n}");
        let sent = (0..CANVAS_PEERS_MAX * 2).filter(|n| peers.mark(at(&name(*n), "b1"), *n as i64).is_ok()).count();
        assert_eq!(sent, CANVAS_PEERS_MAX.min(CANVAS_PRESENCE_PER_SECOND as usize));
        let mut peers = Peers::default();
        for n in 0..CANVAS_PEERS_MAX {
            peers.mark(at(&name(n), "b1"), n as i64 * 50).unwrap();
        }
        let now = CANVAS_PEERS_MAX as i64 * 50;
        assert_eq!(peers.mark(at("user:late", "b1"), now), Err(NotSent::Full));
        peers.take(at("user:late", "b1"), now);
        assert_eq!(peers.here(now).count(), CANVAS_PEERS_MAX, "nor by way of another server");
        let mut peers = Peers::default();
        let all = (0..1_000).filter(|n| peers.mark(at(&name(n % 20), "b1"), *n as i64).is_ok()).count();
        assert_eq!(all, CANVAS_PRESENCE_PER_SECOND as usize, "20 people in one second");
    }
}
