//! Limits how many sign-ins of one network wait for a password hash, so that one network cannot take all places of the
//! queue.
//!
//! The counts are in this process, as the queue is.

use domain::limit::PASSWORD_HASHES_OF_NETWORK_MAX;
use ledger::Error;
use std::{
    collections::{HashMap, hash_map::Entry},
    net::IpAddr,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// Seconds after which a caller whose network has no place may try again. A full queue empties in about one second.
const RETRY_AFTER_SECONDS: u64 = 2;

/// The sign-ins that are being checked, by network. A network without any has no entry.
#[derive(Default)]
pub struct SignInPlaces(Mutex<HashMap<IpAddr, usize>>);

/// A place for one sign-in. Dropping it frees the place.
pub struct SignInPlace<'a> {
    places: &'a SignInPlaces,
    network: IpAddr,
}

impl SignInPlaces {
    /// Takes one of the places of a network. Returns [`Error::Busy`] at once if it has no more.
    pub fn take(&self, network: IpAddr) -> Result<SignInPlace<'_>, Error> {
        let mut counts = self.counts();
        let taken = counts.entry(network).or_default();
        if *taken >= PASSWORD_HASHES_OF_NETWORK_MAX {
            return Err(Error::Busy { retry_after_seconds: RETRY_AFTER_SECONDS });
        }
        *taken += 1;
        Ok(SignInPlace { places: self, network })
    }

    fn counts(&self) -> MutexGuard<'_, HashMap<IpAddr, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for SignInPlace<'_> {
    fn drop(&mut self) {
        if let Entry::Occupied(mut taken) = self.places.counts().entry(self.network) {
            if *taken.get() > 1 {
                *taken.get_mut() -= 1;
            } else {
                taken.remove();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::limit::{PASSWORD_HASHES_AT_ONCE, PASSWORD_HASHES_WAITING_MAX};

    #[test]
    fn a_network_takes_its_own_places_only_and_has_them_again_afterwards() {
        let places = SignInPlaces::default();
        let [one, other] = ["192.0.2.1", "192.0.2.2"].map(|text| text.parse().unwrap());
        let mut taken: Vec<_> = (0..PASSWORD_HASHES_OF_NETWORK_MAX).map(|_| places.take(one).unwrap()).collect();
        let refused = places.take(one).err();
        assert!(matches!(refused, Some(Error::Busy { retry_after_seconds: 1.. })), "{refused:?}");
        drop(places.take(other).unwrap());
        taken.pop();
        taken.push(places.take(one).unwrap());
        assert!(places.take(one).is_err());
        drop(taken);
        assert!(places.counts().is_empty());
    }

    #[test]
    fn three_networks_leave_places_for_others() {
        let all = PASSWORD_HASHES_AT_ONCE + PASSWORD_HASHES_WAITING_MAX;
        assert!(3 * PASSWORD_HASHES_OF_NETWORK_MAX < all);
    }
}
