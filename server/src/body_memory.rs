//! Bounds the memory of request bodies: of all together, and of each sender. Bodies of senders who are not
//! authenticated have a memory of their own, so that strangers take none from people.
//!
//! Bytes count as they arrive, until their request is answered. An announced length alone counts nothing.

use crate::paced_log::PacedLog;
use domain::Caller;
use std::{
    collections::{HashMap, hash_map::Entry},
    net::IpAddr,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// Bytes of all bodies without credentials that are in memory at a time.
pub const ANONYMOUS_BODIES_BYTES_MAX: usize = 32 * 1024 * 1024;
/// Bytes of those that come from one network.
pub const ANONYMOUS_BODIES_OF_NETWORK_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Bytes of all bodies with credentials that are in memory at a time.
pub const BODIES_BYTES_MAX: usize = 256 * 1024 * 1024;
/// Bytes of those that one person with their tokens, or one token without an owner, has sent.
pub const BODIES_OF_CALLER_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Who sends a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Sender {
    /// Someone without credentials, by their network.
    Network(IpAddr),
    /// A caller with credentials. A token with an owner counts as its owner.
    Caller(Caller),
}

/// The bytes that are in memory.
pub struct BodyMemory {
    bytes_max: usize,
    of_sender_max: usize,
    /// The line of the log for a body that is refused.
    refusal: &'static str,
    taken: Mutex<Taken>,
    log: PacedLog,
}

#[derive(Default)]
struct Taken {
    bytes: usize,
    /// A sender without any has no entry.
    by_sender: HashMap<Sender, usize>,
}

/// There is no room for more bytes.
#[derive(Debug, PartialEq, Eq)]
pub enum NoRoom {
    /// The sender has used up their own share.
    OfSender,
    /// All senders together have used up the memory.
    OfAll,
}

/// The bytes of one request. Dropping it frees them.
pub struct HeldBytes<'a> {
    memory: &'a BodyMemory,
    sender: Sender,
    bytes: usize,
}

impl BodyMemory {
    /// The memory of bodies without credentials.
    pub fn of_strangers() -> Self {
        let refusal = "bodies of requests without credentials were refused: their memory is used up";
        Self::new(ANONYMOUS_BODIES_BYTES_MAX, ANONYMOUS_BODIES_OF_NETWORK_BYTES_MAX, refusal)
    }

    /// The memory of bodies with credentials.
    pub fn of_callers() -> Self {
        let refusal = "bodies of requests with credentials were refused: their memory is used up";
        Self::new(BODIES_BYTES_MAX, BODIES_OF_CALLER_BYTES_MAX, refusal)
    }

    fn new(bytes_max: usize, of_sender_max: usize, refusal: &'static str) -> Self {
        Self { bytes_max, of_sender_max, refusal, taken: Mutex::default(), log: PacedLog::default() }
    }

    /// Begins to count a body of this sender.
    pub const fn begin(&self, sender: Sender) -> HeldBytes<'_> {
        HeldBytes { memory: self, sender, bytes: 0 }
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl HeldBytes<'_> {
    /// Counts further bytes of the body.
    ///
    /// # Errors
    /// [`NoRoom`] if all bodies, or those of the sender, would exceed their limit. Nothing is counted then.
    pub fn add(&mut self, bytes: usize) -> Result<(), NoRoom> {
        let mut taken = self.memory.taken();
        let of_sender = taken.by_sender.get(&self.sender).copied().unwrap_or_default() + bytes;
        let of_all = taken.bytes + bytes;
        let room = if of_sender > self.memory.of_sender_max {
            Err(NoRoom::OfSender)
        } else if of_all > self.memory.bytes_max {
            Err(NoRoom::OfAll)
        } else {
            Ok(())
        };
        if room.is_err() {
            drop(taken);
            self.memory.log.warn(self.memory.refusal);
            return room;
        }
        taken.bytes = of_all;
        taken.by_sender.insert(self.sender, of_sender);
        self.bytes += bytes;
        room
    }

    /// Whether the sender is authenticated.
    pub const fn is_of_caller(&self) -> bool {
        matches!(self.sender, Sender::Caller(_))
    }
}

impl Drop for HeldBytes<'_> {
    fn drop(&mut self) {
        if self.bytes == 0 {
            return;
        }
        let mut taken = self.memory.taken();
        taken.bytes -= self.bytes;
        if let Entry::Occupied(mut of_sender) = taken.by_sender.entry(self.sender) {
            *of_sender.get_mut() -= self.bytes;
            if *of_sender.get() == 0 {
                of_sender.remove();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HALF: usize = ANONYMOUS_BODIES_OF_NETWORK_BYTES_MAX / 2;

    fn network(n: u8) -> Sender {
        Sender::Network([192, 0, 2, n].into())
    }

    #[test]
    fn a_network_has_its_share_and_has_it_again_afterwards() {
        let bodies = BodyMemory::of_strangers();
        let (mut one, mut two) = (bodies.begin(network(1)), bodies.begin(network(1)));
        assert_eq!((one.add(HALF), two.add(HALF)), (Ok(()), Ok(())));
        assert_eq!(two.add(1), Err(NoRoom::OfSender));
        assert_eq!(bodies.begin(network(2)).add(HALF), Ok(()), "another network");
        drop(one);
        assert_eq!(two.add(HALF), Ok(()));
        drop(two);
        let taken = bodies.taken();
        assert_eq!((taken.bytes, taken.by_sender.len()), (0, 0));
    }

    #[test]
    fn all_networks_together_have_a_limit() {
        let bodies = BodyMemory::of_strangers();
        let mut held: Vec<_> = (0..u8::MAX).map(|n| bodies.begin(network(n))).collect();
        let added: Vec<_> = held.iter_mut().map(|one| one.add(HALF)).collect();
        let admitted = added.iter().filter(|added| added.is_ok()).count();
        assert_eq!(admitted * HALF, ANONYMOUS_BODIES_BYTES_MAX);
        assert!(added.contains(&Err(NoRoom::OfAll)));
    }

    #[test]
    fn one_caller_leaves_room_for_others() {
        let bodies = BodyMemory::of_callers();
        let id = "00000000-0000-7000-8000-000000000001";
        let (person, token) = (Caller::User(id.parse().unwrap()), Caller::Token(id.parse().unwrap()));
        let mut one = bodies.begin(Sender::Caller(person));
        assert_eq!(one.add(BODIES_OF_CALLER_BYTES_MAX), Ok(()));
        assert_eq!(bodies.begin(Sender::Caller(person)).add(1), Err(NoRoom::OfSender));
        assert_eq!(bodies.begin(Sender::Caller(token)).add(BODIES_OF_CALLER_BYTES_MAX), Ok(()));
    }
}
