//! Limits how many sign-ins of one network wait for a password hash, so that one network cannot take all places of the
//! queue.
//!
//! The counts are in this process, as the queue is.

use crate::shares::{Share, Shares};
use domain::limit::PASSWORD_HASHES_OF_NETWORK_MAX;
use ledger::Error;
use std::net::IpAddr;

/// Seconds after which a caller whose network has no place may try again. A full queue empties in about one second.
const RETRY_AFTER_SECONDS: u64 = 2;

/// The sign-ins that are being checked, by network.
pub struct SignInPlaces(Shares<IpAddr>);

impl Default for SignInPlaces {
    fn default() -> Self {
        Self(Shares::new(PASSWORD_HASHES_OF_NETWORK_MAX))
    }
}

impl SignInPlaces {
    /// Takes one of the places of a network. Returns [`Error::Busy`] at once if it has no more.
    pub fn take(&self, network: IpAddr) -> Result<Share<'_, IpAddr>, Error> {
        self.0.take(network).ok_or(Error::Busy { retry_after_seconds: RETRY_AFTER_SECONDS })
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
        assert!(places.take(one).is_ok());
    }

    #[test]
    fn three_networks_leave_places_for_others() {
        let all = PASSWORD_HASHES_AT_ONCE + PASSWORD_HASHES_WAITING_MAX;
        assert!(3 * PASSWORD_HASHES_OF_NETWORK_MAX < all);
    }
}
