//! Limits how many requests with a character card there are at a time. Reading a card takes much memory and time.
//!
//! A caller has a share of them from the first byte of a request on. A place among all requests is taken only once the
//! whole body is there, so that no one can hold one by sending slowly.

use crate::{
    problem::Problem,
    shares::{Share, Shares},
};
use domain::{
    Caller,
    limit::{MEMORY_CARD_REQUESTS_MAX, MEMORY_CARD_REQUESTS_OF_CALLER_MAX},
};
use std::time::Duration;
use tokio::{
    sync::{Semaphore, SemaphorePermit},
    time::timeout,
};
use wire::Code;

/// Longest wait for a place among all requests, in seconds.
const CARD_WAIT_SECONDS_MAX: u64 = 5;
/// Seconds after which a caller whose card was refused may try again.
const RETRY_AFTER_SECONDS: u64 = 5;

/// The requests with a character card.
pub struct CardPlaces {
    all: Semaphore,
    of_caller: Shares<Caller>,
}

impl Default for CardPlaces {
    fn default() -> Self {
        Self {
            all: Semaphore::new(MEMORY_CARD_REQUESTS_MAX),
            of_caller: Shares::new(MEMORY_CARD_REQUESTS_OF_CALLER_MAX),
        }
    }
}

impl CardPlaces {
    /// Takes one of the places of a caller.
    ///
    /// # Errors
    /// [`Code::Unavailable`] at once if the caller has no more.
    pub fn share(&self, caller: Caller) -> Result<Share<'_, Caller>, Problem> {
        let busy = || busy("your other requests with a card are not finished; send it again when they are");
        self.of_caller.take(caller).ok_or_else(busy)
    }

    /// Waits for a place among all requests.
    ///
    /// # Errors
    /// [`Code::Unavailable`] if there is none in time.
    pub async fn place(&self) -> Result<SemaphorePermit<'_>, Problem> {
        let busy = || busy("several cards are being read; send it again");
        let place = timeout(Duration::from_secs(CARD_WAIT_SECONDS_MAX), self.all.acquire()).await;
        place.map_err(|_| busy())?.map_err(|_| busy())
    }
}

fn busy(detail: &str) -> Problem {
    Problem::detailed(Code::Unavailable, detail).with_retry_after(RETRY_AFTER_SECONDS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn few_cards_are_read_at_the_same_time() {
        let places = CardPlaces::default();
        let mut held = Vec::new();
        for _ in 0..MEMORY_CARD_REQUESTS_MAX {
            held.push(places.place().await.unwrap());
        }
        tokio::time::pause();
        assert_eq!(places.place().await.unwrap_err().code(), Code::Unavailable);
        held.pop();
        assert!(places.place().await.is_ok());
    }

    #[test]
    fn a_caller_sends_few_cards_at_the_same_time_and_others_send_theirs() {
        let places = CardPlaces::default();
        let id = "00000000-0000-7000-8000-000000000001";
        let (one, other) = (Caller::User(id.parse().unwrap()), Caller::Token(id.parse().unwrap()));
        let mut held: Vec<_> = (0..MEMORY_CARD_REQUESTS_OF_CALLER_MAX).map(|_| places.share(one).unwrap()).collect();
        assert_eq!(places.share(one).err().map(|problem| problem.code()), Some(Code::Unavailable));
        assert!(places.share(other).is_ok());
        held.pop();
        assert!(places.share(one).is_ok());
    }

    #[test]
    fn one_caller_cannot_hold_all_places() {
        const { assert!(MEMORY_CARD_REQUESTS_OF_CALLER_MAX < MEMORY_CARD_REQUESTS_MAX) }
    }
}
