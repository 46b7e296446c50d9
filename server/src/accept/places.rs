//! How many connections there are at a time: in all, and of one network.

use crate::form_limit::{is_near, network};
use std::{
    collections::{HashMap, hash_map::Entry},
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// Most connections of one network at a time. Addresses of this machine and of private networks have no such limit:
/// behind them can be a proxy, which brings the connections of all people.
pub const CONNECTIONS_OF_NETWORK_MAX: usize = 1_024;

/// The connections that are open.
pub struct Places {
    connections_max: usize,
    taken: Mutex<Taken>,
}

#[derive(Default)]
struct Taken {
    connections: usize,
    /// A network without any has no entry. Near ones are not counted.
    by_network: HashMap<IpAddr, usize>,
}

/// The place of one connection. Dropping it frees the place.
pub struct Place {
    places: Arc<Places>,
    /// `None` for a near address.
    network: Option<IpAddr>,
}

impl Places {
    /// Allows as many connections in all, and at most half of them to one network.
    pub fn new(connections_max: usize) -> Arc<Self> {
        Arc::new(Self { connections_max, taken: Mutex::default() })
    }

    /// Takes a place for a connection of this peer. `None` if there is none.
    pub fn take(self: &Arc<Self>, peer: IpAddr) -> Option<Place> {
        let network = (!is_near(peer)).then(|| network(peer));
        let mut taken = self.taken();
        if taken.connections >= self.connections_max {
            return None;
        }
        if let Some(network) = network {
            let of_network = taken.by_network.entry(network).or_default();
            if *of_network >= CONNECTIONS_OF_NETWORK_MAX.min(self.connections_max / 2) {
                return None;
            }
            *of_network += 1;
        }
        taken.connections += 1;
        drop(taken);
        Some(Place { places: Arc::clone(self), network })
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.places.taken();
        taken.connections -= 1;
        if let Some(network) = self.network
            && let Entry::Occupied(mut of_network) = taken.by_network.entry(network)
        {
            *of_network.get_mut() -= 1;
            if *of_network.get() == 0 {
                of_network.remove();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn a_network_has_its_share_of_the_connections_and_has_it_again_afterwards() {
        let places = Places::new(4 * CONNECTIONS_OF_NETWORK_MAX);
        let mut held: Vec<_> =
            (0..CONNECTIONS_OF_NETWORK_MAX).map(|_| places.take(address("192.0.2.1")).unwrap()).collect();
        assert!(places.take(address("192.0.2.1")).is_none());
        assert!(places.take(address("192.0.2.2")).is_some());
        held.pop();
        assert!(places.take(address("192.0.2.1")).is_some());
        drop(held);
        let taken = places.taken();
        assert_eq!((taken.connections, taken.by_network.len()), (0, 0));
    }

    #[test]
    fn addresses_of_half_an_ipv6_network_share_its_places() {
        let places = Places::new(4);
        let held: Vec<_> = (1..=2).filter_map(|n| places.take(address(&format!("2001:db8::{n}")))).collect();
        assert!(places.take(address("2001:db8::3")).is_none());
        assert!(places.take(address("2001:db8:0:1::1")).is_some());
        drop(held);
    }

    #[test]
    fn a_near_proxy_may_bring_all_connections_that_there_are() {
        for near in ["127.0.0.1", "10.0.0.2", "::1", "::ffff:127.0.0.1"] {
            let places = Places::new(4);
            let held: Vec<_> = (0..4).filter_map(|_| places.take(address(near))).collect();
            assert_eq!(held.len(), 4, "{near}");
            assert!(places.take(address(near)).is_none() && places.take(address("192.0.2.1")).is_none());
        }
    }
}
