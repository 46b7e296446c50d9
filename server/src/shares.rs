//! Counts how many places each party has at a time, and gives it no more than its share.

use std::{
    collections::{HashMap, hash_map::Entry},
    hash::Hash,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// The places that are taken, by party. A party without any has no entry.
pub struct Shares<K> {
    of_party_max: usize,
    taken: Mutex<HashMap<K, usize>>,
}

/// A place of one party. Dropping it frees the place.
pub struct Share<'a, K: Copy + Eq + Hash> {
    shares: &'a Shares<K>,
    party: K,
}

impl<K: Copy + Eq + Hash> Shares<K> {
    /// Allows each party this number of places at a time.
    pub fn new(of_party_max: usize) -> Self {
        Self { of_party_max, taken: Mutex::default() }
    }

    /// Takes a place for a party. `None` if it has all of its places.
    pub fn take(&self, party: K) -> Option<Share<'_, K>> {
        let mut counts = self.counts();
        let taken = counts.entry(party).or_default();
        if *taken >= self.of_party_max {
            return None;
        }
        *taken += 1;
        Some(Share { shares: self, party })
    }

    fn counts(&self) -> MutexGuard<'_, HashMap<K, usize>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Copy + Eq + Hash> Drop for Share<'_, K> {
    fn drop(&mut self) {
        if let Entry::Occupied(mut taken) = self.shares.counts().entry(self.party) {
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

    #[test]
    fn a_party_takes_its_own_places_only_and_has_them_again_afterwards() {
        let shares = Shares::new(2);
        let mut taken: Vec<_> = (0..2).map(|_| shares.take("one").unwrap()).collect();
        assert!(shares.take("one").is_none());
        drop(shares.take("other").unwrap());
        taken.pop();
        taken.push(shares.take("one").unwrap());
        assert!(shares.take("one").is_none());
        drop(taken);
        assert!(shares.counts().is_empty());
    }
}
