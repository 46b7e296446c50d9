//! Bounds the memory of request bodies whose sender is not authenticated: of all together, and of one network.
//!
//! Bytes count as they arrive, until their request is answered. An announced length alone counts nothing.

use crate::paced_log::PacedLog;
use std::{
    collections::{HashMap, hash_map::Entry},
    net::IpAddr,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// Bytes of all bodies without credentials that are in memory at a time.
pub const ANONYMOUS_BODIES_BYTES_MAX: usize = 32 * 1024 * 1024;
/// Bytes of those that come from one network.
pub const ANONYMOUS_BODIES_OF_NETWORK_BYTES_MAX: usize = 8 * 1024 * 1024;

/// The bytes that are in memory.
#[derive(Default)]
pub struct AnonymousBodies {
    taken: Mutex<Taken>,
    log: PacedLog,
}

#[derive(Default)]
struct Taken {
    bytes: usize,
    /// A network without any has no entry.
    by_network: HashMap<IpAddr, usize>,
}

/// There is no room for more bytes.
#[derive(Debug, PartialEq, Eq)]
pub struct NoRoom;

/// The bytes of one request. Dropping it frees them.
pub struct HeldBytes<'a> {
    bodies: &'a AnonymousBodies,
    network: IpAddr,
    bytes: usize,
}

impl AnonymousBodies {
    /// Begins to count a body from this network.
    pub const fn begin(&self, network: IpAddr) -> HeldBytes<'_> {
        HeldBytes { bodies: self, network, bytes: 0 }
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl HeldBytes<'_> {
    /// Counts further bytes of the body.
    ///
    /// # Errors
    /// [`NoRoom`] if all bodies, or those of the network, would exceed their limit. Nothing is counted then.
    pub fn add(&mut self, bytes: usize) -> Result<(), NoRoom> {
        let mut taken = self.bodies.taken();
        let of_network = taken.by_network.get(&self.network).copied().unwrap_or_default();
        if taken.bytes + bytes > ANONYMOUS_BODIES_BYTES_MAX
            || of_network + bytes > ANONYMOUS_BODIES_OF_NETWORK_BYTES_MAX
        {
            drop(taken);
            self.bodies.log.warn("bodies of requests without credentials were refused: their memory is used up");
            return Err(NoRoom);
        }
        taken.bytes += bytes;
        taken.by_network.insert(self.network, of_network + bytes);
        self.bytes += bytes;
        Ok(())
    }
}

impl Drop for HeldBytes<'_> {
    fn drop(&mut self) {
        if self.bytes == 0 {
            return;
        }
        let mut taken = self.bodies.taken();
        taken.bytes -= self.bytes;
        if let Entry::Occupied(mut of_network) = taken.by_network.entry(self.network) {
            *of_network.get_mut() -= self.bytes;
            if *of_network.get() == 0 {
                of_network.remove();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HALF: usize = ANONYMOUS_BODIES_OF_NETWORK_BYTES_MAX / 2;

    fn network(n: u8) -> IpAddr {
        [192, 0, 2, n].into()
    }

    #[test]
    fn a_network_has_its_share_and_has_it_again_afterwards() {
        let bodies = AnonymousBodies::default();
        let (mut one, mut two) = (bodies.begin(network(1)), bodies.begin(network(1)));
        assert_eq!((one.add(HALF), two.add(HALF)), (Ok(()), Ok(())));
        assert_eq!(two.add(1), Err(NoRoom));
        assert_eq!(bodies.begin(network(2)).add(HALF), Ok(()), "another network");
        drop(one);
        assert_eq!(two.add(HALF), Ok(()));
        drop(two);
        let taken = bodies.taken();
        assert_eq!((taken.bytes, taken.by_network.len()), (0, 0));
    }

    #[test]
    fn all_networks_together_have_a_limit() {
        let bodies = AnonymousBodies::default();
        let mut held: Vec<_> = (0..u8::MAX).map(|n| bodies.begin(network(n))).collect();
        let admitted = held.iter_mut().filter_map(|one| one.add(HALF).ok()).count();
        assert_eq!(admitted * HALF, ANONYMOUS_BODIES_BYTES_MAX);
    }
}
